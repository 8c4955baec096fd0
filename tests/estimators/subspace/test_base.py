"""Predictions of ML-LS: in pieces of rows, in the form of y, and ranked."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import SharedSubspaceClassifier
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.subspace import many_labels
from eigenlabel.linalg import operators
from eigenlabel.thresholds import Top

SHAPES = {"tall": (60, 9), "wide": (25, 40)}


@pytest.fixture
def many(monkeypatch):
    """Treat every number of labels as many."""
    monkeypatch.setattr(many_labels, "MANY", 1)


@pytest.fixture(params=SHAPES)
def data(request, rng):
    """Draw sparse X and labels that depend on it, one of them without and one with all samples."""
    n, d = SHAPES[request.param]
    X = sp.random_array((n, d), density=0.4, rng=rng, format="csr")
    Y = X @ rng.standard_normal((d, 12)) + rng.standard_normal((n, 12)) > 0.5
    Y[:, 3], Y[:, 5] = False, True
    return X, Y.astype(int)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("sparse", [None, sp.csr_matrix, sp.coo_array, sp.csc_array])
@pytest.mark.usefixtures("many")
def test_predictions_in_pieces_are_those_of_one_piece(monkeypatch, data, classes, sparse):
    X, Y = data
    y = Y.argmax(axis=1) if classes else Y if sparse is None else sparse(Y)
    model = SharedSubspaceClassifier(np.inf, 0.1, 3).fit(X, y)
    whole, top, ranked = model.predict(X), model.predict_top(X, 3), model.rank_labels(X, 3)
    monkeypatch.setattr(operators, "BLOCK_BYTES", 8 * 12 * 7)
    form = np.ndarray if classes or sparse is None else sparse
    assert type(model.predict(X)) is type(whole) is form
    found = [a.toarray() if sp.issparse(a) else a for a in (model.predict(X), whole)]
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(model.predict_top(X, 3).toarray(), top.toarray())
    for again, before in zip(model.rank_labels(X, 3), ranked, strict=True):
        np.testing.assert_allclose(again, before, atol=1e-12)


@pytest.mark.usefixtures("many")
def test_top_labels_are_those_of_the_scores(data):
    X, Y = data
    model = SharedSubspaceClassifier(np.inf, 0.1, 3).fit(X, sp.csr_array(Y))
    scores = model.decision_function(X)
    labels, found = model.rank_labels(X, 4)
    np.testing.assert_array_equal(labels, np.argsort(-scores, axis=1, kind="stable")[:, :4])
    np.testing.assert_array_equal(found, np.take_along_axis(scores, labels, axis=1))
    wanted = Top(4).decide(scores, np.zeros(12))
    np.testing.assert_array_equal(model.predict_top(X, 4).toarray(), wanted)
    assert model.predict_top(X, 50).nnz == Y.size  # all labels, and no more
    for bad, error in ((0, ValueError), (2.5, TypeError)):
        with pytest.raises(error, match="n_labels"):
            model.predict_top(X, bad)


def test_two_classes_have_nothing_to_rank(data):
    X, Y = data
    model = SharedSubspaceClassifier(n_components=1).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="nothing to rank"):
        model.rank_labels(X)


def test_prediction_in_chunks_makes_no_difference(monkeypatch):
    data = make_shared_subspace(120, 10, 8, random_state=3)
    model = SharedSubspaceClassifier(kernel="rbf").fit(data.X, data.Y)
    expected = model.decision_function(data.X)
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 4000)
    np.testing.assert_allclose(model.decision_function(data.X), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_score_is_the_share_of_label_sets_that_are_right(data, kernel, rng):
    X, Y = data
    model = SharedSubspaceClassifier(0.1, 0.1, 3, kernel=kernel).fit(X, Y)
    right = (model.predict(X) == Y).all(axis=1)
    w = rng.uniform(0.5, 2, len(Y))
    assert model.score(X, Y) == pytest.approx(right.mean())
    assert model.score(X, Y, w) == pytest.approx(np.average(right, weights=w))
    partly = Y.astype(float)
    partly[::2] = np.nan
    assert model.score(X, partly) == pytest.approx(right[1::2].mean())
