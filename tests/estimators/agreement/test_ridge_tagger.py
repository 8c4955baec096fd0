"""KernelRidgeTagger: ridge regression of the labels on each view."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from eigenlabel import KGHA, KernelRidgeTagger


@pytest.fixture
def data(rng):
    """Two views of planted scores, and labels."""
    n, m = 60, 6
    S = rng.standard_normal((n, 3))
    tall = S @ rng.standard_normal((3, 5)) + 0.5 * rng.standard_normal((n, 5)) + 2.0
    wide = S @ rng.standard_normal((3, 90)) + 0.5 * rng.standard_normal((n, 90)) - 1.0
    scores = S @ rng.standard_normal((3, m)) + 0.3 * rng.standard_normal((n, m))
    Y = (scores > np.quantile(scores, 0.6, axis=0)).astype(int)
    return {"tall": tall, "wide": wide}, Y


def hide(view, rows):
    view = view.copy()
    view[rows] = np.nan
    return view


def case(data, missing):
    """Return views, labels, and (kernel matrix, rows) of both, some samples missing or none."""
    views, Y = data
    lost = {"tall": [3, 4, 50], "wide": [4, 10, 11]} if missing else {"tall": [], "wide": []}
    rows = {k: np.setdiff1d(np.arange(len(Y)), lost[k]) for k in views}
    kernels = [
        (linear_kernel(views["tall"][rows["tall"]]), rows["tall"]),
        (rbf_kernel(views["wide"][rows["wide"]], gamma=0.01), rows["wide"]),
    ]
    return {k: hide(views[k], lost[k]) for k in views}, Y, kernels


SETTING = {
    "kernel": {"tall": "linear", "wide": "rbf"},
    "gamma": 0.01,
    "ridge": {"tall": 0.5, "wide": 0.02},
    "trade_off": 0.7,
    "label_ridge": 0.3,
}


@pytest.mark.parametrize("missing", [False, True])
def test_ridge_regression_of_each_view_by_itself(data, missing):
    views, Y, kernels = case(data, missing)
    ridges = {"tall": 0.5, "wide": 0.02}
    setting = {"kernel": SETTING["kernel"], "gamma": 0.01, "view_weights": [1.0, 3.0]}
    model = KernelRidgeTagger(ridges, **setting).fit(views, Y)
    total, weight = np.zeros(Y.shape), np.zeros((len(Y), 1))
    for (K, rows), c, w in zip(kernels, ridges.values(), (0.5, 1.5), strict=True):
        n = len(rows)
        system = np.block([[K + c * np.eye(n), np.ones((n, 1))], [np.ones(n), 0.0]])
        solution = np.linalg.solve(system, np.vstack([Y[rows], np.zeros(Y.shape[1])]))
        total[rows] += w * (K @ solution[:-1] + solution[-1])
        weight[rows] += w
    shares = np.where(weight > 0, total / np.maximum(weight, 1e-300), Y.mean(axis=0))
    np.testing.assert_allclose(model.decision_function(views), 2 * shares - 1, atol=1e-8)
    special = {"n_components": 1.0, "trade_off": 0.0, "label_ridge": 0.0, "ridge": ridges}
    same = KGHA(**special, **setting).fit(views, Y)
    np.testing.assert_allclose(
        model.decision_function(views), same.decision_function(views), atol=1e-8
    )
