"""Ridge regressions whose labels are observed on different samples.

Label j counts on the samples O_j where it is observed. With N the mean weight of O_j over labels,

    ridge(s)_j = (Xj'Xj + N s I)^-1 Xj'tj,    rows O_j of X and T, centred by their own mean,

that is, the sum of squared errors over all observed cells, divided by N, and s |u_j|^2. Labels that
are observed on the same samples (a *pattern*) share a factor of these samples alone; or conjugate
gradients take all labels at once, whose products ``X'(M o (X P))`` skip what is not observed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.factors.exact import CovarianceFactor, GramFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor, Normal, Product
from eigenlabel.linalg.heldout import Fold, Pairs, SolvedFold, training_rows
from eigenlabel.linalg.operators import CentredOperator

Bools = npt.NDArray[np.bool_]
Base = GramFactor | CovarianceFactor | KrylovFactor
NEVER = -1.0  # the mean of targets that are never observed


def number_patterns(observed: Bools) -> Ints:
    """Number the distinct columns of a boolean matrix (n, m); (m,)."""
    packed = np.ascontiguousarray(np.packbits(observed, axis=0).T)
    keys = packed.view(np.dtype((np.void, max(1, packed.shape[1]))))[:, 0]
    return np.unique(keys, return_inverse=True)[1].ravel()


def restrict(base: GramFactor | CovarianceFactor, rows: Ints) -> GramFactor | CovarianceFactor:
    """Give the factor of some samples alone, centred by their own mean."""
    part: GramFactor | CovarianceFactor
    if isinstance(base, GramFactor):
        weights = None if base.weights is None else base.weights[rows]
        K = base.K[np.ix_(rows, rows)]
        part = GramFactor(K, weights, base.centre)
    else:
        part = CovarianceFactor(base.operator.recentred(rows, base.centre), base.centre)
    part.tolerance = base.tolerance
    return part


class Cells:
    """Which cells of a matrix (n, m) are observed, with sample weights.

    Parameters
    ----------
    observed : (n, m)
    weights : (n,) not negative, or None; a cell without weight is not observed
    """

    def __init__(self, observed: Bools, weights: Floats | None) -> None:
        self.observed = observed if weights is None else observed & (weights > 0)[:, None]
        self.weights = weights
        w = np.ones(len(observed)) if weights is None else weights
        self.totals: Floats = w @ self.observed  # (m,)

    def columns(self, part: slice) -> "Cells":
        """Restrict to some labels."""
        return Cells(self.observed[:, part], self.weights)

    def weigh(self, A: Floats) -> Floats:
        """Multiply by the weights, zero where nothing is observed."""
        kept = np.where(self.observed, A, 0.0)
        return kept if self.weights is None else self.weights[:, None] * kept

    def means(self, A: Floats, never: float = 0.0) -> Floats:
        """Average each column (m,) over its observed cells; ``never`` where there are none."""
        sums = self.weigh(A).sum(axis=0)
        known = self.totals > 0
        out = np.full(len(sums), never)
        return np.asarray(np.divide(sums, self.totals, out=out, where=known))


class MaskedOperator:
    """``Xj'D_jXj`` of the centred rows of each label j, one column each."""

    def __init__(self, operator: CentredOperator, cells: Cells, centre: bool) -> None:
        self.operator, self.cells, self.centre = operator, cells, centre

    def normal(self, P: Floats) -> tuple[Floats, Floats]:
        """Give the products, and for each column p'(product)."""
        R = self.operator.matmat(P)
        if self.centre:
            R -= self.cells.means(R)
        DR = self.cells.weigh(R)
        return self.operator.rmatmat(DR), np.asarray(np.einsum("ij,ij->j", R, DR))


