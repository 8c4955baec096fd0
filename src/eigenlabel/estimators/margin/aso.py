"""The classifier by alternating structure optimisation, ASO (Ando and Zhang 2005)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from eigenlabel.estimators.base import CALIBRATION, ScoreClassifier, check_training
from eigenlabel.estimators.margin.alternation import (
    LOSSES,
    Alternation,
    AlternationProblem,
    MarginStep,
    SquaredStep,
    Step,
    alternate,
    leading_directions,
)
from eigenlabel.estimators.margin.consensus import ConsensusStep
from eigenlabel.estimators.subspace.solve import default_rank
from eigenlabel.inputs.data import check_data, check_scale
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    NOT_NEGATIVE,
    CheckedBy,
    Choice,
    Flag,
    Integer,
    Maybe,
    Parameters,
    check_number,
    check_parameters,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.kernels.gram import gram_matrix
from eigenlabel.kernels.kernel import KERNEL_PARAMETERS, Kernel, kernel_tags
from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.linalg.numerics import rank_tolerance
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.row_space import principal_axes

LEAST_BETA = 1e-4  # of alpha: SVMs need a penalty on every direction
SIDE = 2000  # samples or features, the fewer ones, up to which all labels are solved at once
CELLS = 2**25  # samples times the same number
ILL = 0.05  # beta / alpha below which LIBLINEAR converges slowly


@dataclass(frozen=True)
class Coordinates:
    """The features of the rounds.

    Attributes
    ----------
    Z : (n, p) array or sparse matrix
        The features.
    orthogonal : bool
        Whether the columns of Z are orthogonal.
    lift : function or None
        Turns weights (p, m) of Z into those of X, or into dual ones. None leaves them as they are.
    """

    Z: Matrix
    orthogonal: bool
    lift: Callable[[Floats], Floats] | None = None

    def weights(self, U: Floats) -> Floats:
        """Return the weights of the samples, or their dual coefficients."""
        return U if self.lift is None else np.asarray(self.lift(U))


def _from_gram(values: Floats, axes: Floats) -> Coordinates:
    """Return coordinates whose products are those of a matrix with these eigenvalues."""
    lengths = np.sqrt(values)
    return Coordinates(axes * lengths, True, lambda U: (axes / lengths) @ U)


def _rotate(X: Matrix) -> Coordinates:
    """Return X in the coordinates of its principal axes, which are not centred.

    Axes whose eigenvalues are rounding are left out.
    """
    operator = CentredOperator(X, None, False)
    wide = X.shape[0] <= X.shape[1]
    S = operator.gram() if wide else operator.covariance()
    values, axes = principal_axes(S, rank_tolerance(max(X.shape), X.dtype))
    if not wide:
        return Coordinates(np.asarray(X @ axes), True, lambda U: axes @ U)
    dual = _from_gram(values, axes)
    return Coordinates(dual.Z, True, lambda U: np.asarray(X.T @ dual.weights(U)))


class ASOClassifier(ScoreClassifier):
    """Classify by alternating structure optimisation: linear models near a shared subspace.

        min sum_l [ 1/n sum_i L(u_l'x_i + b_l, t_il) + alpha |u_l - Theta'v_l|^2 + beta |u_l|^2 ]

    over U, V and Theta (r, d) with orthonormal rows, for targets t of +-1 (Ando and Zhang 2005;
    Ji et al. 2010, Equation 28, with the penalty beta of their Section 7). Each round has two
    steps: one linear SVM per label for the current Theta, and an SVD of U, which finds the next
    Theta. The objective never increases: a label whose new SVM is worse keeps its old one.
    The problem is not convex. The rounds start with independent labels and end in a local minimum.

    For ``alpha=0`` or ``n_components=0`` it is one SVM per label, with ``C = 1 / (2 n beta)`` or
    ``1 / (2 n (alpha + beta))``. With the squared loss every round is exact;
    :class:`SharedSubspaceClassifier` finds the global minimum of that problem directly.

    With a kernel the weights u and the rows of Theta are elements of its feature space. By the
    representer theorem they lie in the span of the training samples, so that the rounds run on
    the features Z of a factorisation ``K = Z Z'`` of the kernel matrix.

    LIBLINEAR fits one SVM per label on d + r features in each round, and X is never densified. It
    converges slowly if beta is small beside alpha. With ``beta < 0.05 alpha`` and up to 2,000
    samples or features, and for kernels, the SVMs with hinge loss of all labels are solved at once
    by the alternating direction method of multipliers, which begins a round where it ended in the
    last one. It takes an eigendecomposition of the n x n or d x d matrix of products first, and
    40 n d n_labels operations for a round of ten iterations; d is at most the rank.

    Parameters
    ----------
    alpha : float, default=1e-3
        Penalty of the part of the weights outside the shared subspace, at least 0.
    beta : float, default=1e-3
        Penalty of all weights, at least 0. With 0 it is ASO as published, except that SVMs use
        ``1e-4 alpha``. A small ``beta / alpha`` makes the rounds many.
    n_components : int or None, default=None
        Dimension r of the shared subspace, between 0 and n_labels. None is
        ``5 floor((n_labels - 1) / 5)``, at least 1, as in Ji et al. (2010).
    loss : {"hinge", "squared_hinge", "squared"}, default="hinge"
        Loss L of a sample.
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
    fit_intercept : bool, default=True
        Whether the models have intercepts. With the squared loss they have no penalty, with the
        others the penalty ``beta b^2``.
    tol : float, default=1e-3
        The rounds stop when the objective decreases by at most this share of it.
    max_iter : int, default=100
        Upper bound on the number of rounds.
    svm_max_iter : int, default=10000
        Upper bound on the iterations of the SVMs in a round. Few are used until rounds with that
        many gain nothing more.
    random_state : int, RandomState instance or None, default=None
        Determines the order in which LIBLINEAR visits the samples. It has no effect where all
        labels are solved at once.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to held-out scores of
        five folds, which costs five more fits. None leaves out ``predict_proba``, and rules on
        probabilities.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the models, the transpose of U. It exists for the linear kernel only.
    dual_coef_ : ndarray of shape (n_samples, n_labels)
        Coefficients of the training samples in the models. It exists for other kernels only.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        Training samples, or their kernel matrix. It exists for other kernels only.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts of the models.
    components_ : ndarray of shape (n_components_, n_features)
        Orthonormal basis Theta of the shared subspace. It exists for the linear kernel only.
    dual_components_ : ndarray of shape (n_samples, n_components_)
        Coefficients of the training samples in the basis. It exists for other kernels only.
    n_components_ : int
        Dimension of the shared subspace. It is less than ``n_components`` if the weights span
        fewer directions.
    objective_ : ndarray of shape (n_iter_,)
        Objective after each round.
    beta_ : float
        Penalty beta that was used.
    n_iter_ : int
        Number of rounds.
    n_unsolved_ : int
        Number of labels whose SVM reached its last iteration in the last round.
    calibration_ : Calibration
        The maps from scores to probabilities. Only if ``calibration`` is not None.
    classes_ : ndarray of shape (n_labels,) or (n_classes,)
        Columns of a label matrix, or classes of a vector y.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in ``fit``. It exists only if all names are strings.

    Examples
    --------
    >>> from eigenlabel import ASOClassifier
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = ASOClassifier(1e-2, 1e-3, n_components=2, random_state=0).fit(data.X, data.Y)
    >>> model.predict(data.X).shape, model.components_.shape
    ((200, 6), (2, 50))
    >>> bool((model.objective_[1:] <= model.objective_[:-1]).all())
    True
    """

    _parameters: ClassVar[Parameters] = {
        "loss": Choice(*LOSSES),
        "alpha": NOT_NEGATIVE,
        "beta": NOT_NEGATIVE,
        "n_components": Maybe(Integer(0)),
        **KERNEL_PARAMETERS,
        "fit_intercept": Flag(),
        "tol": NOT_NEGATIVE,
        "max_iter": COUNT,
        "svm_max_iter": COUNT,
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
        "calibration": CALIBRATION,
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        beta: float = 1e-3,
        n_components: int | None = None,
        *,
        loss: str = "hinge",
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 100,
        svm_max_iter: int = 10_000,
        random_state: Any = None,
        calibration: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.n_components = n_components
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.svm_max_iter = svm_max_iter
        self.random_state = random_state
        self.calibration = calibration

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Alternate between the models of the labels and the subspace they share.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples. With ``kernel="precomputed"`` it is their kernel matrix of shape
            (n_samples, n_samples).
        y : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
            Label matrix of 0 and 1, a list of label sets, or a vector of classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        check_parameters(self)
        beta = self._positive_beta()
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        data = check_training(self, X, y, square=kernel.precomputed, complete=True)
        check_scale(data.X)
        r = self._rank(data.Y.shape[1])
        self._kernel = kernel.settle(data.X)
        coordinates = self._coordinates(data.X)
        problem = AlternationProblem(
            coordinates.Z,
            data.targets,
            self.loss,
            float(self.alpha),
            beta,
            self.fit_intercept,
        )
        step = self._step(problem, coordinates.orthogonal)
        found = alternate(problem, step, r, self.tol, self.max_iter)
        self._warn(found)
        self._store(found, data.X, coordinates)
        self.beta_ = beta
        self._codec, self.classes_ = data.codec, data.codec.classes
        self._calibrate(X, y, data.Y)
        return self

    def _coordinates(self, X: Matrix) -> "Coordinates":
        """Return the features of the rounds.

        A kernel matrix is not centred, because the intercepts of SVMs have a penalty: with a linear
        kernel the problem is that of X itself.
        """
        if not self._kernel.linear:
            gram = gram_matrix(self._kernel, X)
            values, axes = principal_axes(gram.K, rank_tolerance(len(gram.K), gram.precision))
            return _from_gram(values, axes)
        X = X.astype(float, copy=False)
        side = min(X.shape)
        small = side <= SIDE and side * X.shape[0] <= CELLS
        if self.loss == "hinge" and small and self.beta < ILL * self.alpha:
            return _rotate(X)
        return Coordinates(X, orthogonal=False)

    def _positive_beta(self) -> float:
        """Return the beta to use; SVMs need a positive one."""
        if self.loss == "squared":
            return float(self.beta)
        if self.alpha + self.beta == 0:
            raise ValueError(
                f"loss={self.loss!r} needs alpha + beta > 0, got 0: without any penalty "
                "weights may grow without bound."
            )
        return max(float(self.beta), LEAST_BETA * self.alpha)

    def _rank(self, m: int) -> int:
        if self.n_components is None:
            return default_rank(m)
        check_number("n_components", self.n_components, 0, m, integer=True)
        return int(self.n_components)

    def _step(self, problem: AlternationProblem, orthogonal: bool) -> Step:
        if self.loss == "squared":
            return SquaredStep(problem)
        if self.loss == "hinge" and orthogonal:
            return ConsensusStep(problem, self.svm_max_iter)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return MarginStep(problem, self.svm_max_iter, seed)

    def _store(self, found: Alternation, X: Matrix, coordinates: "Coordinates") -> None:
        for name in ("coef_", "components_", "dual_coef_", "dual_components_", "X_fit_"):
            self.__dict__.pop(name, None)  # of an earlier fit with another kernel
        dtype = X.dtype
        self.intercept_ = found.b.astype(dtype)
        U = coordinates.weights(found.U)
        if self._kernel.linear:
            Theta = found.Theta
            if coordinates.lift is not None:
                Theta = leading_directions(U, len(Theta))
            self.coef_, self.components_ = U.T.astype(dtype), Theta.astype(dtype)
        else:
            self.dual_coef_, self.X_fit_ = U.astype(dtype), X
            self.dual_components_ = coordinates.weights(found.Theta.T).astype(dtype)
        self.objective_ = np.array(found.objective)
        self.n_components_, self.n_iter_ = len(found.Theta), len(found.objective)
        self.n_unsolved_ = found.n_unsolved

    def _warn(self, found: Alternation) -> None:
        if found.last_gain is not None:
            last = f"the last of which lowered the objective by {found.last_gain:.2g} of it"
            if np.isinf(found.last_gain):
                last = "too few to tell whether the objective still decreases"
            warn(
                f"ASO stopped after max_iter = {self.max_iter} rounds, {last}; tol = {self.tol}. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )
        if found.unsolved_matter:
            warn(
                f"The SVMs of ASO stopped after svm_max_iter = {self.svm_max_iter} iterations for "
                f"{found.n_unsolved} of {len(found.b)} labels in the last round: the objective may "
                "be far from its minimum. Scale X to rows of unit length, raise beta or "
                "svm_max_iter.",
                ConvergenceWarning,
            )

    def _scores(self, X: Any) -> Floats:
        X = check_data(self, X, reset=False)
        if self._kernel.linear:
            scores = np.asarray(X @ self.coef_.T) + self.intercept_
        else:
            scores = self._kernel.product(X, self.X_fit_, self.dual_coef_) + self.intercept_
        return np.asarray(scores.astype(self.intercept_.dtype, copy=False))

    def __sklearn_tags__(self) -> Any:
        return kernel_tags(super().__sklearn_tags__(), self.kernel)
