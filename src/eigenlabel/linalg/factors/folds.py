"""Held-out scores of factors that solve the equations of each fold."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.protocol import SampleFactor
from eigenlabel.linalg.factors.solution import Solution
from eigenlabel.linalg.heldout import (
    Fold,
    FoldBlock,
    Pairs,
    SolvedFold,
    counted,
    training_rows,
)


def heldout_by_solving(
    factor: SampleFactor,
    T: Floats,
    folds: Sequence[Fold],
    shifts: Sequence[float],
    pairs: Pairs,
    advance: Callable[[int], Any],
) -> list[FoldBlock]:
    """Solve each training part for all shifts; see :meth:`SampleFactor.heldout`."""
    return [_solved_fold(factor, T, fold, shifts, pairs) for fold in counted(folds, advance)]


def _solved_fold(
    factor: SampleFactor, T: Floats, fold: Fold, shifts: Sequence[float], pairs: Pairs
) -> SolvedFold:
    train, test = training_rows(T.shape[0], fold), fold[1]
    part, predict = factor.fold(train, test)
    solution, solved = solve_finite(part, T[train], shifts)
    mean = part.target_means(T[train])
    scores = {i: np.broadcast_to(mean, (1, len(test), len(mean))) for i in range(len(shifts))}
    for i, c in enumerate(solution.coefficients):
        scores[i] = (predict(c) + mean)[None]
    inner = {(i, j): part.inner(solved[i], solved[j])[None] for i, j in set(pairs)}
    return SolvedFold(test[None], scores, inner, shortfall=solution.shortfall)


def solve_finite(
    factor: SampleFactor, T: Floats, shifts: Sequence[float]
) -> tuple[Solution, list[Floats]]:
    """Solve for the finite shifts; return the solution, and the coefficients of all shifts.

    For an infinite shift, which must be the last, the limit of ``s ridge(s)`` is returned.
    """
    finite = [s for s in shifts if np.isfinite(s)]
    solution = factor.solve(T, finite)
    limit = [factor.gradient(T)] if len(finite) < len(shifts) else []
    return solution, [*solution.coefficients, *limit]
