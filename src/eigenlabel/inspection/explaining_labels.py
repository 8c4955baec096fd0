"""explain_label: what a label is about, which labels resemble it or are confused with it."""

from typing import Any

import numpy as np

from eigenlabel.estimators.agreement.fasttag import FastTag
from eigenlabel.inputs.parameters import check_number
from eigenlabel.inspection.contributions.base import FEATURE, TRAINING, dense
from eigenlabel.inspection.contributions.base import training_names as name_training
from eigenlabel.inspection.contributions.linear import is_support_machine, shared_combinations
from eigenlabel.inspection.contributions.per_label import constant_labels, each_label
from eigenlabel.inspection.explaining import choose_labels, largest, name_labels
from eigenlabel.inspection.label_explanation import Confusion, LabelExplanation
from eigenlabel.inspection.transformed_features import start
from eigenlabel.inspection.unwrapped_model import Opened, check_linear, count_labels, unwrap
from eigenlabel.labels.checks import check_observed_labels
from eigenlabel.labels.label_sets import read_labels
from eigenlabel.labels.missing import to_dense
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.model_selection.classifier_scores import labels_matrix
from eigenlabel.thresholds.rules import reads_probabilities, rule_of, values_for


def explain_label(
    model: Any,
    label: Any,
    *,
    X: Any = None,
    Y: Any = None,
    n_top: int = 10,
    feature_names: Any = None,
    label_names: Any = None,
    training_names: Any = None,
) -> LabelExplanation:
    """Explain a label: its features, the labels that resemble it, and those it is confused with.

    Weights are those of features as the model sees them, after scaling. If a linear projection
    stands between, they are computed for its input features. A weight times the value of the
    feature is its contribution in :func:`explain`.

    Two labels are similar if the cosine of their coefficients is large; for kernels, the cosine in
    the space of the kernel, restricted to the shared subspace; for neighbours, the cosine of the
    labels of the training samples.

    A label j is confused with a label l on a sample that has j and not l, and is predicted to have
    l and not j, or the reverse.

    Parameters
    ----------
    model : classifier
        A fitted classifier, as for :func:`explain`.
    label : int or str
        The position or the name of the label.
    X : array-like, sparse matrix, frame or list of str, default=None
        Labelled samples that were not used in training. They are predicted to find confused labels.
        None uses the held-out scores of the model (``oof_scores_``), if it has some.
    Y : array-like or sparse matrix of shape (n_samples, n_labels), default=None
        The labels of X, or of the training samples if X is None. Labels that are not observed (NaN)
        do not count. None finds no confused labels.
    n_top : int, default=10
        The number of features and labels in each list.
    feature_names : sequence of str or None, default=None
        The names of the columns of X. None uses those that the model knows, or x0, x1 and so on.
    label_names : sequence of str or None, default=None
        The names of all labels of the model. None uses its ``classes_``.
    training_names : sequence of str or None, default=None
        The names of the training samples. None uses numbers from 0.

    Returns
    -------
    explanation : LabelExplanation
        The features and labels.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from eigenlabel import SharedSubspaceClassifier
    >>> from eigenlabel.inspection import explain_label
    >>> texts = ["red apple", "green apple", "red car", "fast car"]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model = make_pipeline(CountVectorizer(), SharedSubspaceClassifier()).fit(texts, Y)
    >>> found = explain_label(model, "fruit", label_names=["fruit", "vehicle"], n_top=2)
    >>> [name for name, weight in found.speaks_for]
    ['apple', 'green']
    """
    check_number("n_top", n_top, 1, integer=True)
    seen = getattr(model, "feature_names_in_", None)
    opened = unwrap(model, start(None, feature_names, seen))
    m = count_labels(opened)
    every = name_labels(model, m, label_names)
    j = int(choose_labels(label, every)[0])
    check_linear(opened, j)
    kind, terms, weights = _weights(opened, j, training_names)
    cosines = _cosines(opened, j)
    decider = next((x for x in opened.chain if hasattr(x, "thresholds_")), None)
    thresholds = None if decider is None else decider.thresholds_
    by_probability = decider is not None and reads_probabilities(rule_of(decider))
    intercept = getattr(opened.model, "intercept_", None)
    return LabelExplanation(
        str(every[j]),
        kind,
        _best(terms, weights, n_top),
        _best(terms, -weights, n_top, sign=-1.0),
        [] if cosines is None else _best(every, cosines, n_top, without=j),
        _lenders(opened.model, every, j, n_top),
        None if Y is None else _confusions(model, opened, X, Y, every, j, n_top),
        None if intercept is None or np.shape(intercept) != (m,) else float(intercept[j]),
        None if thresholds is None or np.shape(thresholds) != (m,) else float(thresholds[j]),
        opened.space.notes if kind == FEATURE else (),
        "probability" if by_probability else "score",
    )


def _weights(opened: Opened, j: int, names: Any) -> tuple[str, np.ndarray, Floats]:
    """Return what the terms of a label are, their names, and their weights."""
    model = opened.model
    if _is_dual(model):
        weights = model._solved().weights
        V = weights.label_weights
        dual = model.dual_coef_[:, j] if V is None else weights.subspace.array @ V[:, j]
        return TRAINING, name_training(names, len(dual)), np.asarray(dual, dtype=float)
    coefficients, label = opened.coefficients, j
    every = each_label(model) if coefficients is None else None
    if every is not None and not constant_labels(every)[j]:
        opened = unwrap(every[j], opened.space)
        coefficients, label = opened.coefficients, 0
    if is_support_machine(opened.model):
        svm = opened.model
        shown = name_training(names, svm.shape_fit_[0])[svm.support_]
        return TRAINING, shown, dense(svm.dual_coef_)[0]
    if coefficients is None:
        return TRAINING, np.zeros(0, dtype=object), np.zeros(0)
    source = opened.space.named(coefficients.width)
    row = coefficients.rows(np.array([label]))
    pulled = row[0] if source.M is None else dense(row @ source.M)[0]
    return FEATURE, source.names, np.asarray(pulled, dtype=float)


