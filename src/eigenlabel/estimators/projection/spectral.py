"""Projections with eigenproblems of their own, solved in the row space: PCA, PLS, MLSI, LPP.

And the selector of single features that the papers compare with.
"""

from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.estimators.projection.supervised import BaseProjection, KernelParameters
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.validation import (
    SelectorMixin,
    check_data,
    check_number,
    check_scale,
)
from eigenlabel.kernels.factor import factorise_samples
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.directions import (
    FEW,
    ROW_SPACE_ARRAYS,
    Directions,
    covariance_directions,
    generalised_directions,
    leading_axes,
)
from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.protocol import Factor
from eigenlabel.linalg.operators import CentredOperator, centre_full_columns, weighted_mean
from eigenlabel.linalg.row_space import RowSpace
from eigenlabel.linalg.ties import SAFETY, Rounding, nearest, precision, tied_order


class RowSpaceProjection(BaseProjection):
    """A projection found in coordinates of the data's own rank, ``Z Z' = Xc Xc'``."""

    def _in_row_space(self, space: RowSpace, X: Any, Y: np.ndarray | None) -> Directions:
        raise NotImplementedError

    def _solve(self, X: Any, Y: np.ndarray | None) -> tuple[Directions, Factor | None]:
        factor = factorise_samples(self._kernel, X, arrays=ROW_SPACE_ARRAYS)
        space = factor.row_space()
        found = self._in_row_space(space, X, Y)
        return Directions(space.lift(found.coefficients), found.eigenvalues), factor


class PCA(KernelParameters, BaseProjection):
    """Principal components, centred without densifying sparse X, or in a kernel's feature space.

    Cost: one eigendecomposition of the smaller of the n x n and d x d matrices; where no more than
    a thirtieth of all axes are wanted and X is linear, some products of X with vectors for each
    instead, whatever its size. Labels are not looked at; they may be passed for the sake of
    pipelines.

    Of a kernel, the axes whose eigenvalues are at most the root of the precision of X (1.5e-8 for
    float64, 3.5e-4 for float32), relative to the largest, are left out: rounding of the kernel
    values would determine their directions.

    Parameters
    ----------
    n_components : int or None
    kernel, gamma, degree, coef0, kernel_params
        As in :class:`SharedSubspaceClassifier`.

    Attributes
    ----------
    components_, dual_coef_, n_components_ : as in :class:`MDDM`
    eigenvalues_ : of ``Xc'Xc``, descending: all, or ``n_components`` if those are few

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel import PCA
    >>> PCA(1).fit_transform(np.array([[0.0, 0], [1, 1], [2, 2]])).round(3).ravel().tolist()
    [-1.414, 0.0, 1.414]
    """

    _supervised = False

    def _solve(self, X: Any, Y: np.ndarray | None) -> tuple[Directions, Factor | None]:  # noqa: ARG002
        if self._kernel.linear and FEW * (self.n_components or np.inf) <= min(X.shape):
            check_scale(X)
            with suppress(ArpackError):
                return leading_axes(CentredOperator(X), self.n_components), None
        factor = factorise_samples(self._kernel, X)
        space = factor.row_space()
        return Directions(space.principal(self.n_components), space.values), factor


class PLS(KernelParameters, BaseProjection):
    """Partial least squares: directions of largest covariance with the labels, one by one.

    The k-th direction is the leading left singular vector of ``Xc'Yc`` after what the scores of
    the first k - 1 explain was taken out (SIMPLS, de Jong 1993); scores are uncorrelated. The first
    one is that of MDDM.

    Cost: two products of X, or of the kernel matrix, with a vector, a pass over ``Xc'Yc`` and an
    m x m eigenvector for each direction. Nothing is factored: sparse X of any size will do.

    Parameters
    ----------
    n_components : int or None
        At most so many; by default as many as there are labels.
    kernel, gamma, degree, coef0, kernel_params
        As in :class:`SharedSubspaceClassifier`.

    Attributes
    ----------
    components_, dual_coef_, n_components_ : as in :class:`MDDM`; scores have unit length
    eigenvalues_ : squared covariance that each direction takes

    Examples
    --------
    >>> from eigenlabel import PLS
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> PLS(2).fit(data.X, data.Y).transform(data.X).shape
    (200, 2)
    """

    def _solve(self, X: Any, Y: np.ndarray | None) -> tuple[Directions, Factor | None]:
        wanted = Y.shape[1] if self.n_components is None else self.n_components
        if self._kernel.linear:
            check_scale(X)
            count = min(wanted, X.shape[0] - 1, X.shape[1])
            data = CovarianceFactor(CentredOperator(X))  # products alone: nothing is formed
            return covariance_directions(data, Y.astype(float), count), None
        factor = factorise_samples(self._kernel, X)
        return covariance_directions(factor, Y.astype(float), min(wanted, len(Y) - 1)), factor


