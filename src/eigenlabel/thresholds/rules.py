"""The rules of the library, the cuts that they choose from, and what predict returns for scores.

A cut predicts the samples with the highest scores. F1 and related metrics increase with the hits
and decrease with the predictions, so the best cut lies directly below a positive sample. There is
one candidate for each positive, and one that predicts nothing; a label without positives has only
the latter. Cuts never separate tied scores.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.parameters import check_number
from eigenlabel.inputs.warning import warn
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.ties import (
    WEIGHED,
    finite_size,
    nearest_first,
    same_scores,
    score_rounding,
    score_share,
    typical_size,
)
from eigenlabel.thresholds.base import Rule, known_labels
from eigenlabel.thresholds.calibration import Calibration, held_out_probabilities
from eigenlabel.thresholds.probability_rules import PROBABILITY_RULES

CACHED = 2**16  # scores that are sorted at a time


def _sort_with_truth(scores: Floats, truth: Bools) -> tuple[Floats, Bools]:
    """Return the scores (g, m, n) in descending order, up to their last bits, and their truth.

    The truth must be False where a score is infinite. Some labels at a time pass through all steps,
    so that they stay in the caches.
    """
    ordered, hit = np.empty(scores.shape), np.empty(scores.shape, dtype=bool)
    step = max(1, CACHED // max(1, scores.shape[-1]))
    for k, each in enumerate(scores):
        for start in range(0, len(truth), step):
            some = slice(start, start + step)
            part = np.negative(each[some], out=ordered[k, some])
            bits = part.view(np.int64)
            bits &= ~np.int64(1)
            bits |= truth[some]
            part.sort(axis=-1)
            hit[k, some] = bits & 1
            bits &= ~np.int64(1)
            np.negative(part, out=part)
    return ordered, hit


class CutCurves:
    """The candidate cuts of several sets of scores for one label matrix.

    Without weights, the truth is written into the last bit of each score, so that one sort of
    numbers, without positions, also sorts the truth. The last bit is rounding, and cuts never lie
    between scores that differ by rounding alone.

    Parameters
    ----------
    scores : ndarray of shape (g, m, n)
        The g sets of scores, with samples last; -inf for samples that are not observed.
    truth : ndarray of shape (m, n), bool
        The true labels.
    weights : ndarray of shape (n,), default=None
        Positive sample weights, or None if all samples count equally.

    Attributes
    ----------
    sorted : ndarray of shape (g, m, n)
        The scores in descending order, up to their last bits.
    label : ndarray of shape (c,)
        The label of each candidate, where c is the number of all positives plus m.
    starts : ndarray of shape (m,)
        The position of the first candidate of each label, which predicts nothing.
    count : ndarray of shape (g, c)
        The number of samples that each candidate predicts.
    predicted : ndarray of shape (g, c)
        The weight of these samples.
    hits : ndarray of shape (g, c)
        The weight of the positives among these samples.
    positives : ndarray of shape (m,)
        The weight of the positives of each label.
    tied : ndarray of shape (g, m), bool
        The labels with a positive whose score equals the next lower score.
    """

    def __init__(self, scores: Floats, truth: Bools, weights: Floats | None = None) -> None:
        g, m, n = scores.shape
        self.share = score_share(scores.dtype)
        n_positive = np.count_nonzero(truth, axis=-1)
        self.starts = np.concatenate([[0], np.cumsum(n_positive + 1)[:-1]]).astype(np.intp)
        self.label = np.repeat(np.arange(m), n_positive + 1)
        self.body = np.ones(len(self.label), dtype=bool)
        self.body[self.starts] = False
        order = None
        if weights is None:
            self.sorted, hit = _sort_with_truth(scores, truth)
        else:
            order = np.argsort(scores, axis=-1)[..., ::-1]
            self.sorted = np.take_along_axis(scores, order, axis=-1)
            hit = truth[np.arange(m)[:, None], order]
        self.count = np.zeros((g, len(self.label)), dtype=np.intp)
        self.count[:, self.body] = np.flatnonzero(hit).reshape(g, -1) % max(n, 1) + 1
        self.tied = self._find_ties()
        self._move_below_ties()
        self.positives = n_positive.astype(float) if weights is None else truth @ weights
        if weights is not None:
            self.predicted = self._read(np.cumsum(weights[order], axis=-1))
            self.hits = self._read(np.cumsum(hit * weights[order], axis=-1))
            return
        self.predicted = self.count.astype(float)
        self.hits = np.tile(
            np.arange(len(self.label), dtype=float) - self.starts[self.label], (g, 1)
        )
        for i, j in np.argwhere(self.tied):
            some = self.label == j
            hits = np.concatenate([[0.0], np.cumsum(hit[i, j], dtype=float)])
            self.hits[i, some] = hits[self.count[i, some]]

    def _find_ties(self) -> Bools:
        """Return the labels (g, m) with a cut between equal scores."""
        g, m, n = self.sorted.shape
        out = np.zeros((g, m), dtype=bool)
        below = self.count[:, self.body]
        if not below.size:
            return out
        which, sets = self.label[self.body], np.arange(g)[:, None]
        above = self.sorted[sets, which, below - 1]
        inside = below < n
        next_one = self.sorted[sets, which, np.minimum(below, n - 1)]
        typical = typical_size(self.sorted)[sets, which]
        slack = self.share * (np.maximum(finite_size(above), finite_size(next_one)) + typical)
        with np.errstate(invalid="ignore"):  # two infinite values are equal
            same = ~(above - next_one > slack) & inside
        at = np.nonzero(same)
        out[at[0], which[at[1]]] = True
        return out

    def _move_below_ties(self) -> None:
        """Move each cut below all samples that are tied with its positive."""
        n = self.sorted.shape[-1]
        for i, j in np.argwhere(self.tied):
            last = np.r_[~same_scores(self.sorted[i, j], self.share), True]
            end = np.where(last, np.arange(1, n + 1), n)
            end = np.minimum.accumulate(end[::-1])[::-1]
            some = self.body & (self.label == j)
            self.count[i, some] = end[self.count[i, some] - 1]

    def _read(self, cumulative: Floats) -> Floats:
        """Return a cumulative sum at each candidate, zero where nothing is predicted."""
        g = np.arange(len(cumulative))[:, None]
        value = cumulative[g, self.label, np.maximum(self.count, 1) - 1]
        return np.where(self.count == 0, 0.0, value)

    def f1(self) -> Floats:
        """Return F1 of each candidate (g, c), 0 if there is neither a positive nor a prediction."""
        total = self.predicted + self.positives[self.label]
        return np.asarray(2 * self.hits / np.where(total == 0, 1.0, total))

    def best(self, value: Floats) -> Ints:
        """Return the candidate (g, m) of each label with the largest value.

        Of values that are equal up to the rounding of sums of weights, the lowest cut wins. A label
        without positives has one candidate and is never predicted.
        """
        limit = np.maximum.reduceat(value, self.starts, axis=1)
        limit -= WEIGHED * np.maximum.reduceat(np.abs(value), self.starts, axis=1)
        index = np.where(value >= limit[:, self.label], np.arange(value.shape[1]), -1)
        return np.asarray(np.maximum.reduceat(index, self.starts, axis=1))

    def at(self, array: Floats, candidate: Ints) -> Floats:
        """Return the values (g, m) of an array (g, c) at the chosen candidates."""
        return np.take_along_axis(array, candidate, axis=1)

    def thresholds(self, candidate: Ints) -> Floats:
        """Return the thresholds (g, m) of the chosen candidates."""
        return cut_thresholds(self.sorted, np.take_along_axis(self.count, candidate, axis=1))


def cut_thresholds(ordered: Floats, count: Ints) -> Floats:
    """Return thresholds t such that ``score > t`` holds for exactly the ``count`` highest scores.

    ``ordered`` (..., n) is descending, and ``count`` (...,) must not separate ties. The threshold
    is the middle of the gap; +inf predicts nothing, -inf everything. Scores of -inf stand for
    samples that are not observed and are ignored.
    """
    n = ordered.shape[-1]
    above = np.take_along_axis(ordered, np.maximum(count - 1, 0)[..., None], axis=-1)[..., 0]
    below = np.take_along_axis(ordered, np.minimum(count, n - 1)[..., None], axis=-1)[..., 0]
    last = (count == n) | np.isneginf(below)
    below = np.where(last, above, below)
    middle = below + (above - below) / 2
    middle = np.where(middle < above, middle, below)  # neighbouring floats have no middle
    return np.where(count == 0, np.inf, np.where(last, -np.inf, middle))


def top_labels(scores: Floats, k: int) -> Ints:
    """Return the labels with the highest scores of each sample, the best first.

    Scores that are equal up to rounding go to the first label. The cost is linear in the number of
    labels.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        The scores.
    k : int
        The number of labels; all labels are returned if there are fewer.

    Returns
    -------
    labels : ndarray of shape (n_samples, k)
        The positions of the labels.
    """
    k = min(k, scores.shape[1])
    return nearest_first(-scores, k, score_rounding(scores))


def top_matrix(top: Ints, m: int) -> sp.csr_array:
    """Return the labels (n, k) of :func:`top_labels` as a sparse 0/1 matrix (n, m) of int64."""
    n, k = top.shape
    ones = np.ones(n * k, dtype=np.int64)
    starts = np.arange(0, n * k + 1, k)
    return sp.csr_array((ones, np.sort(top, axis=1).ravel(), starts), shape=(n, m))


@dataclass(frozen=True)
class Zero(Rule):
    """Decide by the threshold zero, the least-squares decision for targets of +1 and -1.

    Attributes
    ----------
    name : str
        The name of the rule, "zero".
    """

    name: ClassVar[str] = "zero"

    def fit_grid(
        self,
        scores: Floats,
        truth: Bools,  # noqa: ARG002
        weights: Floats | None,  # noqa: ARG002
    ) -> Floats:
        """Return thresholds of zero.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of scores, of which only the shape is used.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels, which are not used.
        weights : ndarray of shape (n_samples,) or None
            The sample weights, which are not used.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            Zeros.
        """
        return np.zeros(scores.shape[:2])


@dataclass(frozen=True)
class PerLabelF1(Rule):
    """Decide by the threshold of each label with the best F1 (Ji et al. 2008 and 2010).

    Of equal optima the lowest threshold wins, as in the code of the authors.

    Parameters
    ----------
    fbr : float, default=0.0
        A number between 0 and 1. The threshold of a label whose best F1 is lower is its highest
        score (SCutFBR.1 of Fan and Lin 2007), because a cut that is based on few positives is not
        trusted.

    Attributes
    ----------
    name : str
        The name of the rule, "f1"; "fbr" is the rule with ``fbr=0.1``.
    """

    fbr: float = 0.0
    name: ClassVar[str] = "f1"

    def fit_grid(self, scores: Floats, truth: Bools, weights: Floats | None) -> Floats:
        """Find the best cut of each label; the cost is g m n log n for g sets of scores.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of scores, with samples last.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels.
        weights : ndarray of shape (n_samples,) or None
            Positive sample weights, or None if all samples count equally.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The thresholds of each set.
        """
        check_number("fbr", self.fbr, 0, 1)
        curves = CutCurves(scores, truth, weights)
        f1 = curves.f1()
        best = curves.best(f1)
        rare = (curves.at(f1, best) < self.fbr) & (curves.positives > 0)
        return np.where(rare, scores.max(axis=-1), curves.thresholds(best))


@dataclass(frozen=True)
class Global(Rule):
    """Decide by one threshold for all labels, the optimum of micro F1 (Han et al. 2010).

    This is the last step of their Algorithm 1.

    Attributes
    ----------
    name : str
        The name of the rule, "global".
    """

    name: ClassVar[str] = "global"

    def fit_grid(self, scores: Floats, truth: Bools, weights: Floats | None) -> Floats:
        """Find the best common cut; the cost is g m n log(m n) for g sets of scores.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of scores, with samples last.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels.
        weights : ndarray of shape (n_samples,) or None
            Positive sample weights, or None if all samples count equally.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The thresholds of each set, equal for all labels.
        """
        g, m, _ = scores.shape
        repeated = None if weights is None else np.tile(weights, m)
        curves = CutCurves(scores.reshape(g, 1, -1), truth.reshape(1, -1), repeated)
        return np.repeat(curves.thresholds(curves.best(curves.f1())), m, axis=1)


@dataclass(frozen=True)
class Proportional(Rule):
    """Predict each label as often as it occurs (PCut); ties go to the nearer number.

    Attributes
    ----------
    name : str
        The name of the rule, "proportional".
    """

    name: ClassVar[str] = "proportional"

    def fit_grid(self, scores: Floats, truth: Bools, weights: Floats | None) -> Floats:
        """Find the cuts whose predicted weight is nearest to the weight of the positives.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of scores, with samples last.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels.
        weights : ndarray of shape (n_samples,) or None
            Positive sample weights, or None if all samples count equally.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The thresholds of each set.
        """
        g, m, n = scores.shape
        order = np.argsort(scores, axis=-1)[..., ::-1]
        ordered = np.take_along_axis(scores, order, axis=-1)
        w = np.ones(n) if weights is None else weights
        predicted = np.concatenate([np.zeros((g, m, 1)), np.cumsum(w[order], axis=-1)], axis=-1)
        off = np.abs(predicted - (truth @ w)[:, None])
        off[..., 1:-1][same_scores(ordered)] = np.inf  # these cuts would separate ties
        least = off.min(axis=-1, keepdims=True) + WEIGHED * w.sum()
        return cut_thresholds(ordered, np.argmax(off <= least, axis=-1))


@dataclass(frozen=True)
class Top(Rule):
    """Predict the labels with the highest scores of each sample (Xiong et al., KGHA).

    Ties go to the first label. The rule needs no thresholds; ``fit`` returns NaN.

    Parameters
    ----------
    n_labels : int, default=5
        The number of labels of each sample. A warning is issued if there are no more labels.

    Attributes
    ----------
    name : str
        The name of the rule, "top".
    """

    n_labels: int = 5
    name: ClassVar[str] = "top"

    def fit_grid(
        self,
        scores: Floats,
        truth: Bools,  # noqa: ARG002
        weights: Floats | None,  # noqa: ARG002
    ) -> Floats:
        """Return thresholds of NaN, and warn if every sample has all labels.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of scores, of which only the shape is used.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels, which are not used.
        weights : ndarray of shape (n_samples,) or None
            The sample weights, which are not used.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            NaN.
        """
        check_number("n_labels", self.n_labels, 0, integer=True)
        if self.n_labels >= scores.shape[1]:
            warn(
                f"Top({self.n_labels}) predicts all {scores.shape[1]} labels for every sample: use "
                "fewer, as Top(1), or another rule as threshold or strategy, such as 'mixed' "
                "(eigenlabel fit --set threshold=mixed).",
                UserWarning,
            )
        return np.full(scores.shape[:2], np.nan)

    def decide(self, scores: Floats, thresholds: Floats) -> Bools:
        """Decide that each sample has the labels with its highest scores.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            The scores.
        thresholds : ndarray of shape (n_labels,)
            The thresholds; labels with +inf, which were never observed, are left out.

        Returns
        -------
        decisions : ndarray of shape (n_samples, n_labels), bool
            The label sets.
        """
        known = known_labels(scores, thresholds)
        decisions = np.zeros(known.scores.shape, dtype=bool)
        np.put_along_axis(decisions, top_labels(known.scores, self.n_labels), True, axis=1)
        return known.spread(decisions)


@dataclass(frozen=True)
class Mixed(Rule):
    """Decide by the thresholds that climb ``weight`` macro F1 + (1 - ``weight``) micro F1.

    With micro F1 = F and its denominator Q, both from the last sweep, each label takes the cut
    that maximises ``weight F1_j / m + (1 - weight) (2 TP_j - F P_j) / Q``. This is Dinkelbach's
    device: for fixed F the micro part is a sum over labels. A sweep that does not raise the
    objective is discarded, so the objective never falls. The F1 of a rare label hardly determines
    its cut; the micro part does, by the cost of the cut for all labels.

    Parameters
    ----------
    weight : float, default=0.7
        The weight of macro F1, a number between 0 and 1.
    max_sweeps : int, default=50
        The maximum number of sweeps over all labels.

    Attributes
    ----------
    name : str
        The name of the rule, "mixed".
    """

    weight: float = 0.7
    max_sweeps: int = 50
    name: ClassVar[str] = "mixed"

    def fit_grid(self, scores: Floats, truth: Bools, weights: Floats | None) -> Floats:
        """Find the cuts where the ascent ends; sorting the scores costs more than the sweeps.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of scores, with samples last.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels.
        weights : ndarray of shape (n_samples,) or None
            Positive sample weights, or None if all samples count equally.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The thresholds of each set.
        """
        check_number("weight", self.weight, 0, 1)
        curves = CutCurves(scores, truth, weights)
        f1 = curves.f1()
        best = curves.best(f1)
        objective, F, Q = self._objective(curves, f1, best)
        m = len(curves.positives)
        active = np.arange(len(best))
        for _ in range(self.max_sweeps):
            a = active
            micro = (2 * curves.hits[a] - F[a, None] * curves.predicted[a]) / Q[a, None]
            moved = curves.best(self.weight * f1[a] / m + (1 - self.weight) * micro)
            new, newF, newQ = self._objective(curves, f1, moved, a)
            up = new > objective[a] * (1 + WEIGHED)
            active = a[up]
            if not active.size:
                break
            best[active], objective[active] = moved[up], new[up]
            F[active], Q[active] = newF[up], newQ[up]
        return curves.thresholds(best)

    def _objective(
        self,
        curves: CutCurves,
        f1: Floats,
        candidate: Ints,
        rows: Ints | slice = slice(None),
    ) -> tuple[Floats, Floats, Floats]:
        """Return the objective, micro F1 and its denominator for the chosen cuts, each (g,)."""
        hits = curves.at(curves.hits[rows], candidate).sum(axis=1)
        total = curves.at(curves.predicted[rows], candidate).sum(axis=1) + curves.positives.sum()
        Q = np.where(total == 0, 1.0, total)
        micro = 2 * hits / Q
        macro = curves.at(f1[rows], candidate).mean(axis=1)
        return self.weight * macro + (1 - self.weight) * micro, micro, Q


RULES: dict[str, Rule] = {
    "zero": Zero(),
    "f1": PerLabelF1(),
    "fbr": PerLabelF1(fbr=0.1),
    "global": Global(),
    "top": Top(),
    "proportional": Proportional(),
    "mixed": Mixed(),
}


def get_rule(rule: str | Rule) -> Rule:
    """Return the rule of a name, or the rule itself.

    Parameters
    ----------
    rule : str or Rule
        The name of a rule that reads scores ("zero", "f1", "fbr", "global", "top", "proportional"
        or "mixed") or probabilities ("expected_f1", "costs" or "between"), or a rule with its own
        settings.

    Returns
    -------
    rule : Rule
        The rule.
    """
    if isinstance(rule, Rule):
        return rule
    known = {**RULES, **PROBABILITY_RULES}
    if rule not in known:
        raise ValueError(
            f"Unknown threshold rule {rule!r}: use one of {', '.join(map(repr, known))}, or a rule "
            "of eigenlabel.thresholds with its own settings, such as Mixed(weight=0.5)."
        )
    return known[rule]


def rule_of(model: Any) -> Rule:
    """Return the rule of a classifier, its parameter ``strategy`` or ``threshold``; else "zero"."""
    given = (getattr(model, name, None) for name in ("strategy", "threshold"))
    return get_rule(next((rule for rule in given if isinstance(rule, (str, Rule))), "zero"))


def reads_probabilities(rule: Rule) -> bool:
    """Return True if a rule is fitted to probabilities, and decides on them, instead of scores."""
    return rule.reads == "probabilities"


def check_readable(rule: Rule, calibration: Any) -> None:
    """Raise ValueError if a rule reads probabilities and ``calibration`` is None."""
    if calibration is None and reads_probabilities(rule):
        raise ValueError(
            f"The rule {rule!r} decides on probabilities, which calibration=None leaves out: pass "
            "calibration='auto', 'sigmoid' or 'isotonic'."
        )


def values_for(rule: Rule, scores: Floats, calibration: Calibration | None) -> Floats:
    """Return what a rule reads, the scores (n, m) or their probabilities."""
    if not reads_probabilities(rule):
        return scores
    check_readable(rule, calibration)
    assert calibration is not None
    return calibration.probabilities(scores)


def heldout_values(
    rule: Rule, scores: Floats, Y: Any, weights: Floats | None, calibration: str | None
) -> Floats:
    """Return what a rule is fitted to, held-out scores (n, m) or their probabilities.

    The probabilities of a sample are those of a calibration that has not seen its labels.

    Parameters
    ----------
    rule : Rule
        The rule.
    scores : ndarray of shape (n_samples, n_labels)
        The held-out scores.
    Y : ndarray of shape (n_samples, n_labels)
        The label matrix, with NaN where a label is not observed.
    weights : ndarray of shape (n_samples,) or None
        The sample weights.
    calibration : str or None
        How scores become probabilities.
    """
    if not reads_probabilities(rule):
        return scores
    check_readable(rule, calibration)
    assert calibration is not None
    return held_out_probabilities(scores, Y, weights, method=calibration)


def decide(
    codec: LabelCodec,
    scores: Floats,
    rule: Rule = Zero(),  # noqa: B008  a frozen dataclass
    thresholds: Floats | float = 0.0,
    calibration: Calibration | None = None,
) -> Any:
    """Return what ``predict`` returns for scores (n, m).

    For a label matrix these are the label sets that the rule decides on, in the form that y had;
    by default, a sample has the labels whose scores are positive. A rule on probabilities needs
    the calibration. For a vector y these are the classes with the highest scores, for which
    thresholds play no role.
    """
    if codec.multilabel:
        values = values_for(rule, scores, calibration)
        return codec.decode(rule.decide(values, np.asarray(thresholds)))
    return codec.decide(scores)


class Decisions:
    """The decisions about pieces of n rows, which become one array, sparse matrix or list.

    Dense pieces are copied as they come, so that no more than one of them is held.

    Parameters
    ----------
    n : int
        The number of rows.
    """

    def __init__(self, n: int) -> None:
        self._n, self._start = n, 0
        self._whole: Any = None
        self._pieces: list[Any] = []

    def add(self, piece: Any) -> None:
        """Add the decisions about the next rows."""
        if not isinstance(piece, np.ndarray) or len(piece) == self._n:
            self._pieces.append(piece)
            return
        if self._whole is None:
            self._whole = np.empty((self._n, *piece.shape[1:]), dtype=piece.dtype)
        self._whole[self._start : self._start + len(piece)] = piece
        self._start += len(piece)

    def join(self) -> Any:
        """Return the decisions about all rows."""
        if self._whole is not None:
            return self._whole
        if not self._pieces:
            raise ValueError("X has no samples, at least 1 is needed.")
        first = self._pieces[0]
        if len(self._pieces) == 1:
            return first
        if isinstance(first, list):
            return [labels for piece in self._pieces for labels in piece]
        return type(first)(sp.vstack(self._pieces, format="csr"))
