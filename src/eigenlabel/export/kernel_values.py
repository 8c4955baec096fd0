"""Kernel values of samples with training samples, as nodes of ONNX."""

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenlabel.export.graph import ExportError, Graph, Value
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.linalg.operators import is_sparse


def kernel_product(graph: Graph, kernel: Kernel, X: Value, samples: Any, C: Floats) -> Value:
    """Return ``K C`` with the kernel matrix K of X and training samples (n, d), C (n, k)."""
    K = kernel_values(graph, kernel, X, samples)
    return Value(graph.add("MatMul", K.name, graph.constant(C)), C.shape[1])


def kernel_values(graph: Graph, kernel: Kernel, X: Value, Z: Matrix) -> Value:
    """Return the kernel matrix of X and training samples Z."""
    if callable(kernel.name):
        raise ExportError(
            f"the kernel {kernel.name!r} is a Python function, which ONNX cannot call. Use a named "
            "kernel, or kernel='precomputed' and export the model of kernel values."
        )
    if kernel.precomputed:
        return X
    made = MAKERS[kernel.name](graph, kernel, X, Z)
    return Value(made, Z.shape[0])


def gamma_of(kernel: Kernel, width: int) -> float:
    """Return the bandwidth; one that is not settled is that of scikit-learn."""
    if kernel.gamma is not None:
        return float(kernel.gamma)
    return 1.0 if kernel.name == "chi2" else 1.0 / width


def _products(graph: Graph, X: Value, Z: Matrix, factor: float = 1.0) -> str:
    """Return ``factor X Z'``.

    The factor is part of the constant. A product that is multiplied afterwards would be fused by
    onnxruntime, with the factor in single precision.
    """
    return str(graph.add("MatMul", X.name, graph.constant((factor * Z).T)))


def _linear(graph: Graph, kernel: Kernel, X: Value, Z: Matrix) -> str:  # noqa: ARG001
    return _products(graph, X, Z)


def _scaled(graph: Graph, kernel: Kernel, X: Value, Z: Matrix) -> str:
    """Return ``gamma X Z' + coef0``."""
    scaled = _products(graph, X, Z, gamma_of(kernel, X.width))
    return str(graph.add("Add", scaled, graph.constant(float(kernel.coef0))))


def _poly(graph: Graph, kernel: Kernel, X: Value, Z: Matrix) -> str:
    degree = graph.constant(float(kernel.degree))
    return str(graph.add("Pow", _scaled(graph, kernel, X, Z), degree))


def _sigmoid(graph: Graph, kernel: Kernel, X: Value, Z: Matrix) -> str:
    return str(graph.add("Tanh", _scaled(graph, kernel, X, Z)))


def _rbf(graph: Graph, kernel: Kernel, X: Value, Z: Matrix) -> str:
    """Return ``exp(-gamma |x - z|^2)``, with the square of the distance as a sum of products."""
    squares = graph.add("ReduceSum", graph.add("Mul", X.name, X.name), graph.integers([1]))
    total = graph.add("Add", squares, _products(graph, X, Z, -2.0))
    total = graph.add("Add", total, graph.constant(_row_squares(Z)))
    distance = graph.add("Max", total, graph.constant(0.0))
    return _exponential(graph, distance, -gamma_of(kernel, X.width))


def _cosine(graph: Graph, kernel: Kernel, X: Value, Z: Matrix) -> str:  # noqa: ARG001
    norms = np.sqrt(_row_squares(Z))
    products = _products(graph, unit_rows(graph, X), Z)
    return str(graph.add("Div", products, graph.constant(np.where(norms > 0, norms, 1.0))))


def _laplacian(graph: Graph, kernel: Kernel, X: Value, Z: Matrix) -> str:
    distance = _by_row(graph, X, Z, lambda x, z: graph.add("Abs", graph.add("Sub", z, x)))
    return _exponential(graph, distance, -gamma_of(kernel, X.width))


def _intersection(graph: Graph, kernel: Kernel, X: Value, Z: Matrix) -> str:  # noqa: ARG001
    return _by_row(graph, X, Z, lambda x, z: graph.add("Min", x, z))


def _chi2(graph: Graph, kernel: Kernel, X: Value, Z: Matrix) -> str:
    def term(x: str, z: str) -> str:
        off, total = graph.add("Sub", z, x), graph.add("Add", z, x)
        empty = graph.add("Equal", total, graph.constant(0.0))
        divisor = graph.add("Where", empty, graph.constant(1.0), total)
        return str(graph.add("Div", graph.add("Mul", off, off), divisor))

    return _exponential(graph, _by_row(graph, X, Z, term), -gamma_of(kernel, X.width))


def _exponential(graph: Graph, distance: str, factor: float) -> str:
    return str(graph.add("Exp", graph.add("Mul", distance, graph.constant(factor))))


def _by_row(graph: Graph, X: Value, Z: Matrix, term: Callable[[str, str], str]) -> str:
    """Return the sums over features of a term of all pairs of samples.

    The samples are compared one by one with all training samples, so that memory is that of Z.
    """
    samples = graph.constant(Z)

    def compare(row: str) -> str:
        return str(graph.add("ReduceSum", term(row, samples), graph.integers([1]), keepdims=0))

    return graph.by_row(X, Z.shape[0], compare).name


def _row_squares(Z: Matrix) -> Floats:
    squares = Z.multiply(Z) if is_sparse(Z) else np.asarray(Z, dtype=float) ** 2
    return np.asarray(squares.sum(axis=1), dtype=float).ravel()


def unit_rows(graph: Graph, X: Value, norm: str = "l2") -> Value:
    """Return X with rows of length 1 in a norm; rows of zeros stay as they are."""
    if norm == "l2":
        total = graph.add("ReduceSum", graph.add("Mul", X.name, X.name), graph.integers([1]))
        length = graph.add("Sqrt", total)
    else:
        op = {"l1": "ReduceSum", "max": "ReduceMax"}[norm]
        length = graph.add(op, graph.add("Abs", X.name), graph.integers([1]))
    empty = graph.add("Equal", length, graph.constant(0.0))
    divisor = graph.add("Where", empty, graph.constant(1.0), length)
    return Value(graph.add("Div", X.name, divisor), X.width)


MAKERS: dict[str, Callable[[Graph, Kernel, Value, Matrix], str]] = {
    "linear": _linear,
    "poly": _poly,
    "rbf": _rbf,
    "sigmoid": _sigmoid,
    "cosine": _cosine,
    "laplacian": _laplacian,
    "chi2": _chi2,
    "intersection": _intersection,
}