class MaskedKrylov(KrylovFactor):
    """The ridge solves of this module from products alone."""

    def __init__(self, base: KrylovFactor, cells: Cells, total: float) -> None:
        bounds = base.tol, base.max_iter, base.max_memory, base.report
        super().__init__(base.operator, base.centre, *bounds)
        self.cells, self.total = cells, total
        self.dtype = np.dtype(float)  # of the masks' products

    def _system(self, T: Floats, part: slice) -> tuple[Normal, Floats]:
        cells = self.cells.columns(part)
        right = cells.weigh(T - cells.means(T) if self.centre else T)
        operator = MaskedOperator(self.operator, cells, self.centre)
        return operator, self.operator.rmatmat(right)


class MaskedFactor:
    """A factor whose labels are observed on different samples; the verbs are those of its base.

    Parameters
    ----------
    base : factor of all samples
    observed : (n, m)

    Attributes
    ----------
    total : N, the mean over labels of the weight of the samples that they are observed on; labels
        that are never observed do not count, and have no weights
    pattern : (m,) number of the pattern of each label
    """

    def __init__(self, base: Base, observed: Bools) -> None:
        self.base, self.centre, self.operator = base, base.centre, base.operator
        weights = base.operator.weights if isinstance(base, CovarianceFactor) else base.weights
        self.cells = Cells(observed, weights)
        totals = self.cells.totals
        self.total = float(totals[totals > 0].mean()) if (totals > 0).any() else 1.0
        self.pattern = number_patterns(self.cells.observed)
        self.n_iter = 1

    @property
    def row_mean(self) -> Floats:
        """The mean of the rows of a kernel matrix before centring."""
        assert isinstance(self.base, GramFactor)
        return self.base.row_mean

    def solve(self, T: Floats, shifts: Sequence[float]) -> Floats:
        """Give (len(shifts), n or d, m) coefficients, zero for labels that are never observed."""
        if isinstance(self.base, KrylovFactor):
            solver = MaskedKrylov(self.base, self.cells, self.total)
            found = solver.solve(T, shifts)
            self.n_iter, self.residuals = solver.n_iter, solver.residuals
            return found
        size = self.cells.observed.shape[0]
        if isinstance(self.base, CovarianceFactor):
            size = self.base.operator.shape[1]
        out = np.zeros((len(shifts), size, T.shape[1]))
        for labels, rows in self._patterns():
            part = restrict(self.base, rows)
            part.total = self.total  # the same penalty for all labels
            at = rows if isinstance(part, GramFactor) else np.arange(size)
            out[:, at[:, None], labels] = part.solve(T[np.ix_(rows, labels)], shifts)
        return out

    def _patterns(self) -> list[tuple[Ints, Ints]]:
        """List the labels and the samples of each pattern that has samples."""
        numbers = range(int(self.pattern.max(initial=-1)) + 1)
        groups = [np.flatnonzero(self.pattern == k) for k in numbers]
        pairs = [(labels, np.flatnonzero(self.cells.observed[:, labels[0]])) for labels in groups]
        return [(labels, rows) for labels, rows in pairs if rows.size]

    def gradient(self, T: Floats) -> Floats:
        """Give the limit of ``s solve(T, s)`` for growing s."""
        right = self.cells.weigh(T - self.cells.means(T) if self.centre else T) / self.total
        return right if isinstance(self.base, GramFactor) else self.base.operator.rmatmat(right)

    def inner(self, a: Floats, b: Floats) -> Floats:
        """Give A'B."""
        return self.base.inner(a, b)

    def primal(self, c: Floats) -> Floats:
        """Give the weights (d, m) of a linear problem."""
        return self.base.primal(c)

    def dual(self, c: Floats) -> Floats:
        """Give the coefficients for the kernel as it is."""
        assert isinstance(self.base, GramFactor)
        return self.base.dual(c)

    def _scores(self, c: Floats) -> Floats:
        """Score all samples about the mean of all samples."""
        if isinstance(self.base, GramFactor):
            return np.asarray(self.base.K @ c)
        return self.base.operator.matmat(c)

    def target_means(self, T: Floats) -> Floats:
        """Average the observed targets of each label (m,); zero without centring."""
        return self.cells.means(T, NEVER) if self.centre else np.zeros(T.shape[1])

    def offsets(self, c: Floats) -> Floats:
        """Average each label's scores (m,) over its own samples, about the mean of all samples.

        The intercept that makes a label's residuals sum to zero is its target mean less this.
        """
        return self.cells.means(self._scores(c)) if self.centre else np.zeros(c.shape[1])

    def pattern_scores(self, c: Floats) -> Floats:
        """Average the scores of all labels over the samples of each pattern; (patterns, m)."""
        out = np.zeros((int(self.pattern.max(initial=-1)) + 1, c.shape[1]))
        if self.centre:
            scores, w = self._scores(c), self.cells.weights
            for labels, rows in self._patterns():
                part = np.ones(len(rows)) if w is None else w[rows]
                out[self.pattern[labels[0]]] = part @ scores[rows] / part.sum()
        return out

    def fold(self, train: Ints, test: Ints) -> "tuple[MaskedFactor, Product]":
        """Give the factor of some samples alone, and the scores of others about their mean."""
        base, observed = self.base, self.cells.observed[train]
        if isinstance(base, KrylovFactor):
            part, predict = base.fold(train, test)
            return MaskedFactor(part, observed), predict
        own = restrict(base, train)
        if isinstance(own, GramFactor):
            assert isinstance(base, GramFactor)
            cross, row_mean = base.K[np.ix_(test, train)], own.row_mean
            return MaskedFactor(own, observed), lambda c: np.asarray(cross @ c - row_mean @ c)
        assert isinstance(base, CovarianceFactor)
        rest, offset = base.operator.rows(test), own.operator.mean - base.operator.mean
        return MaskedFactor(own, observed), lambda c: rest.matmat(c) - offset @ c


