"""Label sets and classes of scores, as nodes of ONNX."""

from typing import Any

import numpy as np

from eigenlabel.export.graph import ExportError, Graph, Value
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.probability_rules import Between
from eigenlabel.thresholds.rules import Top


def decided(graph: Graph, rule: Rule, values: Value, thresholds: Any) -> Value:
    """Return the 0/1 label matrix of type int64 that a rule decides on."""
    cuts = np.broadcast_to(np.asarray(thresholds, dtype=float), (values.width,))
    if type(rule).decide is Rule.decide:
        return _as_labels(graph, _above(graph, values, cuts), values.width)
    if isinstance(rule, Top):
        return _as_labels(graph, _first(graph, values, cuts, rule.n_labels), values.width)
    if isinstance(rule, Between):
        found = _above(graph, values, cuts)
        if rule.most is not None:
            found = graph.add("And", found, _first(graph, values, cuts, rule.most))
        found = graph.add("Or", found, _first(graph, values, cuts, rule.least))
        return _as_labels(graph, found, values.width)
    raise ExportError(
        f"the rule {rule!r} has no form in ONNX. Pass outputs=('probabilities', 'scores') and "
        "apply the rule to the probabilities, or fit the model with another threshold, such as "
        "'mixed'."
    )


def _above(graph: Graph, values: Value, cuts: Floats) -> str:
    return str(graph.add("Greater", values.name, graph.constant(cuts)))


def _first(graph: Graph, values: Value, cuts: Floats, number: int) -> str:
    """Return the labels with the highest values, as many as given; of equal ones the first.

    Labels with a threshold of +inf, which were never observed, are left out.
    """
    known = np.flatnonzero(cuts != np.inf)
    k = min(int(number), len(known))
    everyone = graph.add("Mul", values.name, graph.constant(0.0))
    if k == 0:
        return str(graph.add("Greater", everyone, graph.constant(0.0)))
    part = graph.columns(values, known)
    _, top = graph.add("TopK", part.name, graph.integers([k]), axis=1, outputs=2)
    places = graph.add("Gather", graph.integers(known), top, axis=0)
    shape = graph.add("Shape", places)
    ones = graph.add("Expand", graph.constant(1.0), shape)
    marked = graph.add("ScatterElements", everyone, places, ones, axis=1)
    return str(graph.add("Greater", marked, graph.constant(0.5)))


def _as_labels(graph: Graph, decisions: str, width: int) -> Value:
    return Value(graph.add("Cast", decisions, to=graph.onnx.TensorProto.INT64), width)


class Classes:
    """The classes of a vector y: their type, and how a class is predicted from scores."""

    def __init__(self, graph: Graph, classes: Any) -> None:
        kinds = graph.onnx.TensorProto
        array = np.asarray(classes)
        self.graph = graph
        if array.dtype.kind in "iu":
            self.type, self._table = kinds.INT64, graph.integers(array)
        elif array.dtype.kind == "f":
            self.type, self._table = kinds.DOUBLE, graph.constant(array)
        elif array.dtype.kind == "b":
            self.type, self._table = kinds.BOOL, graph.constant(array, np.bool_)
        else:
            self.type, self._table = kinds.STRING, graph.words(array)
        self._number = len(array)

    def predicted(self, codec: LabelCodec, scores: Value) -> str:
        """Return the classes (n,) with the highest scores."""
        graph = self.graph
        if codec.kind == "multiclass":
            index = graph.add("ArgMax", scores.name, axis=1, keepdims=0)
        else:
            least = 0.0 if self._number == 2 else np.inf
            above = graph.add("Greater", scores.name, graph.constant(least))
            column = graph.add("Cast", above, to=graph.onnx.TensorProto.INT64)
            index = graph.add("Squeeze", column, graph.integers([1]))
        return str(graph.add("Gather", self._table, index, axis=0))
