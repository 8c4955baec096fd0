"""Samples in blocks: columns, additive statistics, and one cached solution."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.subspace import many_labels
from eigenlabel.estimators.subspace.solve import SubspaceSolution
from eigenlabel.inputs.data import (
    beyond_rounding,
    check_data,
    check_largest,
    check_sparse,
    check_spread,
)
from eigenlabel.inputs.fitting import available_if
from eigenlabel.inputs.sample_weights import check_weights
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix
from eigenlabel.linalg.machine import check_memory
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.linalg.statistics import Accumulator, Block, Statistics, join


@dataclass(frozen=True)
class Columns:
    """The features and labels of a stream.

    Attributes
    ----------
    n_features : int
        The number of features.
    feature_names : array of str, or None
        The names of the features, if the first block has names.
    codec : LabelCodec
        How label matrices become what the user passed, and back.
    """

    n_features: int
    feature_names: Any
    codec: LabelCodec

    @classmethod
    def learn(cls, estimator: Any, X: Any, y: Any, classes: Any) -> "Columns":
        """Return the columns of a first block; the estimator remembers its features.

        ``classes`` are the classes of a vector y, or names for the columns of a label matrix.
        """
        check_data(estimator, X, reset=True)
        codec = LabelCodec.start(y, classes)
        m = len(codec.classes)
        if m >= many_labels.MANY:
            raise ValueError(
                f"Blocks are collected in statistics of d x m numbers, which are too large for "
                f"m = {m} labels (the limit is {many_labels.MANY}). Fit all rows at once: "
                "SharedSubspaceClassifier(alpha=inf).fit needs no such array."
            )
        names = getattr(estimator, "feature_names_in_", None)
        return cls(estimator.n_features_in_, names, codec)

    def store(self, estimator: Any) -> None:
        """Let an estimator remember the features."""
        estimator.n_features_in_ = self.n_features
        if self.feature_names is not None:
            estimator.feature_names_in_ = self.feature_names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_

    def check_block(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Block:
        """Check a block against the columns, which the estimator remembers."""
        X = check_data(estimator, X, reset=False)
        check_largest(X)
        Y = self.codec.encode(y)
        check_consistent_length(X, Y)
        return Block(X, Y, check_weights(sample_weight, X))

    def check_same(self, other: "Columns") -> None:
        """Raise ValueError if other columns differ from these."""
        if self.n_features != other.n_features:
            raise ValueError(
                f"The other model has {other.n_features} features, this one {self.n_features}."
            )
        names = self.feature_names, other.feature_names
        if names[0] is not None and names[1] is not None and not np.array_equal(*names):
            raise ValueError("The two models have features of different names.")
        alike = self.codec.kind == other.codec.kind
        if not alike or not np.array_equal(self.codec.classes, other.codec.classes):
            raise ValueError("The two models have different labels or classes.")


@contextmanager
def placed(where: str, X: Any) -> Iterator[None]:
    """Add the place of a block to an error about it, and the first row with NaN or infinity."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        row = _first_bad_row(X)
        place = where if row is None else f"{where}, row {row}"
        raise kind(f"{place}: {error}") from error


def _first_bad_row(X: Any) -> int | None:
    """Return the first row with NaN or infinity, or None if there is none."""
    if np.iscomplexobj(X):
        return None
    try:
        check_sparse(X, "X")
        sparse = is_sparse(X)
        A: Matrix = sp.csr_array(X) if sparse else np.asarray(X, dtype=float)
        bad = ~np.isfinite(A.data if sparse else A)
    except (ValueError, TypeError):
        return None
    if not bad.any() or np.ndim(A) != 2:
        return None
    if sparse:
        return int(np.searchsorted(A.indptr, np.flatnonzero(bad)[0], side="right")) - 1
    return int(np.flatnonzero(bad.any(axis=1))[0])


def subtract(total: Statistics, gone: Statistics) -> Statistics:
    """Return the statistics of all samples except some of them.

    ValueError is raised if the statistics show that some of these samples were not among all:
    more samples or more weight than there are, or negative variances.
    """
    rest = total - gone
    _check_rest(total, gone, rest)
    return _without_rounding(total, rest)


