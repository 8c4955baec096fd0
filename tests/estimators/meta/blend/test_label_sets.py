import math
from collections import Counter

import numpy as np
import pytest

from eigenlabel import MultilabelBlend
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta.blend import label_sets as module
from eigenlabel.estimators.meta.blend.label_sets import OTHER_SETS, LabelSets
from eigenlabel.estimators.meta.blend.weights import BlendCells, fit_shared
from eigenlabel.metrics import log_loss


@pytest.fixture
def exclusive(rng):
    """Return noisy probabilities of three labels, of which each sample has one or the last two."""
    kinds = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1]])
    Y = kinds[rng.integers(0, 3, 400)]
    Z = 1.5 * (2 * Y - 1) + 1.5 * rng.standard_normal(Y.shape)
    return 1 / (1 + np.exp(-Z)), Y


def naive(p, sets, b, t, d):
    """Return the scores of a sample by Bayes' rule; ``sets`` maps label sets to their counts."""

    def z(x):
        return math.log(x / (1 - x))

    q = {s: c * math.exp(sum(t * (z(p[j]) - d * b[j]) for j in s)) for s, c in sets.items()}
    total = sum(q.values())
    out = []
    for j in range(len(p)):
        share = sum(v for s, v in q.items() if j in s) / total if total > 0 else p[j]
        out.append(z((1 - OTHER_SETS) * share + OTHER_SETS * p[j]))
    return out


def members(row):
    return tuple(np.flatnonzero(row))


def naive_prior(Y, w, seen):
    present, absent = w @ (Y * seen), w @ ((1 - Y) * seen)
    return np.log((present + 1) / (absent + 1))


def naive_losses(P, Y, w, seen):
    """Return the held-out log-loss of P and the corrected P together, for each t and d."""
    b = naive_prior(Y, w, seen)
    sets = Counter()
    for row, c, s in zip(Y, w, seen, strict=True):
        sets[members(row)] += c * s.all()
    losses = {}
    for t in module.EVIDENCE:
        for d in module.CORRECTION:
            held_out = []
            for p, row, c, s in zip(P, Y, w, seen, strict=True):
                others = {**sets}
                if s.all():
                    others[members(row)] -= c
                held_out.append(naive(p, others, b, t, d))
            Z = np.stack([np.log(P / (1 - P)), held_out])[:, seen > 0]
            cells = BlendCells(
                Z, Y[seen > 0].astype(float), np.repeat(w, seen.sum(axis=1).astype(int))
            )
            losses[t, d] = cells.loss(fit_shared(cells))
    return losses


def test_scores_follow_bayes_rule(exclusive):
    P, Y = exclusive
    model = LabelSets().fit(P, Y)
    b = naive_prior(Y, np.ones(len(Y)), np.ones(Y.shape))
    np.testing.assert_allclose(model.prior_, b, atol=1e-12)
    sets = Counter(members(row) for row in Y)
    new = P[:7] * 0.9
    expected = [naive(p, sets, b, model.evidence_, model.correction_) for p in new]
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-9)


def test_a_sample_does_not_count_for_its_own_set(exclusive):
    P, Y = exclusive
    P, Y = np.vstack([P, [[0.9, 0.9, 0.9]]]), np.vstack([Y, [[1, 1, 1]]])  # a set of one sample
    model = LabelSets().fit(P, Y)
    sets = Counter(members(row) for row in Y)
    for i in (0, 1, 2, len(Y) - 1):
        others = dict(sets)
        others[members(Y[i])] -= 1
        expected = naive(P[i], others, model.prior_, model.evidence_, model.correction_)
        np.testing.assert_allclose(model.oof_scores_[i], expected, atol=1e-9)


