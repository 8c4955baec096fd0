"""Drawings are made without a screen, and every figure is closed after its test."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

from eigenlabel import SharedSubspaceClassifierCV
from eigenlabel.datasets import make_shared_subspace

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed_figures():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.fixture
def case(rng):
    """Scores with ties, labels of which some are not observed, and weights with zeros."""
    n, m = 60, 5
    Y = (rng.uniform(size=(n, m)) < [0.6, 0.3, 0.2, 0.5, 0.1]).astype(float)
    scores = np.round(rng.standard_normal((n, m)) + Y, 1)
    missing = np.where(rng.uniform(size=(n, m)) < 0.15, np.nan, Y)
    weights = rng.integers(0, 4, n)
    names = ["$a_1$", "_b", "c 50%", "d\n2", "e"]
    return SimpleNamespace(Y=Y, scores=scores, missing=missing, weights=weights, names=names)


@pytest.fixture(scope="session")
def planted():
    """A tuned model and its data."""
    data = make_shared_subspace(400, n_labels=6, noise=0.6, random_state=0)
    grid = {"alphas": [0.01, 1, np.inf], "betas": [0, 0.1], "n_components": [1, 2, 3]}
    model = SharedSubspaceClassifierCV(**grid, cv=3).fit(data.X[:250], data.Y[:250])
    return SimpleNamespace(
        model=model,
        X=data.X[250:],
        Y=data.Y[250:],
        Y_train=data.Y[:250],
        names=list(data.label_names),
    )
