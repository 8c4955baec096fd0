"""What all projections share: they check input, store directions and project new samples."""

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.inputs.data import check_data
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import COUNT, Maybe, Parameters, check_parameters
from eigenlabel.inputs.warning import NoDirectionWarning, warn
from eigenlabel.kernels.factor import warn_shortfall
from eigenlabel.kernels.kernel import KERNEL_PARAMETERS, Kernel, kernel_tags
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.directions import Directions
from eigenlabel.linalg.factors.base import Factor
from eigenlabel.linalg.numerics import fix_signs
from eigenlabel.linalg.operators import CentredOperator, row_blocks

PROJECTION_PARAMETERS: Parameters = {"n_components": Maybe(COUNT), **KERNEL_PARAMETERS}


class BaseProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the transformers ``x -> P'(x - mean)``, linear or in the feature space of a kernel.

    A subclass implements ``_solve``. It sets ``_supervised`` to False if it does not use labels.

    Parameters
    ----------
    n_components : int or None, default=None
        Upper bound on the number of directions. None keeps all directions that exist.
    kernel : str or callable, default="linear"
        The kernel: "linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "chi2" or
        "intersection" (the last two compare histograms), "precomputed" if X is the kernel matrix,
        or a function of two matrices that returns the kernel matrix of their rows. If a kernel
        matrix is not positive semi-definite, its negative part is left out with a warning.
    gamma : float or None, default=None
        Bandwidth of "rbf", "poly", "sigmoid", "laplacian" and "chi2". None is
        ``1 / (2 mean distance^2)`` for "rbf", 1 for "chi2" and ``1 / n_features`` for the others.
    degree : float, default=3
        Degree of the kernel "poly".
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid".
    kernel_params : dict or None, default=None
        Keyword arguments of a callable kernel.
    """

    _parameters: ClassVar[Parameters] = PROJECTION_PARAMETERS
    _supervised: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples. With ``kernel="precomputed"`` it is their kernel matrix of shape
            (n_samples, n_samples).
        y : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
            Label matrix of 0 and 1, or a vector of classes. Projections that do not use labels
            ignore it.

        Returns
        -------
        self : object
            The fitted projection.
        """
        self._check_parameters()
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        X = check_data(self, X, reset=True, square=kernel.precomputed)
        self._kernel = kernel.settle(X)
        Y = self._check_labels(X, y)
        found, factor = self._solve(X, Y)
        warn_shortfall(found.shortfall)
        self._store(found, factor, X)
        self._warn_without_directions()
        return self

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _check_labels(self, X: Matrix, y: Any) -> Bools:
        """Return the label matrix (n, m); it has no columns if labels are not used."""
        Y = np.zeros((X.shape[0], 0), dtype=bool)
        if self._supervised:
            _, Y = LabelCodec.fit(y)
            check_consistent_length(X, Y)
        if X.shape[0] < 2:
            raise ValueError(
                f"A projection needs at least 2 samples, got n_samples = {X.shape[0]}."
            )
        return Y

    def _solve(self, X: Matrix, Y: Bools) -> tuple[Directions, Factor | None]:
        """Return the directions and the factor whose coefficients they are.

        The factor is None if the directions are weights of features.
        """
        raise NotImplementedError

    def _dimension(self, found: Directions) -> int:
        """Return the number of directions to keep."""
        available = int(found.coefficients.shape[1])
        return available if self.n_components is None else min(self.n_components, available)

    def _store(self, found: Directions, factor: Factor | None, X: Matrix) -> None:
        for name in ("components_", "dual_coef_", "X_fit_"):
            self.__dict__.pop(name, None)  # of an earlier fit with another kernel
        r = self._dimension(found)
        coefficients = found.coefficients[:, :r]
        if factor is None:
            self._store_components(fix_signs(coefficients), CentredOperator(X).mean, X.dtype)
        elif self._kernel.linear:
            weights = fix_signs(factor.export(coefficients))
            self._store_components(weights, factor.origin, X.dtype)
        else:
            weights = factor.export(fix_signs(coefficients))
            self.dual_coef_ = weights.astype(X.dtype)
            self._offset = (factor.origin @ weights).astype(X.dtype)
            self.X_fit_ = X
        self.eigenvalues_ = found.eigenvalues
        self.n_components_ = r

    def _store_components(self, weights: Floats, mean: Floats, dtype: Any) -> None:
        """Store directions, the columns of ``weights``, and the projection of the mean.

        The mean is projected by the rounded directions, which ``transform`` uses.
        """
        self.components_ = weights.T.astype(dtype)
        self._offset = self.components_.astype(float) @ mean

    def _warn_without_directions(self) -> None:
        if not self.n_components_:
            constant = "the features or the labels" if self._supervised else "the features"
            warn(
                f"{type(self).__name__} found no direction: {constant} do not vary. transform "
                "returns no columns.",
                NoDirectionWarning,
            )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> Floats:
        """Project samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples. With ``kernel="precomputed"`` it holds their kernel values with the training
            samples, of shape (n_samples, n_training_samples).

        Returns
        -------
        projected : ndarray of shape (n_samples, n_components_)
            Coordinates in the directions, the best direction first.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        if self._kernel.linear:
            kept = self.components_.T
            projected = _product_in_double(X, kept)
        else:
            kept = self.dual_coef_
            projected = self._kernel.product(X, self.X_fit_, kept)
        return np.asarray((projected - self._offset).astype(kept.dtype, copy=False))

    def __sklearn_tags__(self) -> Any:
        tags = kernel_tags(super().__sklearn_tags__(), self.kernel)
        tags.target_tags.required = self._supervised
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _product_in_double(X: Matrix, W: Floats) -> Floats:
    """Return X W, computed in float64.

    In float32, samples far from zero would lose their digits when the mean is subtracted.
    """
    W = W.astype(float)
    if sp.issparse(X) or X.dtype == W.dtype:
        return np.asarray(X @ W)
    return np.concatenate([X[rows] @ W for rows in row_blocks(*X.shape)])  # no copy of all of X