@dataclass(frozen=True)
class MaskedFold(SolvedFold):
    """One solved fold; below the scores of its test samples stand those of the patterns' means."""

    mean: Floats  # (m,)
    pattern: Ints  # (m,)

    def settle(self, F: Floats) -> Floats:
        """Turn combined scores (1, size + patterns, m) into (1, size, m), intercepts included.

        Weights that labels with different samples were combined into have a mean score of their
        own on each label's samples.
        """
        size = self.rows.shape[1]
        offsets = F[:, size + self.pattern, np.arange(len(self.pattern))]
        return np.asarray(F[:, :size] + (self.mean - offsets)[:, None])


def masked_heldout(
    factor: MaskedFactor, T: Floats, folds: Sequence[Fold], shifts: Sequence[float], pairs: Pairs
) -> list[MaskedFold]:
    """Prepare the held-out scores of every shift for every fold, as ``linalg.heldout`` does."""
    return [_masked_fold(factor, T, fold, shifts, pairs) for fold in folds]


def _masked_fold(
    factor: MaskedFactor, T: Floats, fold: Fold, shifts: Sequence[float], pairs: Pairs
) -> MaskedFold:
    train, test = training_rows(T.shape[0], fold), fold[1]
    part, predict = factor.fold(train, test)
    finite = [i for i, s in enumerate(shifts) if np.isfinite(s)]
    solved = dict(zip(finite, part.solve(T[train], [shifts[i] for i in finite]), strict=True))
    below = int(part.pattern.max(initial=-1)) + 1
    scores = dict.fromkeys(range(len(shifts)), np.zeros((1, len(test) + below, T.shape[1])))
    for i, c in solved.items():
        scores[i] = np.vstack([predict(c), part.pattern_scores(c)])[None]
    if len(finite) < len(shifts):
        solved[len(shifts) - 1] = part.gradient(T[train])
    inner = {(i, j): part.inner(solved[i], solved[j])[None] for i, j in set(pairs)}
    return MaskedFold(test[None], scores, inner, part.target_means(T[train]), part.pattern)
