"""The search of a tuned fit of ML-LS: over its grid, and over several bandwidths of its kernel."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from eigenlabel.estimators.base import Training
from eigenlabel.estimators.subspace.solve import Arranged, factorise, factorise_folds
from eigenlabel.inputs import progress
from eigenlabel.kernels.factor import Solver, warn_shortfall
from eigenlabel.kernels.kernel import Kernel, SharedKernel, settle_bandwidths
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.factors.base import SampleFactor
from eigenlabel.linalg.factors.solution import worst
from eigenlabel.linalg.heldout import Fold, FoldBlock, Shifted, tuning_arrays
from eigenlabel.linalg.machine import check_memory
from eigenlabel.linalg.numerics import EPS, turn_equal
from eigenlabel.linalg.solvers.shifted import smallest_eigenvectors
from eigenlabel.linalg.ties import SAFETY, first_largest
from eigenlabel.model_selection.scorers import Truth
from eigenlabel.model_selection.search import Chunk, Pooled, SearchResult, search

PAPER_GRID = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SHARES = np.power(10.0, np.arange(-12, 1) / 2)  # of the variance, by default the values of beta
RATIOS = (0.0, 9.0, np.inf)  # of alpha to beta by default, so that alpha + beta is 10 beta
SAME = 1 + 8 * EPS  # the ratio up to which two shifts are equal: sums of two numbers are rounded
CHUNK = 2**22  # held-out scores of grid points held at once
KEPT = 2**27  # scores that are kept so that each shift is solved once
SMALL = 32  # labels up to which all eigenvectors are as fast as some
TOGETHER = 2**20  # numbers of pairs of shifts that are combined in one call
FEW = 4  # eigenvectors are computed apart if they are this many times fewer than labels

Item = TypeVar("Item")


@dataclass(frozen=True)
class Grid:
    """All points (alpha, beta, r), ordered from the simplest model to the least simple.

    A model is simpler if its shared subspace is smaller, then if its penalties are larger. The
    first of equal scores wins.

    Attributes
    ----------
    alphas : (n_alphas,) or (n_alphas, n_betas) array
        The values of alpha, the same for every beta or a column for each beta.
    betas : (n_betas,) array
        The values of beta.
    ranks : sequence of int
        The dimensions of the shared subspace.
    """

    alphas: Floats
    betas: Floats
    ranks: Sequence[int]

    @cached_property
    def pairs(self) -> list[list[tuple[float, float]]]:
        """The pairs (alpha, beta) in the order of the lists, a row for each alpha."""
        alphas = self.alphas if self.alphas.ndim == 2 else self.alphas[:, None]
        table = np.broadcast_to(alphas, (len(alphas), len(self.betas))).tolist()
        return [list(zip(row, self.betas.tolist(), strict=True)) for row in table]

    @cached_property
    def shifts(self) -> list[float]:
        """All distinct beta and alpha + beta, ascending; those equal up to rounding are one."""
        found: list[float] = []
        for value in sorted({s for a, b in self.penalties for s in (b, a + b)}):
            if not found or value > found[-1] * SAME:
                found.append(value)
        return found

    @cached_property
    def penalties(self) -> list[tuple[float, float]]:
        """All distinct pairs (alpha, beta), the largest beta first, then the largest alpha."""
        distinct = {pair for row in self.pairs for pair in row}
        return sorted(distinct, key=lambda pair: (-pair[1], -pair[0]))

    @cached_property
    def sizes(self) -> list[int]:
        """All distinct dimensions of the shared subspace, ascending."""
        return sorted({int(r) for r in self.ranks})

    @cached_property
    def points(self) -> list[tuple[float, float, int]]:
        """All distinct points (alpha, beta, r), the simplest first."""
        return [(a, b, r) for r in self.sizes for a, b in self.penalties]

    @property
    def params(self) -> list[dict[str, Any]]:
        """The parameters of all points by their names."""
        return [{"alpha": a, "beta": b, "n_components": r} for a, b, r in self.points]

    @property
    def shift_pairs(self) -> list[tuple[int, int]]:
        """The positions of beta and alpha + beta among the shifts, for all pairs."""
        return [self.shift_pair(a, b) for a, b in self.penalties]

    @cached_property
    def light_shifts(self) -> set[int]:
        """The positions of all beta among the shifts."""
        return {self._position(float(b)) for b in self.betas}

    def shift_pair(self, alpha: float, beta: float) -> tuple[int, int]:
        """Return the positions of beta and alpha + beta among the shifts."""
        return self._position(beta), self._position(alpha + beta)

    def _position(self, shift: float) -> int:
        return bisect_right(self.shifts, shift) - 1

    def arrange(self, values: Floats) -> Floats:
        """Return values of the points in the order of the lists (n_alphas, n_betas, n_ranks)."""
        place = {point: k for k, point in enumerate(self.points)}
        index = [[[place[a, b, int(r)] for r in self.ranks] for a, b in row] for row in self.pairs]
        return np.asarray(values[np.array(index)])


@dataclass(frozen=True)
class GridLists:
    """The lists of parameters that a user gave, from which a grid is made for some samples.

    By default, beta is one of 13 shares of the variance v of the samples, from v down to v / 10^6,
    because v is an upper bound on the eigenvalues that beta is added to: a grid in absolute numbers
    would fit only samples of one scale. For each beta, alpha is 0 (ridge regression), 9 beta, and
    infinity (reduced-rank ridge regression). Since 10 beta is the beta two places before, few
    shifts are needed beside the betas.

    Attributes
    ----------
    alphas : (n_alphas,) array or None
        The values of alpha, or None for the default.
    betas : (n_betas,) array or None
        The values of beta, or None for the default.
    ranks : sequence of int
        The dimensions of the shared subspace.
    """

    alphas: Floats | None
    betas: Floats | None
    ranks: Sequence[int]

    def grid(self, variance: Callable[[], float]) -> Grid:
        """Return the grid; ``variance`` is called if the betas depend on it."""
        betas = self.betas
        if betas is None:
            scale = variance()
            betas = (scale if 0 < scale < np.inf else 1.0) * SHARES
        alphas = self.alphas
        if alphas is None:
            rows = [betas * r if np.isfinite(r) else np.full_like(betas, r) for r in RATIOS]
            alphas = np.stack(rows)
        return Grid(alphas, betas, self.ranks)


RATIO = "alpha / beta"  # the axis of a grid whose alphas are multiples of beta


def readable_axes(table: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of grid points, with alpha / beta in place of alpha if that is simpler.

    It is simpler if it has fewer distinct values. ``table`` has the values of all points by name.
    """
    if not {"alpha", "beta"} <= set(table) or not all(np.asarray(table["beta"], dtype=float) > 0):
        return table
    alpha, beta = (np.asarray(table[name], dtype=float) for name in ("alpha", "beta"))
    ratio = np.array([float(f"{value:.9g}") for value in alpha / beta])  # quotients are rounded
    if len(np.unique(ratio)) >= len(np.unique(alpha)):
        return table
    return {RATIO: ratio, **{name: values for name, values in table.items() if name != "alpha"}}


