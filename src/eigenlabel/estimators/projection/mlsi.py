"""Multi-label informed latent semantic indexing."""

from typing import Any, ClassVar

import numpy as np

from eigenlabel.estimators.projection.base import PROJECTION_PARAMETERS, BaseProjection
from eigenlabel.inputs.parameters import NOT_NEGATIVE, Number, Parameters
from eigenlabel.kernels.factor import factorise_samples
from eigenlabel.linalg._types import Bools, Matrix
from eigenlabel.linalg.directions import (
    ROW_SPACE_ARRAYS,
    Directions,
    generalised_directions,
)
from eigenlabel.linalg.factors.base import Factor


class MLSI(BaseProjection):
    """Find the directions that keep most of X and of Y (latent semantic indexing, Yu et al. 2005).

        max tr(P'((1 - beta) Sxx^2 + beta Sxy Syx)P)   subject to   P'(Sxx + reg I)P = I

    with ``Sxx = Xc'Xc`` and ``Sxy = Xc'Yc``. The method is also known as MORP. Directions are
    scaled to unit length.

    The problem is solved on the principal axes of X, which for a kernel are those of :class:`PCA`.
    Directions whose eigenvalues are zero up to rounding, relative to the largest one, are left
    out. For a kernel this bound is the square root of the precision of X.

    Cost: one eigendecomposition of the smaller of the n x n and d x d matrices and a generalised
    eigenproblem of the size of the rank of X.

    Parameters
    ----------
    n_components : int or None, default=None
        Upper bound on the number of directions. None keeps all directions that exist.
    beta : float, default=0.5
        Weight of the labels against the features, between 0 and 1.
    reg : float, default=1e-3
        Ridge that is added to ``Xc'Xc`` in the constraint, at least 0.
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
    >>> from eigenlabel import MLSI
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> MLSI(2).fit(data.X, data.Y).transform(data.X).shape
    (200, 2)
    """

    _parameters: ClassVar[Parameters] = {
        **PROJECTION_PARAMETERS,
        "beta": Number(0, 1),
        "reg": NOT_NEGATIVE,
    }

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
        kernel_params: dict[str, Any] | None = None,
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

    def _solve(self, X: Matrix, Y: Bools) -> tuple[Directions, Factor | None]:
        factor = factorise_samples(self._kernel, X, arrays=ROW_SPACE_ARRAYS)
        space = factor.row_space()
        lengths = space.values  # Z'Z is diagonal for the coordinates Z in the row space
        S = space.data().T @ (Y - Y.mean(axis=0))
        A = np.diag((1 - self.beta) * lengths**2) + self.beta * S @ S.T
        found = generalised_directions(A, np.diag(lengths + self.reg))
        P = found.coefficients[:, : space.keep(found.eigenvalues)]
        P = P / np.linalg.norm(P, axis=0)
        return Directions(space.lift(P), found.eigenvalues), factor
