"""Score many sets of held-out scores at once, by our metrics or any scikit-learn scorer.

A scorer of scikit-learn wants an estimator; it gets one whose X *is* the scores. Losses are
negated, so that more is always better.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from eigenlabel.inputs.validation import take_rows, takes_weights
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.ties import first_highest
from eigenlabel.metrics import METRICS, Metric, f1_from_counts
from eigenlabel.thresholds import Rule


class PrecomputedScores(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose decision function is its input."""

    def __init__(self, codec: LabelCodec, rule: Rule, thresholds: np.ndarray) -> None:
        self.codec = codec
        self.rule = rule
        self.thresholds = thresholds
        self.classes_ = codec.classes

    def predict_proba(self, X: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Say that there are scores only."""
        raise ValueError(
            "This scoring needs probabilities, but the model gives scores only: use one that "
            "takes scores or label sets, such as 'auc_macro' or 'f1_macro'."
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Give X back."""
        return self.codec.shape_scores(X)

    def predict(self, X: np.ndarray) -> Any:
        """Decide by the thresholds, or by the highest score."""
        if self.codec.multilabel:
            return self.codec.decode(self.rule.decide(X, self.thresholds))
        return self.codec.decide(X)


# Metrics that depend on hits, predictions and positives per label alone.
_COUNTED: dict[str, Callable[..., np.ndarray]] = {
    "f1_macro": lambda h, p, y: f1_from_counts(h, p, y).mean(axis=1),
    "f1_micro": lambda h, p, y: f1_from_counts(h.sum(axis=1), p.sum(axis=1), y.sum(axis=0)),
}


class GridScorer:
    """Score sets of held-out scores (g, m, n) as a whole and by fold.

    Parameters
    ----------
    scoring : name of a metric of ``eigenlabel.metrics``, name of a scikit-learn scorer, or a
        callable ``scorer(estimator, X, y)``
    codec, truth : the form of y and its boolean matrix (m, n)
    y : the target as given, for scorers of scikit-learn
    fold : (n,) number of each sample's fold
    weights : (n,) or None
    observed : (m, n) cells that count, or None for all
    metadata : keyword arguments of the scorer, by sample or as they are; None stands for the
        weights if the scorer takes them
    """

    def __init__(
        self,
        scoring: str | Callable[..., float],
        codec: LabelCodec,
        truth: np.ndarray,
        y: Any,
        fold: np.ndarray,
        weights: np.ndarray | None,
        observed: np.ndarray | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.codec, self.truth, self.y, self.weights = codec, truth, y, weights
        self.observed = observed
        self.fold, self.n_folds = fold, int(fold.max()) + 1
        self.counted = _COUNTED.get(scoring) if isinstance(scoring, str) else None
        self.scorer = _scorer(scoring, codec)
        self.metric = METRICS[scoring] if self.scorer is None else None
        weighed = weights is not None and self.scorer is not None and takes_weights(self.scorer)
        if metadata is None and weighed:
            metadata = {"sample_weight": weights}
        self.metadata = metadata or {}
        self.reference = truth.T
        if observed is not None:
            _check_takes_missing(scoring, self.metric)
            self.counted = None  # counts know nothing of cells
            self.reference = np.where(observed, truth, np.nan).T

    def score(
        self, scores: np.ndarray, rule: Rule, thresholds: np.ndarray, by_fold: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the scores of each set on all samples (g,) and by fold (g, folds), greater better.

        Without ``by_fold`` the second has no columns.
        """
        if self.counted is not None:
            return self._score_counts(scores, rule, thresholds, by_fold)
        everything = np.ones(len(self.fold), dtype=bool)
        pooled = self._score_each(scores, rule, thresholds, everything)
        split = np.empty((len(scores), 0))
        if by_fold:
            masks = (self.fold == k for k in range(self.n_folds))
            split = np.column_stack(
                [self._score_each(scores, rule, thresholds, mask) for mask in masks]
            )
        return pooled, split

    def _score_counts(
        self, scores: np.ndarray, rule: Rule, thresholds: np.ndarray, by_fold: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        truth, decisions = self._decisions(scores, rule, thresholds)
        member = np.zeros((len(self.fold), self.n_folds))
        member[np.arange(len(self.fold)), self.fold] = 1.0 if self.weights is None else self.weights
        hits = (decisions & truth) @ member  # (g, m, folds)
        predicted = decisions @ member
        positives = truth @ member  # (m, folds)
        assert self.counted is not None
        pooled = self.counted(hits.sum(axis=2), predicted.sum(axis=2), positives.sum(axis=1))
        if not by_fold:
            return pooled, np.empty((len(scores), 0))
        split = [
            self.counted(hits[..., k], predicted[..., k], positives[:, k])
            for k in range(self.n_folds)
        ]
        return pooled, np.column_stack(split)

    def _decisions(
        self, scores: np.ndarray, rule: Rule, thresholds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give true (m, n) and decided (g, m, n) labels; a vector y has one row per class."""
        if self.codec.kind == "binary":
            return np.vstack([~self.truth, self.truth]), np.concatenate(
                [scores <= 0, scores > 0], axis=1
            )
        if self.codec.kind == "multiclass":
            classes = np.arange(scores.shape[1])[:, None]
            chosen = first_highest(np.moveaxis(scores, 1, -1))
            return self.truth, chosen[:, None] == classes
        decided = [rule.decide(s.T, t).T for s, t in zip(scores, thresholds, strict=True)]
        return self.truth, np.stack(decided)

    def _score_each(
        self, scores: np.ndarray, rule: Rule, thresholds: np.ndarray, mask: np.ndarray
    ) -> np.ndarray:
        weights = None if self.weights is None else self.weights[mask]
        return np.array(
            [
                self._score_one(s.T[mask], rule, t, mask, weights)
                for s, t in zip(scores, thresholds, strict=True)
            ]
        )

    def _score_one(
        self,
        scores: np.ndarray,
        rule: Rule,
        thresholds: np.ndarray,
        mask: np.ndarray,
        weights: np.ndarray | None,
    ) -> float:
        if self.metric is not None:
            given = scores if self.metric.reads == "scores" else rule.decide(scores, thresholds)
            value = self.metric.function(self.reference[mask], given, sample_weight=weights)
            return value if self.metric.greater_is_better else -value
        assert self.scorer is not None
        estimator = PrecomputedScores(self.codec, rule, thresholds)
        metadata = take_rows(self.fold, self.metadata, np.flatnonzero(mask))
        return float(self.scorer(estimator, scores, self.y[mask], **metadata))


def _check_takes_missing(scoring: str | Callable[..., float], metric: Metric | None) -> None:
    if metric is None and not callable(scoring):
        raise ValueError(
            f"y has labels that are not observed (NaN), which scikit-learn's scoring={scoring!r} "
            f"does not take: use one of {', '.join(METRICS)}, or a callable "
            "scorer(estimator, X, y) that leaves NaN in y out."
        )


def _scorer(scoring: str | Callable[..., float], codec: LabelCodec) -> Callable[..., float] | None:
    """Give the scikit-learn scorer to call, or None where the name is one of our metrics.

    Names that both know are ours for a label matrix and scikit-learn's for a 1-D y, whose label
    sets are single classes.
    """
    if callable(scoring):
        return scoring
    if not isinstance(scoring, str):
        raise TypeError(f"scoring must be a name or a callable, got {scoring!r}.")
    ours = METRICS.get(scoring)
    if ours is not None and codec.multilabel:
        return None
    try:
        return get_scorer(scoring)
    except (ValueError, KeyError) as error:
        if ours is not None and ours.reads == "scores":
            return None
        known = [n for n, metric in METRICS.items() if codec.multilabel or metric.reads == "scores"]
        raise ValueError(
            f"Unknown scoring {scoring!r} for this y: use one of {', '.join(known)}, a scorer name "
            "of scikit-learn, or a callable scorer(estimator, X, y)."
        ) from error
