import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GroupShuffleSplit, KFold, cross_val_score

from eigenlabel import SharedSubspaceClassifier
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.model_selection.splits import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    _cover_training,
    draw_aside,
)


@pytest.fixture
def Y(rng):
    latent = rng.standard_normal((500, 3)) @ rng.standard_normal((3, 12))
    cut = np.quantile(latent, np.linspace(0.5, 0.98, 12), axis=0).diagonal()
    return (latent > cut).astype(int)


def imbalance(Y, tests):
    """Mean absolute difference of label shares between a test part and all samples."""
    return np.mean([np.abs(Y[t].mean(axis=0) - Y.mean(axis=0)) for t in tests])


def test_folds_split_the_samples_evenly(Y):
    folds = list(MultilabelStratifiedKFold(7).split(Y, Y))
    assert sorted(np.concatenate([t for _, t in folds])) == list(range(500))
    sizes = [len(t) for _, t in folds]
    assert max(sizes) - min(sizes) <= 1
    for train, test in folds:
        assert not set(train) & set(test)
        assert len(train) + len(test) == 500


def test_label_shares_are_kept_much_better_than_by_chance(Y):
    ours = imbalance(Y, [t for _, t in MultilabelStratifiedKFold(5).split(Y, Y)])
    plain = imbalance(Y, [t for _, t in KFold(5, shuffle=True, random_state=0).split(Y)])
    assert ours < plain / 4


def test_label_sets_are_spread_too(Y):
    # The commonest label set must not gather in one fold.
    _, which = np.unique(Y, axis=0, return_inverse=True)
    largest = np.bincount(which.ravel()).argmax()
    counts = [
        (which.ravel()[t] == largest).sum() for _, t in MultilabelStratifiedKFold(5).split(Y, Y)
    ]
    assert max(counts) - min(counts) <= max(3, 0.3 * np.mean(counts))


def test_every_label_with_two_positives_can_be_trained():
    for seed in range(20):
        Y = (np.random.default_rng(seed).uniform(size=(40, 60)) < 0.05).astype(int)
        several = Y.sum(axis=0) > 1
        for train, _ in MultilabelStratifiedKFold(5, shuffle=True, random_state=seed).split(Y, Y):
            assert (Y[train][:, several].sum(axis=0) > 0).all()


def test_every_label_has_a_training_positive_in_a_shuffle_split():
    for seed in range(20):
        Y = (np.random.default_rng(seed).uniform(size=(60, 40)) < 0.03).astype(int)
        present = Y.any(axis=0)
        splitter = MultilabelStratifiedShuffleSplit(
            2, train_size=20, test_size=20, random_state=seed
        )
        for train, _ in splitter.split(Y, Y):
            assert (Y[train][:, present].sum(axis=0) > 0).all()


def test_shuffle_split_sizes_shares_and_seeds(Y):
    splitter = MultilabelStratifiedShuffleSplit(3, train_size=200, test_size=0.2, random_state=3)
    splits = list(splitter.split(Y, Y))
    assert splitter.get_n_splits() == len(splits) == 3
    for train, test in splits:
        assert (len(train), len(test)) == (200, 100)
        assert not set(train) & set(test)
    assert imbalance(Y, [t for s in splits for t in s]) < 0.01
    again = list(splitter.split(Y, Y))
    np.testing.assert_array_equal(splits[1][0], again[1][0])
    assert set(splits[0][1]) != set(splits[1][1])
    train, test = next(MultilabelStratifiedShuffleSplit(1, random_state=0).split(Y, Y))
    assert (len(train), len(test)) == (450, 50)


def test_the_seed_determines_the_folds(Y):
    def tests(**kw):
        return [t.tolist() for _, t in MultilabelStratifiedKFold(3, **kw).split(Y, Y)]

    assert tests() == tests()
    assert tests(shuffle=True, random_state=1) == tests(shuffle=True, random_state=1)
    assert tests(shuffle=True, random_state=1) != tests(shuffle=True, random_state=2)


def test_groups_stay_together_and_shares_are_kept(rng):
    Y = (rng.uniform(size=(600, 8)) < 0.2).astype(int)
    groups = rng.integers(0, 60, 600)
    folds = list(MultilabelStratifiedKFold(4).split(Y, Y, groups))
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])
        assert 100 <= len(test) <= 200
    assert imbalance(Y, [t for _, t in folds]) < 0.03
    splitter = MultilabelStratifiedShuffleSplit(2, test_size=0.25, random_state=0)
    for train, test in splitter.split(Y, Y, groups):
        assert not set(groups[train]) & set(groups[test])
        assert 100 <= len(test) <= 200


