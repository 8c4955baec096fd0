"""Additive second-order statistics of features X and targets T.

The statistics ``(n, mean x, sum t, Xc'W Xc, Xc'W Tc, Tc'W Tc)`` of two blocks of rows are combined
to those of both blocks by the parallel update of variances, in any order, and a block can be
removed again. Ridge regressions are functions of these statistics alone.

All products are centred: sums about zero would lose the digits of features whose mean is large
compared with their spread.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.linalg.numerics import WAITING_BYTES, rank_tolerance
from eigenlabel.linalg.operators import CentredOperator, is_sparse, less_outer, total_weight


@dataclass(frozen=True)
class Statistics:
    """Weighted means and centred sums of products over rows.

    The mean of the features is stored as ``origin + x``. The blocks of one operator share its mean
    as origin, so that differences between them lose no digits.
    """

    n: float  # total weight
    count: int  # number of rows
    origin: Floats  # (d,)
    x: Floats  # (d,), mean minus the origin
    sum_t: Floats  # (m,), exact for integer weights, so that equal targets stay equal
    XX: Floats  # (d, d)
    XT: Floats  # (d, m)
    TT: Floats  # (m,), diagonal of Tc'W Tc
    dtype: Any  # precision of the data

    @classmethod
    def of(cls, operator: CentredOperator, T: Floats) -> "Statistics":
        """Return the statistics of the rows of an operator and targets T; n d^2 + n d m."""
        rows = operator.shape[0]
        w = np.ones(rows) if operator.weights is None else operator.weights
        n = total_weight(rows, operator.weights)
        share = w / n if n > 0 else w
        x, sum_t = operator.rmatmat(share[:, None])[:, 0], w @ T
        Tc = T - (sum_t / n if n > 0 else 0.0)
        WT = w[:, None] * Tc
        return cls(
            n=n,
            count=rows,
            origin=operator.mean,
            x=x,
            sum_t=sum_t,
            XX=less_outer(operator.covariance(), x, n),
            XT=operator.rmatmat(WT),
            TT=np.einsum("ij,ij->j", WT, Tc),
            dtype=operator.dtype,
        )

    @property
    def mean(self) -> Floats:
        """The mean (d,) of the features."""
        return np.asarray(self.origin + self.x)

    @property
    def t(self) -> Floats:
        """The mean (m,) of the targets, zero without rows."""
        return np.asarray(self.sum_t / self.n if self.n > 0 else self.sum_t)

    @property
    def tolerance(self) -> float:
        """The relative rank tolerance of the data."""
        return rank_tolerance(max(self.count, len(self.x)), self.dtype)

    def _delta(self, other: "Statistics") -> Floats:
        """Return the difference (d,) of the mean of the other and this one."""
        return np.asarray((other.origin - self.origin) + (other.x - self.x))

    def __add__(self, other: "Statistics") -> "Statistics":
        n = self.n + other.n
        share = other.n / n if n > 0 else 0.0
        dx, dt, w = self._delta(other), other.t - self.t, self.n * share
        return Statistics(
            n=n,
            count=self.count + other.count,
            origin=self.origin,
            x=self.x + share * dx,
            sum_t=self.sum_t + other.sum_t,
            XX=less_outer(self.XX + other.XX, dx, -w),
            XT=less_outer(self.XT + other.XT, dx, -w, dt),
            TT=self.TT + other.TT + w * dt * dt,
            dtype=np.result_type(self.dtype, other.dtype),
        )

    def __sub__(self, other: "Statistics") -> "Statistics":
        n = self.n - other.n
        if self.count == other.count or n <= 0:
            return replace(self.emptied(), count=self.count - other.count)
        share = other.n / n
        dx, dt = self._delta(other), other.t - self.t
        w = other.n * (1 + share)  # about the mean of the remaining rows
        return Statistics(
            n=n,
            count=self.count - other.count,
            origin=self.origin,
            x=self.x - share * dx,
            sum_t=self.sum_t - other.sum_t,
            XX=less_outer(self.XX - other.XX, dx, w),
            XT=less_outer(self.XT - other.XT, dx, w, dt),
            TT=self.TT - other.TT - w * dt * dt,
            dtype=self.dtype,
        )

    def emptied(self) -> "Statistics":
        """Return statistics of zero rows with the same numbers of features and targets."""
        zero = {k: np.zeros_like(getattr(self, k)) for k in ("x", "sum_t", "XX", "XT", "TT")}
        return replace(self, n=0.0, count=0, **zero)

    def products(self, centre: bool) -> tuple[Floats, Floats]:
        """Return X'W X and X'W T, about the means if ``centre``, else about zero."""
        if centre:
            return self.XX, self.XT
        return (
            less_outer(self.XX.copy(), self.mean, -self.n),
            less_outer(self.XT.copy(), self.mean, -self.n, self.t),
        )


def left_out(parts: Sequence[Statistics]) -> Iterator[Statistics]:
    """Yield the statistics of all parts but one, for each of two or more parts, as new arrays."""

    def collect(start: int, stop: int) -> Statistics:
        found = sum(parts[start + 1 : stop], parts[start])
        return found if stop - start > 1 else replace(found, XX=found.XX.copy())

    return leave_out(collect, len(parts))


def leave_out(collect: Callable[[int, int], Statistics], count: int) -> Iterator[Statistics]:
    """Yield the statistics of all of ``count`` parts but one, for each part.

    ``collect(start, stop)`` returns the statistics of consecutive parts together, as new arrays.
    The other parts are added; subtracting one part from the total would leave the rounding errors
    of its outliers behind. The recursion halves the parts: each part is collected about log2(count)
    times, and as many statistics exist at once.
    """

    def visit(start: int, stop: int, outside: Statistics | None) -> Iterator[Statistics]:
        if stop - start == 1:
            assert outside is not None
            yield outside
            return
        middle = (start + stop) // 2
        yield from visit(start, middle, beside(outside, middle, stop))
        yield from visit(middle, stop, beside(outside, start, middle))

    def beside(outside: Statistics | None, start: int, stop: int) -> Statistics:
        found = collect(start, stop)
        return found if outside is None else outside + found

    return visit(0, count, None)


@dataclass(frozen=True)
class Block:
    """Rows that wait for their statistics.

    Attributes
    ----------
    X : (n, d) features
    Y : (n, m) boolean targets
    weights : (n,) sample weights or None
    """

    X: Matrix
    Y: "np.ndarray[Any, np.dtype[np.bool_]]"
    weights: Floats | None

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays."""
        X = self.X
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if is_sparse(X) else X.nbytes
        return int(size + self.Y.nbytes)

    def copy(self) -> "Block":
        """Return a copy that shares no memory."""
        weights = None if self.weights is None else self.weights.copy()
        return Block(self.X.copy(), self.Y.copy(), weights)

    def statistics(self) -> Statistics:
        """Return the statistics with targets 1 for True and -1 for False."""
        return Statistics.of(CentredOperator(self.X, self.weights), np.where(self.Y, 1.0, -1.0))