def test_weights_count_like_copies(exclusive, rng):
    P, Y = exclusive
    w = rng.integers(1, 4, len(Y))
    model = LabelSets().fit(P, Y, sample_weight=w.astype(float))
    copies = LabelSets().fit(np.repeat(P, w, axis=0), np.repeat(Y, w, axis=0))
    np.testing.assert_allclose(model.prior_, copies.prior_, atol=1e-12)
    np.testing.assert_array_equal(model.counts_, copies.counts_)
    # All copies of a sample are held out together.
    sets = dict(zip(map(members, copies.sets_.toarray()), copies.counts_, strict=True))
    own = {**sets, members(Y[0]): sets[members(Y[0])] - w[0]}
    expected = naive(P[0], own, model.prior_, model.evidence_, model.correction_)
    np.testing.assert_allclose(model.oof_scores_[0], expected, atol=1e-9)


def test_samples_of_weight_zero_make_no_sets(exclusive):
    P, Y = exclusive
    more, extra = np.vstack([P, [[0.5, 0.5, 0.5]]]), np.vstack([Y, [[1, 1, 1]]])
    model = LabelSets().fit(more, extra, sample_weight=np.r_[np.ones(len(Y)), 0.0])
    assert [1, 1, 1] not in model.sets_.toarray().tolist()


def test_only_samples_with_all_labels_observed_make_sets(exclusive):
    P, Y = exclusive
    seen = np.ones(Y.shape)
    seen[::3, 0] = 0
    model = LabelSets().fit(P, np.where(seen > 0, Y, np.nan))
    sets = Counter(members(row) for row, s in zip(Y, seen, strict=True) if s.all())
    b = naive_prior(Y, np.ones(len(Y)), seen)
    np.testing.assert_allclose(model.prior_, b, atol=1e-12)
    t, d = model.evidence_, model.correction_
    np.testing.assert_allclose(model.oof_scores_[0], naive(P[0], sets, b, t, d), atol=1e-9)
    Y = np.where(np.eye(3, dtype=bool)[np.arange(len(Y)) % 3], np.nan, Y)
    with pytest.raises(ValueError, match="no sample has all labels observed"):
        LabelSets().fit(P, Y)


def test_the_most_frequent_sets_are_kept(exclusive):
    P, Y = exclusive
    model = LabelSets(max_sets=2).fit(P, Y)
    sets = Counter(members(row) for row in Y).most_common(2)
    assert {
        members(row): c for row, c in zip(model.sets_.toarray(), model.counts_, strict=True)
    } == dict(sets)
    lost = next(i for i, row in enumerate(Y) if members(row) not in dict(sets))
    expected = naive(P[lost], dict(sets), model.prior_, model.evidence_, model.correction_)
    np.testing.assert_allclose(model.oof_scores_[lost], expected, atol=1e-9)


def test_equally_frequent_sets_are_drawn_by_chance(rng):
    Y = np.array([row for row in np.ndindex(*[2] * 9) if sum(row) == 4])  # 126 sets
    P = rng.random(Y.shape)
    model = LabelSets(max_sets=60, random_state=0).fit(P, Y)
    # The first sets in any order of columns would be all of those with one label, or none.
    share = model.sets_.toarray().mean(axis=0)
    assert (abs(share - 4 / 9) < 0.2).all()
    again = LabelSets(max_sets=60, random_state=0).fit(P, Y)
    np.testing.assert_array_equal(again.sets_.toarray(), model.sets_.toarray())


def test_a_sample_whose_set_is_the_only_one_keeps_its_probabilities():
    P, Y = np.array([[0.3, 0.6], [0.2, 0.9]]), np.array([[0, 1], [1, 1]])
    model = LabelSets(max_sets=1).fit(P, Y)
    own = int(np.flatnonzero((model.sets_.toarray() == Y).all(axis=1))[0])
    np.testing.assert_allclose(model.oof_scores_[own], np.log(P[own] / (1 - P[own])), atol=1e-9)


def test_sets_that_exclude_each_other_lower_the_log_loss(exclusive):
    P, Y = exclusive
    model = LabelSets().fit(P[:200], Y[:200])
    after = 1 / (1 + np.exp(-model.decision_function(P[200:])))
    assert log_loss(Y[200:], after) < 0.8 * log_loss(Y[200:], P[200:])


