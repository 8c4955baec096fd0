"""The two stages of a blend: members that read the samples, and members that read their blend."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from eigenlabel.estimators.meta.blend.blending import (
    MemberWeights,
    added_by,
    fit_mixture,
    fit_points,
)
from eigenlabel.estimators.meta.blend.fitting_members import MemberEntry, describe
from eigenlabel.estimators.meta.blend.task import BlendTask
from eigenlabel.estimators.meta.blend.weights import kept_members
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.ties import first_largest

# The rise of the summed log-loss that a member of the second stage must cause when it is left out.
# One more weight is expected to gain half of it by chance (Akaike 1974).
ENOUGH = 1.0


@dataclass(frozen=True)
class Stages:
    """The weights of both stages.

    Attributes
    ----------
    entries : list of MemberEntry
        What became of all candidates, those of the second stage last.
    mixture : MemberWeights
        The weights of the members that were fitted.
    first : (k + 1,) array, or (m, k + 1), or None
        The weights that blend the members of the first stage for the second one; None if no member
        of the second stage is used.
    n_second : int
        The number of members of the second stage that are used.
    """

    entries: list[MemberEntry]
    mixture: MemberWeights
    first: Floats | None = None
    n_second: int = 0

    @property
    def kept(self) -> list[MemberEntry]:
        """The members that are used."""
        fitted = [entry for entry in self.entries if entry.member is not None]
        return [entry for entry, use in zip(fitted, self.mixture.kept, strict=True) if use]


def blend_stages(
    entries: list[MemberEntry],
    task: BlendTask,
    how: str,
    fit_second: Sequence[Callable[[Floats], MemberEntry]],
    verbose: int,
) -> Stages:
    """Return the weights of members, with those of members that read their blend.

    Parameters
    ----------
    entries : list of MemberEntry
        The candidates of the first stage.
    task : BlendTask
        The training data.
    how : {"shared", "by_label", "equal"}
        The kind of weights.
    fit_second : sequence of callable
        Each fits a member of the second stage, given blended held-out probabilities (n, m).
    verbose : int
        Whether a line about each of them is shown.
    """
    fitted = [entry for entry in entries if entry.member is not None]
    alone = Stages(entries, fit_mixture([entry.logits for entry in fitted], task, how))
    if not fit_second:
        return alone
    logits = [entry.logits for entry in alone.kept]
    P = expit(alone.mixture.scores(logits))
    second = []
    for fit in fit_second:
        second.append(fit(P))
        if verbose:
            print(describe(second[-1]), file=sys.stderr)
    found = [entry for entry in second if entry.member is not None]
    used, points = _weigh_second(logits, [entry.logits for entry in found], task, how)
    kept = np.append(alone.mixture.kept, used)
    if points is None:
        return Stages([*entries, *second], MemberWeights(kept, alone.mixture.points))
    mixture = MemberWeights(kept, points)
    return Stages([*entries, *second], mixture, alone.mixture.points, int(used.sum()))


def _weigh_second(
    logits: list[Floats], second: list[Floats], task: BlendTask, how: str
) -> tuple[Bools, Floats | None]:
    """Return which members of the second stage are used, and the weights of all that are.

    Those with small weights are dropped. Then those are dropped, the worst one first, without which
    the log-loss, summed over all cells, rises by less than ENOUGH, and the others are weighed
    again. The first stage is kept, because the second one reads it. Equal weights drop none. There
    are no weights if no member of the second stage is used.
    """
    used = np.ones(len(second), dtype=bool)
    while used.any():
        every = [*logits, *(z for z, use in zip(second, used, strict=True) if use)]
        points = fit_points(every, task, how)
        if how == "equal":
            return used, points
        drop = ~kept_members(points[..., 1:])[len(logits) :]
        if not drop.any():
            adds = added_by(every, task, how, start=len(logits)) * task.total
            if adds.min() > ENOUGH:
                return used, points
            drop[first_largest(-adds)] = True
        used[np.flatnonzero(used)[drop]] = False
    return used, None


def read_stages(
    logits: Iterable[Floats], first: Floats, second: Iterable[Callable[[Floats], Floats]]
) -> Iterator[Floats]:
    """Yield the log-odds of the members of the first stage, then those of the second.

    Parameters
    ----------
    logits : iterable of (n, m) arrays
        The log-odds of the members of the first stage.
    first : (k + 1,) array, or (m, k + 1)
        Their weights for the second stage.
    second : iterable of callable
        Each returns the log-odds of a member of the second stage, given probabilities (n, m).
    """
    total: Floats | None = None
    for k, z in enumerate(logits, start=1):
        total = first[..., k] * z + (first[..., 0] if total is None else total)
        yield z
    assert total is not None
    P = expit(total)
    for member in second:
        yield member(P)
