"""Helpers of tests of models that are fitted by blocks."""

import copy

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets import Dataset, make_shared_subspace, save

FITTED = ("coef_", "intercept_", "eigenvalues_", "components_")


def make_data():
    """Return samples with means that are not zero, and labels."""
    made = make_shared_subspace(300, 12, 6, 2, prevalence=0.3, random_state=0)
    X = made.X + 3 * np.arange(12)
    X[np.abs(made.X) < 0.5] = 0
    return X, made.Y


def fed(model, X, Y, blocks, **more):
    for rows in blocks:
        extra = {k: v[rows] for k, v in more.items()}
        model.partial_fit(X[rows], Y[rows], **extra)
    return model


def assert_equal_models(found, expected, tolerance=1e-8):
    for name in FITTED:
        wanted = getattr(expected, name)
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(getattr(found, name), wanted, atol=tolerance * scale)


def state_of(model):
    """Return the state that a block with an error must not change."""
    found = {k: v for k, v in vars(model).items() if k != "_stream"}
    kept = vars(model).get("_stream")
    return found, None if kept is None else (kept, copy.deepcopy(kept.settle().folds[0].total))


def assert_same_state(model, before):
    found, kept = state_of(model)
    assert found.keys() == before[0].keys()
    for name, value in before[0].items():
        assert found[name] is value
    if kept is not None:
        assert kept[0] is before[1][0]
        np.testing.assert_array_equal(kept[1].XX, before[1][1].XX)


def write(folder, X, Y, name):
    names = np.array([f"f{j}" for j in range(X.shape[1])]), np.array(list("abcdef"))
    save(Dataset(sp.csr_array(X), sp.csr_array(Y), *names), folder / name)
    return folder / name
