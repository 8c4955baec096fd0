"""The search over parameters: held-out scores of grid points, and a judge that compares them.

An estimator that tunes itself makes held-out scores (:class:`HeldOut`) and picks a judge
(:mod:`eigenlabel.model_selection.judges`); :func:`search` brings both together. Grid points are
ordered from the simplest model to the least simple, and of equal scores the first point wins.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from eigenlabel.inputs.parameters import check_number
from eigenlabel.linalg._types import Floats, Ints


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
    """

    table: dict[str, Any]
    best: Ints
    score: Floats
    thresholds: Floats | None = None
    oof_scores: Floats | None = None


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
