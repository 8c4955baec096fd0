"""What is known of samples that came in blocks: statistics by fold, and a sample of rows."""

from dataclasses import dataclass, replace

import numpy as np

from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.statistics import Accumulator, Block, Statistics, join

KEPT_SCORES = 2**24  # samples times labels that tuning compares held-out scores of
KEPT_BYTES = 2**29  # of their rows
GROUPS = 1024  # runs of samples whose folds are drawn together


def draw(start: int, n: int, cv: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the folds of n samples by their position in the stream, and a number in [0, 1) each.

    Each run of ``cv`` samples goes to all folds, in an order of its own.
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
    """Rows of a stream that are kept to compare held-out scores: all of them, or an even draw."""

    blocks: tuple[Block, ...] = ()
    folds: tuple[np.ndarray, ...] = ()
    keys: tuple[np.ndarray, ...] = ()
    limit: float = 1.0  # rows with a key below it are kept

    def add(self, block: Block, folds: np.ndarray, keys: np.ndarray) -> "Sample":
        """Keep what is drawn of a block."""
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
        """Keep what both keep."""
        joined = Sample(
            self.blocks + other.blocks,
            self.folds + other.folds,
            self.keys + other.keys,
            self.limit,
        )
        return joined.thin(min(self.limit, other.limit))

    def thin(self, limit: float) -> "Sample":
        """Lower the limit, further if the rows are too many."""
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
        """Join the blocks into one."""
        if len(self.blocks) < 2:
            return self
        folds, keys = (np.concatenate(parts) for parts in (self.folds, self.keys))
        return Sample((join(self.blocks),), (folds,), (keys,), self.limit)


def _rows(block: Block, keep: np.ndarray) -> Block:
    weights = None if block.weights is None else block.weights[keep]
    return Block(block.X[keep], block.Y[keep], weights)


@dataclass(frozen=True)
class Stream:
    """What is known of the blocks so far, by fold where there are folds. Nothing of it changes."""

    codec: LabelCodec
    folds: tuple[Accumulator, ...]
    sample: Sample
    blocks: int = 0
    seen: int = 0  # samples, those forgotten included
    offset: int = 0  # position of the first one

    @classmethod
    def start(cls, codec: LabelCodec, cv: int) -> "Stream":
        """Give an empty stream of so many folds; one means that there is no tuning."""
        return cls(codec, (Accumulator(),) * cv, Sample())

    def add(self, block: Block) -> "Stream":
        """Take in a block."""
        n, cv = len(block.Y), len(self.folds)
        if cv == 1:
            folds, sample = (self.folds[0].add(block),), self.sample
        else:
            fold, keys = draw(self.offset + self.seen, n, cv)
            parts = (_rows(block, fold == k) for k in range(cv))
            folds = tuple(
                a.add(part) if len(part.Y) else a for a, part in zip(self.folds, parts, strict=True)
            )
            sample = self.sample.add(block, fold, keys)
        return replace(self, folds=folds, sample=sample, blocks=self.blocks + 1, seen=self.seen + n)

    def merge(self, other: "Stream") -> "Stream":
        """Take in another stream of the same labels and folds."""
        return replace(
            self,
            folds=tuple(a.merge(b) for a, b in zip(self.folds, other.folds, strict=True)),
            sample=self.sample.merge(other.sample),
            blocks=self.blocks + other.blocks,
            seen=self.seen + other.seen,
        )

    def settle(self) -> "Stream":
        """Collect the statistics of all that waits."""
        folds = tuple(a.settle() for a in self.folds)
        return replace(self, folds=folds, sample=self.sample.settle())

    def total(self) -> Statistics:
        """Give the statistics of all folds."""
        parts = [a.settle().total for a in self.folds]
        found = [part for part in parts if part is not None]
        return sum(found[1:], found[0])
