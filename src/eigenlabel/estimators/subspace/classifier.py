"""ML-LS, shared-subspace least squares (Ji, Tang, Yu, Ye; KDD 2008 and TKDD 2010).

    min_{U,V,Theta}  1/n |Xc U - T|^2 + alpha |U - Theta'V|^2 + beta |U|^2,   Theta Theta' = I

(Eq. 5 of the TKDD paper) has a closed form in two ridge regressions, with shifts beta and
alpha + beta, and one m x m eigenproblem::

    A = ridge(beta),  B = ridge(alpha + beta),  S = A'B,  W = top-r eigenvectors of S
    U = B + (A - B) W W',    Theta' = orth(A W)
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.base import ScoreClassifier, check_training
from eigenlabel.estimators.subspace import missing_labels as observed
from eigenlabel.estimators.subspace.many_labels import ManyLabelsMixin
from eigenlabel.estimators.subspace.stream import Stream
from eigenlabel.estimators.subspace.streaming import ForgetMixin, StreamMixin
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import (
    Integer,
    Maybe,
    Number,
    Parameters,
    check_number,
    check_parameters,
)
from eigenlabel.inputs.validation import check_data
from eigenlabel.kernels.factor import SOLVER_PARAMETERS, Solver, warn_shortfall
from eigenlabel.kernels.kernel import KERNEL_PARAMETERS, Kernel, kernel_tags
from eigenlabel.labels.checks import has_missing
from eigenlabel.linalg.factors.protocol import Factor, SampleFactor
from eigenlabel.linalg.factors.solution import Solution
from eigenlabel.linalg.factors.statistics import StatisticsFactor
from eigenlabel.linalg.numerics import descending_eigh, fix_signs, positive_count
from eigenlabel.linalg.statistics import Statistics
from eigenlabel.metrics import accuracy

THIN = 2000  # labels from which on a second factorisation is worth an eigenproblem of S


def default_rank(n_labels: int) -> int:
    """Give the papers' dimension of the shared subspace, 5 floor((m - 1) / 5), at least 1."""
    return max(1, 5 * ((n_labels - 1) // 5))


@dataclass(frozen=True)
class SharedSubspace:
    """The solution in the coefficients of a factor: dual (n, m) or primal (d, m)."""

    coefficients: np.ndarray
    directions: np.ndarray  # A W, whose span is that of Theta
    W: np.ndarray  # (m, k), k <= r
    eigenvalues: np.ndarray  # (m,), descending
    ridge: Solution  # the ridge regressions A and B


def solve_shared_subspace(
    factor: Factor, T: np.ndarray, alpha: float, beta: float, r: int
) -> SharedSubspace:
    """Give the minimiser of Eq. 5 for one (alpha, beta, r).

    Infinite alpha is the reduced-rank limit: B = 0, and S is scaled by alpha to stay finite.
    Directions whose eigenvalue is zero up to rounding, or below the accuracy of a factor that
    iterates, are left out of what is shown (W and the directions), not out of the weights.
    """
    if np.isinf(alpha):
        ridge = factor.solve(T, [beta])
        A = ridge.coefficients[0]
        B, scaled = np.zeros_like(A), factor.gradient(T)
    else:
        ridge = factor.solve(T, [beta, alpha + beta])
        A, B = ridge.coefficients
        scaled = B
    eigenvalues, W = _eigenvectors_of_s(factor, A, scaled)
    shared = W[:, :r]
    shown = W[:, : min(r, _rank_of_s(factor, eigenvalues), len(A))]
    return SharedSubspace(B + (A - B) @ shared @ shared.T, A @ shown, shown, eigenvalues, ridge)


def _eigenvectors_of_s(
    factor: Factor, A: np.ndarray, B: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give all eigenvalues of A'B, and the eigenvectors that are not orthogonal to A's rows.

    Those rows span all that S is not zero on: far fewer of them than labels make a small problem.
    """
    p, m = A.shape
    if m < THIN or m <= 2 * p or not factor.symmetric:
        return descending_eigh(factor.inner(A, B))
    basis, _ = np.linalg.qr(A.T)
    values, E = descending_eigh(factor.inner(A @ basis, B @ basis))
    return np.sort(np.r_[values, np.zeros(m - p)])[::-1], fix_signs(basis @ E)


def _rank_of_s(factor: Factor, eigenvalues: np.ndarray) -> int:
    tol = factor.accuracy
    if tol > 0 and factor.symmetric and eigenvalues[0] > 0:
        # S has no negative eigenvalues: those found tell how inexact all are.
        tol = max(tol, -2 * eigenvalues[-1] / eigenvalues[0])
    return positive_count(eigenvalues, tol=tol)


class BaseSharedSubspace(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ManyLabelsMixin,
    StreamMixin,
    ScoreClassifier,
):
    """What the classifier and its tuned twin share: solving, storing, scoring, embedding."""

    @property
    def _linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def _make_kernel(self) -> Kernel:
        """Return the kernel of the parameters, gamma not settled yet."""
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        self._solver().check_kernel(kernel)
        return kernel

    def _solver(self) -> Solver:
        return Solver(self.solver, self.tol, self.max_iter, self.max_memory, self.fit_intercept)

    def _rank(self, n_components: int | None, n_labels: int) -> int:
        if n_components is None:
            return default_rank(n_labels)
        check_number("n_components", n_components, 0, n_labels, integer=True)
        return int(n_components)

    def _fit_factor(
        self,
        factor: SampleFactor,
        X: Any,
        T: np.ndarray,
        parameters: tuple[float, float, int],
    ) -> None:
        """Solve for one set of parameters and store what prediction needs."""
        self._forget_fit()
        self._solve(factor, T, X.dtype, parameters)
        if not self._linear:
            self.X_fit_ = X

    def _fit_statistics(self, statistics: Statistics, parameters: tuple[float, float, int]) -> None:
        """Solve for one set of parameters from statistics alone."""
        factor = StatisticsFactor(statistics, self.fit_intercept)
        self._solve(factor, np.eye(len(statistics.t)), statistics.dtype, parameters)

    def _solve(
        self,
        factor: Factor,
        T: np.ndarray,
        dtype: Any,
        parameters: tuple[float, float, int],
    ) -> None:
        for name in ("label_weights_", "residuals_"):
            vars(self).pop(name, None)
        solution = solve_shared_subspace(factor, T, *parameters)
        warn_shortfall(solution.ridge.shortfall)
        basis, _ = factor.orthonormalise(solution.directions)
        coef = factor.export(solution.coefficients)
        if self._linear:
            self.coef_ = coef.T.astype(dtype)
            self.components_ = basis.T.astype(dtype)
        else:
            self.dual_coef_ = coef.astype(dtype)
            self.dual_components_ = basis.astype(dtype)
        intercept = factor.intercept(T, solution.coefficients, coef)
        self.intercept_ = intercept.astype(dtype)
        self._embedding_offset = (factor.origin @ basis).astype(dtype)
        self.eigenlabels_ = solution.W
        self.eigenvalues_ = solution.eigenvalues
        self.n_components_ = solution.W.shape[1]
        self.n_iter_ = solution.ridge.n_iter
        if solution.ridge.residuals is not None:
            self.residuals_ = solution.ridge.residuals

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _product(self, X: Any, linear: str, dual: str) -> np.ndarray:
        if self._linear:
            return np.asarray(X @ getattr(self, linear).T)
        return self._kernel.product(X, self.X_fit_, getattr(self, dual))

    def _scores(self, X: Any) -> np.ndarray:
        return self._scores_of_checked(check_data(self, X, reset=False))

    def _scores_of_checked(self, X: Any) -> np.ndarray:
        if self._factored:
            embedded = self._product(X, "components_", "dual_components_")
            scores = embedded @ self.label_weights_ + self.intercept_
        else:
            scores = self._product(X, "coef_", "dual_coef_") + self.intercept_
        return scores.astype(self.intercept_.dtype, copy=False)

    def transform(self, X: Any) -> np.ndarray:
        """Embed samples in the shared subspace: ``Theta (x - mean)``.

        Returns
        -------
        (n_samples, n_components_); column k belongs to column k of ``eigenlabels_``
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        embedded = self._product(X, "components_", "dual_components_") - self._embedding_offset
        return embedded.astype(self.intercept_.dtype, copy=False)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the share of samples whose label set is right, as far as it is observed."""
        if has_missing(y):
            return accuracy(y, self.predict(X), sample_weight=sample_weight)
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = kernel_tags(super().__sklearn_tags__(), self.kernel)
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class SharedSubspaceClassifier(ForgetMixin, BaseSharedSubspace):
    """Classify by shared-subspace least squares, linear or kernel, for given parameters.

    The label combinations that the features predict best (the *eigenlabels*, ``n_components`` of
    them) are regressed with the light penalty ``beta``, everything else with ``alpha + beta``:

        min 1/n |Xc U - T|^2 + alpha |U - Theta'V|^2 + beta |U|^2,   Theta Theta' = I

    with T the +-1 targets (TKDD 2010, Eq. 5; kernels: Theorem 5.1). The minimiser is exact. It
    is ridge regression with shift beta for ``alpha=0`` or ``n_components`` = number of labels,
    with shift alpha + beta for ``n_components=0``, and reduced-rank ridge regression for
    ``alpha=inf``.

    Cost: the smaller of n^2 d and n d^2 (sparse X: one sparse product) and two Cholesky factors of
    the n x n or d x d matrix. Sparse X is never densified.

    Parameters
    ----------
    alpha : float >= 0 or inf, default=1e-3
        Penalty of what the subspace does not share.
    beta : float >= 0, default=1e-3
        Penalty of all weights. 0 gives the minimum-norm solution where X has not full rank.
    n_components : int in 0..n_labels or None
        Dimension r of the shared subspace; None is the papers' 5 floor((m - 1) / 5), at least 1.
        Give it for many labels: some hundreds.
    kernel : str or callable, default="linear"
        "linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "chi2" or "intersection" (of
        histograms), or "precomputed". A callable takes two matrices and gives the kernel matrix of
        their rows. Sums of kernels go in as "precomputed". A kernel matrix that is not positive
        semi-definite is used without its negative part, with a warning.
    gamma, degree, coef0 : kernel parameters as in scikit-learn; gamma None is 1 / n_features, for
        "chi2" 1.
    kernel_params : dict or None
        Keyword arguments of a callable kernel.
    fit_intercept : bool, default=True
        An intercept without penalty. False with a constant column in X gives the authors' setting.
    solver : "auto", "gram", "covariance" or "krylov"
        Work on the n x n side, on the d x d side, or with products alone (conjugate gradients;
        kernel values are computed anew in each iteration); "auto" takes the smaller side, and
        products if it does not fit in memory and the kernel is linear.
    tol : float >= 0, default=1e-6
        "krylov" stops at residuals of this size, relative to the right side of its equations, and
        works in float32 on sparse float32 X if this is 1e-5 or more. The
        relative error of the weights is at most tol (largest + shift) / (smallest + shift
        eigenvalue of the covariance), and most often near tol. For many labels it asks for
        eigenvectors of S to residuals of 10 tol times their eigenvalue.
    max_iter : int >= 1, default=1000
        Or after so many iterations, with a ConvergenceWarning that states the residual.
    max_memory : bytes or None
        Upper bound on the arrays that a solver holds at once, beside X and y. None is the memory
        that the process can still take: the least of the machine's free memory, what its control
        groups (containers) have left, and ``ulimit -v``. An exact fit takes three arrays of p x p
        numbers, p the smaller side of X (n for other kernels), and five if they are singular; five
        must fit. Blocks of at most 32 MiB come on top. If they do not fit, "auto" takes
        "krylov" for a linear kernel; everything else raises MemoryError.

    Attributes
    ----------
    coef_ : (n_labels, n_features), linear kernel only
    dual_coef_ : (n_samples, n_labels), other kernels
    label_weights_ : (n_components_, n_labels), V = Theta U, for many labels and ``alpha=inf`` only;
        then ``components_.T @ label_weights_`` are the weights, ``coef_`` is made when asked for
    intercept_ : (n_labels,)
    eigenlabels_ : (n_labels, n_components_), orthonormal columns W
    eigenvalues_ : (n_labels,), of S = A'B, descending (for ``alpha=inf`` of alpha A'B);
        (n_components_,) for many labels
    components_ : (n_components_, n_features), Theta, orthonormal rows, linear kernel only
    dual_components_ : (n_samples, n_components_), other kernels
    n_components_ : int
        ``n_components`` less the directions on which the features predict nothing.
    classes_ : (n_labels,), columns of a label matrix, or classes of a vector y
    n_iter_ : int
        Iterations of "krylov" for the final fit; 1 for the exact solvers.
    residuals_ : (1 or 2, n_labels), "krylov" only, not for many labels
        Of the ridge regressions with beta and, for a finite alpha, alpha + beta: relative to the
        right side, rounding included, by label.
    n_samples_seen_ : int, where samples came in blocks, less those forgotten
    n_features_in_, feature_names_in_ : as in scikit-learn

    NaN in a label matrix is a label that was not observed. Each label is then regressed on its own
    samples, with the same penalties; the minimiser is exact for ``alpha=0``, ``n_components`` 0 or
    all labels, and if all labels are observed on the same samples. Labels that are observed on the
    same samples share a factor; if there are too many such groups, "auto" takes "krylov".

    Many labels, 10,000 or more, or fewer whose targets, weights and S do not fit in
    ``max_memory``: S is not formed, a sparse y stays sparse, and with ``alpha=inf`` the weights
    are two factors, so that memory is linear in n, d and m. ``predict_top`` and ``rank_labels``
    give the best labels of each sample, and like ``predict`` hold the scores of some rows only.

    Samples may come in blocks (``partial_fit``, ``fit_files``), be taken out again (``forget``) and
    models be merged (``merge``), all exactly, for a linear kernel: four to five d x d matrices of
    memory, whatever n is.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifier
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = SharedSubspaceClassifier(n_components=2).fit(data.X[:150], data.Y[:150])
    >>> model.predict(data.X[150:]).shape, model.transform(data.X[150:]).shape
    ((50, 6), (50, 2))
    """

    _parameters: ClassVar[Parameters] = {
        "alpha": Number(0, inf=True),
        "beta": Number(0),
        "n_components": Maybe(Integer(0)),
        **KERNEL_PARAMETERS,
        **SOLVER_PARAMETERS,
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        beta: float = 1e-3,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        max_memory: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_memory = max_memory

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SharedSubspaceClassifier":
        """Fit to samples X (n, d), or a kernel matrix (n, n), and labels y.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features)
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
            NaN in a matrix (also None and pandas' NA; stored NaN in a sparse one) is a label that
            was not observed on a sample.
        sample_weight : (n_samples,) or None
            A weight of k counts like k copies of the sample.
        """
        check_parameters(self)
        kernel = self._make_kernel()
        if self._has_many_labels(X, y):
            self._fit_many(X, y, sample_weight)
            return self
        data = check_training(self, X, y, sample_weight, square=kernel.precomputed)
        self._codec, self.classes_ = data.codec, data.codec.classes
        self._kernel = kernel.settle(data.X, data.weights)
        parameters = (self.alpha, self.beta, self._rank(self.n_components, data.Y.shape[1]))
        factor = observed.factorise(
            self._kernel, data.X, data.weights, data.observed, self._solver()
        )
        self._fit_factor(factor, data.X, data.targets, parameters)
        return self

    def _fit_known(self, factor: Factor, m: int, dtype: Any) -> None:
        """Fit by a factor whose targets are combinations of the labels."""
        check_parameters(self)
        rank = self._rank(self.n_components, m)
        self._solve(factor, np.eye(m), dtype, (self.alpha, self.beta, rank))

    def _solve_stream(self, stream: Stream) -> None:
        check_parameters(self)
        statistics = stream.total()
        rank = self._rank(self.n_components, len(statistics.t))
        self._fit_statistics(statistics, (self.alpha, self.beta, rank))
