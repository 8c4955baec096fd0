"""One search over grid points, and the judges that compare them: pooled, by fold or by label."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from eigenlabel.inputs.parameters import check_number
from eigenlabel.labels.checks import blank
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.ties import ACCURACY, first_largest
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection.scorers import GridScorer, Truth
from eigenlabel.thresholds import Calibration, Mixed, PerLabelF1, Rule
from eigenlabel.thresholds.calibration import fit_probabilities
from eigenlabel.thresholds.rules import (
    check_readable,
    heldout_values,
    reads_probabilities,
    values_for,
)


class Chunk(NamedTuple):
    """Held-out scores of some grid points, as many as fit in memory at once.

    Attributes
    ----------
    points : ndarray of shape (n_points,)
        The positions of the grid points.
    scores : ndarray of shape (n_points, n_labels, n_samples)
        Their scores, NaN where a sample was not held out.
    fold : int or None
        The number of the fold whose test samples are scored, or None for all samples together.
    """

    points: Ints
    scores: Floats
    fold: int | None = None


class HeldOut(Protocol):
    """Held-out scores of the points of a grid."""

    @property
    def params(self) -> Sequence[dict[str, Any]]:
        """The parameters of each grid point, from the simplest model to the least simple."""
        ...

    def chunks(self) -> Iterator[Chunk]:
        """Yield the scores of all points, each point (and fold) once."""
        ...


class HeldOutLookup(HeldOut, Protocol):
    """Held-out scores that can also be looked up by point, for judges that return them."""

    def at(self, point: int) -> Floats:
        """Return the scores (n_labels, n_samples) of one point after the chunks were read."""
        ...


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes
    ----------
    table : dict
        The results of all points, as ``cv_results_`` of an estimator.
    best : ndarray of shape () or (n_labels,)
        The position of the best point, or of the best point for each label.
    score : ndarray of shape () or (n_labels,)
        Its score; greater is better.
    thresholds : ndarray of shape (n_labels,) or None
        The thresholds of the best point, if the judge fits thresholds.
    oof_scores : ndarray of shape (n_samples, n_labels) or None
        The held-out scores of the best point, NaN for samples that were never held out.
    calibration : Calibration or None
        The maps from scores to probabilities, fitted to the held-out scores of the best point.
    """

    table: dict[str, Any]
    best: Ints
    score: Floats
    thresholds: Floats | None = None
    oof_scores: Floats | None = None
    calibration: Calibration | None = None


Made = TypeVar("Made", bound=HeldOut)
Judged_contra = TypeVar("Judged_contra", bound=HeldOut, contravariant=True)


class Judge(Protocol[Judged_contra]):
    """Compares held-out scores with the truth and chooses a point."""

    def prepare(self, n_points: int) -> None:
        """Make room for the scores of all points."""
        ...

    def read(self, chunk: Chunk) -> Iterator[int]:
        """Judge the scores of a chunk; yield the number of steps each time some are done."""
        ...

    def conclude(self, held_out: Judged_contra) -> SearchResult:
        """Return the result after all chunks were read."""
        ...


def _ignore(steps: int) -> None:
    """Show no progress."""


def search(
    held_out: Made, judge: Judge[Made], advance: Callable[[int], Any] = _ignore
) -> SearchResult:
    """Judge all grid points and return the result.

    ``advance`` is called with the number of steps that are done, each time some are.
    """
    judge.prepare(len(held_out.params))
    for chunk in held_out.chunks():
        for done in judge.read(chunk):
            advance(done)
        del chunk  # the next chunk is computed in its place
    return judge.conclude(held_out)


def store(model: Any, result: SearchResult, rows: Ints, n_samples: int) -> None:
    """Set the fitted attributes of a tuned classifier whose points were judged as a whole.

    ``rows`` are the positions of the samples of the search among all ``n_samples``.
    """
    assert result.oof_scores is not None
    best = int(result.best)
    model.cv_results_ = result.table
    model.best_index_, model.best_score_ = best, float(result.score)
    model.best_params_ = dict(result.table["params"][best])
    model.thresholds_ = result.thresholds
    model.oof_scores_ = np.full((n_samples, result.oof_scores.shape[1]), np.nan)
    model.oof_scores_[rows] = result.oof_scores
    store_calibration(model, result.calibration)


def store_calibration(model: Any, calibration: Calibration | None) -> None:
    """Set ``calibration_`` of a model, or remove that of an earlier fit."""
    vars(model).pop("calibration_", None)
    if calibration is not None:
        model.calibration_ = calibration


