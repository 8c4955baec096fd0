"""Calibrated probabilities of scores, as nodes of ONNX."""

import numpy as np

from eigenlabel.export.graph import Graph, Value
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.thresholds.calibration import Calibration
from eigenlabel.thresholds.isotonic import IsotonicCurves
from eigenlabel.thresholds.score_bins import LARGEST


def calibrated(graph: Graph, calibration: Calibration, scores: Value) -> Value:
    """Return the probabilities of scores, those of :meth:`Calibration.probabilities`."""
    p = Value(graph.add("Sigmoid", _log_odds(graph, calibration, scores)), scores.width)
    curved = np.flatnonzero(calibration.isotonic)
    if curved.size:
        p = _with_curves(graph, calibration.curves, p, curved)
    floor = calibration.floor
    scaled = graph.add("Mul", p.name, graph.constant(1 - 2 * floor))
    return Value(graph.add("Add", scaled, graph.constant(floor)), p.width)


def _log_odds(graph: Graph, calibration: Calibration, scores: Value) -> str:
    """Return ``c - d softplus(-z) + e softplus(z)`` of the standardised scores."""
    c = calibration
    bounds = graph.constant(-LARGEST), graph.constant(LARGEST)
    clipped = graph.add("Clip", scores.name, *bounds)
    off = graph.add("Sub", clipped, graph.constant(c.center))
    unit = graph.add("Clip", graph.add("Div", off, graph.constant(c.scale)), *bounds)
    scaled = graph.add("Mul", unit, graph.constant(c.slopes))
    z = graph.add("Add", scaled, graph.constant(c.intercepts))
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", z)))
    soft = graph.add("Log", graph.add("Add", small, graph.constant(1.0)))
    zero = graph.constant(0.0)
    low = graph.add("Sub", soft, graph.add("Min", z, zero))
    high = graph.add("Add", soft, graph.add("Max", z, zero))
    first = graph.add("Mul", low, graph.constant(-float(c.link[1])))
    second = graph.add("Mul", high, graph.constant(float(c.link[2])))
    total = graph.add("Add", first, second)
    return str(graph.add("Add", total, graph.constant(float(c.link[0]))))


def _with_curves(graph: Graph, curves: IsotonicCurves, p: Value, curved: np.ndarray) -> Value:
    """Return probabilities with those of some labels replaced by the values of their curves.

    A curve with the knots (x_k, y_k) is the sum of ``(y_k+1 - y_k) clip((p - x_k) / (x_k+1 - x_k),
    0, 1)``.
    """
    m, starts = len(curved), curves.starts
    size = max(1, int(np.diff(starts).max()) - 1)
    left, width, rise = np.zeros((m, size)), np.ones((m, size)), np.zeros((m, size))
    for j in range(m):
        x, y = (each[starts[j] : starts[j + 1]] for each in (curves.x, curves.y))
        k = len(x) - 1
        left[j, :k], width[j, :k], rise[j, :k] = x[:-1], np.diff(x), np.diff(y)
    constants = [graph.constant(each) for each in (left, width, rise)]
    zero, one = graph.constant(0.0), graph.constant(1.0)

    def curve(row: str) -> str:
        column = graph.add("Transpose", row, perm=[1, 0])  # (m, 1)
        share = graph.add("Div", graph.add("Sub", column, constants[0]), constants[1])
        steps = graph.add("Mul", graph.add("Clip", share, zero, one), constants[2])
        return str(graph.add("ReduceSum", steps, graph.integers([1]), keepdims=0))

    values = graph.by_row(graph.columns(p, curved), m, curve)
    joined = graph.add("Concat", p.name, values.name, axis=1)
    places = np.arange(p.width)
    places[curved] = p.width + np.arange(m)
    return graph.columns(Value(joined, p.width + m), places)


def log_odds(graph: Graph, p: Value, least: float) -> Value:
    """Return the log-odds of probabilities, which are clipped to [least, 1 - least]."""
    bounds = graph.constant(least), graph.constant(1 - least)
    clipped = graph.add("Clip", p.name, *bounds)
    rest = graph.add("Sub", graph.constant(1.0), clipped)
    return Value(graph.add("Log", graph.add("Div", clipped, rest)), p.width)


def shaped(graph: Graph, codec: LabelCodec, p: Value) -> Value:
    """Return probabilities as ``predict_proba`` does, one column for each label or class."""
    if codec.kind == "matrix":
        return p
    one = graph.constant(1.0)
    if codec.kind == "binary":
        rest = graph.add("Sub", one, p.name)
        if len(codec.classes) == 1:
            return Value(graph.add("Add", p.name, rest), 1)
        return Value(graph.add("Concat", rest, p.name, axis=1), 2)
    total = graph.add("ReduceSum", p.name, graph.integers([1]))
    return Value(graph.add("Div", p.name, total), p.width)
