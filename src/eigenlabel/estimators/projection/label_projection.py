"""The problem that MDDM, CCA, OPLS, LDA, orthogonal centroids and hypergraphs have in common.

    max tr(P'Xc'T T'Xc P)   subject to   P'(scale Xc'Xc + ridge I)P = I

They differ in T, which is computed from the labels, and in the constraint. The solution takes one
ridge solve and one small eigenproblem.
"""

from typing import Any, ClassVar

from eigenlabel.estimators.projection.base import PROJECTION_PARAMETERS, BaseProjection
from eigenlabel.inputs.data import check_scale
from eigenlabel.inputs.parameters import NOT_NEGATIVE, Parameters
from eigenlabel.kernels.factor import factorise_samples
from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.directions import Directions, directions, orthonormal_directions
from eigenlabel.linalg.factors.base import Factor
from eigenlabel.linalg.operators import CentredOperator


class LabelProjection(BaseProjection):
    """Base of the projections that are defined by a label factor T and a constraint.

    A subclass implements ``_label_factor`` and ``_constraint``.

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

    def _label_factor(self, Y: Bools) -> Floats:
        """Return T (n, k)."""
        raise NotImplementedError

    def _constraint(self) -> tuple[float, float]:
        """Return scale and ridge."""
        raise NotImplementedError

    def _solve(self, X: Matrix, Y: Bools) -> tuple[Directions, Factor | None]:
        T = self._label_factor(Y)
        scale, ridge = self._constraint()
        if self._kernel.linear and not scale:
            check_scale(X)
            return orthonormal_directions(CentredOperator(X), T), None
        factor = factorise_samples(self._kernel, X)
        return directions(factor, T, scale, ridge), factor


class RegularisedProjection(LabelProjection):
    """Base of the label projections with the constraint ``P'(Xc'Xc + reg I)P = I``.

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
    """

    _parameters: ClassVar[Parameters] = {**PROJECTION_PARAMETERS, "reg": NOT_NEGATIVE}

    def __init__(
        self,
        n_components: int | None = None,
        *,
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
        self.reg = reg

    def _constraint(self) -> tuple[float, float]:
        return 1.0, self.reg