class MLSI(KernelParameters, RowSpaceProjection):
    """Multi-label informed latent semantic indexing, or MORP (Yu, Yu, Tresp, SIGIR 2005).

        max tr(P'((1 - beta) Sxx^2 + beta Sxy Syx)P)   subject to   P'(Sxx + reg I)P = I

    with ``Sxx = Xc'Xc`` and ``Sxy = Xc'Yc``: features that keep X and tell Y. Directions are scaled
    to unit length.

    The problem is solved on the principal axes of X, which for a kernel are those of
    :class:`PCA`. Directions whose eigenvalues are zero up to rounding, relative to the largest,
    are left out; for a kernel, all that are at most the root of the precision of X.

    Parameters
    ----------
    n_components : int or None
    beta : float in 0..1, default=0.5
        Weight of the labels against the features.
    reg : float >= 0, default=1e-3
    kernel, gamma, degree, coef0, kernel_params
        As in :class:`SharedSubspaceClassifier`.

    Attributes
    ----------
    components_, dual_coef_, eigenvalues_, n_components_ : as in :class:`MDDM`

    Examples
    --------
    >>> from eigenlabel import MLSI
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> MLSI(2).fit(data.X, data.Y).transform(data.X).shape
    (200, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        beta: float = 0.5,
        reg: float = 1e-3,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
    ) -> None:
        super().__init__(
            n_components,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
        )
        self.beta = beta
        self.reg = reg

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("beta", self.beta, 0, 1)
        check_number("reg", self.reg, 0)

    def _in_row_space(self, space: RowSpace, X: Any, Y: np.ndarray | None) -> Directions:  # noqa: ARG002
        lengths = space.values  # Z'Z is diagonal
        S = space.data().T @ (Y - Y.mean(axis=0))
        A = np.diag((1 - self.beta) * lengths**2) + self.beta * S @ S.T
        found = generalised_directions(A, np.diag(lengths + self.reg))
        P = found.coefficients[:, : space.keep(found.eigenvalues)]
        return Directions(P / np.linalg.norm(P, axis=0), found.eigenvalues)


class LPP(KernelParameters, RowSpaceProjection):
    """Locality preserving projections: neighbours stay neighbours (He and Niyogi, NIPS 2003).

        min tr(P'Xc'(D - W)Xc P)   subject to   P'Xc'D Xc P = I

    W joins each sample to its nearest ones by heat weights ``exp(-d^2 / (2 t^2))``, D holds its row
    sums. Distances that differ by no more than rounding are equal, and of equally distant samples
    those that come first are joined. Labels are not looked at.

    The problem is solved on the principal axes of X, which for a kernel are those of
    :class:`PCA`: those that are not rounding.

    Parameters
    ----------
    n_components : int or None
    n_neighbors : int, default=10
    width : float or None
        t of the heat weights; None is the mean distance to a neighbour.
    kernel, gamma, degree, coef0, kernel_params
        As in :class:`SharedSubspaceClassifier`; neighbours are those in the kernel's feature space.

    Attributes
    ----------
    components_, dual_coef_, n_components_ : as in :class:`MDDM`
    eigenvalues_ : ascending, the smoothest direction first

    Examples
    --------
    >>> from eigenlabel import LPP
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> LPP(2).fit(data.X).transform(data.X).shape
    (200, 2)
    """

    _supervised = False

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: int = 10,
        width: float | None = None,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
    ) -> None:
        super().__init__(
            n_components,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
        )
        self.n_neighbors = n_neighbors
        self.width = width

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        if self.width is not None:
            check_number("width", self.width, np.finfo(float).tiny)

    def _in_row_space(self, space: RowSpace, X: Any, Y: np.ndarray | None) -> Directions:  # noqa: ARG002
        if not space.values.size:  # all samples are one point
            return Directions(np.zeros((0, 0)), np.zeros(0))
        U, lengths = space.data(), np.sqrt(space.values)
        W = self._graph(U, X.dtype)
        U /= lengths  # orthonormal: B is as well conditioned as the degrees D
        D = np.asarray(W.sum(axis=1)).ravel()
        B = U.T @ (D[:, None] * U)
        A = B - U.T @ (W @ U)
        # Samples without weight leave B singular on directions that nothing smooths.
        B.flat[:: len(B) + 1] += np.trace(B) * np.finfo(float).eps * max(U.shape)
        try:
            found = generalised_directions(A, B, largest=False)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"width={self.width:.6g} leaves hardly any weight between neighbours, whose mean "
                f"distance is {self._mean_distance:.6g}. Take a width of that size, or None."
            ) from None
        P = found.coefficients / lengths[:, None]
        return Directions(P, np.maximum(found.eigenvalues, 0.0))

    def _graph(self, Z: np.ndarray, dtype: Any) -> sp.csr_array:
        """Join nearest neighbours; a sample's own weight is zero."""
        k = min(self.n_neighbors, len(Z) - 1)
        distances, neighbours = self._neighbours(Z, k, dtype)
        self._mean_distance = float(distances.mean())
        t = self.width if self.width is not None else self._mean_distance
        heat = np.exp(-(distances**2) / (2 * t * t)) if t > 0 else np.ones_like(distances)
        rows = np.repeat(np.arange(len(Z)), k)
        W = sp.csr_array((heat.ravel(), (rows, neighbours.ravel())), shape=(len(Z), len(Z)))
        return sp.csr_array(W.maximum(W.T))

    def _neighbours(self, Z: np.ndarray, k: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances and indices (n, k) of the nearest samples, ties by index.

        Some more candidates than k are found first. All samples are compared only for those whose
        candidates are all as near as the k-th one.
        """
        wide = min(2 * k + 10, len(Z) - 1)
        D, index = NearestNeighbors(n_neighbors=wide).fit(Z).kneighbors()
        # Coordinates of the row space err relative to the longest sample.
        eps = SAFETY * precision(dtype)
        rounding = Rounding(eps * np.sqrt((Z * Z).sum(axis=1).max()), eps)
        order = np.argsort(index, axis=1)
        D, index = (np.take_along_axis(A, order, axis=1) for A in (D, index))
        found = nearest(D, k, rounding)
        distances, neighbours = (np.take_along_axis(A, found, axis=1) for A in (D, index))
        limit = distances.max(axis=1)
        full = (
            np.flatnonzero(D.max(axis=1) <= limit + rounding.at(limit)) if wide < len(Z) - 1 else []
        )
        for i in full:
            d = np.sqrt(((Z - Z[i]) ** 2).sum(axis=1))
            d[i] = np.inf
            neighbours[i] = nearest(d[None], k, rounding)[0]
            distances[i] = d[neighbours[i]]
        return distances, neighbours


class DiscriminativeSelector(TransformerMixin, SelectorMixin, BaseEstimator):
    """Keep the single features that separate the labels best (SEL of TKDD 2010, Eq. 21).

    A feature's figure is the scatter within labels over that between them, each sample counting
    in all its labels; small is good (the paper's text has it the other way round). Features whose
    figures differ by no more than rounding are equal, and the first of them ranks best.

    Parameters
    ----------
    n_features_to_select : int or None
        How many to keep; None keeps as many as there are labels.

    Attributes
    ----------
    scatter_ratio_ : (n_features,); infinite for a feature that is the same in all labels
    ranking_ : (n_features,), 1 is best

    Examples
    --------
    >>> from eigenlabel import DiscriminativeSelector
    >>> X, Y = [[0, 5], [1, 5], [9, 5], [8, 6]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> DiscriminativeSelector(1).fit_transform(X, Y).ravel().tolist()
    [0, 1, 9, 8]
    """

    def __init__(self, n_features_to_select: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "DiscriminativeSelector":
        """Compute each feature's figure from samples X and labels y."""
        if self.n_features_to_select is not None:
            check_number("n_features_to_select", self.n_features_to_select, 1, integer=True)
        X = check_data(self, X, reset=True)
        codec, Y = LabelCodec.fit(y)
        check_consistent_length(X, Y)
        mean, dtype = weighted_mean(X, None), X.dtype
        # Squares of features far from zero would cancel.
        X = centre_full_columns(X, mean)[0] if sp.issparse(X) else X - mean
        if codec.kind == "binary":
            Y = np.column_stack([~Y[:, 0], Y[:, 0]])
        Y = Y.astype(float)
        self.scatter_ratio_, tolerance = self._ratios(X, Y, mean, dtype)
        order = tied_order(self.scatter_ratio_, tolerance)
        self.ranking_ = np.empty(len(order), dtype=int)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self._n_kept = (
            Y.shape[1] if self.n_features_to_select is None else self.n_features_to_select
        )
        return self

    def _ratios(
        self, X: Any, Y: np.ndarray, mean: np.ndarray, dtype: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the figures of centred features and bounds on their rounding."""
        sizes, times = Y.sum(axis=0), Y.sum(axis=1)
        sums = np.asarray(X.T @ Y).T  # (m, d)
        means = sums / np.maximum(sizes, 1)[:, None]
        overall = sums.sum(axis=0) / max(sizes.sum(), 1)
        squares = np.asarray((X.multiply(X) if sp.issparse(X) else X * X).T @ times)
        within = np.maximum(squares - (sizes[:, None] * means**2).sum(axis=0), 0.0)
        between = ((means - overall) ** 2)[sizes > 0].sum(axis=0)
        # Features have the rounding of their type, relative to their size.
        total = max(float(sizes.sum()), 1.0)
        size = np.maximum(np.abs(mean) + np.sqrt(squares / total), 1e-150)
        rounding = 4 * precision(dtype) * size
        flat = between <= rounding**2 * len(sizes)
        divisor = np.where(flat, 1.0, between)
        ratio = within / divisor
        # A sum of squares errs by twice its deviations times their rounding.
        error = np.sqrt(squares * total) + ratio * np.sqrt(between * len(sizes))
        return np.where(flat, np.inf, ratio), 2 * rounding * error / divisor

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.ranking_ <= self._n_kept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
