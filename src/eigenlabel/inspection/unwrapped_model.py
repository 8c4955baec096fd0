"""Open a fitted model: its transformers, its innermost classifier, and the terms of its scores."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.agreement.fasttag import FastTag
from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.estimators.meta.blend.blend import MultilabelBlend
from eigenlabel.estimators.neighbours.jec_and_mbrm import JEC, MBRM
from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.neighbours.tagprop import TagProp
from eigenlabel.inputs.warning import ignored
from eigenlabel.inspection.affine_transformers import trials
from eigenlabel.inspection.contributions.base import FEATURE, LOG_ODDS, SCORE, Terms
from eigenlabel.inspection.contributions.blend import blend_terms
from eigenlabel.inspection.contributions.linear import (
    Coefficients,
    dual_terms,
    is_support_machine,
    linear_terms,
    support_terms,
)
from eigenlabel.inspection.contributions.neighbours import (
    jec_terms,
    mbrm_terms,
    mlknn_terms,
    tagprop_terms,
)
from eigenlabel.inspection.contributions.per_label import (
    constant_labels,
    each_label,
    merge,
    stacked_terms,
)
from eigenlabel.inspection.contributions.views import fasttag_terms, kgha_terms
from eigenlabel.inspection.transformed_features import Space, follow
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.model_selection.classifier_scores import score_method, scores_matrix

SUPPORTED = (
    "Contributions are defined for linear models (with coef_), for SharedSubspaceClassifier with "
    "any kernel, SVC of two classes, KGHA, KernelRidgeTagger, FastTag, MLkNN, JEC, MBRM, TagProp "
    "and MultilabelBlend; inside a "
    "Pipeline, ThresholdedClassifier, ProjectedClassifierCV, OneVsRestSearchCV, GridSearchCV, "
    "OneVsRestClassifier or MultiOutputClassifier."
)
# How the scores of a class become a sum. The functions take the model, the space of its samples,
# the labels and the names of the training samples.
Maker = Callable[[Any, Space, Ints, Any], Terms]
MAKERS: dict[type, Maker] = {
    MLkNN: lambda model, space, labels, names: mlknn_terms(model, space.X, labels, names),
    JEC: lambda model, space, labels, names: jec_terms(model, space.X, labels, names),
    MBRM: lambda model, space, labels, names: mbrm_terms(model, space.X, labels, names),
    TagProp: lambda model, space, labels, names: tagprop_terms(model, space.X, labels, names),
    KGHA: kgha_terms,
    FastTag: lambda model, space, labels, _: fasttag_terms(model, space, labels),
    MultilabelBlend: lambda model, space, labels, _: blend_terms(model, space.X, labels),
}


@dataclass(frozen=True)
class Opened:
    """A model without its wrappers.

    Attributes
    ----------
    model : classifier
        The innermost classifier, which computes scores.
    space : Space
        The samples that it gets.
    chain : tuple of estimators
        The models from the outermost to the innermost.
    """

    model: Any
    space: Space
    chain: tuple[Any, ...]

    @property
    def coefficients(self) -> Coefficients | None:
        """The coefficients of all labels, if the innermost classifier is linear in features."""
        return None if isinstance(self.model, tuple(MAKERS)) else Coefficients.of(self.model)


def unwrap(model: Any, space: Space) -> Opened:
    """Return the innermost classifier of a model, and the samples that it gets."""
    check_is_fitted(model)
    if hasattr(model, "steps"):
        for _, step in model.steps[:-1]:
            space = follow(step, space)
        inner = unwrap(model.steps[-1][1], space)
    elif hasattr(model, "best_estimator_"):
        inner = unwrap(model.best_estimator_, space)
    elif hasattr(model, "estimator_") and not hasattr(model, "estimators_"):
        # Ensembles call the unfitted classifier that they copy by the same name.
        if hasattr(model, "projection_"):
            space = _project(model.projection_, space)
        inner = unwrap(model.estimator_, space)
    else:
        return Opened(model, space, (model,))
    return replace(inner, chain=(model, *inner.chain))


def _project(projection: Any, space: Space) -> Space:
    after = follow(projection, space)
    if after.X is not None and after.X.shape[1] == 0:
        # ProjectedClassifierCV projects all samples to one point if there is no direction.
        return Space(np.zeros((after.X.shape[0], 1)), np.array(["nothing"], dtype=object))
    return after


def count_labels(opened: Opened) -> int:
    """Return the number of labels, or of the scores of a vector of classes."""
    model = opened.model
    for name in ("prior_", "label_shares_", "label_intercept_"):
        if isinstance(model, tuple(MAKERS)) and hasattr(model, name):
            return len(getattr(model, name))
    if isinstance(model, MultilabelBlend):
        return int(model.oof_scores_.shape[1])
    if hasattr(model, "eigenlabels_") or isinstance(model, FastTag):
        return len(model.intercept_)
    if is_support_machine(model):
        return 1
    coefficients, every = opened.coefficients, each_label(model)
    if coefficients is None and every is None:
        raise unsupported(model)
    return len(every or ()) if coefficients is None else coefficients.n_labels


def unsupported(model: Any, why: str = "") -> TypeError:
    """Return the error for a model whose scores are not known to be sums."""
    return TypeError(f"{type(model).__name__} cannot be explained{why}. {SUPPORTED}")


def make_terms(opened: Opened, labels: Ints, names: Any) -> Terms:
    """Return the scores of some labels as sums.

    Parameters
    ----------
    opened : Opened
        The model.
    labels : (q,) array of int
        The labels.
    names : sequence of str or None
        The names of the training samples.

    Raises
    ------
    TypeError
        If the scores of the model are not sums of known terms.
    """
    model, space = opened.model, opened.space
    for kind, make in MAKERS.items():
        if isinstance(model, kind):
            return make(model, space, labels, names)
    if hasattr(model, "eigenlabels_") and hasattr(model, "X_fit_"):
        return dual_terms(model, space, labels, names)
    if is_support_machine(model):
        return support_terms(model, space, names)
    coefficients = opened.coefficients
    if coefficients is not None:
        return linear_terms(coefficients, space, labels)
    return _per_label_terms(opened, labels, names)


def _per_label_terms(opened: Opened, labels: Ints, names: Any) -> Terms:
    """Return the terms of a model that has one classifier for each label."""
    model, space = opened.model, opened.space
    every = each_label(model)
    if every is None:
        raise unsupported(model)
    constant = constant_labels(every)[labels]
    constants = np.zeros(len(labels))
    n = space.X.shape[0] if hasattr(space.X, "shape") else len(space.X)
    scale = LOG_ODDS if score_method(model) == "predict_proba" else SCORE
    if constant.any():
        scores = scale.of_score(model_scores(opened, len(every)))
        constants = np.where(constant, scores[0, labels], 0.0)
    chosen = [None if c else every[j] for j, c in zip(labels, constant, strict=True)]
    terms = stacked_terms(chosen, constants, space, n)
    if terms is None:
        one = np.zeros(1, dtype=np.intp)
        inner = [None if each is None else unwrap(each, space) for each in chosen]
        parts = [None if each is None else make_terms(each, one, names) for each in inner]
        terms = merge(parts, constants, n)
    return replace(terms, scale=scale)


def model_scores(opened: Opened, m: int) -> Floats:
    """Return the scores (n, m) of the innermost classifier, probabilities if it has no others."""
    model, X = opened.model, opened.space.X
    found = model._probabilities(X) if isinstance(model, MLkNN) else scores_matrix(model, X, m)
    scores = np.asarray(found).reshape(len(found), -1)
    return scores if scores.dtype.kind == "f" else scores.astype(float)


def check_linear(opened: Opened, label: int) -> None:
    """Raise TypeError unless the scores of a label are linear, if the model has coefficients."""
    coefficients = opened.coefficients
    if coefficients is None:
        return
    X = trials(coefficients.width)
    with ignored(UserWarning):  # the samples have no names
        scores = model_scores(replace(opened, space=Space(X)), coefficients.n_labels)
    if scores.shape[1] != coefficients.n_labels:
        raise unsupported(opened.model)
    weights = coefficients.rows(np.array([label]))
    intercept = np.tile(coefficients.intercept[[label]], (len(X), 1))
    terms = Terms(FEATURE, np.zeros(0, dtype=object), X, weights, intercept)
    check_sum(opened, terms, scores[:, [label]])


def check_sum(opened: Opened, terms: Terms, scores: Floats) -> None:
    """Raise TypeError unless the terms add up to the scores (n, q) of the model.

    This is a check of the model, not of rounding: a classifier may have coefficients and use them
    in another way.
    """
    total = terms.scale.to_score(terms.total())
    if total.shape == scores.shape:
        tolerance = float(np.sqrt(np.finfo(scores.dtype).eps))
        if (np.abs(total - scores) <= tolerance * terms.size()).all():
            return
    raise unsupported(opened.model, ": its scores are not the sum of its coefficients")
