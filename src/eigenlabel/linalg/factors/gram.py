"""The n x n side: ridge regressions in dual coefficients, of any kernel or of wide linear data."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as sl

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.factors.base import ExactSampleFactor, Factor, Product
from eigenlabel.linalg.gram_matrices import centre_gram, scaled_gram, weighted_gram
from eigenlabel.linalg.heldout import Fold, FoldBlock, Pairs, counted, gram_fold
from eigenlabel.linalg.numerics import positive_qr, rank_tolerance
from eigenlabel.linalg.operators import CentredOperator, total_weight
from eigenlabel.linalg.row_space import RowSpace, principal_axes
from eigenlabel.linalg.solvers.shifted import diagonalise
from eigenlabel.linalg.ties import precision
from eigenlabel.linalg.top_subspace import ExactSide


def orthonormalise_dual(factor: Factor, directions: Floats) -> tuple[Floats, Floats]:
    """Return an orthonormal basis of dual coefficients C, exported, and R with ``C = basis R``.

    ``R'R = C'M C`` with M the metric of the factor. R is found through a square root of C'M C: a
    Cholesky factor would break down on rounding.
    """
    lam, E = np.linalg.eigh(factor.inner(directions, directions))
    _, R = positive_qr((E * np.sqrt(np.maximum(lam, 0))).T)
    basis = np.asarray(sl.solve_triangular(R, directions.T, trans="T").T)
    return factor.export(basis), R


class GramFactor(ExactSampleFactor):
    """Kernel ridge regressions through the n x n Gram matrix.

    ``c = D^1/2 (D^1/2 Kc D^1/2 + n s I)^-1 D^1/2 Tc`` with D the sample weights. Equivalent to
    ``scipy.linalg.solve(Kc + n s I, Tc)`` without weights.

    Parameters
    ----------
    K : (n, n) positive semi-definite kernel matrix
    weights : (n,) positive sample weights or None
    centre : centre in feature space, which makes the intercept unpenalised
    dtype : precision of the data behind K, for the rank rule
    d : number of features of the data behind K, for the rank rule
    positive : (n, t) eigenvectors that were kept of a kernel that is not positive semi-definite
    overwrite : whether K may be centred in place
    """

    dual = True

    def __init__(
        self,
        K: Floats,
        weights: Floats | None = None,
        centre: bool = True,
        dtype: "np.dtype[np.floating] | type" = np.float64,
        d: int = 0,
        positive: Floats | None = None,
        overwrite: bool = False,
    ) -> None:
        self.weights, self.centre, self.size = weights, centre, K.shape[0]
        self.total = total_weight(K.shape[0], weights)
        self.tolerance = rank_tolerance(max(K.shape[0], d), dtype)
        # The rounding of kernel values determines an axis up to precision / eigenvalue, relative
        # to the largest. Axes above the root of the precision have half of all digits.
        self.axis_floor = float(np.sqrt(precision(dtype)))
        self.root = None if weights is None else np.sqrt(weights)
        self._positive = positive
        self.K, self.row_mean = K, np.zeros(K.shape[0])
        if centre:
            self.K, self.row_mean = centre_gram(K, weights, overwrite)

    @property
    def origin(self) -> Floats:
        """The mean (n,) of the rows of the kernel matrix before centring."""
        return self.row_mean

    def matrix(self) -> Floats:
        """Return ``D^1/2 Kc D^1/2`` as a new array, its null direction lifted."""
        return scaled_gram(self.K, self.root, self.centre)

    def right_side(self, T: Floats) -> Floats:
        """Return ``D^1/2 Tc``."""
        return self.finish(T - self.target_means(T) if self.centre else T)

    def finish(self, Y: Floats) -> Floats:
        """Return ``D^1/2 Y``."""
        return Y if self.root is None else self.root[:, None] * Y

    def gradient(self, T: Floats) -> Floats:
        """Return ``D Tc / n``, the limit of ``s ridge(s)``."""
        return self.finish(self.right_side(T)) / self.total

    def metric(self, c: Floats) -> Floats:
        """Return Kc c; n^2 operations for each column."""
        return np.asarray(self.K @ c)

    def variance(self) -> float:
        """Return the weighted mean of the diagonal of Kc."""
        return float(np.average(np.diag(self.K), weights=self.weights))

    def metric_rounding(self) -> float:
        """Return the rank tolerance times a bound on the largest eigenvalue of Kc."""
        return self.tolerance * float(np.linalg.norm(self.K, 1))

    def export(self, c: Floats) -> Floats:
        """Return dual coefficients for the kernel, whose negative part is left out.

        The Gram matrix of the training samples has no negative part. The projection on the kept
        eigenvectors leaves it out for new samples as well.
        """
        return c if self._positive is None else self._positive @ (self._positive.T @ c)

    def orthonormalise(self, directions: Floats) -> tuple[Floats, Floats]:
        """Return an orthonormal basis, exported, and R: directions = basis R; see :class:`Factor`.

        R'R = C'Kc C through a square root: a Cholesky factor would break down on rounding.
        """
        return orthonormalise_dual(self, directions)

    def scores(self, c: Floats) -> Floats:
        """Return Kc c."""
        return self.metric(c)

    def adjoint(self, t: Floats) -> Floats:
        """Return t itself."""
        return t

    def project(self, T: CentredOperator, E: Floats) -> Floats:
        """Return ``T'E``."""
        return T.rmatmat(E)

    def gain(self, lam: Floats) -> Floats:
        """Return the eigenvalues: dual coefficients meet in the metric of the Gram matrix."""
        return lam

    def _part(self, rows: Ints) -> "GramFactor":
        """Return the factor of some rows of the centred matrix."""
        weights = None if self.weights is None else self.weights[rows]
        return GramFactor(self.K[np.ix_(rows, rows)], weights, self.centre, overwrite=True)

    def _restrict(self, rows: Ints, total: float | None) -> "tuple[GramFactor, Floats]":
        """Return the factor of some samples, and the mean of their rows of the centred matrix."""
        part = self._part(rows)
        row_mean = part.row_mean
        part.row_mean = row_mean + self.row_mean[rows]
        part.tolerance, part.axis_floor = self.tolerance, self.axis_floor
        part.total = part.total if total is None else total
        return part, row_mean

    def restrict(self, rows: Ints, total: float | None = None) -> "GramFactor":
        """Return the factor of some samples alone; a copy of their part of the matrix."""
        return self._restrict(rows, total)[0]

    def fold(self, train: Ints, test: Ints) -> "tuple[GramFactor, Product]":
        """Return the factor of the training rows, and a function that scores the test rows."""
        part, row_mean = self._restrict(train, None)
        cross = self.K[np.ix_(test, train)]
        return part, lambda c: np.asarray(cross @ c - row_mean @ c)

    def heldout_by_fold(
        self,
        T: Floats,
        folds: Sequence[Fold],
        shifts: Sequence[float],
        pairs: Pairs,  # noqa: ARG002
        max_memory: float,  # noqa: ARG002
        advance: Callable[[int], Any],
    ) -> list[FoldBlock]:
        """Prepare the held-out scores by one reduction of the Gram matrix for each fold."""
        return [
            gram_fold(self.K, self.weights, T, fold, shifts, self.centre, tolerance=self.tolerance)
            for fold in counted(folds, advance)
        ]

    def spectral_basis(self, shift: float) -> tuple[Floats, Floats]:
        """Return eigenvectors (n, t) and eigenvalues (t,) of ``D^1/2 Kc D^1/2``; 9 n^3 or so."""
        M = weighted_gram(self.K, self.root)
        return diagonalise(M, self.tolerance, shift, overwrite=True)

    def side(self, T: CentredOperator, shift: float) -> ExactSide:
        """Return the solver of many sparse targets by eigenvectors of the Gram matrix."""
        return ExactSide(self, T, shift)

    def row_space(self) -> RowSpace:
        """Return the principal axes of the centred data; one n x n eigendecomposition.

        Axes of a kernel whose eigenvalues are below ``axis_floor`` are left out: the spectra of
        smooth kernels decay without a gap, and their last axes would be rounding.
        """
        values, axes = principal_axes(self.K, max(self.tolerance, self.axis_floor))
        if self.centre:
            # The constant is a null vector of the centred matrix. What rounding leaves of it in
            # weak axes would count a million times in products with the matrix before centring.
            axes = axes - axes.mean(axis=0)
        lengths = np.sqrt(values)
        return RowSpace(values, axes, lengths, self.axis_floor, lambda: axes * lengths)


