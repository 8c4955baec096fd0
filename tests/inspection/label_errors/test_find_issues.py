"""Label errors: the formulas, planted errors, invariances, bad input, memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.metrics import average_precision_score

import helpers
from eigenlabel import SharedSubspaceClassifierCV
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inspection import find_label_issues
from eigenlabel.inspection.label_errors import find_issues


def draw(rng, n=40, m=4, hidden=0.0):
    """Return correlated labels, some not observed, and probabilities that fit them roughly."""
    Z = rng.normal(size=(n, m)) + 1.5 * rng.normal(size=(n, 1))
    Y = (rng.random((n, m)) < expit(2 * Z - 1)).astype(float)
    P = expit(2 * Z - 1 + rng.normal(size=(n, m)))
    Y[rng.random((n, m)) < hidden] = np.nan
    return Y, P


def as_matrix(issues, name="scores"):
    out = np.full((len(issues.sample_scores), len(issues.label_scores)), np.nan)
    out[issues.samples, issues.labels] = getattr(issues, name)
    return out


@pytest.mark.parametrize("hidden", [0.0, 0.2])
def test_scores_follow_the_formulas(rng, hidden):
    Y, P = draw(rng, hidden=hidden)
    P[0, 0], P[1, 1], P[2, 1] = 0.0, 1.0, 0.0
    issues = find_label_issues(Y, P)
    expected = helpers.label_error_scores(Y, P, issues.wrong_rates, issues.missing_rate)
    found = as_matrix(issues)
    np.testing.assert_allclose(found, expected, rtol=1e-6)  # maps are fitted to nine digits
    np.testing.assert_array_equal(issues.scores, np.sort(issues.scores)[::-1])
    given = np.where(np.isnan(Y), 0, Y)[issues.samples, issues.labels] == 1
    np.testing.assert_array_equal(issues.kinds, np.where(given, "wrong", "missing"))
    np.testing.assert_array_equal(issues.probabilities, P[issues.samples, issues.labels])
    known = np.nan_to_num(found)
    np.testing.assert_allclose(issues.sample_scores, 1 - np.prod(1 - known, axis=1), atol=1e-10)
    np.testing.assert_allclose(issues.label_wrong, np.where(Y == 1, known, 0).sum(axis=0))
    np.testing.assert_allclose(issues.label_missing, np.where(Y == 0, known, 0).sum(axis=0))
    np.testing.assert_allclose(issues.label_scores, np.nanmean(found, axis=0))


@pytest.mark.parametrize("hidden", [0.0, 0.3])
def test_every_form_of_input_has_the_same_result(rng, hidden):
    Y, P = draw(rng, hidden=hidden)
    expected = as_matrix(find_label_issues(Y, P))
    stored = sp.coo_array(np.where(np.isnan(Y), 7.0, Y))
    stored.data[stored.data == 7] = np.nan
    kept = Y.copy(), P.copy()
    for given in (pd.DataFrame(Y), sp.csr_array(stored), sp.csc_matrix(stored)):
        np.testing.assert_allclose(as_matrix(find_label_issues(given, P)), expected, rtol=1e-8)
    for probabilities in (sp.csr_array(P), lambda: (P[i : i + 7] for i in range(0, 40, 7))):
        found = find_label_issues(Y, probabilities)
        np.testing.assert_allclose(as_matrix(found), expected, rtol=1e-8)
    np.testing.assert_array_equal(Y, kept[0])
    np.testing.assert_array_equal(P, kept[1])


def test_the_order_of_samples_and_labels_does_not_matter(rng):
    Y, P = draw(rng, n=60, m=5, hidden=0.1)
    expected = as_matrix(find_label_issues(Y, P))
    rows, columns = rng.permutation(60), rng.permutation(5)
    found = find_label_issues(Y[rows][:, columns], P[rows][:, columns])
    np.testing.assert_allclose(as_matrix(found), expected[rows][:, columns], rtol=1e-8)


def test_cells_that_are_not_observed_are_never_reported(rng):
    Y, P = draw(rng, hidden=0.4)
    Y[:, 2] = np.nan
    issues = find_label_issues(Y, P)
    assert not np.isnan(Y[issues.samples, issues.labels]).any()
    assert len(issues) == (~np.isnan(Y)).sum()
    np.testing.assert_array_equal(np.isnan(issues.corrected(len(issues))), np.isnan(Y))
    nothing = find_label_issues(np.full((5, 2), np.nan), np.full((5, 2), 0.3))
    assert len(nothing) == 0
    np.testing.assert_array_equal(nothing.sample_scores, np.zeros(5))


@pytest.mark.parametrize("positives", [0, 1, 2])
def test_rare_labels_have_finite_scores(rng, positives):
    Y, P = draw(rng)
    Y[:, 1] = 0
    Y[:positives, 1] = 1
    issues = find_label_issues(Y, P)
    assert np.isfinite(issues.scores).all()
    assert ((issues.scores >= 0) & (issues.scores <= 1)).all()
    inverse = find_label_issues(1 - Y, 1 - P)
    assert np.isfinite(inverse.scores).all()


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_constant_probabilities_leave_the_other_labels_as_evidence(rng, value):
    Y, _ = draw(rng, n=300)
    Y[:, 1] = Y[:, 0]
    Y[5, 1] = 1 - Y[5, 1]
    issues = find_label_issues(Y, np.full(Y.shape, value))
    assert np.isfinite(issues.scores).all()
    assert issues.samples[0] == 5
    assert issues.labels[0] in (0, 1)


def test_probabilities_of_0_and_1_rank_next_to_their_neighbours(rng):
    Y, P = draw(rng, n=200)
    Y[:2, 0], P[:2, 0] = 1, [0.0, P.min() / 2]
    found = as_matrix(find_label_issues(Y, P), "combined")
    assert np.isfinite(found).all()
    hard = (P > 0.5).astype(float)
    assert np.isfinite(find_label_issues(Y, hard).scores).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1), (5, 1)])
def test_tiny_matrices_have_scores(shape):
    Y = np.arange(np.prod(shape)).reshape(shape) % 2
    issues = find_label_issues(Y, np.full(shape, 0.4))
    assert len(issues) == Y.size
    assert np.isfinite(issues.scores).all()


@pytest.mark.parametrize("kind", ["missing", "wrong"])
def test_planted_errors_are_found(rng, kind):
    data = make_shared_subspace(600, 20, 12, 3, prevalence=0.2, noise=0.3, random_state=1)
    truth = data.Y == 1
    errors = rng.random(truth.shape) < 0.05
    errors &= truth if kind == "missing" else ~truth
    Y = (truth ^ errors).astype(int)
    model = SharedSubspaceClassifierCV(alphas=[0.1, np.inf], betas=[0.01, 0.1]).fit(data.X, Y)
    issues = find_label_issues(Y, expit(4 * model.oof_scores_))
    hit = errors[issues.samples, issues.labels]
    assert average_precision_score(hit, issues.scores) > 0.5
    likely = issues.suggested()
    assert len(likely) >= 10
    assert errors[likely.samples, likely.labels].mean() > 0.6
    assert (likely.kinds == kind).mean() > 0.6
    assert (issues.corrected() != truth).sum() < errors.sum()


def test_the_other_labels_add_to_what_the_probabilities_say(rng):
    own, common = rng.normal(size=(500, 8)), rng.normal(size=(500, 1))
    Y = (rng.random((500, 8)) < expit(2 * own + 4 * common - 2)).astype(int)
    P = expit(2 * own - 2)  # of a model that does not know what labels have in common
    errors = rng.random(Y.shape) < 0.04
    given = np.where(errors, 1 - Y, Y)
    ours = as_matrix(find_label_issues(given, P))
    alone = np.where(given == 1, 1 - P, P)
    areas = [average_precision_score(errors.ravel(), s.ravel()) for s in (ours, alone)]
    assert areas[0] > 1.5 * areas[1]


def test_only_the_most_suspicious_cells_are_kept(rng):
    Y, P = draw(rng)
    all_of_them = find_label_issues(Y, P)
    blocks = lambda: (P[i : i + 3] for i in range(0, 40, 3))  # noqa: E731
    few = find_label_issues(Y, blocks, max_issues=5)
    np.testing.assert_array_equal(few.samples, all_of_them.samples[:5])
    np.testing.assert_array_equal(few.labels, all_of_them.labels[:5])
    np.testing.assert_allclose(few.sample_scores, all_of_them.sample_scores, rtol=1e-8)
    with pytest.raises(ValueError, match="max_issues"):
        find_label_issues(Y, P, max_issues=0)


def test_ties_are_in_the_order_of_samples_and_labels():
    kept = find_issues._TopCells(4)
    shape = (2, 3)
    error = np.array([[0.5, 0.0, 0.5], [0.5, 0.5, 0.0]])
    seen = np.ones(shape, dtype=bool)
    for first in (0, 2, 4):
        kept.add(first, error, error, error, seen, seen)
    samples, labels, *_ = kept.cells()
    assert list(zip(samples, labels, strict=True)) == [(0, 0), (0, 2), (1, 0), (1, 1)]


def test_a_part_of_the_negatives_is_enough(rng, monkeypatch):
    Y, P = draw(rng, n=400)
    whole = find_label_issues(Y, P)
    monkeypatch.setattr(find_issues, "CELLS", Y.size // 3)
    part = find_label_issues(Y, P)
    # other negatives, other maps: the scores agree roughly
    assert np.corrcoef(as_matrix(whole).ravel(), as_matrix(part).ravel())[0, 1] > 0.9


def test_names_are_those_of_the_frame_or_those_passed(rng):
    Y, P = draw(rng, m=3)
    frame = pd.DataFrame(Y, columns=["a", "b", "c"])
    assert set(find_label_issues(frame, P).to_frame()["label"]) == {"a", "b", "c"}
    named = find_label_issues(frame, P, label_names=["x", "y", "z"], sample_names=range(40, 80))
    assert set(named.to_frame()["label"]) == {"x", "y", "z"}
    assert set(named.to_frame()["sample"]) == set(range(40, 80))
    with pytest.raises(ValueError, match="label_names has 2 names, but Y needs 3"):
        find_label_issues(Y, P, label_names=["x", "y"])
    with pytest.raises(ValueError, match="sample_names"):
        find_label_issues(Y, P, sample_names=["x"])


def peak_of_many_labels(n, m=10_000):
    """Return the peak of memory in MiB for n samples, whose top probabilities come in blocks."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(n), 5)
    columns = rng.integers(0, m, 5 * n) ** 2 // m
    Y = sp.csr_array((np.ones(5 * n), (rows, columns)), shape=(n, m))
    Y.sum_duplicates()
    Y.data[:] = 1
    P = Y.copy()
    P.data = rng.beta(5, 2, P.nnz)
    lost = np.flatnonzero(rng.random(Y.nnz) < 0.02)
    Y.data[lost] = 0
    Y.eliminate_zeros()
    tracemalloc.start()
    try:
        issues = find_label_issues(Y, lambda: (P[i : i + 100] for i in range(0, n, 100)))
        peak = tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
    assert (issues.kinds[: len(lost) // 2] == "missing").all()
    return peak


@pytest.mark.slow
def test_ten_thousand_labels_need_bounded_memory():
    small, large = peak_of_many_labels(600), peak_of_many_labels(2400)
    assert large < 300  # one dense array of float64 would be 183
    assert large - small < 60
