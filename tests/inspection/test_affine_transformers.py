"""Affine maps are found by public attributes, and believed only if they fit."""

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.decomposition import NMF, FastICA, IncrementalPCA, KernelPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import VarianceThreshold
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

import eigenlabel as el
from eigenlabel.inspection.affine_transformers import (
    find_projection,
    find_scaling,
    row_factors,
    scales_rows,
)
from explained import make_data

PROJECTIONS = [
    decomposition.PCA(3),
    decomposition.PCA(3, whiten=True),
    IncrementalPCA(3),
    TruncatedSVD(3, random_state=0),
    FastICA(3, random_state=0, whiten="unit-variance", max_iter=2000),
    GaussianRandomProjection(3, random_state=0),
    SparseRandomProjection(3, random_state=0, dense_output=True),
    LinearDiscriminantAnalysis(n_components=2),
    el.MDDM(3),
    el.CCA(2, reg=0.1),
    el.OPLS(2, reg=0.1),
    el.PCA(3),
    el.PLS(2),
    el.LPP(2),
    el.MtSDA(),
    el.SharedSubspaceClassifier(n_components=2),
]
OTHERS = [
    NMF(3, max_iter=3000, random_state=0),
    KernelPCA(3, kernel="rbf"),
    PolynomialFeatures(2),
    StandardScaler(),
    el.MDDM(2, kernel="rbf"),
]


@pytest.fixture
def data(rng):
    X, Y = make_data(rng)
    return np.abs(X) + 0.1, Y


def name(step):
    return repr(step)[:40]


@pytest.mark.parametrize("step", PROJECTIONS, ids=name)
def test_projections_are_affine_maps(step, data):
    X, Y = data
    y = Y[:, 0] + Y[:, 1] if isinstance(step, LinearDiscriminantAnalysis) else Y
    step.fit(X, y)
    found = find_projection(step)
    np.testing.assert_allclose(X @ found.M.T + found.c, step.transform(X), atol=1e-10)


@pytest.mark.parametrize("step", OTHERS, ids=name)
def test_other_transformers_are_none(step, data):
    X, Y = data
    assert find_projection(step.fit(X, Y)) is None


@pytest.mark.parametrize(
    "step",
    [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler(), VarianceThreshold(0.1)],
    ids=name,
)
def test_scaling_and_selection_are_affine_maps(step, data):
    X, Y = data
    step.fit(X, Y)
    found = find_scaling(step, X.shape[1])
    np.testing.assert_allclose(X @ found.M.T + found.c, step.transform(X), atol=1e-12)


@pytest.mark.parametrize("step", [PowerTransformer(), Normalizer(), FunctionTransformer(np.log1p)])
def test_other_transformers_are_no_scaling(step, data):
    assert find_scaling(step.fit(data[0]), data[0].shape[1]) is None


def test_rows_of_unit_length(data):
    X, _ = data
    for norm in ("l1", "l2", "max"):
        step = Normalizer(norm).fit(X)
        assert scales_rows(step, X.shape[1])
        np.testing.assert_allclose(
            row_factors(X, step.transform(X))[:, None] * X, step.transform(X), atol=1e-14
        )
    assert not scales_rows(StandardScaler().fit(X), X.shape[1])
    assert not scales_rows(PolynomialFeatures(2).fit(X), X.shape[1])
    assert row_factors(np.zeros((2, 3)), np.zeros((2, 3))).tolist() == [1.0, 1.0]


def test_a_transformer_that_rejects_numbers_is_none():
    from sklearn.feature_extraction.text import CountVectorizer

    step = CountVectorizer().fit(["one two"])
    assert find_projection(step) is None
    assert find_scaling(step, 2) is None