def check_possible(total: Statistics) -> None:
    """Raise ValueError if no samples have these statistics: the covariance has a negative part.

    Rounding of all that has ever been part of the statistics is allowed for. The cost is p^3 / 3
    operations.
    """
    lifted, spread = total.XX.copy(), float(np.trace(total.XX))
    if spread <= 0:  # every feature is constant
        return
    lifted.flat[:: len(lifted) + 1] += np.sqrt(np.finfo(float).eps) * spread
    if lapack.dpotrf(lifted, lower=1, clean=0, overwrite_a=1)[1] > 0:
        raise ValueError(
            "The samples that forget removed were not all among those added: no samples have the "
            "statistics that are left. Add them again with partial_fit to undo it."
        )


def _check_rest(total: Statistics, gone: Statistics, rest: Statistics) -> None:
    if gone.count > total.count:
        raise ValueError(f"Cannot forget {gone.count} samples: the model has seen {total.count}.")
    room = 1e-8 * max(total.n, 1.0)
    weight = total.n - gone.n
    if weight < -room or (rest.count == 0 and weight > room):
        raise ValueError(
            f"The samples to forget have a total weight of {gone.n:.6g}, those of the model "
            f"{total.n:.6g}: pass the weights that the samples had."
        )
    # The bound counts all features and labels together: a feature that has become constant has
    # no spread of its own to compare with.
    largest = np.maximum(np.abs(total.origin), np.abs(total.x))
    of_mean = total.n * (4 * float(np.finfo(total.dtype).eps) * largest) ** 2
    spread = 1e-8 * np.diag(total.XX).max(initial=0.0) + of_mean
    negative = (np.diag(rest.XX) < -spread).any() or rest.TT.min() < -1e-8 * total.n
    if negative or (np.abs(rest.t) > 1 + 1e-6).any():
        raise ValueError(
            "These samples were not all in the model, or not with these labels: nothing is "
            "forgotten."
        )


def _without_rounding(total: Statistics, rest: Statistics) -> Statistics:
    """Return the rest of a total with zeros for features or labels that have become constant.

    The subtraction leaves rounding errors of either sign there.
    """
    least = 64 * float(np.finfo(float).eps)
    features = np.diag(rest.XX) > least * np.diag(total.XX)
    labels = least * total.TT < rest.TT
    return replace(
        rest,
        XX=np.where(features[:, None] & features, rest.XX, 0.0),
        XT=np.where(features[:, None] & labels, rest.XT, 0.0),
        TT=np.where(labels, rest.TT, 0.0),
    )


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


ADVICE = (
    "Hash the features (sklearn.feature_extraction.text.HashingVectorizer or FeatureHasher, "
    "n_features=2**12, say), or fit all rows at once with solver='krylov'."
)


def check_linear(model: Any) -> None:
    """Raise AttributeError if the kernel of a model is not linear."""
    if model.kernel != "linear":
        raise AttributeError(
            "Statistics of blocks exist for kernel='linear' only, this is "
            f"kernel={model.kernel!r}. Map the features first (sklearn.kernel_approximation), or "
            "call fit."
        )


# Declares a method that exists for linear kernels only.
linear_only = available_if(check_linear)


def extend(
    estimator: Any,
    stream: Stream | None,
    X: Any,
    y: Any,
    classes: Any = None,
    sample_weight: Any = None,
    *,
    n_folds: int = 1,
    max_memory: float = np.inf,
    where: str | None = None,
    offset: int = 0,
) -> Stream:
    """Check a block of samples and return the stream with it.

    Parameters
    ----------
    estimator : object
        The estimator, which remembers the features of the first block.
    stream : Stream or None
        The blocks before; None if this is the first block.
    X : array or sparse matrix
        The samples of the block.
    y : array or sparse matrix
        Their labels.
    classes : array or None
        The classes of a vector y, or the names of the columns of a label matrix.
    sample_weight : array or None
        Their weights.
    n_folds : int
        The number of folds of a new stream.
    max_memory : float
        Upper bound on the bytes of the d x d matrices of a new stream.
    where : str or None
        The place of the block in error messages, by default its number.
    offset : int
        The position of the first sample of a new stream.
    """
    number = 1 if stream is None else stream.blocks + 1
    with placed(where or f"Block {number}", X):
        if stream is None:
            columns = Columns.learn(estimator, X, y, classes)
            check_memory(columns.n_features, "covariance of the blocks", ADVICE, max_memory)
            stream = Stream.start(columns, n_folds, offset)
        elif classes is not None and not np.array_equal(classes, stream.columns.codec.classes):
            raise ValueError("classes differ from those of the first call.")
        block = stream.columns.check_block(estimator, X, y, sample_weight)
    return stream.add(block)
