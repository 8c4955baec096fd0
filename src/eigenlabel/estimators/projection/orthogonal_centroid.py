"""Orthonormal directions through the centroids of the labels."""

from eigenlabel.estimators.projection.label_projection import LabelProjection
from eigenlabel.labels.similarity import class_indicator
from eigenlabel.linalg._types import Bools, Floats


class OrthogonalCentroid(LabelProjection):
    """Find orthonormal directions through the centroids of the labels (Park et al. 2003).

        max tr(P'Xc'T T'Xc P)   subject to   P'P = I,   T = Y diag(sizes)^-1/2

    It maximises what :class:`LDA` maximises, with orthonormal directions in place of uncorrelated
    scores.

    Cost: one product of X with a matrix of n_labels columns and a thin SVD of the result, for a
    linear kernel. Sparse X is never densified.

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
        All eigenvalues of the problem in descending order.
    n_components_ : int
        Number of directions.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in ``fit``. It exists only if all names are strings.

    Examples
    --------
    >>> from eigenlabel import OrthogonalCentroid
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> OrthogonalCentroid(2).fit(data.X, data.Y).transform(data.X).shape
    (200, 2)
    """

    def _label_factor(self, Y: Bools) -> Floats:
        return class_indicator(Y)

    def _constraint(self) -> tuple[float, float]:
        return 0.0, 1.0
