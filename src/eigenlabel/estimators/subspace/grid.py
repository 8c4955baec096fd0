"""The grid of ML-LS, the held-out scores of its points, and the outcome of a search."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from eigenlabel.labels.truth import Truth
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.heldout import FoldBlock, Shifted
from eigenlabel.linalg.numerics import EPS, turn_equal
from eigenlabel.linalg.solvers.shifted import smallest_eigenvectors
from eigenlabel.linalg.ties import SAFETY
from eigenlabel.model_selection.search import Chunk, SearchResult

PAPER_GRID = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
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
    """

    alphas: Floats
    betas: Floats
    ranks: Sequence[int]

    @cached_property
    def shifts(self) -> list[float]:
        """All distinct beta and alpha + beta, ascending."""
        return sorted({b for _, b in self.penalties} | {a + b for a, b in self.penalties})

    @cached_property
    def penalties(self) -> list[tuple[float, float]]:
        """All distinct pairs (alpha, beta), the largest first."""
        betas, alphas = (sorted({float(v) for v in g})[::-1] for g in (self.betas, self.alphas))
        return [(a, b) for b in betas for a in alphas]

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

    def shift_pair(self, alpha: float, beta: float) -> tuple[int, int]:
        """Return the positions of beta and alpha + beta among the shifts."""
        return self.shifts.index(beta), self.shifts.index(alpha + beta)

    def arrange(self, values: Floats) -> Floats:
        """Return values of the points in the order of the lists (n_alphas, n_betas, n_ranks)."""
        place = {point: k for k, point in enumerate(self.points)}
        index = [
            [[place[float(a), float(b), int(r)] for r in self.ranks] for b in self.betas]
            for a in self.alphas
        ]
        return np.asarray(values[np.array(index)])


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
            betas = {self.grid.shifts.index(b) for b in self.grid.betas.tolist()}
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


class Arranged(Protocol):
    """A grid whose values can be arranged by its parameters."""

    def arrange(self, values: Floats) -> Floats:
        """Return values of the points in the order of the lists of parameters."""
        ...


@dataclass(frozen=True)
class Tuning:
    """The results of all grid points, and the best one.

    Attributes
    ----------
    cv_results : dict
        The results of all grid points.
    best_index : int
        The position of the best grid point.
    best_score : float
        Its score.
    best_params : dict
        Its values of alpha, beta and n_components, and of gamma if several were compared.
    score_grid : (n_alphas, n_betas, n_dimensions) or (..., n_gammas) array
        The scores in the order of the lists of parameters.
    oof_scores : (n_samples, n_labels) array
        The held-out scores of the best grid point, NaN for samples that were never held out.
    """

    cv_results: dict[str, Any]
    best_index: int
    best_score: float
    best_params: dict[str, Any]
    score_grid: Floats
    oof_scores: Floats

    @classmethod
    def of(cls, result: SearchResult, grid: Arranged, rows: Ints, n_samples: int) -> "Tuning":
        """Return the outcome of a search on some rows of ``n_samples`` samples."""
        assert result.oof_scores is not None
        best = int(result.best)
        oof_scores = np.full((n_samples, result.oof_scores.shape[1]), np.nan)
        oof_scores[rows] = result.oof_scores
        return cls(
            result.table,
            best,
            float(result.score),
            dict(result.table["params"][best]),
            grid.arrange(result.table["pooled_test_score"]),
            oof_scores,
        )

    @property
    def point(self) -> tuple[float, float, int]:
        """The best alpha, beta and dimension of the shared subspace."""
        best = self.best_params
        return best["alpha"], best["beta"], best["n_components"]
