"""Samples that are removed again, against one fit to the others."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from eigenlabel import SharedSubspaceClassifier
from eigenlabel.datasets import make_shared_subspace
from streams import assert_equal_models, assert_same_state, fed, make_data, state_of


@pytest.fixture
def data():
    return make_data()


def test_a_thousand_blocks_less_half_of_them(rng):
    X, Y = rng.standard_normal((3000, 8)) + 5, (rng.random((3000, 5)) < 0.4).astype(int)
    X[:, 0] += Y[:, 0]
    blocks = np.split(np.arange(3000), 1000)
    model = fed(SharedSubspaceClassifier(), X, Y, blocks)
    gone = rng.choice(1000, 500, replace=False)
    for k in gone:
        model.forget(X[blocks[k]], Y[blocks[k]])
    left = np.delete(np.arange(1000), gone)
    rest = np.concatenate([blocks[k] for k in left])
    expected = SharedSubspaceClassifier().fit(X[rest], Y[rest])
    assert_equal_models(model, expected)  # 1e-6 is asked for
    assert model.n_samples_seen_ == 1500


def test_forgetting_weighted_sparse_samples(data, rng):
    X, Y = sp.csr_array(data[0]), data[1]
    w = rng.uniform(0.1, 3, 300)
    model = SharedSubspaceClassifier().partial_fit(X, Y, sample_weight=w)
    model.forget(X[:100], Y[:100], sample_weight=w[:100])
    expected = SharedSubspaceClassifier().fit(X[100:], Y[100:], w[100:])
    assert_equal_models(model, expected)


@pytest.mark.parametrize("left", [0, 1])
def test_forgetting_all_weighted_samples_but_those_of_one_kind(left, rng):
    # The mean target that is left is -1 or 1 up to the rounding of sums of weights, either way.
    X, w = rng.standard_normal((300, 4)), rng.uniform(0.1, 3, 300)
    Y = np.c_[rng.random(300) < 0.5, rng.random((300, 2)) < 0.4].astype(int)
    rest = Y[:, 0] == left
    model = SharedSubspaceClassifier().partial_fit(X, Y, sample_weight=w)
    for k in np.flatnonzero(~rest):
        model.forget(X[k : k + 1], Y[k : k + 1], sample_weight=w[k : k + 1])
    expected = SharedSubspaceClassifier().fit(X[rest], Y[rest], w[rest])
    np.testing.assert_allclose(
        model.decision_function(X[rest]), expected.decision_function(X[rest]), atol=1e-9
    )


@pytest.mark.parametrize("last", ["label", "feature", "every feature"])
def test_forgetting_goes_on_where_something_has_become_constant(data, last):
    X, Y = data
    only = np.arange(len(X)) == 7
    X, Y = {
        "label": (X, np.c_[Y, only]),
        "feature": (np.c_[X, 0.3 * only], Y),
        "every feature": (0.3 * only[:, None], Y),
    }[last]
    model = SharedSubspaceClassifier().partial_fit(X, Y).forget(X[7:8], Y[7:8])
    for k in (20, 30, 40):
        model.forget(X[k : k + 1], Y[k : k + 1])
    left = ~np.isin(np.arange(len(X)), (7, 20, 30, 40))
    whole = SharedSubspaceClassifier().fit(X[left], Y[left])
    np.testing.assert_allclose(
        model.decision_function(X[left]), whole.decision_function(X[left]), atol=1e-9
    )
    total = model._stream.total()
    assert (np.diag(total.XX) >= 0).all()
    assert (total.TT >= 0).all()


@pytest.mark.parametrize("beta", [1e-3, 1.0])
def test_forgetting_samples_that_never_were_there_is_reported(beta):
    drawn = make_shared_subspace(140, 80, 6, random_state=0)
    X, Y, strange = drawn.X, drawn.Y, slice(100, 140)
    model = SharedSubspaceClassifier(beta=beta).partial_fit(X[:100], Y[:100])
    model.forget(X[strange], Y[strange])  # no single feature shows it
    with pytest.raises(ValueError, match="were not all among those added"):
        model.predict(X)
    model.partial_fit(X[strange], Y[strange])
    whole = SharedSubspaceClassifier(beta=beta).fit(X[:100], Y[:100])
    np.testing.assert_allclose(
        model.decision_function(X), whole.decision_function(X), rtol=0, atol=1e-7
    )  # what was taken out and added again leaves its rounding


def test_forgetting_everything_and_starting_again(data):
    X, Y = data
    model = SharedSubspaceClassifier().partial_fit(X, Y).forget(X, Y)
    assert model.n_samples_seen_ == 0
    assert not hasattr(model, "coef_")
    with pytest.raises(NotFittedError, match="No samples are left"):
        model.predict(X)
    model.partial_fit(X[:200], Y[:200])
    assert_equal_models(model, SharedSubspaceClassifier().fit(X[:200], Y[:200]))


def test_samples_that_cannot_be_forgotten_raise_an_error(data):
    X, Y = data
    model = SharedSubspaceClassifier().partial_fit(X[:50], Y[:50])
    before = state_of(model)
    for block, labels, weights, message in (
        (X[:60], Y[:60], None, "Cannot forget 60 samples: the model has seen 50"),
        (X[:50], Y[:50], np.full(50, 2.0), "have a total weight of 100, those of the model 50"),
        (X[:50], Y[:50], np.full(50, 0.5), "have a total weight of 25, those of the model 50"),
        (X[:5] + 100, Y[:5], None, "were not all in the model"),
        (X[:40], 1 - Y[:40], None, "were not all in the model"),
        (X[:5, :3], Y[:5], None, "X has 3 features"),
        (X[:5], Y[:5, :2], None, "y has 2 labels"),
    ):
        with pytest.raises(ValueError, match=message):
            model.forget(block, labels, weights)
        assert_same_state(model, before)
    with pytest.raises(NotFittedError, match="forget needs a model fitted by partial_fit"):
        SharedSubspaceClassifier().fit(X, Y).forget(X, Y)
