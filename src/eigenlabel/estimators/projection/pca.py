"""Principal components."""

from contextlib import suppress
from typing import ClassVar

from scipy.sparse.linalg import ArpackError

from eigenlabel.estimators.projection.base import BaseProjection
from eigenlabel.inputs.data import check_scale
from eigenlabel.kernels.factor import factorise_samples
from eigenlabel.linalg._types import Bools, Matrix
from eigenlabel.linalg.directions import FEW, Directions, leading_axes
from eigenlabel.linalg.factors.base import Factor
from eigenlabel.linalg.operators import CentredOperator


class PCA(BaseProjection):
    """Find the principal components of the features, or of the feature space of a kernel.

    Sparse X is centred without densifying it. Labels may be passed, as in a pipeline, but are not
    used.

    Cost: one eigendecomposition of the smaller of the n x n and d x d matrices. If the kernel is
    linear and ``n_components`` is at most a thirtieth of the smaller side of X, Lanczos' method is
    used instead, which takes a few products of X with vectors for each component.

    For other kernels, axes whose eigenvalues are at most the square root of the precision of X
    (1.5e-8 for float64, 3.5e-4 for float32), relative to the largest one, are left out: their
    directions would be determined by the rounding of the kernel values.

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

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Directions, one in each row, the best first. It exists for the linear kernel only.
    dual_coef_ : ndarray of shape (n_samples, n_components_)
        Coefficients of the training samples in each direction. It exists for other kernels only.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        Training samples, or their kernel matrix. It exists for other kernels only.
    eigenvalues_ : ndarray of shape (n_eigenvalues,)
        Eigenvalues of ``Xc'Xc`` in descending order: the first ``n_components`` if Lanczos' method
        is used, all otherwise.
    n_components_ : int
        Number of directions.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in ``fit``. It exists only if all names are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel import PCA
    >>> PCA(1).fit_transform(np.array([[0.0, 0], [1, 1], [2, 2]])).round(3).ravel().tolist()
    [-1.414, 0.0, 1.414]
    """

    _supervised: ClassVar[bool] = False

    def _solve(self, X: Matrix, Y: Bools) -> tuple[Directions, Factor | None]:  # noqa: ARG002
        few = self.n_components
        if self._kernel.linear and few is not None and FEW * few <= min(X.shape):
            check_scale(X)
            with suppress(ArpackError):
                return leading_axes(CentredOperator(X), few), None
        factor = factorise_samples(self._kernel, X)
        space = factor.row_space()
        return Directions(space.principal(self.n_components), space.values), factor
