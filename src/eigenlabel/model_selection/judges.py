"""Judges of a search: by one score on all samples, by the mean over folds, or by label."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from eigenlabel.labels.truth import Truth
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.ties import ACCURACY, first_largest
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection.scorers import GridScorer
from eigenlabel.model_selection.search import Chunk, HeldOut, HeldOutLookup, SearchResult
from eigenlabel.thresholds import PerLabelF1, Rule

PIECE = 2**19  # scores whose thresholds are fitted at once: that takes ten arrays as large


class Pooled:
    """Judge grid points by one score on all held-out scores together.

    Thresholds are fitted to the scores of each point before they are judged.

    Parameters
    ----------
    scorer : GridScorer
        The scorer, which knows the true labels of the tested samples.
    rule : Rule
        The rule that finds thresholds.
    truth : Truth
        The truth about all samples of the search.
    room : int, default=PIECE
        The number of scores whose thresholds are fitted at once.
    """

    def __init__(self, scorer: GridScorer, rule: Rule, truth: Truth, room: int = PIECE) -> None:
        self.scorer, self.rule, self.truth, self.room = scorer, rule, truth, room

    def prepare(self, n_points: int) -> None:
        """Make room for the scores and thresholds of all points."""
        folds = self.truth.n_folds if self.truth.by_fold else 0
        self.pooled = np.empty(n_points)
        self.split = np.empty((n_points, folds))
        self.thresholds = np.empty((n_points, len(self.truth.labels)))

    def read(self, chunk: Chunk) -> Iterator[int]:
        """Fit thresholds to the scores of some points at once and score them."""
        tested, step = self.truth.tested, max(1, self.room // self.truth.labels.size)
        for start in range(0, len(chunk.points), step):
            points = chunk.points[start : start + step]
            part = chunk.scores[start : start + step]
            if not tested.all():
                part = np.ascontiguousarray(part[..., tested])
            self.thresholds[points] = self._find_thresholds(part)
            self.pooled[points], self.split[points] = self.scorer.score(
                part, self.rule, self.thresholds[points], self.truth.by_fold
            )
            yield len(points)

    def _find_thresholds(self, scores: Floats) -> Floats:
        if not self.scorer.multilabel:
            return np.zeros(scores.shape[:2])
        truth = self.scorer.truth
        return self.rule.find_grid(scores, truth.labels, truth.weights, truth.cells)

    def conclude(self, held_out: HeldOutLookup) -> SearchResult:
        """Choose the first of the best points; raise ValueError if every score is NaN."""
        if np.isnan(self.pooled).all():
            raise ValueError(
                f"scoring={self.scorer.scoring!r} is undefined (NaN) at every grid point: the "
                "held-out samples may have too few positives. Use another scoring or fewer folds."
            )
        best = first_largest(self.pooled)
        oof_scores = held_out.at(int(best)).T.copy()
        oof_scores[~self.truth.tested] = np.nan
        table = _tabulate(held_out.params, self.pooled, self.split)
        return SearchResult(table, best, self.pooled[best], self.thresholds[best], oof_scores)


def _tabulate(params: Sequence[dict[str, Any]], pooled: Floats, split: Floats) -> dict[str, Any]:
    """Return the results of grid points in the form of GridSearchCV's ``cv_results_``."""
    results: dict[str, Any] = {
        f"param_{key}": np.array([point[key] for point in params]) for key in params[0]
    }
    results["params"] = list(params)
    results["pooled_test_score"] = pooled
    slack = ACCURACY * np.abs(pooled)  # points that are equal up to rounding share their best rank
    results["rank_test_score"] = np.searchsorted(np.sort(-pooled), -pooled - slack) + 1
    if split.shape[1]:
        for k in range(split.shape[1]):
            results[f"split{k}_test_score"] = split[:, k]
        results["mean_test_score"] = split.mean(axis=1)
        results["std_test_score"] = split.std(axis=1)
    return results


