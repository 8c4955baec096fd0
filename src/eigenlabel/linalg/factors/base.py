"""What every factor of training data can do, and what those with a square matrix share.

A factor prepares data X (n, d), dense, sparse or behind a kernel, for ridge regressions

    ridge(s) = (Xc'W Xc / n + s I)^-1 Xc'W Tc / n,      n the total weight,

on any targets T (n, m) and for any shifts s. Solutions are *coefficients* of the factor: weights
of the features (primal), or one number for each sample (dual), whichever is the smaller problem.
The verbs below hide the difference. To add a factor, derive a class from :class:`SampleFactor`, or
from :class:`Factor` if it does not keep the samples, in a file of its own. Factors with a square
matrix derive from :class:`ExactFactor`: it solves directly, all shifts from one factorisation.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.factors.solution import Shortfall, Solution, worst
from eigenlabel.linalg.heldout import Fold, FoldBlock, Pairs, is_partition
from eigenlabel.linalg.heldout_small_folds import prefers_one_factorisation, small_folds
from eigenlabel.linalg.numerics import positive_qr
from eigenlabel.linalg.observed_cells import Cells
from eigenlabel.linalg.operators import CentredOperator, weighted_mean
from eigenlabel.linalg.row_space import RowSpace
from eigenlabel.linalg.solvers.shifted import ShiftedSystem, diagonalise

Product = Callable[[Floats], Floats]


@dataclass(frozen=True)
class TopSubspace:
    """The top eigenvectors of ``S = A'B``, and the ridge regressions on them."""

    W: Floats  # (m, k), orthonormal; k <= r: eigenvalues of zero are left out
    eigenvalues: Floats  # (k,), descending
    directions: Floats  # A W, in the factor's coefficients


class Side(Protocol):
    """Ridge regressions of many sparse targets, without their m x m matrix S.

    Attributes
    ----------
    n_iter : iterations of the last solve, 1 for direct solvers
    shortfall : accuracy that a solve or the eigenproblem missed, or None; the last one of several
    """

    n_iter: int
    shortfall: Shortfall | None

    def top(self, alpha: float, beta: float, r: int) -> TopSubspace:
        """Return the r top eigenvectors of S, without those whose eigenvalue is rounding."""
        ...

    def ridge(self, V: Floats, shift: float) -> Floats:
        """Return the coefficients of ridge regressions on the combined targets T V."""
        ...

    def weights(self, shift: float, P: Floats, W: Floats) -> Floats:
        """Return the exported weights of ``ridge(shift) of all targets + P W'``."""
        ...


class Factor(ABC):
    """Training data, prepared for ridge regressions.

    Attributes
    ----------
    total : total weight of the samples
    centre : whether there is an intercept without penalty
    accuracy : relative residual that solutions may have; 0 for direct solvers
    symmetric : whether ``inner(solve(T, s), solve(T, t))`` is symmetric for all T
    """

    total: float
    centre: bool
    accuracy: float = 0.0
    symmetric: bool = True

    @property
    @abstractmethod
    def origin(self) -> Floats:
        """The mean of the features, or of the rows of the kernel matrix; zero without centring.

        ``origin @ export(c)`` is the score of the mean, so that the intercept is the mean of the
        targets less this.
        """

    @abstractmethod
    def solve(self, T: Floats, shifts: Sequence[float]) -> Solution:
        """Solve the ridge regressions of targets T for all shifts."""

    @abstractmethod
    def gradient(self, T: Floats) -> Floats:
        """Return the limit of ``s ridge(s)`` for growing s: ``Xc'W Tc / n``."""

    @abstractmethod
    def metric(self, c: Floats) -> Floats:
        """Return M c, where ``a'M b`` is the inner product of the weights of a and b."""

    @abstractmethod
    def export(self, c: Floats) -> Floats:
        """Return the weights that a model stores for coefficients c.

        They are weights of features (d, k) for linear problems, and dual coefficients (n, k) for
        the kernel of a new sample with all training samples otherwise.
        """

    @abstractmethod
    def target_means(self, T: Floats) -> Floats:
        """Return the weighted means (m,) of the targets; zero without centring."""

    @abstractmethod
    def variance(self) -> float:
        """Return the mean squared distance of the samples from their mean.

        It is that from zero without centring, and that in the feature space of a kernel. It is the
        trace of ``Xc'W Xc / n``, and thus an upper bound on its eigenvalues.
        """

    def inner(self, a: Floats, b: Floats) -> Floats:
        """Return the inner products A'B of the weights that coefficients a and b stand for."""
        return np.asarray(a.T @ self.metric(b), dtype=float)

    def intercept(self, T: Floats, c: Floats, weights: Floats) -> Floats:  # noqa: ARG002
        """Return the intercepts (m,) of coefficients c for targets T; ``weights = export(c)``."""
        return np.asarray(self.target_means(T) - self.origin @ weights)

    def orthonormalise(self, directions: Floats) -> tuple[Floats, Floats]:
        """Return an orthonormal basis of directions, exported, and R: directions = basis R.

        Equivalent to a QR decomposition of the weights that the directions stand for, with a
        positive diagonal of R.
        """
        return positive_qr(self.export(directions))


