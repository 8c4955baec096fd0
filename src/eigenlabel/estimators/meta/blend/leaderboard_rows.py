"""The rows of a leaderboard: what held-out log-odds of members and of the blend are worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.estimators.meta.blend.blending import MemberWeights
from eigenlabel.estimators.meta.blend.fitting_members import MemberEntry
from eigenlabel.estimators.meta.blend.leaderboard import Leaderboard, empty_row, measure
from eigenlabel.estimators.meta.blend.task import BlendTask
from eigenlabel.labels.checks import blank
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.rules import reads_probabilities

BLEND = "blend"  # the name of its row


@dataclass(frozen=True)
class HeldOutJudge:
    """Held-out log-odds become thresholds, decisions and figures.

    Attributes
    ----------
    task : BlendTask
        The training data.
    rule : Rule
        The rule of thresholds.
    """

    task: BlendTask
    rule: Rule

    def _values(self, scores: Floats, P: Floats) -> Floats:
        return P if reads_probabilities(self.rule) else scores

    def thresholds(self, scores: Floats, P: Floats) -> Floats:
        """Return the thresholds of the rule for held-out log-odds and probabilities (n, m).

        Samples in no test part have neither, and do not count.
        """
        values = self._values(scores, P)
        known = ~np.isnan(values).any(axis=1)
        truth = np.asarray(blank(self.task.Y, self.task.observed))
        weights = None if self.task.weights is None else self.task.weights[known]
        return self.rule.find_thresholds(values[known], truth[known], weights)

    def decisions(self, scores: Floats, P: Floats) -> Bools:
        """Return the label sets (n, m), or the classes of a vector y as label sets."""
        codec = self.task.codec
        if codec.multilabel:
            values = self._values(scores, P)
            known = np.where(np.isnan(values), -np.inf, values)
            return self.rule.decide(known, self.thresholds(scores, P))
        return codec.encode(codec.decide(np.where(np.isnan(scores), -np.inf, scores)))

    def figures(self, scores: Floats, P: Floats) -> dict[str, float]:
        """Return the figures of the samples that have held-out log-odds and probabilities."""
        task = self.task
        known = ~np.isnan(scores).all(axis=1)
        observed = None if task.observed is None else task.observed[known]
        weights = None if task.weights is None else task.weights[known]
        found = self.decisions(scores, P)[known]
        return measure(task.Y[known], observed, found, P[known], weights)


def rank_members(
    entries: Sequence[MemberEntry],
    mixture: MemberWeights,
    added: Floats,
    figures: Mapping[str, float],
    seconds: float,
) -> Leaderboard:
    """Return the leaderboard: the blend, its members by weight, and those that were left out.

    Parameters
    ----------
    entries : sequence of MemberEntry
        All candidates.
    mixture : MemberWeights
        The weights of those that were fitted.
    added : (k,) array
        What each member that is used adds.
    figures : dict of str to float
        The held-out figures of the blend.
    seconds : float
        The time of the whole fit so far.
    """
    fitted = [entry for entry in entries if entry.member is not None]
    weights, adds = np.zeros(len(fitted)), np.full(len(fitted), np.nan)
    w = mixture.weights
    weights[mixture.kept] = w if w.ndim == 1 else w.mean(axis=0)
    adds[mixture.kept] = added
    rows = []
    for entry, weight, gain, kept in zip(fitted, weights, adds, mixture.kept, strict=True):
        note = getattr(entry.member, "note", "")
        status = ("blended" if kept else "dropped") + (f"; {note}" if note else "")
        shares = {"weight": float(weight), "adds": float(gain)}
        rows.append(_row(entry.name, shares, entry.figures, entry.seconds, status))
    rows.sort(key=lambda row: -row["weight"])
    left_out = [empty_row(e.name, e.reason, e.seconds) for e in entries if e.member is None]
    total = float(weights.sum())
    first = _row(BLEND, {"weight": total, "adds": float("nan")}, figures, seconds, "")
    return Leaderboard((first, *rows, *left_out))


def _row(
    name: str,
    shares: Mapping[str, float],
    figures: Mapping[str, float],
    seconds: float,
    status: str,
) -> dict[str, Any]:
    return {"name": name, **shares, **figures, "seconds": seconds, "status": status}
