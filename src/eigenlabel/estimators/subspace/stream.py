"""Samples that come in blocks: additive statistics by fold, a sample of rows, and a solution."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from eigenlabel.estimators.subspace.columns import Columns
from eigenlabel.estimators.subspace.forgetting import check_possible, subtract
from eigenlabel.estimators.subspace.solve import SubspaceSolution
from eigenlabel.inputs.scale import beyond_rounding, check_spread
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.statistics import Accumulator, Block, Statistics, join

KEPT_SCORES = 2**24  # upper bound on the samples times labels whose held-out scores are compared
KEPT_BYTES = 2**29  # upper bound on the memory of their rows
GROUPS = 1024  # runs of samples whose folds are drawn together


def draw(start: int, n: int, cv: int) -> tuple[Ints, Floats]:
    """Return the folds of n samples by their position in the stream, and a number in [0, 1) each.

    The ``cv`` samples of each run belong to different folds, in a random order.
    """
    size = GROUPS * cv
    first, last = start // size, (start + n - 1) // size
    folds, keys = [], []
    for chunk in range(first, last + 1):
        rng = np.random.default_rng([cv, chunk])
        folds.append(rng.permuted(np.tile(np.arange(cv), (GROUPS, 1)), axis=1).ravel())
        keys.append(rng.random(size))
    part = slice(start - first * size, start - first * size + n)
    return np.concatenate(folds)[part], np.concatenate(keys)[part]


@dataclass(frozen=True)
class Sample:
    """The rows of a stream on which tuning compares held-out scores: all, or a random sample."""

    blocks: tuple[Block, ...] = ()
    folds: tuple[Ints, ...] = ()
    keys: tuple[Floats, ...] = ()
    limit: float = 1.0  # rows whose key is smaller are kept

    def add(self, block: Block, folds: Ints, keys: Floats) -> "Sample":
        """Return the sample with the rows that are drawn from a block."""
        keep = keys < self.limit
        if block.weights is not None:
            keep &= block.weights > 0
        if not keep.any():
            return self
        grown = Sample(
            (*self.blocks, _rows(block, keep)),
            (*self.folds, folds[keep]),
            (*self.keys, keys[keep]),
            self.limit,
        )
        return grown.thin(self.limit)

    def merge(self, other: "Sample") -> "Sample":
        """Return the rows of both samples whose keys are small enough for both."""
        joined = Sample(
            self.blocks + other.blocks,
            self.folds + other.folds,
            self.keys + other.keys,
            self.limit,
        )
        return joined.thin(min(self.limit, other.limit))

    def thin(self, limit: float) -> "Sample":
        """Return the rows below a lower limit, which is halved until they fit in memory."""
        taken = self
        while limit < taken.limit or taken._too_large():
            limit = limit if limit < taken.limit else taken.limit / 2
            kept = [keys < limit for keys in taken.keys]
            taken = Sample(
                tuple(_rows(b, k) for b, k in zip(taken.blocks, kept, strict=True)),
                tuple(f[k] for f, k in zip(taken.folds, kept, strict=True)),
                tuple(keys[k] for keys, k in zip(taken.keys, kept, strict=True)),
                limit,
            )
        return taken

    def _too_large(self) -> bool:
        scores = sum(b.Y.size for b in self.blocks)
        rows = sum(len(b.Y) for b in self.blocks)
        return rows > 1 and (
            scores > KEPT_SCORES or sum(b.nbytes for b in self.blocks) > KEPT_BYTES
        )

    def settle(self) -> "Sample":
        """Return the sample with all its rows in one block."""
        if len(self.blocks) < 2:
            return self
        folds, keys = np.concatenate(self.folds), np.concatenate(self.keys)
        return Sample((join(self.blocks),), (folds,), (keys,), self.limit)


def _rows(block: Block, keep: Bools) -> Block:
    weights = None if block.weights is None else block.weights[keep]
    return Block(block.X[keep], block.Y[keep], weights)


@dataclass
class Stream:
    """What is known of samples that came in blocks, and the solution of their equations.

    Methods that change the samples return a new stream without a solution. The only changes in
    place store results: ``settle`` the statistics of waiting blocks, and the model its solution.

    Attributes
    ----------
    columns : Columns
        The features and labels.
    folds : tuple of Accumulator
        The statistics of each fold; there is one fold if nothing is tuned.
    sample : Sample
        The rows that tuning compares held-out scores of.
    blocks : int
        The number of blocks.
    seen : int
        The number of samples that were added.
    forgotten : int
        The number of samples that were removed again.
    offset : int
        The position of the first sample, on which the folds of samples depend.
    solution : SubspaceSolution or None
        The solved model, or None if it is not solved yet.
    """

    columns: Columns
    folds: tuple[Accumulator, ...]
    sample: Sample = field(default_factory=Sample)
    blocks: int = 0
    seen: int = 0
    forgotten: int = 0
    offset: int = 0
    solution: SubspaceSolution | None = None

    @classmethod
    def start(cls, columns: Columns, n_folds: int, offset: int = 0) -> "Stream":
        """Return an empty stream; one fold means that nothing is tuned."""
        return cls(columns, (Accumulator(),) * n_folds, offset=offset)

    @property
    def count(self) -> int:
        """The number of samples that the model is fitted to."""
        return self.seen - self.forgotten

    def add(self, block: Block) -> "Stream":
        """Return the stream with a block more."""
        n, cv = len(block.Y), len(self.folds)
        folds: tuple[Accumulator, ...]
        if cv == 1:
            folds, sample = (self.folds[0].add(block),), self.sample
        else:
            fold, keys = draw(self.offset + self.seen, n, cv)
            parts = (_rows(block, fold == k) for k in range(cv))
            folds = tuple(
                a.add(part) if len(part.Y) else a for a, part in zip(self.folds, parts, strict=True)
            )
            sample = self.sample.add(block, fold, keys)
        return replace(
            self,
            folds=folds,
            sample=sample,
            blocks=self.blocks + 1,
            seen=self.seen + n,
            solution=None,
        )

    def forget(self, block: Block) -> "Stream":
        """Return the stream without the samples of a block, for streams of one fold."""
        gone = block.statistics()
        left = Accumulator(subtract(self.total(), gone))
        forgotten = self.forgotten + gone.count
        return replace(self, folds=(left,), forgotten=forgotten, solution=None)

    def merge(self, other: "Stream") -> "Stream":
        """Return the stream of the samples of both, which have the same columns and folds."""
        if len(self.folds) != len(other.folds):
            raise ValueError("Only models with the same number of folds can be merged.")
        self.columns.check_same(other.columns)
        return replace(
            self,
            folds=tuple(a.merge(b) for a, b in zip(self.folds, other.folds, strict=True)),
            sample=self.sample.merge(other.sample),
            blocks=self.blocks + other.blocks,
            seen=self.seen + other.seen,
            forgotten=self.forgotten + other.forgotten,
            solution=None,
        )

    def settle(self) -> "Stream":
        """Compute the statistics of blocks that wait, store them, and return the stream."""
        self.folds = tuple(a.settle() for a in self.folds)
        self.sample = self.sample.settle()
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without waiting rows: copies and files hold statistics."""
        return dict(vars(self.settle()))

    def total(self) -> Statistics:
        """Return the statistics of all folds together."""
        parts = [a.settle().total for a in self.folds]
        found = [part for part in parts if part is not None]
        return sum(found[1:], found[0])

    def check_solvable(self) -> None:
        """Check the statistics of all samples before the equations are solved.

        NotFittedError is raised if no samples are left, ValueError if no samples can have these
        statistics. A warning says if the spreads of features differ too much.
        """
        total = self.total()
        if total.n <= 0:
            raise NotFittedError(
                "No samples are left, or all of them have weight zero: call partial_fit."
            )
        if self.forgotten:
            check_possible(total)
        spread = np.maximum(np.diag(total.XX), 0) / total.n
        spread = beyond_rounding(spread, total.mean, total.dtype)
        check_spread(spread, max(total.count, len(total.x)))