def chunk_size(max_memory: float) -> int:
    """Return the number of held-out scores that are held at once."""
    return int(min(CHUNK, max_memory // 128))


class GridScores:
    """Held-out scores of all points of a grid, in chunks that fit in memory.

    A point needs the scores of two shifts, beta and alpha + beta. Those of every beta are kept if
    they fit, and points with the same sum follow each other, so that every shift is solved once.

    Parameters
    ----------
    blocks : sequence of FoldBlock
        The folds, prepared for all shifts of the grid.
    grid : Grid
        The grid.
    truth : Truth
        The truth about the samples, which says how often each one is held out.
    order : ndarray of shape (n_samples,), default=None
        The rows of the folds in the order of the truth, or None if it is the same.
    max_memory : float, default=inf
        A bound in bytes, of which the scores take a small share.
    """

    def __init__(
        self,
        blocks: Sequence[FoldBlock],
        grid: Grid,
        truth: Truth,
        order: Ints | None = None,
        max_memory: float = np.inf,
    ) -> None:
        self.blocks, self.grid, self.times = blocks, grid, truth.times
        self.m, self.n = truth.labels.shape
        place = np.empty(self.n, dtype=np.intp)
        place[np.arange(self.n) if order is None else order] = np.arange(self.n)
        self.places = [_as_slice(place[block.rows.ravel()]) for block in blocks]
        self.room = max(1, chunk_size(max_memory) // (self.n * self.m))  # points at once
        spare = min(KEPT, max_memory / 64) // (self.n * self.m)
        self.keeps = spare >= len(set(self.grid.betas.tolist()))
        self.params = grid.params

    def chunks(self) -> Iterator[Chunk]:
        """Yield the scores of all points, for some dimensions and penalties at once."""
        place = {point: k for k, point in enumerate(self.grid.points)}
        kept: list[dict[int, Shifted]] = [{} for _ in self.blocks]
        for ranks in _pieces(self.grid.sizes, self.room):
            for some in _pieces(self._ordered(), max(1, self.room // len(ranks))):
                pairs = sorted(some, key=self.grid.penalties.index)
                at = np.array([place[a, b, r] for r in ranks for a, b in pairs])
                yield Chunk(at, self._scores(ranks, pairs, kept).reshape(-1, self.m, self.n))

    def at(self, point: int) -> Floats:
        """Return the scores (m, n) of one point."""
        alpha, beta, r = self.grid.points[point]
        kept: list[dict[int, Shifted]] = [{} for _ in self.blocks]
        return np.asarray(self._scores([r], [(alpha, beta)], kept)[0, 0])

    def _ordered(self) -> list[tuple[float, float]]:
        """Return the penalties: equal sums follow each other, or equal values of beta."""
        return sorted(self.grid.penalties, key=sum) if self.keeps else self.grid.penalties

    def _scores(
        self,
        ranks: Sequence[int],
        pairs: Sequence[tuple[float, float]],
        kept: list[dict[int, Shifted]],
    ) -> Floats:
        """Return the scores (len(ranks), len(pairs), m, n), averaged over the folds of a sample.

        ``kept`` holds shifts of earlier calls, and afterwards those that later calls may need.
        """
        out = np.zeros((len(ranks), len(pairs), self.m, self.n))
        shifts = [self.grid.shift_pair(a, b) for a, b in pairs]
        for block, rows, known in zip(self.blocks, self.places, kept, strict=True):
            needed = {i for pair in shifts for i in pair}
            betas = self.grid.light_shifts
            for some in (needed & betas, needed - betas):  # what is kept is computed by itself
                new = sorted(some - set(known))
                known.update(zip(new, block.shifted(new), strict=True))
            chosen = [(known[i], known[j]) for i, j in shifts]
            for part, k, F in _combine(block, chosen, ranks):
                out[k, part][..., rows] += self._by_label(block, F)
            for i in set(known) - (betas if self.keeps else {shifts[-1][0]}):
                del known[i]
        if (self.times > 1).any():
            out /= np.maximum(self.times, 1)
        return out

    def _by_label(self, block: FoldBlock, F: Floats) -> Floats:
        """Return final scores (pairs, m, rows) of combined ones (pairs, folds, m, size)."""
        settled = block.settle(F.reshape(-1, *F.shape[2:])).reshape(*F.shape[:3], -1)
        return np.swapaxes(settled, 1, 2).reshape(len(F), self.m, -1)


def _as_slice(rows: Ints) -> Ints | slice:
    """Return a range of rows as a slice, which is faster to write to."""
    first, n = int(rows[0]) if len(rows) else 0, len(rows)
    return slice(first, first + n) if np.array_equal(rows, np.arange(first, first + n)) else rows


def _combine(
    block: FoldBlock, pairs: Sequence[tuple[Shifted, Shifted]], ranks: Sequence[int]
) -> Iterator[tuple[slice, int, Floats]]:
    """Yield the scores ``F_B + W W'(F_A - F_B)`` of some pairs of shifts A, B and one dimension.

    W are the leading eigenvectors of S = A'B. Scores have the shape (pairs, folds, m, size); the
    slice is the place of the pairs, and the number that of the dimension. The eigenproblems of few
    labels are small, so that those of several pairs are solved in one call.
    """
    folds, m, size = pairs[0][0].scores.shape
    step = max(1, TOGETHER // (folds * m * (m + size)))
    if m >= SMALL or step == 1 or not any(0 < r < m for r in ranks):
        for p, (a, b) in enumerate(pairs):
            for k, F in enumerate(_combine_one(block, a, b, ranks)):
                yield slice(p, p + 1), k, F[None]
        return
    for start in range(0, len(pairs), step):
        part = slice(start, min(start + step, len(pairs)))
        A, B = (np.stack([pair[side].scores for pair in pairs[part]]) for side in (0, 1))
        S = np.zeros((len(A), folds, m, m))
        unequal = [k for k, (a, b) in enumerate(pairs[part]) if a.index != b.index]
        if unequal:
            S[unequal] = block.inner_products([pairs[start + k] for k in unequal])
        W, difference = _leading_eigenvectors(S), A - B
        for k, r in enumerate(ranks):
            yield part, k, B + W[..., :r] @ (np.swapaxes(W[..., :r], -1, -2) @ difference)


def _combine_one(
    block: FoldBlock, a: Shifted, b: Shifted, ranks: Sequence[int]
) -> Iterator[Floats]:
    """Yield the combined scores (folds, m, size) of one pair for each dimension.

    If only few eigenvectors V are left out, these are used: ``F_A - V V'(F_A - F_B)``.
    """
    m = a.scores.shape[1]
    if a.index == b.index or not any(0 < r < m for r in ranks):
        yield from (b.scores if r == 0 else a.scores for r in ranks)
        return
    S = block.inner(a, b)
    V = _last_eigenvectors(S, m - min(ranks), {m - r for r in ranks})
    if V is None:
        W, difference = _leading_eigenvectors(S), a.scores - b.scores
        for r in ranks:
            yield b.scores + W[..., :r] @ (np.swapaxes(W[..., :r], -1, -2) @ difference)
        return
    Vt = np.swapaxes(V, -1, -2)
    difference = Vt @ a.scores - Vt @ b.scores
    for r in ranks:
        F = V[..., : m - r] @ difference[..., : m - r, :]
        yield np.subtract(a.scores, F, out=F)


def _leading_eigenvectors(S: Floats) -> Floats:
    """Return all eigenvectors (..., m, m), the largest eigenvalues first, with any signs.

    If a cut separates equal eigenvalues, the basis of :func:`turn_equal` decides.
    """
    values, W = np.linalg.eigh((S + np.swapaxes(S, -1, -2)) / 2)
    return turn_equal(values[..., ::-1], W[..., ::-1])


def _last_eigenvectors(S: Floats, k: int, cuts: set[int]) -> Floats | None:
    """Return the eigenvectors (folds, m, k) of the k smallest eigenvalues, ascending.

    Returns None if all eigenvectors are as fast, or if a cut separates eigenvalues that are equal
    up to rounding: which eigenvectors of these are taken is for :func:`turn_equal` to decide.
    """
    m = S.shape[-1]
    if m < SMALL or FEW * k > m:
        return None
    found = []
    for each in S:
        values, vectors = smallest_eigenvectors((each + each.T) / 2, k + 1)
        rounding = SAFETY * m * EPS * np.linalg.norm(each)
        below, above = (np.abs(values[[c - d for c in cuts if c]]) for d in (1, 0))
        if ((np.abs(above - below) <= rounding) & (np.maximum(above, below) > rounding)).any():
            return None
        found.append(vectors[:, :k])
    return np.stack(found)


def _pieces(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


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
    lists : GridLists
        The lists of parameters.
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
    lists: GridLists
    judge: Pooled
    solver: Solver
    verbose: int

    def tune(self, kernel: Kernel) -> Found:
        """Search the grid; the prepared folds exist while this method runs, and no longer."""
        kernel = kernel.settle(self.data.X, self.data.weights)
        factor, some = factorise_folds(kernel, self.data, self.folds, self.solver)
        grid = self.lists.grid(some.variance)
        with progress.tuning(self._steps(grid), self.verbose) as bar:
            held_out = self._held_out(grid, some, bar.update)
            return Found(kernel, factor, search(held_out, self.judge, bar.update), grid)

    def tune_path(self, kernel: Kernel, gammas: Collection[float | None]) -> Found:
        """Search the grid for each bandwidth of a list, with one reduction per fold for each.

        All bandwidths have the grid of the largest one, with which samples vary most.
        """
        path = BandwidthPath(kernel, gammas, self.data, self.folds, self.solver)
        each = self.lists.grid(lambda: path.factor(max(path.gammas)).variance())
        grid = BandwidthGrid(each, path.gammas)
        with progress.tuning(self._steps(each) * len(grid.values), self.verbose) as bar:

            def prepare(gamma: float) -> GridScores:
                return self._held_out(each, path.factor(gamma), bar.update)

            held_out = BandwidthScores(grid, prepare, self.judge)
            result = search(held_out, self.judge, bar.update)
        gamma = float(result.table["params"][int(result.best)]["gamma"])
        return Found(replace(kernel, gamma=gamma), path.final_factor(gamma), result, grid)

    def _steps(self, grid: Grid) -> int:
        """Return the number of steps that a progress bar counts for one kernel."""
        return len(self.folds) + len(grid.points)

    def _held_out(
        self, grid: Grid, factor: SampleFactor, advance: Callable[[int], Any]
    ) -> GridScores:
        """Prepare the folds and return the held-out scores of all points."""
        limit, T = self.solver.limit, self.data.targets[self.data.used]
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
