"""Votes of neighbours: gradients, sigmoids and projections."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances

from eigenlabel import TagProp
from eigenlabel.estimators.neighbours import weighted_votes


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


@pytest.fixture(params=[(w, s) for w in ("rank", "distance") for s in (False, True)], ids=str)
def tagprop(request):
    weights, sigmoid = request.param
    return TagProp(8, weights=weights, sigmoid=sigmoid, tol=1e-9, max_iter=2000)


@pytest.mark.parametrize("lacking", [False, True])
def test_tagprop_gradients_are_those_of_differences(tagprop, lacking, data, rng):
    train, Y, _ = data
    if lacking:  # neighbours, some of the samples
        D = pairwise_distances(train["numbers"])
        D[:20] *= np.sort(D[:20], axis=1)[:, [5]] > D[:20]
        train = {"numbers": sp.csr_array(D)}
        tagprop.set_params(metric="precomputed")
    model = tagprop.fit(train, Y)
    near = training_neighbours(model, train)
    objective = model._objective(near, Y.astype(bool))
    z = rng.random(len(model.weights_)) + 0.1
    z = z / z.sum() if model.weights == "rank" else z
    _, gradient = objective(z)
    h = 1e-6
    unit = np.eye(len(z)) * h
    numeric = [(objective(z + u)[0] - objective(z - u)[0]) / (2 * h) for u in unit]
    # Differences of step h are good to h^2 and eps / h; labels that no neighbour has bend more.
    rtol, atol = (1e-5, 1e-6) if lacking else (1e-6, 1e-8)
    np.testing.assert_allclose(gradient, numeric, rtol=rtol, atol=atol)


def test_tagprop_sigmoids_are_logistic_regressions(data, rng):
    _, Y, _ = data
    x = rng.random(Y.shape)
    likelihood = weighted_votes.Likelihood(Y.astype(bool), (0.02, 0.02), 1e-5)
    curves = weighted_votes.fit_sigmoids(x, likelihood, 1e-3, np.zeros((2, 7)))
    for j in range(6):
        # the offset as a feature, so that it is penalised too: C = weight / ridge
        design = np.c_[x[:, j], np.ones(50)]
        theirs = LogisticRegression(C=20, fit_intercept=False, tol=1e-12, max_iter=1000)
        theirs.fit(design, Y[:, j])
        # lbfgs ends at a gradient of about 1e-8 at best
        np.testing.assert_allclose(curves[:, j], theirs.coef_[0], rtol=1e-4, atol=1e-5)
    assert curves[1, 6] < 0  # never seen


def test_the_second_step_of_an_ascent_has_the_length_of_the_curvature(rng):
    top = rng.standard_normal(4)

    def objective(z):
        return -1.5 * float((z - top) @ (z - top)), 3 * (top - z)

    start = rng.standard_normal(4)
    points = [z for _, z in islice(weighted_votes.ascend(objective, start, np.asarray), 3)]
    assert np.linalg.norm(points[1] - top) > 0.1  # a short first step
    np.testing.assert_allclose(points[2], top)  # all curvatures are equal


def test_simplex_projection(rng):
    for _ in range(20):
        v = rng.standard_normal(6)
        found = weighted_votes.to_simplex(v)
        np.testing.assert_allclose(found.sum(), 1, rtol=1e-12)
        assert (found >= 0).all()
        others = rng.dirichlet(np.ones(6), 200)
        assert ((others - v) ** 2).sum(axis=1).min() >= ((found - v) ** 2).sum() - 1e-12