class SampleFactor(Factor):
    """A factor that keeps its samples: it can score, restrict and hold out samples.

    Attributes
    ----------
    weights : (n,) sample weights or None
    dual : whether coefficients belong to samples (n, m), else to features (d, m)
    size : number of rows of coefficients
    """

    weights: Floats | None
    dual: bool
    size: int

    @abstractmethod
    def scores(self, c: Floats) -> Floats:
        """Return the scores (n, k) of all samples, without the intercept, about their mean."""

    @abstractmethod
    def adjoint(self, t: Floats) -> Floats:
        """Return ``Xc't`` in the coefficients of the factor, for t (n, k)."""

    @abstractmethod
    def restrict(self, rows: Ints, total: float | None = None) -> "SampleFactor":
        """Return the factor of some samples alone, centred by their own mean.

        ``total`` replaces the total weight of these samples in the penalty.
        """

    @abstractmethod
    def fold(self, train: Ints, test: Ints) -> "tuple[SampleFactor, Product]":
        """Return the factor of the training rows alone, and a function that scores the test rows.

        The function maps coefficients of that factor to scores about the training mean.
        """

    @abstractmethod
    def heldout(
        self,
        T: Floats,
        folds: Sequence[Fold],
        shifts: Sequence[float],
        pairs: Pairs = (),
        max_memory: float = float("inf"),
        advance: Callable[[int], Any] = int,
    ) -> list[FoldBlock]:
        """Prepare the exact held-out scores of every shift for every fold.

        Equivalent to fitting each training part from scratch, intercept included.

        Parameters
        ----------
        T : (n, m) targets, not centred
        folds : training and test rows of each fold
        shifts : distinct; the last one may be infinite
        pairs : pairs of shifts that will be evaluated; if given, no others can be evaluated
        max_memory : bytes that decide whether the statistics of all folds exist at once
        advance : function that is called with the number of folds that were just completed
        """

    @abstractmethod
    def side(self, T: CentredOperator, shift: float) -> Side:
        """Return the solver of many sparse targets T, for shifts from the given one upwards."""

    def metric_rounding(self) -> float:
        """Return the rounding error of ``c'M c`` for a unit vector c; 0 if the metric is I."""
        return 0.0

    def row_space(self) -> RowSpace:
        """Return the principal axes of the centred data, without those that are rounding.

        Cost: one eigendecomposition of the smaller side. Factors without that matrix raise
        MemoryError.
        """
        raise MemoryError(
            "The principal axes of the data need the smaller of its n x n and d x d matrices, "
            "which does not fit in memory. Use fewer samples or features, or a projection that "
            "does without: MDDM, CCA, OPLS, LDA, PLS, or PCA of a few components."
        )

    def target_means(self, T: Floats) -> Floats:
        """Return the weighted means (m,) of the targets; zero without centring."""
        return weighted_mean(T, self.weights) if self.centre else np.zeros(T.shape[1])

    def weighted_targets(self, T: Floats) -> Floats:
        """Return ``W Tc``: centred if there is an intercept, and multiplied by the weights.

        Centring T changes nothing in exact arithmetic once X is centred, but keeps digits.
        """
        Tc = T - self.target_means(T) if self.centre else T
        return Tc if self.weights is None else self.weights[:, None] * Tc

    def solve_masked(
        self, T: Floats, shifts: Sequence[float], cells: Cells, total: float
    ) -> Solution:
        """Solve ridge regressions whose targets are observed on different samples.

        The default solves each pattern of observed samples by a factor of these samples alone.
        Columns that are never observed have zero coefficients.
        """
        out = np.zeros((len(shifts), self.size, T.shape[1]))
        residuals = np.zeros((len(shifts), T.shape[1]))
        parts = []
        for columns, rows in cells.patterns():
            part = self.restrict(rows, total).solve(T[np.ix_(rows, columns)], shifts)
            places = rows if self.dual else np.arange(self.size)
            out[:, places[:, None], columns] = part.coefficients
            residuals[:, columns] = 0.0 if part.residuals is None else part.residuals
            parts.append(Solution(out, part.residuals, part.n_iter, part.shortfall))
        return Solution(
            out,
            residuals if any(part.residuals is not None for part in parts) else None,
            max((part.n_iter for part in parts), default=1),
            worst([part.shortfall for part in parts]),
        )


