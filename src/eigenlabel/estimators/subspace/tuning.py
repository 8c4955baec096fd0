"""The search of a tuned fit of ML-LS: over its grid, and over several bandwidths of its kernel."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.estimators.base import Training
from eigenlabel.estimators.subspace.exact_heldout import factorise_folds
from eigenlabel.estimators.subspace.grid import Arranged, Grid, GridScores
from eigenlabel.estimators.subspace.solve import factorise
from eigenlabel.inputs import progress
from eigenlabel.kernels.factor import Solver, warn_shortfall
from eigenlabel.kernels.kernel import Kernel, SharedKernel, settle_bandwidths
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.factors.base import SampleFactor
from eigenlabel.linalg.factors.solution import worst
from eigenlabel.linalg.heldout import Fold, tuning_arrays
from eigenlabel.linalg.machine import check_memory
from eigenlabel.linalg.ties import first_largest
from eigenlabel.model_selection.search import Chunk, Pooled, SearchResult, search


@dataclass(frozen=True)
class BandwidthGrid:
    """All points (gamma, alpha, beta, r), ordered from the smallest bandwidth gamma on.

    A model is simpler if gamma is smaller, then as in :class:`Grid`.

    Attributes
    ----------
    grid : Grid
        The points of each bandwidth.
    gammas : list of float
        The bandwidths as they are listed.
    """

    grid: Grid
    gammas: list[float]

    @cached_property
    def values(self) -> list[float]:
        """All distinct bandwidths, ascending."""
        return sorted(set(self.gammas))

    @cached_property
    def params(self) -> list[dict[str, Any]]:
        """The parameters of all points."""
        return [{**point, "gamma": g} for g in self.values for point in self.grid.params]

    def arrange(self, values: Floats) -> Floats:
        """Return values of the points as (n_alphas, n_betas, n_dimensions, n_gammas)."""
        parts = np.split(values, len(self.values))
        arranged = dict(zip(self.values, map(self.grid.arrange, parts), strict=True))
        return np.stack([arranged[g] for g in self.gammas], axis=-1)


class Found(NamedTuple):
    """What a tuning found: the chosen kernel, the factor of all samples, and the search."""

    kernel: Kernel
    factor: SampleFactor
    result: SearchResult
    grid: Arranged


@dataclass(frozen=True)
class TunedSearch:
    """What a tuned fit compares, and on which samples.

    Attributes
    ----------
    data : Training
        The training data.
    folds : list of Fold
        The folds of the samples with positive weight.
    order : ndarray
        These samples in the order of the truth.
    grid : Grid
        The grid.
    judge : Pooled
        The judge of grid points.
    solver : Solver
        How the equations are solved.
    verbose : int
        Whether progress is shown.
    """

    data: Training
    folds: list[Fold]
    order: Ints
    grid: Grid
    judge: Pooled
    solver: Solver
    verbose: int

    def tune(self, kernel: Kernel) -> Found:
        """Search the grid; the prepared folds exist while this method runs, and no longer."""
        kernel = kernel.settle(self.data.X, self.data.weights)
        factor, some = factorise_folds(kernel, self.data, self.folds, self.solver)
        with progress.tuning(self._steps, self.verbose) as bar:
            held_out = self._held_out(some, bar.update)
            return Found(kernel, factor, search(held_out, self.judge, bar.update), self.grid)

    def tune_path(self, kernel: Kernel, gammas: Collection[float | None]) -> Found:
        """Search the grid for each bandwidth of a list, with one reduction per fold for each."""
        path = BandwidthPath(kernel, gammas, self.data, self.folds, self.solver)
        grid = BandwidthGrid(self.grid, path.gammas)
        with progress.tuning(self._steps * len(grid.values), self.verbose) as bar:

            def prepare(gamma: float) -> GridScores:
                return self._held_out(path.factor(gamma), bar.update)

            held_out = BandwidthScores(grid, prepare, self.judge)
            result = search(held_out, self.judge, bar.update)
        gamma = float(result.table["params"][int(result.best)]["gamma"])
        return Found(replace(kernel, gamma=gamma), path.final_factor(gamma), result, grid)

    @property
    def _steps(self) -> int:
        """The number of steps that a progress bar counts for one kernel."""
        return len(self.folds) + len(self.grid.points)

    def _held_out(self, factor: SampleFactor, advance: Callable[[int], Any]) -> GridScores:
        """Prepare the folds and return the held-out scores of all points."""
        grid, limit, T = self.grid, self.solver.limit, self.data.targets[self.data.used]
        blocks = factor.heldout(T, self.folds, grid.shifts, grid.shift_pairs, limit, advance)
        warn_shortfall(worst([block.shortfall for block in blocks]))
        return GridScores(blocks, grid, self.judge.truth, self.order, limit)


class BandwidthPath:
    """The training samples of a tuning over several bandwidths.

    The distances of all pairs (or their inner products, for "poly" and "sigmoid") are computed
    once and kept, which is one n x n array. "krylov" computes kernel values when it needs them.

    Parameters
    ----------
    kernel : Kernel
        The kernel, without its bandwidth.
    gammas : list of float or None
        The bandwidths; None is the rule of the kernel.
    data : Training
        The training data.
    folds : list of Fold
        The folds of the samples with positive weight.
    solver : Solver
        How the equations are solved.
    """

    def __init__(
        self, kernel: Kernel, gammas: Any, data: Training, folds: list[Fold], solver: Solver
    ) -> None:
        self.data, self.solver = data, solver
        n = data.X.shape[0]
        self.gammas = settle_bandwidths(kernel, gammas, data.X, data.weights)
        self.kernel, self.arrays = kernel, tuning_arrays(n, n, folds)
        self.all_used = data.weights is None or len(data.used) == n
        self.samples = data.X if self.all_used else data.X[data.used]
        if solver.name != "krylov":
            check_memory(n, "kernel matrix", limit=solver.limit, arrays=self.arrays + 1)
            self.kernel = SharedKernel.of(kernel, self.samples)

    def factor(self, gamma: float) -> SampleFactor:
        """Return the factor of the samples with positive weight."""
        data, used = self.data, self.data.used
        weights = None if data.weights is None else data.weights[used]
        cells = None if data.observed is None else data.observed[used]
        return self._factorise(gamma, self.samples, weights, cells)

    def final_factor(self, gamma: float) -> SampleFactor:
        """Return the factor of all samples."""
        data = self.data
        return self._factorise(gamma, data.X, data.weights, data.observed)

    def _factorise(self, gamma: float, X: Any, weights: Any, cells: Any) -> SampleFactor:
        kernel = replace(self.kernel, gamma=gamma)
        return factorise(kernel, X, weights, cells, self.solver, self.arrays)


class BandwidthScores:
    """Held-out scores of all points of all bandwidths, one bandwidth after the other.

    The scores of the best point of each bandwidth are kept until a better one is found, so that
    no fold is prepared again.

    Parameters
    ----------
    grid : BandwidthGrid
        The points.
    prepare : callable
        Returns the held-out scores for one bandwidth.
    judge : Pooled
        The judge that reads the chunks, whose scores say which points are best so far.
    """

    def __init__(
        self, grid: BandwidthGrid, prepare: Callable[[float], GridScores], judge: Pooled
    ) -> None:
        self.grid, self.prepare, self.judge = grid, prepare, judge
        self.params = grid.params
        self._size = len(grid.grid.points)
        self._best: tuple[int, Floats] | None = None

    def chunks(self) -> Iterator[Chunk]:
        """Yield the scores of all points; the caller judges each chunk before the next one."""
        for k, gamma in enumerate(self.grid.values):
            start, scores = k * self._size, self.prepare(gamma)
            for chunk in scores.chunks():
                yield Chunk(chunk.points + start, chunk.scores)
                del chunk  # the next chunk is computed in its place
            best = int(first_largest(self.judge.pooled[: start + self._size]))
            if best >= start:
                self._best = best, scores.at(best - start)

    def at(self, point: int) -> Floats:
        """Return the scores (m, n) of one point; those of the best one are known."""
        if self._best is not None and self._best[0] == point:
            return self._best[1]
        k, place = divmod(point, self._size)
        return self.prepare(self.grid.values[k]).at(place)