def to_floats(name: str, values: Any) -> Floats:
    """Return a list of numbers as an array; raise ValueError if it is empty or something else."""
    try:
        array = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be a non-empty list of numbers, got {values!r}.")
    for value in array[np.isfinite(array)].tolist():
        check_number(name, value, -np.inf)
    return array


PIECE = 2**19  # scores whose thresholds are fitted at once: that takes ten arrays as large


class Pooled:
    """Judge grid points by one score on all held-out scores together.

    Thresholds are fitted to the scores of each point before they are judged. For a rule on
    probabilities, points are judged with the rule "mixed", because a calibration of every point
    would take longer than its scores; the rule is fitted to the probabilities of the best point.

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
    calibration : str or None, default=None
        How the held-out scores of the best point become probabilities.
    """

    def __init__(
        self,
        scorer: GridScorer,
        rule: Rule,
        truth: Truth,
        room: int = PIECE,
        calibration: str | None = None,
    ) -> None:
        self.scorer, self.rule, self.truth, self.room = scorer, rule, truth, room
        self.calibration = calibration
        self.judging = Mixed() if reads_probabilities(rule) else rule
        if scorer.multilabel:
            check_readable(rule, calibration)

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
                part, self.judging, self.thresholds[points], self.truth.by_fold
            )
            yield len(points)

    def _find_thresholds(self, scores: Floats) -> Floats:
        if not self.scorer.multilabel:
            return np.zeros(scores.shape[:2])
        truth = self.scorer.truth
        return self.judging.find_grid(scores, truth.labels, truth.weights, truth.cells)

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
        known, weights = _known(self.truth), self.truth.weights
        calibration = None
        if self.calibration is not None:
            calibration = fit_probabilities(
                self.scorer.codec, oof_scores, known, weights, method=self.calibration
            )
        thresholds = self.thresholds[best]
        if self.scorer.multilabel and reads_probabilities(self.rule):
            P = heldout_values(self.rule, oof_scores, known, weights, self.calibration)
            tested = self.truth.tested
            part = None if weights is None else weights[tested]
            thresholds = self.rule.find_thresholds(P[tested], known[tested], part)
        table = _tabulate(held_out.params, self.pooled, self.split)
        return SearchResult(table, best, self.pooled[best], thresholds, oof_scores, calibration)

    def fit_to_training(self, scores: Floats, calibration: Calibration | None) -> Floats:
        """Return the thresholds for the training scores (n, m) of all samples of the search."""
        values = values_for(self.rule, scores, calibration)
        return self.rule.find_thresholds(values, _known(self.truth), self.truth.weights)


def _known(truth: Truth) -> Bools | Floats:
    """Return the label matrix (n, m), with NaN where a label is not observed."""
    return blank(truth.labels.T, None if truth.cells is None else truth.cells.T)


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
        The name of a metric of ``eigenlabel.metrics``. If it reads label sets or probabilities,
        the chunks must hold these in place of scores.
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
    keep : bool, default=False
        Whether the result has the held-out scores of each label's best point. Those of worse
        points are discarded as soon as a better one is found.
    """

    def __init__(
        self, scoring: str, labels: Bools, weights: Floats | None, keep: bool = False
    ) -> None:
        self.function, self.labels, self.weights = LABEL_SCORINGS[scoring], labels, weights
        self.kept: list[dict[int, Floats]] | None = [{} for _ in labels] if keep else None

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
            if self.kept is not None:
                self._keep(int(point), scores)
            yield 1

    def _keep(self, point: int, scores: Floats) -> None:
        """Keep the scores of a point for the labels of which it may be the best."""
        assert self.kept is not None
        for j, s in enumerate(scores):
            self.kept[j][point] = s.copy()
            column = self.scores[:, j]
            defined = column[~np.isnan(column)]
            if defined.size:
                least = defined.max() - ACCURACY * abs(defined.max())
                self.kept[j] = {k: v for k, v in self.kept[j].items() if column[k] >= least}

    def conclude(self, held_out: HeldOut) -> SearchResult:
        """Choose the first of the best points for each label."""
        undefined = np.isnan(self.scores).all(axis=0)
        common = 0
        if not undefined.all():
            common = int(first_largest(self.scores[:, ~undefined].mean(axis=1)))
        best = np.where(undefined, common, first_largest(self.scores))
        table = {"params": list(held_out.params), "label_test_score": self.scores}
        oof_scores = None
        if self.kept is not None:
            pairs = zip(self.kept, best.tolist(), strict=True)
            oof_scores = np.column_stack([kept[k] for kept, k in pairs])
        score = self.scores[best, np.arange(len(best))]
        return SearchResult(table, best, score, oof_scores=oof_scores)
