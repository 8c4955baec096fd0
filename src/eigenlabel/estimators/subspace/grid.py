"""The grid of ML-LS and the held-out scores of its points."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from eigenlabel.labels.truth import Truth
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.heldout import FoldBlock
from eigenlabel.linalg.numerics import descending_eigh
from eigenlabel.model_selection.search import Chunk

PAPER_GRID = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
CHUNK = 2**22  # held-out scores of grid points held at once

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

    Parameters
    ----------
    blocks : sequence of FoldBlock
        The folds, prepared for all shifts of the grid.
    grid : Grid
        The grid.
    truth : Truth
        The truth about the samples, which says how often each one is held out.
    max_memory : float, default=inf
        A bound in bytes, of which the scores take a small share.
    """

    def __init__(
        self,
        blocks: Sequence[FoldBlock],
        grid: Grid,
        truth: Truth,
        max_memory: float = np.inf,
    ) -> None:
        self.blocks, self.grid, self.times = blocks, grid, truth.times
        self.m, self.n = truth.labels.shape
        self.room = max(1, chunk_size(max_memory) // (self.n * self.m))  # points at once
        keys = ("alpha", "beta", "n_components")
        self.params: list[dict[str, Any]] = [
            dict(zip(keys, point, strict=True)) for point in grid.points
        ]

    def chunks(self) -> Iterator[Chunk]:
        """Yield the scores of all points, for some dimensions and penalties at once."""
        place = {point: k for k, point in enumerate(self.grid.points)}
        for ranks in _pieces(self.grid.sizes, self.room):
            for pairs in _pieces(self.grid.penalties, max(1, self.room // len(ranks))):
                at = np.array([place[a, b, r] for r in ranks for a, b in pairs])
                yield Chunk(at, self._scores(ranks, pairs).reshape(-1, self.m, self.n))

    def at(self, point: int) -> Floats:
        """Return the scores (m, n) of one point."""
        alpha, beta, r = self.grid.points[point]
        return np.asarray(self._scores([r], [(alpha, beta)])[0, 0])

    def _scores(self, ranks: Sequence[int], pairs: Sequence[tuple[float, float]]) -> Floats:
        """Return the scores (len(ranks), len(pairs), m, n), averaged over the folds of a sample."""
        out = np.zeros((len(ranks), len(pairs), self.m, self.n))
        shifts = [self.grid.shift_pair(a, b) for a, b in pairs]
        for block in self.blocks:
            found, S = block.evaluate(shifts)
            W = descending_eigh(S)[1]
            for p, (i, j) in enumerate(shifts):
                FA, FB = found[i], found[j]  # (folds, size, m)
                for k, r in enumerate(ranks):
                    Wr = W[p][..., :r]
                    F = FB + ((FA - FB) @ Wr) @ np.swapaxes(Wr, -1, -2)
                    F = block.settle(F)
                    out[k, p][:, block.rows.ravel()] += F.reshape(-1, self.m).T
        if (self.times > 1).any():
            out /= np.maximum(self.times, 1)
        return out


def _pieces(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