class ExactFactor(Factor):
    """Ridge regressions through one p x p matrix M: ``c = finish((M + n s I)^-1 right_side(T))``.

    Attributes
    ----------
    tolerance : relative rank tolerance, see :func:`eigenlabel.linalg.numerics.rank_tolerance`
    """

    tolerance: float
    _system: ShiftedSystem | None = None

    @abstractmethod
    def matrix(self) -> Floats:
        """Return M (p, p)."""

    @abstractmethod
    def right_side(self, T: Floats) -> Floats:
        """Return the right sides (p, m) of targets T."""

    def finish(self, Y: Floats) -> Floats:
        """Turn solutions (..., p, m) of the equations into coefficients."""
        return Y

    def solve(self, T: Floats, shifts: Sequence[float]) -> Solution:
        """Solve exactly: one Cholesky factor (p^3 / 3) for each of a few shifts.

        More shifts share one tridiagonal reduction (4 p^3 / 3). Solutions of singular equations
        have minimum norm.
        """
        if self._system is None:
            self._system = ShiftedSystem(self.matrix(), self.tolerance)
        found = self._system.solve(self.right_side(T), [self.total * s for s in shifts])
        return Solution(self.finish(found))


class ExactSampleFactor(ExactFactor, SampleFactor):
    """An exact factor that keeps its samples."""

    @abstractmethod
    def project(self, T: CentredOperator, E: Floats) -> Floats:
        """Return ``right_side(T)'Q`` (m, t) for sparse targets T and ``E = finish(Q)``."""

    @abstractmethod
    def gain(self, lam: Floats) -> Floats:
        """Return the diagonal (t,) of the metric in the eigenvectors of M, ``finish`` included."""

    def eigenvectors(self, shift: float) -> tuple[Floats, Floats]:
        """Return eigenvectors (p, t) and eigenvalues (t,) of M that count beside a shift."""
        return diagonalise(self.matrix(), self.tolerance, self.total * shift, overwrite=True)

    @abstractmethod
    def spectral_basis(self, shift: float) -> tuple[Floats, Floats]:
        """Return eigenvectors (n, t) and eigenvalues (t,) of the scaled, centred Gram matrix."""

    @abstractmethod
    def heldout_by_fold(
        self,
        T: Floats,
        folds: Sequence[Fold],
        shifts: Sequence[float],
        pairs: Pairs,
        max_memory: float,
        advance: Callable[[int], Any],
    ) -> list[FoldBlock]:
        """Prepare the held-out scores by one reduction for each fold."""

    def heldout(
        self,
        T: Floats,
        folds: Sequence[Fold],
        shifts: Sequence[float],
        pairs: Pairs = (),
        max_memory: float = float("inf"),
        advance: Callable[[int], Any] = int,
    ) -> list[FoldBlock]:
        """Prepare the held-out scores by the cheaper way.

        Either one reduction for each fold, or one factorisation of all samples, which is cheaper
        for many small folds. See :meth:`SampleFactor.heldout`.
        """
        n = T.shape[0]
        if not is_partition(n, folds) or not prefers_one_factorisation(
            self.size, n, folds, len(shifts)
        ):
            return self.heldout_by_fold(T, folds, shifts, pairs, max_memory, advance)
        basis = self.spectral_basis(self.total * min(shifts))
        found = small_folds(basis, self.weights, T, folds, shifts, self.centre)
        advance(len(folds))
        return list(found)
