"""MDDM, multi-label dimensionality reduction via dependence maximisation (Zhang and Zhou 2010)."""

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils import check_random_state

from eigenlabel.estimators.projection.base import PROJECTION_PARAMETERS
from eigenlabel.estimators.projection.label_projection import LabelProjection
from eigenlabel.inputs.parameters import (
    NOT_NEGATIVE,
    CheckedBy,
    Choice,
    Flag,
    Number,
    Parameters,
    check_parameters,
)
from eigenlabel.labels.similarity import CORRELATIONS, correlated_labels
from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.directions import Directions, complement
from eigenlabel.linalg.factors.base import Factor, SampleFactor
from eigenlabel.linalg.numerics import fix_signs
from eigenlabel.linalg.operators import CentredOperator


@dataclass(frozen=True)
class NameOrMatrix:
    """The name of a label kernel, or a matrix, which ``correlated_labels`` checks."""

    def check(self, name: str, value: Any) -> None:
        """Raise ParameterValueError if the value is None or a word that is no label kernel."""
        if value is None or isinstance(value, str):
            Choice(*CORRELATIONS).check(name, value)


class MDDM(LabelProjection):
    """Find the directions in which features depend most on the labels (Zhang and Zhou 2010).

    MDDM maximises the Hilbert-Schmidt independence criterion (HSIC) ``tr(H K H L)`` between the
    projected features and the labels, with ``L = Y B Y'``:

        max tr(P'Xc'L Xc P)   subject to   P'P = I,  or  P'(mu Xc'Xc + (1 - mu) I)P = I

    (Equations 5 and 16 of the paper; 13 and 20 for kernels). With ``projection="uncorrelated"``
    and ``mu=0`` the directions are those of ``projection="orthonormal"``; with ``mu=1`` and
    whitened labels they are those of :class:`CCA`.

    Cost: orthonormal directions are the left singular vectors of ``Xc'Y B^1/2``, which take one
    product with X and a thin SVD, in total nnz m + d m^2 operations for m labels. Uncorrelated
    features take one ridge solve more. Sparse X is never densified.

    Parameters
    ----------
    n_components : int or None, default=None
        Upper bound on the number of directions. None keeps the share ``variance`` of the
        dependence (Equation 9).
    projection : {"orthonormal", "uncorrelated"}, default="orthonormal"
        The constraint: orthonormal directions (MDDM_p of the paper) or uncorrelated features
        (MDDM_f).
    mu : float, default=0.5
        Weight of uncorrelated features against orthonormal directions, between 0 and 1. It is used
        with ``projection="uncorrelated"`` only.
    variance : float, default=0.999
        Share of the dependence to keep, between 0 and 1, if ``n_components`` is None.
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
    label_kernel : str or array-like, default="linear"
        The similarity of labels: "linear" (B = I), "rbf" between the 0/1 columns of labels as in
        the paper, "rbf_unit" or "cosine" between columns of unit length, "conditional", "shrunk",
        a matrix B of shape (n_labels, n_labels), or the matrix L of shape (n_samples, n_samples).
    label_gamma : float, default=1.0
        Bandwidth of "rbf" and "rbf_unit", at least 0. For "rbf" the squared distance of two labels
        is the number of samples in which they differ, so that values above 1 / n_samples make B
        nearly the identity matrix.
    complement : bool, default=False
        Whether to add random directions, orthogonal to the others, if the labels determine fewer
        than ``n_components`` (footnote 4 of the paper). It needs ``n_components``. With a kernel
        they are directions of the span of the training samples in its feature space, at most
        ``n_samples - 1``, which take an eigendecomposition of the kernel matrix.
    random_state : int, RandomState instance or None, default=None
        Determines the random directions of ``complement=True``.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Directions, one in each row, the best first. It exists for the linear kernel only.
    dual_coef_ : ndarray of shape (n_samples, n_components_)
        Coefficients of the training samples in each direction. It exists for other kernels only.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        Training samples, or their kernel matrix. It exists for other kernels only.
    eigenvalues_ : ndarray of shape (n_eigenvalues,)
        All eigenvalues of the problem in descending order. Their sum is the dependence of all
        directions together.
    hsic_ : float
        Biased estimate of HSIC between the projected features and the labels (Equation 3).
    n_components_ : int
        Number of directions.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in ``fit``. It exists only if all names are strings.

    Examples
    --------
    >>> from eigenlabel import MDDM
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> MDDM(n_components=3).fit(data.X, data.Y).transform(data.X).shape
    (200, 3)
    """

    _parameters: ClassVar[Parameters] = {
        **PROJECTION_PARAMETERS,
        "projection": Choice("orthonormal", "uncorrelated"),
        "mu": Number(0, 1),
        "variance": Number(0, 1),
        "label_kernel": NameOrMatrix(),
        "label_gamma": NOT_NEGATIVE,
        "complement": Flag(),
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        projection: str = "orthonormal",
        mu: float = 0.5,
        variance: float = 0.999,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        label_kernel: Any = "linear",
        label_gamma: float = 1.0,
        complement: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
        )
        self.projection = projection
        self.mu = mu
        self.variance = variance
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.complement = complement
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_parameters(self)
        check_random_state(self.random_state)
        if self.complement and self.n_components is None:
            raise ValueError("complement=True needs n_components.")

    def _label_factor(self, Y: Bools) -> Floats:
        return correlated_labels(Y, self.label_kernel, self.label_gamma)

    def _constraint(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.projection == "orthonormal" else (self.mu, 1.0 - self.mu)

    def _dimension(self, found: Directions) -> int:
        if self.n_components is not None:
            return super()._dimension(found)
        reached = np.cumsum(found.eigenvalues)
        if not reached.size or reached[-1] <= 0:
            return 0
        r = 1 + int(np.searchsorted(reached, self.variance * reached[-1] * (1 - 1e-12)))
        return min(r, int(found.coefficients.shape[1]))

    def _store(self, found: Directions, factor: Factor | None, X: Matrix) -> None:
        super()._store(found, factor, X)
        self.hsic_ = float(found.eigenvalues[: self.n_components_].sum()) / (X.shape[0] - 1) ** 2
        if self.complement and self.n_components is not None:
            if self._kernel.linear:
                self._add_random_directions(X, self.n_components)
            elif factor is not None:
                self._add_kernel_directions(found, factor, X.dtype)

    def _add_kernel_directions(self, found: Directions, factor: Factor, dtype: Any) -> None:
        """Add directions of the feature space, in coordinates Z of the span of the samples.

        Coefficients c stand for the direction with coordinates ``Z'c``.
        """
        space = cast(SampleFactor, factor).row_space()
        Z, r = space.data(), self.n_components_
        count = min(self.n_components or 0, len(space.values))
        if r >= count:
            return
        rng = check_random_state(self.random_state)
        P = Z.T @ fix_signs(found.coefficients[:, :r])
        P = complement(CentredOperator(Z, centre=False), P, count, self._constraint(), rng)
        added = factor.export(space.lift(P[:, r:]))
        self.dual_coef_ = np.hstack([self.dual_coef_, added.astype(dtype)])
        self._offset = np.concatenate([self._offset, (factor.origin @ added).astype(dtype)])
        self.n_components_ = P.shape[1]

    def _add_random_directions(self, X: Matrix, wanted: int) -> None:
        """Add directions, orthonormal in the inner product of the constraint."""
        count = min(wanted, X.shape[1])
        if self.n_components_ >= count:
            return
        operator, rng = CentredOperator(X), check_random_state(self.random_state)
        P = complement(operator, self.components_.T.astype(float), count, self._constraint(), rng)
        self._store_components(P, operator.mean, X.dtype)
        self.n_components_ = P.shape[1]
