"""A graph of ONNX that grows node by node, and the one import of onnx.

All numbers are of type double, because scores are sums whose large terms may cancel.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.machine import readable
from eigenlabel.linalg.operators import is_sparse

OPSET, IR_VERSION = 18, 8  # of 2022, so that runtimes of the last years read the file
LARGEST = 2**31 - 2**20  # bytes of constants: a protobuf file holds at most 2 GiB


def import_onnx() -> Any:
    """Return ``onnx``; raise ImportError with advice if it is not installed."""
    try:
        import onnx  # noqa: PLC0415 - only the export needs it
        import onnx.checker  # noqa: PLC0415
        import onnx.helper  # noqa: PLC0415
        import onnx.numpy_helper  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "export_onnx writes files with onnx: pip install eigenlabel[onnx], or pip install onnx."
        ) from error
    return onnx


class ExportError(TypeError):
    """A part of a model cannot be written as ONNX."""


class Value(NamedTuple):
    """A matrix in the graph.

    Attributes
    ----------
    name : str
        Its name.
    width : int
        The number of its columns.
    """

    name: str
    width: int


class Graph:
    """Nodes and constants of a graph.

    Attributes
    ----------
    nbytes : int
        The size of all constants.
    """

    def __init__(self) -> None:
        self.onnx = import_onnx()
        self.nbytes = 0
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._count = 0

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"

    def add(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node and return the name of its output, or a tuple of names if it has several."""
        names = [self._name(op) for _ in range(outputs)]
        self._nodes.append(self.onnx.helper.make_node(op, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else tuple(names)

    def rename(self, value: str, name: str) -> None:
        """Make a tensor available under another name."""
        self._nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))

    def constant(self, array: Any, dtype: Any = np.float64) -> str:
        """Add a constant and return its name; a sparse matrix becomes dense.

        Its size is checked before memory is used for it.
        """
        shape = np.shape(array)
        size = math.prod(shape) * np.dtype(dtype).itemsize
        self.nbytes += size
        if self.nbytes > LARGEST:
            raise MemoryError(
                f"The model needs more than {readable(LARGEST)} in an ONNX file, which holds at "
                f"most that: an array of {' x '.join(map(str, shape))} numbers alone takes "
                f"{readable(size)}. Use a linear kernel or fewer training samples, or, for many "
                "labels, SharedSubspaceClassifier(alpha=inf), whose weights are two small factors."
            )
        dense = array.toarray() if is_sparse(array) else np.asarray(array)
        tensor = self.onnx.numpy_helper.from_array(
            np.ascontiguousarray(dense, dtype=dtype).reshape(shape), self._name("constant")
        )
        self._constants.append(tensor)
        return str(tensor.name)

    def integers(self, values: Any) -> str:
        """Add a constant of type int64 and return its name."""
        return self.constant(values, np.int64)

    def words(self, values: Any) -> str:
        """Add a constant of texts and return its name."""
        texts = [str(value).encode() for value in values]
        helper = self.onnx.helper
        kind = self.onnx.TensorProto.STRING
        tensor = helper.make_tensor(self._name("constant"), kind, [len(texts)], texts)
        self.nbytes += sum(map(len, texts))
        self._constants.append(tensor)
        return str(tensor.name)

    def affine(self, X: Value, M: Matrix, c: Any) -> Value:
        """Return ``X M' + c`` for M (k, d)."""
        product = self.add("MatMul", X.name, self.constant(M.T))
        return Value(self.add("Add", product, self.constant(c)), M.shape[0])

    def columns(self, X: Value, places: Any) -> Value:
        """Return some columns of X."""
        places = np.arange(X.width)[places]
        if np.array_equal(places, np.arange(X.width)):
            return X
        return Value(self.add("Gather", X.name, self.integers(places), axis=1), len(places))

    def to_double(self, name: str) -> str:
        """Return a tensor as numbers of type double."""
        return str(self.add("Cast", name, to=self.onnx.TensorProto.DOUBLE))

    def by_row(self, X: Value, width: int, body: Callable[[str], str]) -> Value:
        """Return the results (width,) of a function of each row (1, d) of X.

        The rows are handled one by one, so that memory does not grow with their number.
        """
        helper, kind = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        row, outer = self._name("row"), self._nodes
        self._nodes = []
        lifted = self.add("Unsqueeze", row, self.integers([0]))
        result = body(lifted)
        inner, self._nodes = self._nodes, outer
        graph = helper.make_graph(
            inner,
            self._name("by_row"),
            [helper.make_tensor_value_info(row, kind, [X.width])],
            [helper.make_tensor_value_info(result, kind, [width])],
        )
        return Value(self.add("Scan", X.name, body=graph, num_scan_inputs=1), width)

    def make(self, inputs: list[Any], outputs: list[Any], notes: dict[str, str]) -> Any:
        """Return the model with the given inputs and outputs, and notes as metadata."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self._nodes, "eigenlabel", inputs, outputs, initializer=self._constants
        )
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="eigenlabel"
        )
        helper.set_model_props(model, notes)
        return model


@contextmanager
def inside(where: str) -> Iterator[None]:
    """Name the part of a model that an ExportError comes from."""
    try:
        yield
    except ExportError as error:
        raise ExportError(f"{where}: {error}") from None
