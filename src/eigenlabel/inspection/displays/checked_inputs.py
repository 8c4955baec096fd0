"""What displays draw: true labels, scores and weights, checked, and the labels that are chosen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.inputs.data import check_scores, unmasked
from eigenlabel.inputs.sample_weights import check_row_weights
from eigenlabel.labels.checks import check_observed_labels
from eigenlabel.labels.label_sets import read_labels
from eigenlabel.labels.named_columns import labels_beside
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.model_selection.classifier_scores import probabilities_matrix, scores_matrix
from eigenlabel.thresholds import held_out_probabilities


class ScoredCells(NamedTuple):
    """Observed cells of a label matrix in one row.

    Attributes
    ----------
    truth : ndarray of shape (n_cells,), bool
        Whether the label is true.
    scores : ndarray of shape (n_cells,)
        The scores or probabilities.
    weights : ndarray of shape (n_cells,)
        The weights, which are positive.
    samples : ndarray of shape (n_cells,)
        The positions of the samples.
    """

    truth: Bools
    scores: Floats
    weights: Floats
    samples: Ints


@dataclass(frozen=True)
class Judged:
    """True labels and scores of the samples that count.

    Attributes
    ----------
    truth : ndarray of shape (n_samples, n_labels), bool
        The true labels, False where they are not observed.
    scores : ndarray of shape (n_samples, n_labels)
        The scores or probabilities.
    observed : ndarray of shape (n_samples, n_labels), bool, or None
        The observed cells, None if all of them are.
    weights : ndarray of shape (n_samples,)
        The weights, which are positive.
    names : list of str
        The names of the labels.
    """

    truth: Bools
    scores: Floats
    observed: Bools | None
    weights: Floats
    names: list[str]

    @cached_property
    def positives(self) -> Floats:
        """The weight of the positives of each label."""
        return np.asarray(self.weights @ self.truth)

    @cached_property
    def negatives(self) -> Floats:
        """The weight of the observed negatives of each label."""
        known = ~self.truth if self.observed is None else self.observed & ~self.truth
        return np.asarray(self.weights @ known)

    def label(self, j: int) -> ScoredCells:
        """Return the observed cells of one label."""
        rows = np.arange(len(self.truth))
        if self.observed is not None:
            rows = rows[self.observed[:, j]]
        return ScoredCells(self.truth[rows, j], self.scores[rows, j], self.weights[rows], rows)

    def all(self) -> ScoredCells:
        """Return the observed cells of all labels."""
        n, m = self.truth.shape
        rows = np.repeat(np.arange(n), m)
        kept = slice(None) if self.observed is None else self.observed.ravel()
        rows = rows[kept]
        return ScoredCells(
            self.truth.ravel()[kept], self.scores.ravel()[kept], self.weights[rows], rows
        )


def read_judged(
    Y: Any, scores: Any, sample_weight: Any, label_names: Any, what: str = "scores"
) -> Judged:
    """Check true labels and scores, and leave out samples that do not count.

    These are samples of weight zero, and samples whose scores are all NaN because they were never
    held out.
    """
    Y = read_labels(labels_beside(Y, scores, what), label_names)
    truth, observed = check_observed_labels(Y, "Y")
    weights = check_row_weights(sample_weight, len(truth))
    weights = np.ones(len(truth)) if weights is None else weights
    array = np.asarray(unmasked(scores))
    counts = weights > 0
    if array.shape == truth.shape and array.dtype.kind == "f":
        counts &= ~np.isnan(array).all(axis=1)
    if not counts.any() and array.shape == truth.shape:
        raise ValueError(
            f"No sample of positive weight has {what}: a display needs at least one of the "
            f"{len(truth)} samples."
        )
    if not counts.all() and array.shape == truth.shape:
        array, truth, weights = array[counts], truth[counts], weights[counts]
        observed = None if observed is None else observed[counts]
    checked = check_scores(what, array, truth.shape).astype(float, copy=False)
    return Judged(truth, checked, observed, weights, names_of(label_names, truth.shape[1], Y))


def read_estimator(
    model: Any, X: Any, Y: Any, sample_weight: Any, label_names: Any, display: str
) -> Judged:
    """Read the scores of a classifier on X, or its held-out scores if X is None."""
    Y = read_labels(Y, names_given(label_names, model))
    if X is not None:
        m = check_observed_labels(Y, "Y")[0].shape[1]
        scores = scores_matrix(model, X, m)
    else:
        advice = (
            f"{display}.from_estimator with X=None draws the held-out scores of training samples; "
            "pass samples that were not in training"
        )
        scores = find_fitted(model, "oof_scores_", advice)
    return read_judged(Y, scores, sample_weight, names_given(label_names, model))


def read_probabilities(
    model: Any, X: Any, Y: Any, sample_weight: Any, label_names: Any, display: str
) -> Judged:
    """Read the probabilities of a classifier on X, or held-out ones if X is None."""
    Y = read_labels(Y, names_given(label_names, model))
    found = find_probabilities(model, X, Y, sample_weight, display)
    return read_judged(Y, found, sample_weight, names_given(label_names, model), "probabilities")


def find_probabilities(model: Any, X: Any, Y: Any, sample_weight: Any, display: str) -> Floats:
    """Return the probabilities (n, m) of a classifier on X, or held-out ones if X is None."""
    Y = read_labels(Y, names_given(None, model))
    if X is not None:
        m = check_observed_labels(Y, "Y")[0].shape[1]
        return np.asarray(probabilities_matrix(model, X, m))
    advice = f"pass samples that were not in training to {display}.from_estimator"
    part = find_part(model, "oof_scores_", advice)
    found = np.asarray(part.oof_scores_)
    if hasattr(part, "calibration_"):
        # These have not seen the labels of their sample; rules are fitted to them.
        found = held_out_probabilities(found, Y, sample_weight, method=part.calibration)
    return found


def find_part(model: Any, attribute: str, advice: str) -> Any:
    """Return the model, the last step of a pipeline, or what it wraps, that has an attribute."""
    for part in _parts(model):
        if getattr(part, attribute, None) is not None:
            return part
    raise TypeError(f"{type(model).__name__} has no {attribute}: {advice}.")


def find_fitted(model: Any, attribute: str, advice: str) -> Any:
    """Return a fitted attribute of a model, of the last step of a pipeline, or of what it wraps."""
    return getattr(find_part(model, attribute, advice), attribute)


def _parts(model: Any) -> Iterable[Any]:
    """Yield a model and the models inside of it, from the outer to the inner ones."""
    yield model
    steps = getattr(model, "steps", None)
    inner = steps[-1][1] if steps else getattr(model, "best_estimator_", None)
    inner = getattr(model, "estimator_", None) if inner is None else inner
    if inner is not None:
        yield from _parts(inner)


def names_given(label_names: Any, model: Any) -> Any:
    """Return the names that the user passed, or those that the model knows."""
    classes = getattr(model, "classes_", None)
    if label_names is not None or classes is None or isinstance(classes, list):
        return label_names
    return classes if np.asarray(classes).dtype.kind in "OU" else None


def names_of(label_names: Any, m: int, Y: Any = None) -> list[str]:
    """Return the names of m labels: those passed, the columns of a frame, or positions."""
    if label_names is None:
        label_names = getattr(Y, "columns", None)
    if label_names is None:
        return [f"label {j}" for j in range(m)]
    names = [str(name) for name in label_names]
    if len(names) != m:
        raise ValueError(f"{len(names)} label_names for {m} labels: pass one name per label.")
    return names


def find_label(label: Any, names: Sequence[str]) -> int:
    """Return the position of a label, which is named or numbered."""
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        if -len(names) <= label < len(names):
            return int(label) % len(names)
        raise ValueError(
            f"label must be between 0 and {len(names) - 1}, the last of {len(names)} labels, got "
            f"{label}."
        )
    found = [j for j, name in enumerate(names) if name == str(label)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(
            f"{len(found)} labels are called {label!r}: pass the position of one, such as "
            f"{found[0]}."
        )
    some = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    raise ValueError(f"There is no label {label!r} among the {len(names)} labels: {some}.")


def find_labels(labels: Any, names: Sequence[str], *, some: bool = True) -> Ints:
    """Return the positions of labels, which are named or numbered; a single one is allowed.

    An empty list raises ValueError if there must be some labels.
    """
    listed = [labels] if isinstance(labels, (str, int, np.integer)) else list(labels)
    if some and not listed:
        raise ValueError("labels is empty: pass at least one name or position, or None.")
    return np.array([find_label(label, names) for label in listed], dtype=np.intp)


def most_frequent(positives: Floats, most: int) -> Ints:
    """Return the positions of the labels with most positives, the most frequent first."""
    return np.argsort(-positives, kind="stable")[:most]


def say_chosen(shown: int, total: int, rule: str = "most frequent") -> str:
    """Return which labels are shown, such as "5 most frequent of 300 labels"."""
    if shown == total:
        return "1 label" if total == 1 else f"{total} labels"
    return f"{shown} {rule} of {total} labels"