def _is_dual(model: Any) -> bool:
    """Return True for a shared-subspace model with a kernel."""
    return hasattr(model, "eigenlabels_") and hasattr(model, "X_fit_")


def _best(
    names: np.ndarray,
    values: Floats,
    n_top: int,
    *,
    sign: float = 1.0,
    without: int | None = None,
) -> list[tuple[str, float]]:
    """Return the names of the largest positive values, and these values times the sign."""
    sizes = np.maximum(values, 0.0)
    if without is not None:
        sizes[without] = 0.0
    order = largest(sizes[None], n_top)[0]
    return [(str(names[k]), sign * float(values[k])) for k in order if sizes[k] > 0]


def _cosines(opened: Opened, j: int) -> Floats | None:
    """Return the cosines (m,) of what the model knows about the labels with label j."""
    vectors = _label_vectors(opened)
    if vectors is None:
        return None
    squares = vectors.multiply(vectors) if is_sparse(vectors) else vectors * vectors
    lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    inner = dense(vectors @ dense(vectors[[j]]).T).ravel()
    scale = lengths * lengths[j]
    return np.asarray(np.divide(inner, scale, out=np.zeros(len(inner)), where=scale > 0))


def _label_vectors(opened: Opened) -> Any:
    """Return one vector for each label, (m, k), or None."""
    model, found = opened.model, None
    if hasattr(model, "label_weights_"):
        found = model.label_weights_.T
    elif _is_dual(model):
        W = model.eigenlabels_
        found = W * np.sqrt(np.maximum(model.eigenvalues_[: W.shape[1]], 0.0))
    elif hasattr(model, "decoder_"):
        found = model.decoder_.T
    elif isinstance(model, FastTag):
        found = model.coef_.T
    elif opened.coefficients is not None:
        found = opened.coefficients.R
    elif hasattr(model, "_Y"):
        found = model._Y.T
    elif each_label(model) is not None:
        found = _stacked(each_label(model) or [], opened)
    return found if found is None or is_sparse(found) else dense(found)


def _stacked(every: list[Any], opened: Opened) -> Floats | None:
    """Return the coefficients (m, d) of one classifier for each label; None if they differ in d."""
    rows = [
        None if constant else unwrap(one, opened.space).coefficients
        for one, constant in zip(every, constant_labels(every), strict=True)
    ]
    known = [row for row in rows if row is not None]
    if not known or len({row.width for row in known}) > 1:
        return None
    nothing = np.zeros(known[0].width)
    return np.stack([nothing if row is None else dense(row.R)[0] for row in rows])


def _lenders(model: Any, names: np.ndarray, j: int, n_top: int) -> list[tuple[str, float]]:
    """Return the other labels with the largest weights in the shared part of label j."""
    W = shared_combinations(model)
    if W is None:
        return []
    weights = np.asarray(W @ W[j], dtype=float)
    sizes = np.abs(weights)
    sizes[j] = 0.0
    order = largest(sizes[None], n_top)[0]
    return [(str(names[k]), float(weights[k])) for k in order if sizes[k] > 0]


def _confusions(
    model: Any, opened: Opened, X: Any, Y: Any, names: np.ndarray, j: int, n_top: int
) -> list[Confusion]:
    """Return the labels that label j is confused with most often."""
    truth, observed = check_observed_labels(read_labels(Y, names), "Y")
    decided, known = _decisions(model, opened, X, truth.shape)
    if observed is not None:
        known = known & observed
    missed, false = truth & ~decided & known, ~truth & decided & known
    count = missed[:, j].astype(int) @ false, false[:, j].astype(int) @ missed
    return [
        Confusion(str(names[k]), int(count[0][k]), int(count[1][k]))
        for k in _most(count[0] + count[1], n_top)
    ]


def _most(counts: Ints, n_top: int) -> list[int]:
    order = np.argsort(-counts, kind="stable")[:n_top]
    return [int(k) for k in order if counts[k]]


def _decisions(model: Any, opened: Opened, X: Any, shape: tuple[int, ...]) -> tuple[Bools, Bools]:
    """Return the label sets (n, m) of samples that were held out, and which of them are known."""
    if X is not None:
        found = np.asarray(to_dense(labels_matrix(model, X, shape[1])) > 0)
        known = np.ones(found.shape, dtype=bool)
    else:
        needed = ("oof_scores_", "thresholds_")
        tuned = next((x for x in opened.chain if all(hasattr(x, n) for n in needed)), None)
        if tuned is None:
            raise ValueError(
                "The model has no held-out scores with thresholds (oof_scores_), with which "
                "confused labels are found: pass X, labelled samples that were not used in "
                "training, with their Y."
            )
        scores = np.asarray(tuned.oof_scores_)
        rule, calibration = rule_of(tuned), getattr(tuned, "calibration_", None)
        # Without calibration, the scores that a rule on probabilities is fitted to are those.
        values = scores if calibration is None else values_for(rule, scores, calibration)
        found, known = rule.decide(values, tuned.thresholds_), ~np.isnan(scores)
    if found.shape != shape:
        raise ValueError(
            f"Y has shape {shape}, the predictions have {found.shape}: Y must be the labels of X, "
            "or of the training samples if X is None."
        )
    return found, known
