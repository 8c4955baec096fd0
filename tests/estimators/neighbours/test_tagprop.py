"""TagProp: its likelihood, its neighbours and its limits."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

from eigenlabel import TagProp
from eigenlabel.estimators.neighbours.weighted_votes import ByDistance


@pytest.fixture
def data(rng):
    """Two views of 50 samples, histograms and numbers, ten new ones, and labels, one never seen."""
    S = rng.standard_normal((60, 3))
    histograms = rng.poisson(np.exp(S @ rng.standard_normal((3, 6)) + 1)).astype(float)
    numbers = S @ rng.standard_normal((3, 8)) + 0.3 * rng.standard_normal((60, 8))
    scores = S @ rng.standard_normal((3, 7)) + 0.5 * rng.standard_normal((60, 7))
    Y = (scores > np.linspace(0, 2, 7)).astype(int)
    Y[:50, 6] = 0
    views = {"histograms": histograms, "numbers": numbers}
    train = {name: A[:50] for name, A in views.items()}
    new = {name: A[50:] for name, A in views.items()}
    return train, Y[:50], new


def training_neighbours(model, X):
    """Return the neighbours of the training samples."""
    return model._find(model._layout.read(model, X), training=True)


def weigh(model, near):
    """Return the fitted weights of the neighbours."""
    return model._weighting().weights(near, model.weights_)


def naive_log_likelihood(model, W, index, Y):
    """Guillaumin et al., Eqs. 1 to 3 and 9, entry by entry."""
    n, m = Y.shape
    total = 0.0
    positives = Y.sum()
    for i in range(n):
        for label in range(m):
            x = sum(W[i, k] * Y[index[i, k], label] for k in range(W.shape[1]))
            if model.sigmoid:
                p = 1 / (1 + np.exp(-(model.curves_[0, label] * x + model.curves_[1, label])))
            else:
                p = sum(
                    W[i, k] * (1 - model.epsilon if Y[index[i, k], label] else model.epsilon)
                    for k in range(W.shape[1])
                )
            cost = 1 / positives if Y[i, label] else 1 / (Y.size - positives)
            total += cost * np.log(p if Y[i, label] else 1 - p)
    if model.sigmoid:
        total -= model.ridge / 2 * np.sum(model.curves_**2)
    return total


@pytest.fixture(params=[(w, s) for w in ("rank", "distance") for s in (False, True)], ids=str)
def tagprop(request):
    weights, sigmoid = request.param
    return TagProp(8, weights=weights, sigmoid=sigmoid, tol=1e-9, max_iter=2000)


def test_tagprop_maximises_its_likelihood_and_never_decreases(tagprop, data):
    train, Y, _ = data
    model = tagprop.fit(train, Y)
    history = model.log_likelihood_
    assert (np.diff(history) >= -1e-12 * np.abs(history[:-1])).all()
    assert history[-1] > history[0]
    near = training_neighbours(model, train)
    W = weigh(model, near)
    np.testing.assert_allclose(W.sum(axis=1), 1, rtol=1e-12)
    final = naive_log_likelihood(model, W, near.index, Y)
    np.testing.assert_allclose(history[-1], final, rtol=1e-9)
    assert not (near.index == np.arange(50)[:, None]).any()


def test_tagprop_keeps_the_sigmoids_of_its_point_when_no_step_rises(data):
    train, Y, _ = data

    class Downhill(ByDistance):
        def slope(self, near, W, pull):
            return -super().slope(near, W, pull)

    class DownhillTagProp(TagProp):
        def _weighting(self):
            return Downhill()

    model = DownhillTagProp(8).fit(train, Y)
    assert model.n_iter_ == 0
    near = training_neighbours(model, train)
    final = naive_log_likelihood(model, weigh(model, near), near.index, Y)
    np.testing.assert_allclose(model.log_likelihood_, [final], rtol=1e-9)


def test_tagprop_without_balance_has_the_mean_log_likelihood(data):
    train, Y, new = data
    model = TagProp(100, sigmoid=False, balanced=False, epsilon=0.1).fit(train, Y)
    near = training_neighbours(model, train)
    assert near.index.shape == (50, 49), "all others, where there are no more"
    x = np.einsum("ik,ikl->il", weigh(model, near), Y[near.index])
    p = 0.1 + 0.8 * x
    mean = np.log(np.where(Y == 1, p, 1 - p)).mean()
    np.testing.assert_allclose(model.log_likelihood_[-1], mean, rtol=1e-12)
    far = model.decision_function({name: A * 1e6 for name, A in new.items()})
    # 2 p - 1 with p between 0.1 and 0.9, where the weights of neighbours sum to one up to rounding
    assert np.abs(far).max() <= 0.8 + 1e-12
    assert far.min() == pytest.approx(-0.8), "a label that no sample has"
    for name, view in model.views_.items():
        assert view.scale == pytest.approx(pairwise_distances(train[name]).max())


def test_tagprop_by_ranks_is_the_concave_maximum(data):
    """Frank-Wolfe gap: no point of the simplex has a higher tangent plane."""
    train, Y, _ = data
    model = TagProp(8, weights="rank", sigmoid=False, tol=0, max_iter=3000).fit(train, Y)
    near = training_neighbours(model, train)
    _, g = model._objective(near, Y.astype(bool))(model.weights_)
    np.testing.assert_allclose(model.weights_.sum(), 1, rtol=1e-12)
    # The ascent ends when values do not rise any more: it sees a gap down to the root of rounding.
    assert g.max() - g @ model.weights_ < 1e-7


def test_tagprop_with_one_neighbour_is_nearest_neighbour_classification(data):
    train, Y, new = data
    for weights in ("rank", "distance"):
        model = TagProp(1, weights=weights, sigmoid=False).fit(train["numbers"], Y)
        nearest = KNeighborsClassifier(1).fit(train["numbers"], Y)
        assert (model.predict(new["numbers"]) == nearest.predict(new["numbers"])).all()


def test_tagprop_neighbours_are_near_in_some_view(data):
    """The first one of each view, then the second ones, until there are enough."""
    train, Y, _ = data
    model = TagProp(7).fit(train, Y)
    near = training_neighbours(model, train)
    ranks = []
    for A in train.values():
        D = pairwise_distances(A)
        np.fill_diagonal(D, np.inf)
        ranks.append(np.argsort(D, axis=1, kind="stable"))
    for i in range(50):
        wanted = []
        for pair in zip(*(r[i] for r in ranks), strict=True):
            wanted += [j for j in dict.fromkeys(pair) if j not in wanted]
        assert set(near.index[i]) == set(wanted[:7])


def test_tagprop_neighbours_are_those_that_all_views_list():
    n, i = 6, np.arange(6)

    def listed(**at):
        D = np.zeros((n, n))
        for step, value in at.items():
            D[i, (i + int(step[1:])) % n] = value
        return sp.csr_array(D)

    views = {"a": listed(s1=0.1, s3=0.9), "b": listed(s2=0.1, s3=0.9)}
    model = TagProp(1, metric="precomputed").fit(views, np.eye(n, dtype=int))
    near = training_neighbours(model, views)
    assert near.there.all()
    assert (near.index[:, 0] == (i + 3) % n).all()


def test_tagprop_warns_when_it_stops_early(data):
    train, Y, _ = data
    with pytest.warns(ConvergenceWarning, match="still gained"):
        TagProp(8, max_iter=1, tol=1e-12).fit(train, Y)
