"""Canonical correlation analysis of features and labels."""

from eigenlabel.estimators.projection.label_projection import RegularisedProjection
from eigenlabel.labels.similarity import whitened
from eigenlabel.linalg._types import Bools, Floats


class CCA(RegularisedProjection):
    """Find the directions whose scores correlate most with the labels (canonical correlations).

        max tr(P'Xc'T T'Xc P)   subject to   P'(Xc'Xc + reg I)P = I,   T = Yc (Yc'Yc)^-1/2

    The eigenvalues are the squared canonical correlations if ``reg=0``. If every sample has
    exactly one label, CCA and :class:`LDA` find the same directions. X may be sparse, and a kernel
    replaces the features by those of its feature space.

    Cost: one ridge solve with n_labels right sides and an eigenproblem of that size.

    Parameters
    ----------
    n_components : int or None, default=None
        Upper bound on the number of directions. None keeps all directions that exist.
    reg : float, default=1e-3
        Ridge that is added to ``Xc'Xc``, at least 0. With 0 the pseudo-inverse is used.
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
    >>> from eigenlabel import CCA
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> CCA().fit(data.X, data.Y).transform(data.X).shape
    (200, 6)
    """

    def _label_factor(self, Y: Bools) -> Floats:
        return whitened(Y.astype(float), 0.0)
