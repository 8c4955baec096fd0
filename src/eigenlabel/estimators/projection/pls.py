"""Partial least squares of features and labels."""

from eigenlabel.estimators.projection.base import BaseProjection
from eigenlabel.inputs.data import check_scale
from eigenlabel.kernels.factor import factorise_samples
from eigenlabel.linalg._types import Bools, Matrix
from eigenlabel.linalg.directions import Directions, covariance_directions
from eigenlabel.linalg.factors.base import Factor
from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.operators import CentredOperator


class PLS(BaseProjection):
    """Find the directions of largest covariance with the labels (partial least squares).

    The directions are found one after another. The k-th is the leading left singular vector of
    ``Xc'Yc`` after the part that the scores of the first k - 1 directions explain is removed
    (SIMPLS, de Jong 1993). Scores are uncorrelated and have unit length. The first direction is
    that of :class:`MDDM`.

    Cost: for each direction two products of X, or of the kernel matrix, with a vector, one pass
    over ``Xc'Yc`` and an eigenvector of an n_labels x n_labels matrix. Nothing is factorised, so
    that sparse X may have any size.

    Parameters
    ----------
    n_components : int or None, default=None
        Upper bound on the number of directions. None is the number of labels.
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
    eigenvalues_ : ndarray of shape (n_components_,)
        Squared covariance of each direction with the labels that is left when it is found.
    n_components_ : int
        Number of directions.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in ``fit``. It exists only if all names are strings.

    Examples
    --------
    >>> from eigenlabel import PLS
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> PLS(2).fit(data.X, data.Y).transform(data.X).shape
    (200, 2)
    """

    def _solve(self, X: Matrix, Y: Bools) -> tuple[Directions, Factor | None]:
        wanted = Y.shape[1] if self.n_components is None else self.n_components
        if self._kernel.linear:
            check_scale(X)
            count = min(wanted, X.shape[0] - 1, X.shape[1])
            data = CovarianceFactor(CentredOperator(X))  # its matrix is never formed
            return covariance_directions(data, Y.astype(float), count), None
        factor = factorise_samples(self._kernel, X)
        return covariance_directions(factor, Y.astype(float), min(wanted, len(Y) - 1)), factor
