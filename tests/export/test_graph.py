"""The graph: constants are counted before they take memory, and errors name their place."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.export import graph as graphs
from eigenlabel.export.graph import ExportError, Graph, Value, inside
from export.test_kernel_values import evaluate


def test_a_model_without_onnx_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install eigenlabel\[onnx\]"):
        Graph()


def test_constants_beyond_the_limit_are_never_made():
    graph = Graph()
    huge = sp.csr_array((100_000, 100_000))  # 80 GB if it became dense
    with pytest.raises(MemoryError, match=r"100000 x 100000 numbers alone.*linear kernel"):
        graph.constant(huge)


def test_the_limit_counts_all_constants(monkeypatch):
    monkeypatch.setattr(graphs, "LARGEST", 100)
    graph = Graph()
    graph.constant(np.zeros(6))
    graph.words(["a" * 40])
    assert graph.nbytes == 88
    with pytest.raises(MemoryError, match="in an ONNX file"):
        graph.constant(np.zeros(2))


def test_columns_and_affine_maps(rng):
    X, M, c = rng.standard_normal((4, 5)), rng.standard_normal((2, 3)), rng.standard_normal(2)
    graph = Graph()
    some = graph.columns(Value("X", 5), [4, 0, 2])
    np.testing.assert_allclose(
        evaluate(graph, graph.affine(some, M, c), X), X[:, [4, 0, 2]] @ M.T + c, rtol=1e-12
    )
    assert graph.columns(some, slice(None)) is some


def test_rows_are_handled_one_by_one(rng):
    X = rng.standard_normal((6, 3))
    graph = Graph()
    value = graph.by_row(
        Value("X", 3),
        3,
        lambda row: graph.add("Squeeze", graph.add("Mul", row, row), graph.integers([0])),
    )
    np.testing.assert_allclose(evaluate(graph, value, X), X**2, rtol=1e-15)


def test_errors_name_the_part_of_the_model():
    with (
        pytest.raises(ExportError, match=r"^step 'a': member 'b': no$"),
        inside("step 'a'"),
        inside("member 'b'"),
    ):
        raise ExportError("no")
