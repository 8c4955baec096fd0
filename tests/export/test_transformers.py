"""Transformers in ONNX against their own results."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from eigenlabel import CCA, MDDM, MEKA, PLS, DiscriminativeSelector
from eigenlabel.export.graph import ExportError, Graph, Value
from eigenlabel.export.transformers import transformed
from eigenlabel.preprocessing import make_preparation
from export.test_kernel_values import evaluate

STEPS = {
    "nothing": FunctionTransformer(),
    "standard": StandardScaler(),
    "range": MinMaxScaler((-1, 2)),
    "largest": MaxAbsScaler(),
    "robust": RobustScaler(),
    "unit": Normalizer(),
    "unit l1": Normalizer("l1"),
    "tf-idf": TfidfTransformer(),
    "sublinear": TfidfTransformer(sublinear_tf=True, norm="l1"),
    "shares": TfidfTransformer(use_idf=False, norm=None),
    "pipeline": make_pipeline(StandardScaler(), Normalizer()),
    "columns": ColumnTransformer(
        [("a", StandardScaler(), [2, 0]), ("b", "passthrough", slice(3, 5)), ("c", "drop", [1])],
        remainder=MaxAbsScaler(),
    ),
    "pca": decomposition.PCA(3),
    "whitened": decomposition.PCA(3, whiten=True),
    "svd": decomposition.TruncatedSVD(3, random_state=0),
    "mddm": MDDM(2),
    "mddm rbf": MDDM(2, kernel="rbf"),
    "cca": CCA(2),
    "pls": PLS(2),
    "best": SelectKBest(f_classif, k=3),
    "selector": DiscriminativeSelector(3),
    "nystrom": MEKA(5, n_blocks=1, random_state=0),
    "meka": MEKA(5, n_blocks=3, kernel="laplacian", random_state=0),
}


@pytest.fixture
def data(rng):
    X = np.round(3 * rng.random((60, 6)))
    Y = X @ rng.standard_normal((6, 4)) > 0
    return X, Y


@pytest.mark.parametrize("name", STEPS)
def test_the_results_are_those_of_the_transformer(data, name):
    X, Y = data
    y = X[:, 0] > 1 if name == "best" else Y
    step = STEPS[name].fit(X, y)
    graph = Graph()
    value = transformed(graph, step, Value("X", 6))
    expected = step.transform(X)
    expected = expected.toarray() if sp.issparse(expected) else expected
    assert value.width == expected.shape[1]
    np.testing.assert_allclose(evaluate(graph, value, X), expected, rtol=0, atol=1e-10)


def test_missing_numbers_are_imputed(data):
    X = data[0].copy()
    X[::7, 2] = np.nan
    for step in (SimpleImputer(), SimpleImputer(strategy="median", keep_empty_features=True)):
        graph = Graph()
        value = transformed(graph, step.fit(X), Value("X", 6))
        np.testing.assert_array_equal(evaluate(graph, value, X), step.transform(X))


def test_empty_columns_are_dropped_or_kept(data):
    X = data[0].copy()
    X[:, 2] = np.nan
    for keep, width in ((False, 5), (True, 6)):
        step = SimpleImputer(keep_empty_features=keep).fit(X)
        graph = Graph()
        value = transformed(graph, step, Value("X", 6))
        assert value.width == width


@pytest.mark.parametrize("kind", ["auto", "tfidf", "unit", "standard", "none"])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_preparation_of_the_command_line(data, kind, sparse):
    X = data[0].copy()
    names = [f"f{j}" for j in range(6)]
    kinds = {"f1": ("a", "b", "c", "d")}
    X[5, 0] = X[7, 1] = np.nan
    X[8, 1] = 17.0  # a value that is not known
    given = sp.csr_array(X) if sparse else X
    types = {"f0": "number", "f1": "category"}
    words = {"text": slice(3, 6)}
    step = make_preparation(
        kind, given, feature_names=names, categories=kinds, column_types=types, words=words
    ).fit(given)
    expected = step.transform(given)
    expected = expected.toarray() if sp.issparse(expected) else expected
    graph = Graph()
    value = transformed(graph, step, Value("X", 6))
    np.testing.assert_allclose(evaluate(graph, value, X), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "step",
    [
        PolynomialFeatures(),
        decomposition.NMF(2, max_iter=1000),
        FunctionTransformer(np.sqrt),
        SimpleImputer(add_indicator=True),
    ],
    ids=lambda step: type(step).__name__,
)
def test_what_has_no_form_raises_an_error(data, step):
    with pytest.raises(ExportError, match=r"in ONNX|ONNX cannot"):
        transformed(Graph(), step.fit(data[0]), Value("X", 6))
