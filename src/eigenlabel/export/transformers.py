"""Transformers before a classifier, as nodes of ONNX: scalers, imputers, projections, kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer

from eigenlabel.estimators.projection.base import BaseProjection
from eigenlabel.export.graph import ExportError, Graph, Value
from eigenlabel.export.kernel_values import kernel_product, unit_rows
from eigenlabel.inspection.affine_transformers import Affine, find_projection, find_scaling
from eigenlabel.kernels.meka import MEKA
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.preprocessing.encoders import OneHotLevels, flag_missing
from eigenlabel.preprocessing.groups import ColumnGroups
from eigenlabel.preprocessing.preparation import to_dense
from eigenlabel.preprocessing.table_preparation import TablePreparation

MOST_SCALED = 50_000  # features up to which unknown transformers are tried
ADVICE = (
    "Scalers, imputers, selectors, projections, Normalizer and TfidfTransformer can be exported. "
    "Apply this step outside of ONNX, and export the steps after it, as in "
    "export_onnx(model[1:], path)."
)


def transformed(graph: Graph, step: Any, X: Value) -> Value:
    """Return what a fitted transformer makes of samples X."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return X
    for kind, make in MAKERS.items():
        if isinstance(step, kind):
            return make(graph, step, X)
    if isinstance(step, BaseProjection) and not step._kernel.linear:
        product = kernel_product(graph, step._kernel, X, step.X_fit_, step.dual_coef_)
        return _shifted(graph, product, -step._offset)
    affine = _affine(step, X.width)
    if affine is None:
        raise ExportError(f"{type(step).__name__} has no form in ONNX. {ADVICE}")
    return _apply(graph, affine, X)


def _affine(step: Any, width: int) -> Affine | None:
    """Return the affine map of a transformer, or None; a scaling before a projection."""
    if not hasattr(step, "transform"):
        return None
    found = find_scaling(step, width) if width <= MOST_SCALED else None
    return find_projection(step) if found is None else found


def _apply(graph: Graph, affine: Affine, X: Value) -> Value:
    """Return ``X M' + c``; a map that selects and scales columns needs no product."""
    M, c = affine
    if is_sparse(M) and M.shape[0]:
        M = sp.csr_array(M)
        M.eliminate_zeros()
        if (np.diff(M.indptr) == 1).all():
            X = graph.columns(X, M.indices)
            if (M.data != 1).any():
                X = Value(graph.add("Mul", X.name, graph.constant(M.data)), X.width)
            return _shifted(graph, X, c)
    return graph.affine(X, M, c)


def _shifted(graph: Graph, X: Value, c: Any) -> Value:
    """Return ``X + c``."""
    return Value(graph.add("Add", X.name, graph.constant(c)), X.width) if np.any(c) else X


def _pipeline(graph: Graph, step: Pipeline, X: Value) -> Value:
    for _, one in step.steps:
        X = transformed(graph, one, X)
    return X


def _groups(graph: Graph, step: ColumnGroups, X: Value) -> Value:
    parts = zip(step.transformers_, step.groups, strict=True)
    return _joined(graph, [transformed(graph, t, graph.columns(X, c)) for t, (_, _, c) in parts])


def _column_transformer(graph: Graph, step: ColumnTransformer, X: Value) -> Value:
    names = list(getattr(step, "feature_names_in_", ()))
    parts = []
    for _, one, columns in step.transformers_:
        if isinstance(one, str) and one == "drop":
            continue
        places: Any = columns
        if not isinstance(columns, slice):
            given = np.atleast_1d(np.asarray(columns))
            texts = given.dtype.kind in "UO"
            places = [names.index(each) for each in given] if texts else given
        if np.size(np.arange(X.width)[places]):
            parts.append(transformed(graph, one, graph.columns(X, places)))
    return _joined(graph, parts)


def _joined(graph: Graph, parts: list[Value]) -> Value:
    if len(parts) == 1:
        return parts[0]
    name = graph.add("Concat", *(part.name for part in parts), axis=1)
    return Value(name, sum(part.width for part in parts))