class LinearGramFactor(GramFactor):
    """Linear ridge regressions through the Gram matrix ``Xc Xc'``: weights are ``Xc'c``.

    Parameters
    ----------
    operator : the centred data
    centre : whether there is an intercept without penalty
    K : (n, n) Gram matrix of the operator, computed if None (n^2 d), else overwritten
    rows : rows of the operator that the factor is for, if not all
    """

    def __init__(
        self,
        operator: CentredOperator,
        centre: bool = True,
        K: Floats | None = None,
        rows: Ints | None = None,
    ) -> None:
        weights = operator.weights
        super().__init__(
            operator.gram() if K is None else K,
            weights if weights is None or rows is None else weights[rows],
            centre,
            operator.dtype,
            operator.shape[1],
            overwrite=True,
        )
        self.axis_floor = 0.0  # of a linear kernel the rank rule of the data is enough
        self._source, self._rows = operator, rows

    @cached_property
    def operator(self) -> CentredOperator:
        """The centred data of the factor's own rows; these are copied when first needed."""
        if self._rows is None:
            return self._source
        return self._source.recentred(self._rows, self.centre)

    @property
    def origin(self) -> Floats:
        """The mean (d,) of the features."""
        return self.operator.mean

    def export(self, c: Floats) -> Floats:
        """Return the weights ``Xc'c`` (d, k)."""
        return self.operator.rmatmat(c)

    def orthonormalise(self, directions: Floats) -> tuple[Floats, Floats]:
        """Return the QR decomposition of the weights, see :class:`Factor`."""
        return Factor.orthonormalise(self, directions)

    def _part(self, rows: Ints) -> GramFactor:
        whole = rows if self._rows is None else self._rows[rows]
        return LinearGramFactor(self._source, self.centre, self.K[np.ix_(rows, rows)], whole)
