"""Scores of classifiers, as nodes of ONNX: linear ones, kernels, one-vs-rest, blends."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline

from eigenlabel.estimators.agreement.fasttag import FastTag
from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.estimators.margin.aso import ASOClassifier
from eigenlabel.estimators.meta.blend.blend import MultilabelBlend
from eigenlabel.estimators.meta.blend.blending import LEAST
from eigenlabel.estimators.meta.blend.each_label import EachLabel
from eigenlabel.estimators.meta.blend.kernel_subspace import KernelSubspace, Presence
from eigenlabel.estimators.meta.one_vs_rest_search import OneVsRestSearchCV
from eigenlabel.estimators.meta.projected import ProjectedClassifierCV
from eigenlabel.estimators.meta.thresholded import ThresholdedClassifier
from eigenlabel.estimators.subspace.base import BaseSharedSubspace
from eigenlabel.export.graph import ExportError, Graph, Value, inside
from eigenlabel.export.kernel_values import kernel_product, unit_rows
from eigenlabel.export.probabilities import calibrated, log_odds
from eigenlabel.export.transformers import transformed
from eigenlabel.inputs.sklearn_private import is_constant
from eigenlabel.inspection.contributions.linear import Coefficients
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.operators import is_sparse

SUPPORTED = (
    "Models that are linear in features or in kernel values can be exported: "
    "SharedSubspaceClassifier and SharedSubspaceClassifierCV, MtSDA, MtSDACV, ASOClassifier, "
    "SVMPerfClassifier, KGHA, KernelRidgeTagger and FastTag of one matrix, one-vs-rest of linear "
    "classifiers, and MultilabelBlend of such members; inside a Pipeline, ThresholdedClassifier, "
    "ProjectedClassifierCV or GridSearchCV."
)


def scores_of(graph: Graph, model: Any, X: Value) -> Value:
    """Return the scores (n, m) of samples, before any threshold."""
    for kind, make in MAKERS.items():
        if isinstance(model, kind):
            return make(graph, model, X)
    if hasattr(model, "best_estimator_"):
        return scores_of(graph, model.best_estimator_, X)
    if not hasattr(model, "decision_function"):
        raise unsupported(model)
    coefficients = Coefficients.of(model)
    if coefficients is None:
        raise unsupported(model)
    return _linear(graph, coefficients, X)


def unsupported(model: Any) -> ExportError:
    """Return the error for a model whose scores have no form in ONNX."""
    return ExportError(f"{type(model).__name__} has no form in ONNX. {SUPPORTED}")


def _linear(graph: Graph, coefficients: Coefficients, X: Value) -> Value:
    """Return ``X R' L' + b``."""
    R, L, b = coefficients.R, coefficients.L, coefficients.intercept
    if L is None:
        return graph.affine(X, R, b)
    inner = graph.add("MatMul", X.name, graph.constant(R.T))
    product = graph.add("MatMul", inner, graph.constant(L.T))
    return Value(graph.add("Add", product, graph.constant(b)), len(b))


def _subspace(graph: Graph, model: BaseSharedSubspace, X: Value) -> Value:
    weights = model._solved().weights
    if weights.subspace.linear:
        found = Coefficients.of(model)
        assert found is not None
        return _linear(graph, found, X)
    kernel, samples = weights.subspace.kernel, weights.subspace.samples  # type: ignore[attr-defined]
    V = weights.label_weights
    C = weights.full(np.inf) if V is None else weights.subspace.array
    product = kernel_product(graph, kernel, X, samples, C)
    if V is not None:
        product = Value(graph.add("MatMul", product.name, graph.constant(V)), V.shape[1])
    return Value(graph.add("Add", product.name, graph.constant(weights.intercept)), product.width)


def _aso(graph: Graph, model: ASOClassifier, X: Value) -> Value:
    if model._kernel.linear:
        return graph.affine(X, model.coef_, model.intercept_)
    product = kernel_product(graph, model._kernel, X, model.X_fit_, model.dual_coef_)
    return Value(graph.add("Add", product.name, graph.constant(model.intercept_)), product.width)


# Several views, as columns of one matrix


def _view_columns(model: Any, X: Value, name: str) -> Any:
    """Return the columns of a view."""
    layout = model._layout
    if layout.columns is None and len(layout.names) == 1 and model.views_[name].width == X.width:
        return slice(None)
    columns = None if layout.columns is None else layout.columns[name]
    if columns is None or (
        not isinstance(columns, slice) and np.asarray(columns).dtype.kind in "OU"
    ):
        raise ExportError(
            f"{type(model).__name__} reads several tables, or columns by name. Fit it to one "
            "matrix, with views={'name': slice(start, stop)}."
        )
    return columns


def _prepared_view(graph: Graph, model: Any, X: Value, name: str) -> Value:
    view = model.views_[name]
    part = graph.columns(X, _view_columns(model, X, name))
    if view.columns is not None:
        part = graph.columns(part, view.columns)
    part = transformed(graph, view.transformer, part)
    return transformed(graph, getattr(view, "features", None), part)


def _kgha(graph: Graph, model: KGHA, X: Value) -> Value:
    """Return ``2 (mean of the views' scores) decoder + 2 b - 1``."""
    total, intercept = None, np.zeros(model.n_components_)
    shares = np.asarray(model.view_weights_) / np.sum(model.view_weights_)
    for name, share in zip(model.view_names_, shares, strict=True):
        if not share:
            continue
        view, part = model.views_[name], _prepared_view(graph, model, X, name)
        coef = 2.0 * share * (view.coef @ model.decoder_)
        intercept = intercept + share * view.intercept
        if view.X is not None:
            product = kernel_product(graph, view.kernel, part, view.X, coef).name
        else:
            product = graph.add("MatMul", part.name, graph.constant(coef))
        total = product if total is None else graph.add("Add", total, product)
    b = 2.0 * (intercept @ model.decoder_ + model.label_intercept_) - 1.0
    return Value(graph.add("Add", str(total), graph.constant(b)), len(b))


def _fasttag(graph: Graph, model: FastTag, X: Value) -> Value:
    parts = [_prepared_view(graph, model, X, name) for name in model.view_names_]
    joined = parts[0]
    if len(parts) > 1:
        name = graph.add("Concat", *(part.name for part in parts), axis=1)
        joined = Value(name, sum(part.width for part in parts))
    return graph.affine(joined, 2.0 * model.coef_.T, 2.0 * model.intercept_ - 1.0)


# One classifier for each label


def _one_vs_rest(graph: Graph, model: Any, X: Value) -> Value:
    constants = _constant_scores(model, X.width)
    parts, b = [], np.array(constants)
    for j, one in enumerate(model.estimators_):
        if one is None or is_constant(one):
            parts.append(np.zeros(X.width))
            continue
        found = Coefficients.of(one) if hasattr(one, "decision_function") else None
        if found is None or found.n_labels != 1 or found.width != X.width:
            return _side_by_side(graph, model, constants, X)
        row = found.R.toarray() if is_sparse(found.R) else np.asarray(found.R)
        parts.append(row[0])
        b[j] = found.intercept[0]
    return graph.affine(X, np.array(parts), b)


def _side_by_side(graph: Graph, model: Any, constants: Floats, X: Value) -> Value:
    """Return the scores of classifiers that are not all linear in X, such as pipelines."""
    columns = []
    for one, constant in zip(model.estimators_, constants, strict=True):
        if one is None or is_constant(one):
            nothing = graph.add("Mul", graph.columns(X, [0]).name, graph.constant(0.0))
            columns.append(graph.add("Add", nothing, graph.constant(constant)))
            continue
        found = scores_of(graph, one, X)
        if found.width != 1:
            raise unsupported(one)
        columns.append(found.name)
    return Value(graph.add("Concat", *columns, axis=1), len(columns))


def _constant_scores(model: Any, width: int) -> Floats:
    """Return the scores of labels that all training samples have, or none; zero for others."""
    if isinstance(model, OneVsRestSearchCV):
        return np.asarray(model._constant, dtype=float)
    if isinstance(model, EachLabel):
        return np.asarray(model.constants_, dtype=float)
    zero = np.zeros((1, width))
    return np.array(
        [
            float(np.ravel(e.decision_function(zero))[0]) if is_constant(e) else 0.0
            for e in model.estimators_
        ]
    )


# Wrappers


def _pipeline(graph: Graph, model: Pipeline, X: Value) -> Value:
    return scores_of(graph, model.steps[-1][1], before_last(graph, model, X))


def before_last(graph: Graph, model: Pipeline, X: Value) -> Value:
    """Return what the last step of a pipeline gets."""
    for name, step in model.steps[:-1]:
        with inside(f"step {name!r}"):
            X = transformed(graph, step, X)
    return X


def _thresholded(graph: Graph, model: ThresholdedClassifier, X: Value) -> Value:
    if getattr(model, "_method", "decision_function") != "decision_function":
        raise unsupported(model.estimator_)
    return scores_of(graph, model.estimator_, X)


def _projected(graph: Graph, model: ProjectedClassifierCV, X: Value) -> Value:
    return scores_of(graph, model.estimator_, projected(graph, model, X))


def projected(graph: Graph, model: ProjectedClassifierCV, X: Value) -> Value:
    """Return the projected samples."""
    with inside("projection"):
        return transformed(graph, model.projection_, X)


def _kernel_member(graph: Graph, model: KernelSubspace, X: Value) -> Value:
    return scores_of(graph, model.pipeline_, X)


def _presence(graph: Graph, model: Presence, X: Value) -> Value:
    absent = graph.add("Equal", X.name, graph.constant(0.0))
    there = graph.add("Where", absent, graph.constant(0.0), graph.constant(1.0))
    return scores_of(graph, model.model_, unit_rows(graph, Value(there, X.width)))


def _blend(graph: Graph, model: MultilabelBlend, X: Value) -> Value:
    """Return ``b + sum_k w_k z_k`` of the calibrated log-odds of the members."""
    if hasattr(model, "preparation_"):
        X = transformed(graph, model.preparation_, X)
    points = model._points
    total = None
    for k, (name, member) in enumerate(model.members_.items(), start=1):
        with inside(f"member {name!r} of the blend"):
            scores = scores_of(graph, member, X)
        p = calibrated(graph, model.member_calibrations_[name], scores)
        z = log_odds(graph, p, LEAST)
        part = graph.add("Mul", z.name, graph.constant(points[..., k]))
        total = part if total is None else graph.add("Add", total, part)
    width = len(model.oof_scores_[0])
    return Value(graph.add("Add", str(total), graph.constant(points[..., 0])), width)


MAKERS: dict[type, Callable[[Graph, Any, Value], Value]] = {
    BaseSharedSubspace: _subspace,
    ASOClassifier: _aso,
    KGHA: _kgha,
    FastTag: _fasttag,
    OneVsRestClassifier: _one_vs_rest,
    OneVsRestSearchCV: _one_vs_rest,
    EachLabel: _one_vs_rest,
    Pipeline: _pipeline,
    ThresholdedClassifier: _thresholded,
    ProjectedClassifierCV: _projected,
    KernelSubspace: _kernel_member,
    Presence: _presence,
    MultilabelBlend: _blend,
}
