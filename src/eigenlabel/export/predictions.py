"""What a model returns, as nodes of ONNX: scores, probabilities, and label sets or classes."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from eigenlabel.estimators.base import ScoreClassifier
from eigenlabel.estimators.meta.projected import ProjectedClassifierCV
from eigenlabel.estimators.meta.thresholded import ThresholdedClassifier
from eigenlabel.estimators.subspace.base import BaseSharedSubspace
from eigenlabel.export.graph import ExportError, Graph, Value
from eigenlabel.export.label_sets import Classes, decided
from eigenlabel.export.probabilities import calibrated, shaped
from eigenlabel.export.scores import before_last, projected, scores_of
from eigenlabel.inputs.warning import ignored
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.calibration import Calibration
from eigenlabel.thresholds.rules import Zero, reads_probabilities

OUTPUTS = ("labels", "probabilities", "scores")


@dataclass(frozen=True)
class Predictions:
    """The outputs of a graph; those that were not asked for are None.

    Attributes
    ----------
    codec : LabelCodec
        The form of y.
    scores : Value
        The scores (n, m).
    probabilities : Value or None
        The probabilities of the labels or classes.
    labels : str or None
        The label matrix (n, m), or the classes (n,).
    label_type : int
        The type of the labels in ONNX.
    """

    codec: LabelCodec
    scores: Value
    probabilities: Value | None = None
    labels: str | None = None
    label_type: int = 0


def predictions(graph: Graph, model: Any, X: Value, wanted: Collection[str]) -> Predictions:
    """Return the outputs of a fitted model for samples X.

    Parameters
    ----------
    graph : Graph
        The graph, which grows.
    model : classifier
        The fitted model.
    X : Value
        The samples.
    wanted : collection of str
        The outputs that are needed, of ``OUTPUTS``.
    """
    if isinstance(model, Pipeline):
        return predictions(graph, model.steps[-1][1], before_last(graph, model, X), wanted)
    if hasattr(model, "best_estimator_"):
        return predictions(graph, model.best_estimator_, X, wanted)
    if isinstance(model, ProjectedClassifierCV):
        return _of_projected(graph, model, X, wanted)
    if isinstance(model, ThresholdedClassifier):
        return _of_thresholded(graph, model, X, wanted)
    if isinstance(model, ScoreClassifier):
        return _of_own(graph, model, X, wanted)
    return _of_scikit_learn(graph, model, X, wanted)


def has_probabilities(model: Any) -> bool:
    """Return True if a fitted model has probabilities."""
    return hasattr(model, "predict_proba")


def _of_own(graph: Graph, model: ScoreClassifier, X: Value, wanted: Collection[str]) -> Predictions:
    rule: Rule = getattr(model, "_rule", Zero())
    thresholds: Any = getattr(model, "thresholds_", 0.0)
    calibration: Calibration | None = getattr(model, "calibration_", None)
    if isinstance(model, BaseSharedSubspace):
        solution = model._solved()
        rule, thresholds = solution.rule, solution.thresholds
    found = Predictions(model._codec, scores_of(graph, model, X))
    return _completed(graph, found, wanted, rule, thresholds, calibration)


def _of_thresholded(
    graph: Graph, model: ThresholdedClassifier, X: Value, wanted: Collection[str]
) -> Predictions:
    if model._codec.multilabel:
        found = Predictions(model._codec, scores_of(graph, model, X))
        calibration = getattr(model, "calibration_", None)
        return _completed(graph, found, wanted, model._rule, model.thresholds_, calibration)
    return _with_own_probabilities(graph, model, X, wanted)


def _of_projected(
    graph: Graph, model: ProjectedClassifierCV, X: Value, wanted: Collection[str]
) -> Predictions:
    return _with_own_probabilities(graph, model, projected(graph, model, X), wanted)


def _with_own_probabilities(
    graph: Graph, model: Any, X: Value, wanted: Collection[str]
) -> Predictions:
    """Return the outputs of the classifier inside of a model, with the model's probabilities."""
    calibration: Calibration | None = getattr(model, "calibration_", None)
    if calibration is None:
        found = predictions(graph, model.estimator_, X, wanted)
        return replace(found, codec=model._codec)
    inner = [name for name in wanted if name != "probabilities"]
    found = replace(predictions(graph, model.estimator_, X, inner), codec=model._codec)
    if "probabilities" not in wanted:
        return found
    p = calibrated(graph, calibration, found.scores)
    return replace(found, probabilities=shaped(graph, model._codec, p))


def _completed(
    graph: Graph,
    found: Predictions,
    wanted: Collection[str],
    rule: Rule,
    thresholds: Any,
    calibration: Calibration | None,
) -> Predictions:
    """Return predictions with the probabilities and labels that follow from their scores."""
    codec, scores, p = found.codec, found.scores, None
    reads = codec.multilabel and reads_probabilities(rule)
    if "probabilities" in wanted or ("labels" in wanted and reads):
        if calibration is None:
            raise ExportError(
                "the model has no probabilities: fit it with calibration='auto', or pass "
                "outputs=('labels', 'scores')."
            )
        p = calibrated(graph, calibration, scores)
    if "probabilities" in wanted and p is not None:
        found = replace(found, probabilities=shaped(graph, codec, p))
    if "labels" not in wanted:
        return found
    if codec.multilabel:
        values = p if reads and p is not None else scores
        labels = decided(graph, rule, values, thresholds).name
        return replace(found, labels=labels, label_type=graph.onnx.TensorProto.INT64)
    classes = Classes(graph, codec.classes)
    return replace(found, labels=classes.predicted(codec, scores), label_type=classes.type)


def _of_scikit_learn(graph: Graph, model: Any, X: Value, wanted: Collection[str]) -> Predictions:
    scores = scores_of(graph, model, X)
    if "probabilities" in wanted:
        raise ExportError(
            f"the probabilities of {type(model).__name__} have no form in ONNX here. Wrap it in "
            "ThresholdedClassifier(calibration='auto'), or pass outputs=('labels', 'scores')."
        )
    with ignored(UserWarning):  # the sample has no names
        decision = np.asarray(model.predict(np.zeros((1, X.width))))
    classes = np.asarray(model.classes_)
    if decision.ndim == 2:
        codec = LabelCodec("matrix", classes)
    else:
        codec = LabelCodec("binary" if len(classes) <= 2 else "multiclass", classes)
    return _completed(graph, Predictions(codec, scores), wanted, Zero(), 0.0, None)
