"""Kernel values in ONNX against scikit-learn's, for dense and sparse training samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from eigenlabel.export.graph import ExportError, Graph, Value
from eigenlabel.export.kernel_values import kernel_product, kernel_values, unit_rows
from eigenlabel.kernels.kernel import Kernel, intersection_kernel
from onnx_runs import runtime

KERNELS = {
    "linear": (Kernel("linear"), {}),
    "poly": (Kernel("poly", 0.3, 2, 0.5), {"gamma": 0.3, "degree": 2, "coef0": 0.5}),
    "rbf": (Kernel("rbf", 0.3), {"gamma": 0.3}),
    "rbf without gamma": (Kernel("rbf"), {}),
    "sigmoid": (Kernel("sigmoid", 0.3, 3, 0.5), {"gamma": 0.3, "coef0": 0.5}),
    "cosine": (Kernel("cosine"), {}),
    "laplacian": (Kernel("laplacian", 0.3), {"gamma": 0.3}),
    "chi2": (Kernel("chi2", 0.3), {"gamma": 0.3}),
    "intersection": (Kernel("intersection"), {}),
}


def evaluate(graph, value, X):
    """Return the value of a graph with the input X."""
    kinds, helper = graph.onnx.TensorProto, graph.onnx.helper
    graph.rename(value.name, "out")
    proto = graph.make(
        [helper.make_tensor_value_info("X", kinds.DOUBLE, ["n", X.shape[1]])],
        [helper.make_tensor_value_info("out", kinds.DOUBLE, ["n", value.width])],
        {},
    )
    graph.onnx.checker.check_model(proto, full_check=True)
    ready = runtime.InferenceSession(proto.SerializeToString())
    return ready.run(None, {"X": X})[0]


def samples(rng):
    X, Z = rng.random((7, 4)), rng.random((9, 4))
    X[0] = Z[1] = 0.0  # zeros divide by zero in chi2 and cosine
    X[1] = Z[2]  # a distance of zero
    return X, Z


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_has_the_values_of_scikit_learn(rng, name, sparse):
    kernel, parameters = KERNELS[name]
    X, Z = samples(rng)
    graph = Graph()
    found = evaluate(
        graph,
        kernel_values(graph, kernel, Value("X", 4), sp.csr_array(Z) if sparse else Z),
        X,
    )
    if kernel.name == "intersection":
        expected = np.minimum(X[:, None], Z[None]).sum(axis=2)
        np.testing.assert_allclose(expected, intersection_kernel(X, Z), rtol=1e-12)
    else:
        expected = pairwise_kernels(X, Z, metric=kernel.name, **parameters)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_products_and_precomputed_kernels(rng):
    X, Z = samples(rng)
    C = rng.standard_normal((9, 3))
    graph = Graph()
    found = evaluate(graph, kernel_product(graph, Kernel("rbf", 2.0), Value("X", 4), Z, C), X)
    expected = pairwise_kernels(X, Z, metric="rbf", gamma=2.0) @ C
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    graph, K = Graph(), rng.random((5, 9))
    product = kernel_product(graph, Kernel("precomputed"), Value("X", 9), Z, C)
    np.testing.assert_allclose(evaluate(graph, product, K), K @ C, rtol=1e-12)


def test_a_callable_kernel_raises_an_error():
    with pytest.raises(ExportError, match="Python function"):
        kernel_values(Graph(), Kernel(np.dot), Value("X", 4), np.zeros((2, 4)))


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_rows_of_unit_length(rng, norm):
    X = rng.standard_normal((5, 3))
    X[2] = 0.0
    graph = Graph()
    found = evaluate(graph, unit_rows(graph, Value("X", 3), norm), X)
    order = {"l1": 1, "l2": 2, "max": np.inf}[norm]
    length = np.linalg.norm(X, order, axis=1)
    assert not found[2].any()
    some = length > 0
    np.testing.assert_allclose(found[some], X[some] / length[some, None], rtol=1e-12)