def _function(graph: Graph, step: FunctionTransformer, X: Value) -> Value:
    if step.func is None or step.func is to_dense:
        return X
    if step.func is flag_missing:
        return Value(graph.to_double(graph.add("IsNaN", X.name)), X.width)
    name = getattr(step.func, "__name__", repr(step.func))
    raise ExportError(f"FunctionTransformer({name}) calls Python, which ONNX cannot. {ADVICE}")


def _impute(graph: Graph, step: SimpleImputer, X: Value) -> Value:
    missing = step.missing_values
    if step.add_indicator or not (isinstance(missing, float) and np.isnan(missing)):
        raise ExportError(f"{step!r} marks missing values in a way without a form in ONNX.")
    statistics = np.asarray(step.statistics_, dtype=float)
    kept = np.flatnonzero(~np.isnan(statistics))
    if len(kept) < len(statistics) and step.keep_empty_features:
        statistics, kept = np.nan_to_num(statistics), np.arange(len(statistics))
    X = graph.columns(X, kept)
    known = graph.constant(statistics[kept])
    return Value(graph.add("Where", graph.add("IsNaN", X.name), known, X.name), X.width)


def _normalise(graph: Graph, step: Normalizer, X: Value) -> Value:
    return unit_rows(graph, X, step.norm)


def _tfidf(graph: Graph, step: TfidfTransformer, X: Value) -> Value:
    if step.sublinear_tf:
        zero = graph.add("Equal", X.name, graph.constant(0.0))
        safe = graph.add("Where", zero, graph.constant(1.0), X.name)
        grown = graph.add("Add", graph.add("Log", safe), graph.constant(1.0))
        X = Value(graph.add("Where", zero, graph.constant(0.0), grown), X.width)
    if step.use_idf:
        X = Value(graph.add("Mul", X.name, graph.constant(step.idf_)), X.width)
    return X if step.norm is None else unit_rows(graph, X, step.norm)


def _one_hot(graph: Graph, step: OneHotLevels, X: Value) -> Value:
    """Return the columns of 0 and 1 of categories, whose values are positions in a list."""
    parts = []
    for j, (places, width) in enumerate(zip(step.places, step.widths(), strict=True)):
        codes = graph.constant(np.arange(len(places)))
        equal = graph.to_double(graph.add("Equal", graph.columns(X, [j]).name, codes))
        table = np.zeros((len(places), width))
        table[np.arange(len(places)), places] = 1.0
        parts.append(Value(graph.add("MatMul", equal, graph.constant(table)), width))
    return _joined(graph, parts)


def _meka(graph: Graph, step: MEKA, X: Value) -> Value:
    """Return the features of MEKA: each sample has those of the block of the nearest centre."""
    blocks = [
        kernel_product(graph, step._kernel, X, landmarks, map_)
        for landmarks, map_ in zip(step.landmarks_, step.maps_, strict=True)
    ]
    if len(blocks) == 1:
        return blocks[0]
    centres = np.asarray(step.centres_, dtype=float)
    products = graph.add("MatMul", X.name, graph.constant(-2.0 * centres.T))
    distance = graph.add("Add", products, graph.constant((centres**2).sum(axis=1)))
    nearest = graph.add("ArgMin", distance, axis=1, keepdims=1)
    total = None
    for k, block in enumerate(blocks):
        here = graph.to_double(graph.add("Equal", nearest, graph.integers(k)))
        part = graph.add("Mul", block.name, here)
        total = part if total is None else graph.add("Add", total, part)
    return Value(str(total), blocks[0].width)


def _table(graph: Graph, step: TablePreparation, X: Value) -> Value:
    columns = step.number_columns()
    if columns is None:
        raise ExportError(
            "TablePreparation reads words or dates, which ONNX cannot. Prepare the table before, "
            "and fit the model to the features that TablePreparation returns."
        )
    return transformed(graph, step._prepare, graph.columns(X, columns))


MAKERS: dict[type, Callable[[Graph, Any, Value], Value]] = {
    Pipeline: _pipeline,
    TablePreparation: _table,
    ColumnGroups: _groups,
    ColumnTransformer: _column_transformer,
    FunctionTransformer: _function,
    SimpleImputer: _impute,
    Normalizer: _normalise,
    TfidfTransformer: _tfidf,
    OneHotLevels: _one_hot,
    MEKA: _meka,
}
