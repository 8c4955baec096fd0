"""Score many sets of held-out scores at once, by the library's metrics or scikit-learn's scorers.

:class:`Truth` contains the true labels with which the scores are compared.

A scorer of scikit-learn is called with an estimator, :class:`PrecomputedScores`, whose X holds the
scores.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from eigenlabel.inputs.sklearn_private import take_rows, takes_weights
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.heldout import Fold
from eigenlabel.linalg.ties import first_highest
from eigenlabel.metrics import METRICS, Metric, f1_from_counts
from eigenlabel.thresholds import Rule
from eigenlabel.thresholds.rules import decide

MAX_SPLIT_COLUMNS = 100  # with more folds (leave-one-out), scores by fold are not kept


@dataclass(frozen=True)
class Truth:
    """True labels of the samples of a search. Samples are the last axis, as in grids of scores.

    Attributes
    ----------
    labels : ndarray of shape (n_labels, n_samples), bool
        The true labels.
    weights : ndarray of shape (n_samples,) or None
        Positive sample weights, or None if all samples count equally.
    cells : ndarray of shape (n_labels, n_samples), bool, or None
        The labels that are observed, or None if all of them are.
    fold : ndarray of shape (n_samples,)
        The number of the last fold that tests a sample, or -1 if no fold does.
    times : ndarray of shape (n_samples,)
        The number of folds that test a sample.
    """

    labels: Bools
    weights: Floats | None
    cells: Bools | None
    fold: Ints
    times: Ints

    @classmethod
    def of(
        cls,
        Y: Bools,
        weights: Floats | None,
        cells: Bools | None,
        rows: Ints,
        folds: Sequence[Fold],
    ) -> "Truth":
        """Return the truth about some rows of a label matrix (n, m).

        The positions in ``folds`` refer to ``rows``.
        """
        fold = np.full(len(rows), -1)
        for k, (_, test) in enumerate(folds):
            fold[test] = k
        tests = np.concatenate([test for _, test in folds])
        return cls(
            np.ascontiguousarray(Y[rows].T),
            None if weights is None else weights[rows],
            None if cells is None else np.ascontiguousarray(cells[rows].T),
            fold,
            np.bincount(tests, minlength=len(rows)),
        )

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self.fold.max()) + 1

    @property
    def by_fold(self) -> bool:
        """Whether scores by fold are kept: folds are few and test no sample twice."""
        return self.n_folds <= MAX_SPLIT_COLUMNS and int(self.times.max()) <= 1

    @property
    def tested(self) -> Bools:
        """The samples that some fold tests."""
        return self.times > 0

    def only_tested(self) -> "Truth":
        """Return the truth about the samples that some fold tests."""
        if self.tested.all():
            return self
        at = np.flatnonzero(self.tested)
        return Truth(
            np.ascontiguousarray(self.labels[:, at]),
            None if self.weights is None else self.weights[at],
            None if self.cells is None else np.ascontiguousarray(self.cells[:, at]),
            self.fold[at],
            self.times[at],
        )


NO_PROBABILITIES = (
    "needs probabilities, but the model computes scores only. Use a scoring of scores or label "
    "sets, such as 'auc_macro' or 'f1_macro'."
)
# The metrics that held-out scores and the label sets that follow from them allow.
COMPUTABLE = tuple(name for name, metric in METRICS.items() if metric.reads != "probabilities")


class PrecomputedScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier whose decision function is its input."""

    def __init__(self, codec: LabelCodec, rule: Rule, thresholds: Floats) -> None:
        self.codec = codec
        self.rule = rule
        self.thresholds = thresholds
        self.classes_ = codec.classes

    def predict_proba(self, X: Floats) -> Floats:  # noqa: ARG002
        """Raise ValueError, since the model computes scores only."""
        raise ValueError(f"This scoring {NO_PROBABILITIES}")

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Floats) -> Floats:
        """Return X, which holds the scores."""
        return self.codec.shape_scores(X)

    def predict(self, X: Floats) -> Any:
        """Return the label sets by the thresholds, or the classes by the highest score."""
        return decide(self.codec, X, self.rule, self.thresholds)


# Metrics that depend only on the numbers of hits, predictions and positives of each label.
_COUNTED: dict[str, Callable[..., Floats]] = {
    "f1_macro": lambda h, p, y: f1_from_counts(h, p, y).mean(axis=1),
    "f1_micro": lambda h, p, y: f1_from_counts(h.sum(axis=1), p.sum(axis=1), y.sum(axis=0)),
}


