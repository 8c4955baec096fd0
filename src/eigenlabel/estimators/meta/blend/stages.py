"""The two stages of a blend: members that read the samples, and one that reads their blend."""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from eigenlabel.estimators.meta.blend.blending import (
    MemberWeights,
    fit_mixture,
    fit_points,
)
from eigenlabel.estimators.meta.blend.fitting_members import MemberEntry, describe
from eigenlabel.estimators.meta.blend.task import BlendTask
from eigenlabel.estimators.meta.blend.weights import kept_members
from eigenlabel.linalg._types import Floats


@dataclass(frozen=True)
class Stages:
    """The weights of both stages.

    Attributes
    ----------
    entries : list of MemberEntry
        What became of all candidates, that of the second stage last.
    mixture : MemberWeights
        The weights of the members that were fitted.
    first : (k + 1,) array, or (m, k + 1), or None
        The weights that blend the members of the first stage for the second one, which comes last;
        None if there is no second stage.
    """

    entries: list[MemberEntry]
    mixture: MemberWeights
    first: Floats | None = None

    @property
    def kept(self) -> list[MemberEntry]:
        """The members that are used."""
        fitted = [entry for entry in self.entries if entry.member is not None]
        return [entry for entry, use in zip(fitted, self.mixture.kept, strict=True) if use]


def blend_stages(
    entries: list[MemberEntry],
    task: BlendTask,
    how: str,
    fit_second: Callable[[Floats], MemberEntry] | None,
    verbose: int,
) -> Stages:
    """Return the weights of members, with those of a member that reads their blend.

    Parameters
    ----------
    entries : list of MemberEntry
        The candidates of the first stage.
    task : BlendTask
        The training data.
    how : {"shared", "by_label", "equal"}
        The kind of weights.
    fit_second : callable or None
        Fits the member of the second stage, given blended held-out probabilities (n, m).
    verbose : int
        Whether a line about it is shown.
    """
    fitted = [entry for entry in entries if entry.member is not None]
    alone = Stages(entries, fit_mixture([entry.logits for entry in fitted], task, how))
    if fit_second is None:
        return alone
    logits = [entry.logits for entry in alone.kept]
    second = fit_second(expit(alone.mixture.scores(logits)))
    if verbose:
        print(describe(second), file=sys.stderr)
    if second.member is None:
        return Stages([*entries, second], alone.mixture)
    points = fit_points([*logits, second.logits], task, how)
    used = bool(kept_members(points[..., 1:])[-1])
    kept = np.append(alone.mixture.kept, used)
    if not used:
        return Stages([*entries, second], MemberWeights(kept, alone.mixture.points))
    return Stages([*entries, second], MemberWeights(kept, points), alone.mixture.points)


def read_stages(
    logits: Iterable[Floats], first: Floats, second: Callable[[Floats], Floats]
) -> Iterator[Floats]:
    """Yield the log-odds of the members of the first stage, then those of the second.

    Parameters
    ----------
    logits : iterable of (n, m) arrays
        The log-odds of the members of the first stage.
    first : (k + 1,) array, or (m, k + 1)
        Their weights for the second stage.
    second : callable
        Returns the log-odds of the second stage, given probabilities (n, m).
    """
    total: Floats | None = None
    for k, z in enumerate(logits, start=1):
        total = first[..., k] * z + (first[..., 0] if total is None else total)
        yield z
    assert total is not None
    yield second(expit(total))
