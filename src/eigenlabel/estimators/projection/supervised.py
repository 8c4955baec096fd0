"""Projections led by labels: MDDM, CCA, OPLS, LDA, orthogonal centroids, hypergraphs.

All of them maximise ``tr(P'Xc'T T'Xc P)`` subject to ``P'(scale Xc'Xc + ridge I)P = I`` and differ
in T, made of the labels, and in the constraint: one ridge solve and one small eigenproblem.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.validation import (
    check_choice,
    check_data,
    check_flag,
    check_number,
    check_scale,
)
from eigenlabel.inputs.warning import NoDirectionWarning, warn
from eigenlabel.kernels.factor import factorise_samples, warn_shortfall
from eigenlabel.kernels.kernel import KERNEL_PARAMETERS, Kernel, kernel_tags
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.labels.factors import (
    CORRELATIONS,
    LAPLACIANS,
    class_indicator,
    correlated_labels,
    hypergraph,
    whitened,
)
from eigenlabel.linalg.directions import Directions, complement, directions, orthonormal_directions
from eigenlabel.linalg.factors.protocol import Factor
from eigenlabel.linalg.numerics import fix_signs
from eigenlabel.linalg.operators import CentredOperator, row_blocks


def _product(X: Any, W: np.ndarray) -> np.ndarray:
    """X W in float64: of float32 data far from zero the mean would take the digits."""
    W = W.astype(float)
    if sp.issparse(X) or X.dtype == W.dtype:
        return np.asarray(X @ W)
    return np.concatenate([X[rows] @ W for rows in row_blocks(*X.shape)])  # no copy of all of X


class BaseProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer ``x -> P'(x - mean)``, linear or in a kernel's feature space.

    Subclasses give ``_solve(X, Y)``; Y is None where labels are not used. ``n_components=None``
    keeps all directions there are, a number at most so many.
    """

    _supervised = True

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "BaseProjection":
        """Find the directions for samples X, or a kernel matrix, and labels y.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features)
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        """
        self._check_parameters()
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        X = check_data(self, X, reset=True, square=kernel.precomputed)
        self._kernel = kernel.settle(X)
        Y = None
        if self._supervised:
            _, Y = LabelCodec.fit(y)
            check_consistent_length(X, Y)
        if X.shape[0] < 2:
            raise ValueError(
                f"A projection needs at least 2 samples, got n_samples = {X.shape[0]}."
            )
        found, factor = self._solve(X, Y)
        warn_shortfall(found.shortfall)
        self._store(found, factor, X)
        if not self.n_components_:
            still = "the features or the labels" if self._supervised else "the features"
            warn(
                f"{type(self).__name__} found no direction: {still} do not vary. transform gives "
                "no columns.",
                NoDirectionWarning,
            )
        return self

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            check_number("n_components", self.n_components, 1, integer=True)
        for name, declaration in KERNEL_PARAMETERS.items():
            declaration.check(name, getattr(self, name))

    def _solve(self, X: Any, Y: np.ndarray | None) -> tuple[Directions, Factor | None]:
        """Give the directions, and the factor whose coefficients they are; None for weights."""
        raise NotImplementedError

    def _dimension(self, found: Directions) -> int:
        available = found.coefficients.shape[1]
        return available if self.n_components is None else min(self.n_components, available)

    def _store(self, found: Directions, factor: Factor | None, X: Any) -> None:
        for name in ("components_", "dual_coef_", "X_fit_"):
            vars(self).pop(name, None)  # of an earlier fit with another kernel
        r = self._dimension(found)
        coefficients = found.coefficients[:, :r]
        if self._kernel.linear:
            weights = fix_signs(coefficients if factor is None else factor.export(coefficients))
            self._set_components(weights, self._mean(factor, X), X.dtype)
        else:
            coefficients = fix_signs(coefficients)
            weights = factor.export(coefficients)
            self.dual_coef_ = weights.astype(X.dtype)
            self._offset = (factor.origin @ weights).astype(X.dtype)
            self.X_fit_ = X
        self.eigenvalues_ = found.eigenvalues
        self.n_components_ = r

    def _set_components(self, weights: np.ndarray, mean: np.ndarray, dtype: Any) -> None:
        """Store directions as columns, and what the mean is in them, as rounded as they are."""
        self.components_ = weights.T.astype(dtype)
        self._offset = self.components_.astype(float) @ mean

    def _mean(self, factor: Factor | None, X: Any) -> np.ndarray:
        return CentredOperator(X).mean if factor is None else factor.origin

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> np.ndarray:
        """Project samples, or rows of kernel values with the training samples.

        Returns
        -------
        (n_samples, n_components_), the most telling direction first
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        kept = self.components_.T if self._kernel.linear else self.dual_coef_
        if self._kernel.linear:
            projected = _product(X, kept)
        else:
            projected = self._kernel.product(X, self.X_fit_, kept)
        return (projected - self._offset).astype(kept.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = kernel_tags(super().__sklearn_tags__(), self.kernel)
        tags.target_tags.required = self._supervised
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class KernelParameters:
    """The parameters of a projection that has none of its own."""

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params


class LabelProjection(BaseProjection):
    """A projection defined by a label factor T and the constraint ``scale Xc'Xc + ridge I``."""

    def _labels(self, Y: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _constraint(self) -> tuple[float, float]:
        """Give scale and ridge."""
        return 1.0, self.reg

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if hasattr(self, "reg"):
            check_number("reg", self.reg, 0)

    def _solve(self, X: Any, Y: np.ndarray | None) -> tuple[Directions, Factor | None]:
        T = self._labels(Y)
        scale, ridge = self._constraint()
        if self._kernel.linear and not scale:
            check_scale(X)
            return orthonormal_directions(CentredOperator(X), T), None
        factor = factorise_samples(self._kernel, X)
        return directions(factor, T, scale, ridge), factor


class MDDM(LabelProjection):
    """Project features to where they depend most on the labels (Zhang and Zhou, TKDD 2010).

    Maximises the Hilbert-Schmidt independence criterion ``tr(H K H L)`` between the projected
    features and the labels, ``L = Y B Y'``:

        max tr(P'Xc'L Xc P)   subject to   P'P = I,  or  P'(mu Xc'Xc + (1 - mu) I)P = I

    (Eq. 5 and 16; kernels: Eq. 13 and 20). Orthonormal directions are the left singular vectors
    of ``Xc'Y B^1/2``: one product with X and a thin SVD, cost nnz m + d m^2. Uncorrelated features
    take one ridge solve more. Sparse X is never densified.

    Parameters
    ----------
    n_components : int or None
        Directions to keep; None keeps the share ``variance`` of the dependence (Eq. 9).
    projection : "orthonormal" (MDDM_p) or "uncorrelated" (MDDM_f)
    mu : float in 0..1, default=0.5
        Weight of uncorrelated features against orthonormal directions, for "uncorrelated".
    variance : float in 0..1, default=0.999
    kernel, gamma, degree, coef0, kernel_params
        As in :class:`SharedSubspaceClassifier`.
    label_kernel : str or matrix, default="linear"
        How labels have to do with each other: "linear" (B = I), "rbf" or "cosine" between
        label columns of unit length, "conditional", "shrunk", a matrix B (n_labels, n_labels), or
        L (n_samples, n_samples) itself.
    label_gamma : float, default=1.0
        Width of the "rbf" label kernel.
    complement : bool, default=False
        Fill up to ``n_components`` with random directions orthogonal to the others, where the
        labels have no more to say (footnote 4 of the paper). Linear kernel only.
    random_state : of those

    Attributes
    ----------
    components_ : (n_components_, n_features), linear kernel only
    dual_coef_ : (n_samples, n_components_), other kernels
    eigenvalues_ : descending; their sum is the dependence of all directions together
    hsic_ : the biased estimate of HSIC between the projected features and the labels (Eq. 3)
    n_components_ : int

    Examples
    --------
    >>> from eigenlabel import MDDM
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> MDDM(n_components=3).fit(data.X, data.Y).transform(data.X).shape
    (200, 3)
    """

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
        kernel_params: dict | None = None,
        label_kernel: Any = "linear",
        label_gamma: float = 1.0,
        complement: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.projection = projection
        self.mu = mu
        self.variance = variance
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.complement = complement
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("projection", self.projection, ("orthonormal", "uncorrelated"))
        check_number("mu", self.mu, 0, 1)
        check_number("variance", self.variance, 0, 1)
        check_number("label_gamma", self.label_gamma, 0)
        check_flag("complement", self.complement)
        check_random_state(self.random_state)
        if isinstance(self.label_kernel, str) or self.label_kernel is None:
            check_choice("label_kernel", self.label_kernel, CORRELATIONS)
        if self.complement and (self.n_components is None or self.kernel != "linear"):
            raise ValueError("complement=True needs n_components and kernel='linear'.")

    def _labels(self, Y: np.ndarray) -> np.ndarray:
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
        return min(r, found.coefficients.shape[1])

    def _store(self, found: Directions, factor: Factor | None, X: Any) -> None:
        super()._store(found, factor, X)
        self.hsic_ = float(found.eigenvalues[: self.n_components_].sum()) / (X.shape[0] - 1) ** 2
        if self.complement and self.n_components_ < self.n_components:
            self._fill_up(X)

    def _fill_up(self, X: Any) -> None:
        """Add random directions, orthonormal to the rest in the constraint's inner product."""
        operator, rng = CentredOperator(X), check_random_state(self.random_state)
        count = min(self.n_components, X.shape[1])
        P = complement(operator, self.components_.T.astype(float), count, self._constraint(), rng)
        self._set_components(P, operator.mean, X.dtype)
        self.n_components_ = P.shape[1]


class _RegularisedProjection(KernelParameters, LabelProjection):
    """The parameters that CCA, OPLS and LDA share."""

    def __init__(
        self,
        n_components: int | None = None,
        *,
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
        self.reg = reg


class CCA(_RegularisedProjection):
    """Canonical correlation analysis of features and labels, regularised, sparse or kernel.

        max tr(P'Xc'T T'Xc P)   subject to   P'(Xc'Xc + reg I)P = I,   T = Yc (Yc'Yc)^-1/2

    The eigenvalues are squared canonical correlations for ``reg=0``.

    Parameters
    ----------
    n_components : int or None
        Directions to keep, all there are by default (at most the rank of the labels).
    reg : float >= 0, default=1e-3
        Added to ``Xc'Xc``, as in the papers' code. 0 takes the pseudo-inverse.
    kernel, gamma, degree, coef0, kernel_params
        As in :class:`SharedSubspaceClassifier`.

    Attributes
    ----------
    components_, dual_coef_, eigenvalues_, n_components_ : as in :class:`MDDM`

    Examples
    --------
    >>> from eigenlabel import CCA
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> CCA().fit(data.X, data.Y).transform(data.X).shape
    (200, 6)
    """

    def _labels(self, Y: np.ndarray) -> np.ndarray:
        return whitened(Y.astype(float), 0.0)


class OPLS(_RegularisedProjection):
    """Orthonormalised partial least squares: CCA that leaves the labels as they are.

        max tr(P'Xc'Yc Yc'Xc P)   subject to   P'(Xc'Xc + reg I)P = I

    Parameters and attributes are those of :class:`CCA`.

    Examples
    --------
    >>> from eigenlabel import OPLS
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> OPLS(2).fit(data.X, data.Y).transform(data.X).shape
    (200, 2)
    """

    def _labels(self, Y: np.ndarray) -> np.ndarray:
        return Y.astype(float)


class LDA(_RegularisedProjection):
    """Linear discriminant analysis for overlapping classes: each sample counts in all its labels.

        max tr(P'Xc'T T'Xc P)   subject to   P'(Xc'Xc + reg I)P = I,   T = Y diag(sizes)^-1/2

    With one label a sample this is Fisher's discriminant, and CCA. Parameters and attributes are
    those of :class:`CCA`.

    Examples
    --------
    >>> from eigenlabel import LDA
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> LDA(2).fit(data.X, data.Y).transform(data.X).shape
    (200, 2)
    """

    def _labels(self, Y: np.ndarray) -> np.ndarray:
        return class_indicator(Y)


class OrthogonalCentroid(KernelParameters, LabelProjection):
    """Orthonormal directions through the centroids of the labels (Park, Jeon, Rosen, 2003).

        max tr(P'Xc'T T'Xc P)   subject to   P'P = I,   T = Y diag(sizes)^-1/2

    Parameters
    ----------
    n_components : int or None
    kernel, gamma, degree, coef0, kernel_params
        As in :class:`SharedSubspaceClassifier`.

    Attributes
    ----------
    components_, dual_coef_, eigenvalues_, n_components_ : as in :class:`MDDM`

    Examples
    --------
    >>> from eigenlabel import OrthogonalCentroid
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> OrthogonalCentroid(2).fit(data.X, data.Y).transform(data.X).shape
    (200, 2)
    """

    def _labels(self, Y: np.ndarray) -> np.ndarray:
        return class_indicator(Y)

    def _constraint(self) -> tuple[float, float]:
        return 0.0, 1.0


class HypergraphSpectral(_RegularisedProjection):
    """Hypergraph spectral learning: labels are edges that join all samples which have them.

        max tr(P'Xc'T T'Xc P)   subject to   P'(Xc'Xc + reg I)P = I,   T T' = I - Laplacian

    (Sun, Ji, Ye, KDD 2008).

    Parameters
    ----------
    n_components : int or None
    laplacian : "clique", "star" or "zhou"
    reg, kernel, gamma, degree, coef0, kernel_params
        As in :class:`CCA`.

    Attributes
    ----------
    components_, dual_coef_, eigenvalues_, n_components_ : as in :class:`MDDM`

    Examples
    --------
    >>> from eigenlabel import HypergraphSpectral
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> HypergraphSpectral(2, laplacian="star").fit(data.X, data.Y).transform(data.X).shape
    (200, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        laplacian: str = "clique",
        reg: float = 1e-3,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
    ) -> None:
        super().__init__(
            n_components,
            reg=reg,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
        )
        self.laplacian = laplacian

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("laplacian", self.laplacian, LAPLACIANS)

    def _labels(self, Y: np.ndarray) -> np.ndarray:
        return hypergraph(Y, self.laplacian)