class ByFold:
    """Judge grid points by the mean over folds of a metric on each fold's test samples.

    A mean that is undefined (NaN) counts as the worst. The table of the result holds
    ``fold_test_score`` (points, folds), in which losses are not negated.

    Parameters
    ----------
    scoring : str
        The name of a metric of ``eigenlabel.metrics``. If it reads label sets, the chunks must
        hold label sets in place of scores.
    Y : ndarray of shape (n_samples, n_labels)
        The true labels.
    weights : ndarray of shape (n_samples,) or None
        The sample weights.
    tests : sequence of ndarray
        The test rows of each fold.
    """

    def __init__(
        self, scoring: str, Y: Ints, weights: Floats | None, tests: Sequence[Ints]
    ) -> None:
        self.metric, self.Y, self.weights, self.tests = METRICS[scoring], Y, weights, tests

    def prepare(self, n_points: int) -> None:
        """Make room for the scores of all points and folds."""
        self.scores = np.empty((n_points, len(self.tests)))

    def read(self, chunk: Chunk) -> Iterator[int]:
        """Score the test samples of one fold."""
        assert chunk.fold is not None
        test = self.tests[chunk.fold]
        weights = None if self.weights is None else self.weights[test]
        for point, scores in zip(chunk.points, chunk.scores, strict=True):
            self.scores[point, chunk.fold] = self.metric.function(
                self.Y[test], scores.T, sample_weight=weights
            )
        yield 1

    def conclude(self, held_out: HeldOut) -> SearchResult:
        """Choose the first of the best points, or the first point if all means are NaN."""
        means = self.scores.mean(axis=1)
        means = means if self.metric.greater_is_better else -means
        best = first_largest(means)
        table = {"params": list(held_out.params), "fold_test_score": self.scores}
        return SearchResult(table, best, means[best])


def _best_f1(t: Bools, s: Floats, sample_weight: Floats | None) -> float:
    """Return F1 at the threshold that is best for these scores."""
    rule = PerLabelF1()
    decided = rule.decide(s[:, None], rule.fit(s[:, None], t[:, None], sample_weight))[:, 0]
    return float(f1_score(t, decided, sample_weight=sample_weight, zero_division=0))


LABEL_SCORINGS: dict[str, Callable[..., float]] = {
    "f1": _best_f1,
    "auc": roc_auc_score,
    "average_precision": average_precision_score,
}


class ByLabel:
    """Judge grid points for each label separately, by its held-out scores of all folds together.

    A label whose score is undefined at every point, such as one without positives among the tested
    samples, takes the point that is best on average for the others. The table of the result holds
    ``label_test_score`` (points, labels).

    Parameters
    ----------
    scoring : {"f1", "auc", "average_precision"}
        The score of a label; "f1" is F1 at the best threshold.
    labels : ndarray of shape (n_labels, n_samples), bool
        The true labels.
    weights : ndarray of shape (n_samples,) or None
        The sample weights.
    """

    def __init__(self, scoring: str, labels: Bools, weights: Floats | None) -> None:
        self.function, self.labels, self.weights = LABEL_SCORINGS[scoring], labels, weights

    def prepare(self, n_points: int) -> None:
        """Make room for the scores of all points and labels."""
        self.scores = np.full((n_points, len(self.labels)), np.nan)

    def read(self, chunk: Chunk) -> Iterator[int]:
        """Score each label on the samples that were held out for it."""
        for point, scores in zip(chunk.points, chunk.scores, strict=True):
            for j, (t, s) in enumerate(zip(self.labels, scores, strict=True)):
                tested = ~np.isnan(s)
                if t[tested].any() and not t[tested].all():
                    weights = None if self.weights is None else self.weights[tested]
                    self.scores[point, j] = self.function(
                        t[tested], s[tested], sample_weight=weights
                    )
            yield 1

    def conclude(self, held_out: HeldOut) -> SearchResult:
        """Choose the first of the best points for each label."""
        undefined = np.isnan(self.scores).all(axis=0)
        common = 0
        if not undefined.all():
            common = int(first_largest(self.scores[:, ~undefined].mean(axis=1)))
        best = np.where(undefined, common, first_largest(self.scores))
        table = {"params": list(held_out.params), "label_test_score": self.scores}
        return SearchResult(table, best, self.scores[best, np.arange(len(best))])