def grouped(splitter, Y, groups):
    """List the groups in each test part."""
    return [sorted(set(groups[test].tolist())) for _, test in splitter.split(Y, Y, groups)]


@pytest.mark.parametrize("equal", [True, False])
def test_random_splits_of_groups_differ_by_repeat_and_seed(equal, rng):
    groups = np.arange(600) % 40 if equal else np.minimum(rng.geometric(0.05, 600), 40)
    Y = (rng.uniform(size=(600, 6)) < 0.1 + 0.01 * groups[:, None]).astype(int)
    repeats = grouped(
        MultilabelStratifiedShuffleSplit(20, test_size=0.2, random_state=0), Y, groups
    )
    assert len({tuple(test) for test in repeats}) > 15
    for make in (
        lambda seed: MultilabelStratifiedShuffleSplit(1, test_size=0.2, random_state=seed),
        lambda seed: MultilabelStratifiedKFold(5, shuffle=True, random_state=seed),
    ):
        by_seed = [grouped(make(seed), Y, groups) for seed in range(20)]
        assert len({str(tests) for tests in by_seed}) > 15  # two seeds may agree
        assert by_seed[3] == grouped(make(3), Y, groups)
        # Every group is tested at some time, and none always.
        counts = np.bincount(np.concatenate([tests[0] for tests in by_seed]), minlength=41)
        assert counts[np.unique(groups)].max() < 20
        assert (counts[np.unique(groups)] > 0).mean() > 0.9


def test_random_splits_of_groups_keep_shares_far_better_than_chance(rng):
    groups = rng.integers(0, 80, 1200)
    effect = rng.uniform(0.05, 0.5, size=(80, 6))
    Y = (rng.uniform(size=(1200, 6)) < effect[groups]).astype(int)

    def deviation(splitter):
        tests = [test for _, test in splitter.split(Y, Y, groups)]
        return np.mean([np.abs(Y[t].sum(axis=0) / Y.sum(axis=0) - 0.2).mean() for t in tests])

    chance = deviation(GroupShuffleSplit(20, test_size=0.2, random_state=0))
    ours = deviation(MultilabelStratifiedShuffleSplit(20, test_size=0.2, random_state=0))
    folds = deviation(MultilabelStratifiedKFold(5, shuffle=True, random_state=0))
    in_order = deviation(MultilabelStratifiedKFold(5))
    assert max(ours, folds) < 0.5 * chance
    assert folds < 2 * in_order


def test_splits_of_groups_are_the_same_on_every_machine():
    i = np.arange(60)
    groups, Y = (i * i) % 13, np.column_stack([i % 2 == 0, i % 3 == 0, i % 7 == 1]).astype(int)
    assert grouped(MultilabelStratifiedKFold(3), Y, groups) == [[1, 3], [4, 10], [0, 9, 12]]
    shuffled = MultilabelStratifiedKFold(3, shuffle=True, random_state=0)
    assert grouped(shuffled, Y, groups) == [[0, 9, 12], [3, 10], [1, 4]]
    drawn = MultilabelStratifiedShuffleSplit(3, test_size=0.3, random_state=0)
    assert grouped(drawn, Y, groups) == [[4, 9], [1, 4], [1, 4]]


def test_every_fold_gets_a_group():
    Y = np.ones((20, 2), dtype=int)
    groups = np.array([0] * 17 + [1, 2, 3])
    assert all(len(t) for _, t in MultilabelStratifiedKFold(4).split(Y, Y, groups))
    with pytest.raises(ValueError, match="5 folds need at least 5 groups, got 4: use fewer folds"):
        list(MultilabelStratifiedKFold(5).split(Y, Y, groups))


@pytest.mark.parametrize("form", [sp.csr_array, np.asarray, lambda Y: Y.argmax(axis=1)])
def test_every_form_of_y(Y, form):
    assert len(list(MultilabelStratifiedKFold(3).split(np.zeros((500, 1)), form(Y)))) == 3


def test_rows_without_labels_are_spread():
    Y = np.zeros((50, 3), dtype=int)
    Y[:10, 0] = 1
    for _, test in MultilabelStratifiedKFold(5).split(Y, Y):
        assert len(test) == 10
        assert Y[test, 0].sum() == 2