def join(blocks: Sequence[Block]) -> Block:
    """Stack blocks; the result is sparse if one of them is sparse."""
    if len(blocks) == 1:
        return blocks[0]
    sparse = any(is_sparse(b.X) for b in blocks)
    X = sp.vstack([sp.csr_array(b.X) for b in blocks], "csr") if sparse else None
    weights = None
    if any(b.weights is not None for b in blocks):
        weights = np.concatenate(
            [np.ones(len(b.Y)) if b.weights is None else b.weights for b in blocks]
        )
    return Block(
        np.concatenate([b.X for b in blocks]) if X is None else X,
        np.concatenate([b.Y for b in blocks]),
        weights,
    )


@dataclass(frozen=True)
class Accumulator:
    """Statistics of blocks of rows, which wait until there are enough of them.

    To combine two statistics takes several passes over a d x d matrix. Small blocks are therefore
    collected together, as many as fit in the memory of one such matrix. Nothing is changed in
    place: an addition that is interrupted changes nothing.
    """

    total: Statistics | None = None
    waiting: tuple[Block, ...] = ()

    def add(self, block: Block) -> "Accumulator":
        """Return the accumulator with one more block; blocks that wait are copied."""
        alike = not self.waiting or _kind(self.waiting[0]) == _kind(block)
        taken = self if alike else self.settle()
        room = max(WAITING_BYTES, 8 * block.X.shape[1] ** 2)
        if sum(b.nbytes for b in taken.waiting) + block.nbytes >= room:
            return replace(taken, waiting=(*taken.waiting, block)).settle()
        return replace(taken, waiting=(*taken.waiting, block.copy()))

    def settle(self) -> "Accumulator":
        """Return the accumulator with the statistics of all blocks collected."""
        if not self.waiting:
            return self
        found = join(self.waiting).statistics()
        return Accumulator(found if self.total is None else self.total + found)

    def merge(self, other: "Accumulator") -> "Accumulator":
        """Return the accumulator of the blocks of both."""
        mine, theirs = self.settle().total, other.settle().total
        if mine is None or theirs is None:
            return Accumulator(theirs if mine is None else mine)
        return Accumulator(mine + theirs)


def _kind(block: Block) -> tuple[bool, Any]:
    return is_sparse(block.X), block.X.dtype