@pytest.mark.parametrize("case", range(6))
def test_the_choice_has_the_least_held_out_loss(case, monkeypatch):
    found = []

    def remember(cells):
        point = fit_shared(cells)
        found.append(cells.loss(point))
        return point

    monkeypatch.setattr(module, "fit_shared", remember)
    rng = np.random.default_rng(case)
    Y = rng.integers(0, 2, (12, 4))[rng.integers(0, 12, 90)]  # some sets occur often
    P = 1 / (1 + np.exp(-1.0 * (2 * Y - 1) - (1 + case / 3) * rng.standard_normal(Y.shape)))
    w = rng.integers(1, 4, len(Y)).astype(float) if case % 2 else np.ones(len(Y))
    seen = (rng.random(Y.shape) < (0.9 if case > 3 else 1.1)).astype(float)
    model = LabelSets().fit(P, np.where(seen > 0, Y, np.nan), sample_weight=w)
    losses = naive_losses(P, Y, w, seen)
    np.testing.assert_allclose(found, list(losses.values()), rtol=1e-8)
    assert (model.evidence_, model.correction_) == min(losses, key=losses.get)


def test_some_of_many_samples_choose(exclusive, monkeypatch):
    P, Y = exclusive
    sizes = []
    real = module.fit_shared
    monkeypatch.setattr(module, "fit_shared", lambda c: sizes.append(c.y.size) or real(c))
    monkeypatch.setattr(module, "MOST_COMPARED", 300)
    monkeypatch.setattr(module, "LEAST_ROWS", 1)
    LabelSets().fit(P, Y)
    assert sizes == [300] * 9
    sizes.clear()
    monkeypatch.setattr(module, "LEAST_ROWS", 200)
    LabelSets().fit(P, Y)
    assert sizes == [600] * 9


def test_scores_do_not_depend_on_blocks(exclusive, monkeypatch):
    P, Y = exclusive
    model = LabelSets().fit(P, Y)
    before = model.decision_function(P)
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 800)
    np.testing.assert_allclose(model.decision_function(P), before, atol=1e-12)
    np.testing.assert_allclose(LabelSets().fit(P, Y).oof_scores_, model.oof_scores_, atol=1e-12)


def damage_sizes(model):
    model.counts_ = model.counts_[:-1]


def damage_sets(model):
    model.sets_, model.counts_ = model.sets_[:0], model.counts_[:0]


def damage_counts(model):
    model.counts_[0] = -1.0


def damage_choice(model):
    model.evidence_ = np.nan


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (damage_sizes, "different sizes"),
        (damage_sets, "or are none"),
        (damage_counts, "finite and positive"),
        (damage_choice, "finite and positive"),
    ],
)
def test_damaged_sets_are_found(exclusive, damage, match):
    model = LabelSets().fit(*exclusive)
    model.check_loaded()
    damage(model)
    with pytest.raises(ValueError, match=match):
        model.check_loaded()


def test_a_blend_uses_it_where_labels_exclude_each_other(rng):
    centres = rng.standard_normal((4, 5))
    kind = rng.integers(0, 4, 300)
    X = centres[kind] + 0.8 * rng.standard_normal((300, 5))
    model = MultilabelBlend(["linear", "sets"], random_state=0).fit(X, np.eye(4, dtype=int)[kind])
    rows = {row["name"]: row for row in model.leaderboard_}
    assert rows["sets"]["adds"] > 0.01


def test_missing_labels_leave_it_out_of_the_default_members():
    data = make_shared_subspace(80, 5, 4, random_state=0)
    for missing, there in ((40, True), (41, False)):
        Y = data.Y.astype(float)
        Y[:missing, 0] = np.nan
        model = MultilabelBlend(random_state=0).fit(data.X, Y)
        assert ("sets" in {row["name"] for row in model.leaderboard_}) == there