def test_works_in_scikit_learn():
    data = make_shared_subspace(120, random_state=0)
    scores = cross_val_score(
        SharedSubspaceClassifier(), data.X, data.Y, cv=MultilabelStratifiedKFold(3)
    )
    assert scores.shape == (3,)


def test_a_hundred_thousand_samples_are_dealt_by_vectorised_steps(rng, monkeypatch):
    # Not a timing: the work per sample is numpy's, so Python-level steps grow with the labels only.
    import eigenlabel.model_selection.splits as module

    calls = []
    original = module._apportion
    monkeypatch.setattr(module, "_apportion", lambda *a: calls.append(1) or original(*a))
    Y = sp.random_array((100_000, 50), density=0.04, rng=rng, format="csr") != 0
    folds = list(MultilabelStratifiedKFold(5).split(np.zeros((100_000, 1)), Y))
    assert len(calls) <= 50
    assert imbalance(Y.toarray(), [t for _, t in folds]) < 1e-4


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MultilabelStratifiedKFold(1), ValueError, "n_splits must be an integer >= 2"),
        (
            lambda: MultilabelStratifiedKFold(9),
            ValueError,
            "9 folds need at least 9 samples",
        ),
        (
            lambda: MultilabelStratifiedShuffleSplit(1, test_size=5),
            ValueError,
            "test_size must be an integer between 1 and 3, got 5",
        ),
        (
            lambda: MultilabelStratifiedShuffleSplit(1, test_size=0.9, train_size=0.9),
            ValueError,
            "are 3 training and 4 test samples",
        ),
    ],
)
def test_wrong_sizes_raise_an_error(call, error, message):
    Y = np.eye(4, dtype=int)
    with pytest.raises(error, match=message):
        list(call().split(Y, Y))


def test_y_is_needed():
    with pytest.raises(ValueError, match="'y' parameter should not be None"):
        list(MultilabelStratifiedKFold(2).split(np.zeros((4, 1))))


def test_a_large_group_is_balanced_by_small_ones():
    Y, groups = np.ones((20, 1), dtype=int), np.r_[np.zeros(10, dtype=int), np.arange(1, 11)]
    for seed in range(5):
        splitter = MultilabelStratifiedKFold(2, shuffle=True, random_state=seed)
        assert [len(t) for _, t in splitter.split(Y, Y, groups)] == [10, 10]


def test_a_small_test_part_gets_a_group_too():
    Y, groups = np.ones((20, 1), dtype=int), np.repeat([0, 1], 10)
    splitter = MultilabelStratifiedShuffleSplit(1, test_size=0.1, random_state=0)
    train, test = next(splitter.split(Y, Y, groups))
    assert (len(train), len(test)) == (10, 10)


def test_a_training_row_is_spared_by_the_row_that_replaces_it():
    part, Y = np.array([0, 1]), np.array([[1, 0], [1, 1]], dtype=bool)
    _cover_training(part, Y, 1)
    assert part.tolist() == [1, 0]


def test_covering_one_label_does_not_uncover_another():
    part = np.array([0, 0, 1, 1])
    Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    _cover_training(part, Y, 1)  # one of the first two must stay, so training grows
    assert part.tolist() == [1, 0, 0, 0]


def test_without_a_test_size_the_rest_is_tested():
    Y = np.eye(4, dtype=int).repeat(5, axis=0)
    train, test = next(MultilabelStratifiedShuffleSplit(1, train_size=8).split(Y, Y))
    assert (len(train), len(test)) == (8, 12)


def test_every_sample_is_as_likely_to_be_kept_aside():
    counts = np.zeros(10)
    for seed in range(600):
        rest, aside = draw_aside(10, 0.25, seed)
        assert len(aside) == 3  # rounded up
        np.testing.assert_array_equal(np.sort(np.append(rest, aside)), np.arange(10))
        counts[aside] += 1
    # A count has mean 180 and deviation sqrt(600 0.3 0.7) = 11.2.
    assert (np.abs(counts - 180) < 4 * 11.3).all()


def test_shares_that_are_whole_numbers_are_not_rounded_up():
    assert len(draw_aside(10, 0.1 * 3, 0)[1]) == 3  # 0.30000000000000004 * 10


def test_groups_that_leave_nothing_to_fit_to_raise_an_error():
    with pytest.raises(ValueError, match="keeps 1 of 1 groups aside"):
        draw_aside(10, 0.5, 0, np.zeros(10))