class GridScorer:
    """Score sets of held-out scores (g, m, n) as a whole and by fold.

    Losses are negated, so that greater is always better.

    Parameters
    ----------
    scoring : str or callable
        The name of a metric of ``eigenlabel.metrics``, the name of a scikit-learn scorer, or a
        callable ``scorer(estimator, X, y)``.
    codec : LabelCodec
        The form of y.
    truth : Truth
        The true labels of the n tested samples.
    y : array-like of length n
        The target of these samples as the user passed it, for the scorers of scikit-learn.
    metadata : dict or None
        The keyword arguments of the scorer, each with one value per sample or one for all. None
        stands for the sample weights if the scorer accepts them.
    """

    def __init__(
        self,
        scoring: str | Callable[..., float],
        codec: LabelCodec,
        truth: Truth,
        y: Any,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.scoring, self.codec, self.truth, self.y = scoring, codec, truth, y
        self.multilabel = codec.multilabel
        self.counted = _COUNTED.get(scoring) if isinstance(scoring, str) else None
        self.scorer = _scorer(scoring, codec)
        self.metric: Metric | None = None
        if self.scorer is None:
            assert isinstance(scoring, str)
            self.metric = METRICS[scoring]
        weighted = truth.weights is not None and self.scorer is not None
        if metadata is None and weighted and takes_weights(self.scorer):
            metadata = {"sample_weight": truth.weights}
        self.metadata = metadata or {}
        self.reference: Floats | Bools = truth.labels.T
        if truth.cells is not None:
            _check_takes_missing(scoring, self.metric)
            self.counted = None  # counts ignore which cells are observed
            self.reference = np.where(truth.cells, truth.labels, np.nan).T

    def score(
        self, scores: Floats, rule: Rule, thresholds: Floats, by_fold: bool
    ) -> tuple[Floats, Floats]:
        """Return the score of each set on all samples (g,) and by fold (g, folds).

        Without ``by_fold`` the second array has no columns.
        """
        if self.counted is not None:
            return self._score_counts(scores, rule, thresholds, by_fold)
        everything = np.ones(len(self.truth.fold), dtype=bool)
        pooled = self._score_each(scores, rule, thresholds, everything)
        split = np.empty((len(scores), 0))
        if by_fold:
            masks = (self.truth.fold == k for k in range(self.truth.n_folds))
            split = np.column_stack(
                [self._score_each(scores, rule, thresholds, mask) for mask in masks]
            )
        return pooled, split

    def _score_counts(
        self, scores: Floats, rule: Rule, thresholds: Floats, by_fold: bool
    ) -> tuple[Floats, Floats]:
        labels, decisions = self._decisions(scores, rule, thresholds)
        n_folds = self.truth.n_folds
        predicted = self._count_by_fold(decisions)  # (g, m, folds)
        hits = self._count_by_fold(np.logical_and(decisions, labels, out=decisions))
        positives = self._count_by_fold(labels)  # (m, folds)
        assert self.counted is not None
        pooled = self.counted(hits.sum(axis=2), predicted.sum(axis=2), positives.sum(axis=1))
        if not by_fold:
            return pooled, np.empty((len(scores), 0))
        split = [
            self.counted(hits[..., k], predicted[..., k], positives[:, k]) for k in range(n_folds)
        ]
        return pooled, np.column_stack(split)

    def _count_by_fold(self, chosen: Bools) -> Floats:
        """Return the weight of the chosen samples (..., n) in each fold (..., folds)."""
        fold, weights = self.truth.fold, self.truth.weights
        if weights is None and len(fold) and (np.diff(fold) >= 0).all():
            starts = np.searchsorted(fold, np.arange(self.truth.n_folds + 1))
            parts = [chosen[..., a:b].sum(axis=-1) for a, b in itertools.pairwise(starts)]
            return np.stack(parts, axis=-1).astype(float)
        member = np.zeros((len(fold), self.truth.n_folds))
        member[np.arange(len(fold)), fold] = 1.0 if weights is None else weights
        return np.asarray(chosen @ member)

    def _decisions(self, scores: Floats, rule: Rule, thresholds: Floats) -> tuple[Bools, Bools]:
        """Return true (m, n) and decided (g, m, n) labels, with a row per class for a vector y."""
        labels = self.truth.labels
        if self.codec.kind == "binary":
            decided = np.concatenate([scores <= 0, scores > 0], axis=1)
            return np.vstack([~labels, labels]), decided
        if self.codec.kind == "multiclass":
            classes = np.arange(scores.shape[1])[:, None]
            chosen = first_highest(np.moveaxis(scores, 1, -1))
            return labels, chosen[:, None] == classes
        if type(rule).decide is Rule.decide:
            return labels, scores > thresholds[..., None]
        sets = [rule.decide(s.T, t).T for s, t in zip(scores, thresholds, strict=True)]
        return labels, np.stack(sets)

    def _score_each(self, scores: Floats, rule: Rule, thresholds: Floats, mask: Bools) -> Floats:
        weights = None if self.truth.weights is None else self.truth.weights[mask]
        return np.array(
            [
                self._score_one(s.T[mask], rule, t, mask, weights)
                for s, t in zip(scores, thresholds, strict=True)
            ]
        )

    def _score_one(
        self,
        scores: Floats,
        rule: Rule,
        thresholds: Floats,
        mask: Bools,
        weights: Floats | None,
    ) -> float:
        if self.metric is not None:
            given = scores if self.metric.reads == "scores" else rule.decide(scores, thresholds)
            value = self.metric.function(self.reference[mask], given, sample_weight=weights)
            return value if self.metric.greater_is_better else -value
        assert self.scorer is not None
        estimator = PrecomputedScores(self.codec, rule, thresholds)
        metadata = take_rows(self.truth.fold, self.metadata, np.flatnonzero(mask))
        return float(self.scorer(estimator, scores, self.y[mask], **metadata))


def _check_takes_missing(scoring: str | Callable[..., float], metric: Metric | None) -> None:
    """Raise ValueError if a scoring by name does not support labels that are not observed."""
    if metric is None and not callable(scoring):
        raise ValueError(
            f"y has labels that are not observed (NaN), which scikit-learn's scoring={scoring!r} "
            f"does not support. Use one of {', '.join(COMPUTABLE)}, or a callable "
            "scorer(estimator, X, y) that ignores NaN in y."
        )


def _scorer(scoring: str | Callable[..., float], codec: LabelCodec) -> Callable[..., float] | None:
    """Return the scikit-learn scorer to call, or None if the name is one of the library's metrics.

    A name that both define is the library's for a label matrix and scikit-learn's for a vector y,
    whose label sets are single classes.
    """
    if callable(scoring):
        return scoring
    if not isinstance(scoring, str):
        raise TypeError(f"scoring must be a name or a callable, got {scoring!r}.")
    ours = METRICS.get(scoring)
    if ours is not None and ours.reads == "probabilities":
        raise ValueError(f"scoring={scoring!r} {NO_PROBABILITIES}")
    if ours is not None and codec.multilabel:
        return None
    try:
        found: Callable[..., float] = get_scorer(scoring)
    except (ValueError, KeyError) as error:
        if ours is not None and ours.reads == "scores":
            return None
        known = [n for n in COMPUTABLE if codec.multilabel or METRICS[n].reads == "scores"]
        raise ValueError(
            f"Unknown scoring {scoring!r} for this y: use one of {', '.join(known)}, a scorer name "
            "of scikit-learn, or a callable scorer(estimator, X, y)."
        ) from error
    return found


def make_scorer(
    scoring: str | Callable[..., float],
    y: Any,
    codec: LabelCodec,
    truth: Truth,
    rows: Ints,
    metadata: dict[str, Any] | None = None,
) -> GridScorer:
    """Return the scorer of the samples that some fold tests.

    Parameters
    ----------
    scoring : str or callable
        The scoring, as in :class:`GridScorer`.
    y : array-like
        The target of all samples as the user passed it.
    codec : LabelCodec
        The form of y.
    truth : Truth
        The truth about the samples of the search.
    rows : ndarray
        The positions of these samples in y.
    metadata : dict or None
        The keyword arguments of the scorer for all samples. None stands for the sample weights if
        the scorer accepts them.
    """
    at, tested = rows[truth.tested], truth.only_tested()
    target: Any = tested.labels.T.astype(int) if codec.multilabel else np.asarray(y).ravel()[at]
    if tested.cells is not None:
        target = np.where(tested.cells.T, target, np.nan)
    some = None if metadata is None else take_rows(y, metadata, at)
    return GridScorer(scoring, codec, tested, target, some)
