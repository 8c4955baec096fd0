"""ASO, alternating structure optimisation (Ando and Zhang, JMLR 2005), on common inputs.

    min_{U,V,Theta}  sum_l [ 1/n sum_i L(u_l'x_i + b_l, t_il) + alpha |u_l - Theta'v_l|^2
                             + beta |u_l|^2 ],   Theta Theta' = I

(TKDD 2010, Eq. 28, with the second penalty that its Section 7 asks for.) For given Theta the best
v is Theta u and every label has a problem of its own; for given U the best Theta are its leading
left singular vectors.
"""

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.base import ScoreClassifier
from eigenlabel.estimators.subspace.classifier import default_rank
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.validation import (
    check_choice,
    check_data,
    check_flag,
    check_number,
    check_scale,
)
from eigenlabel.inputs.warning import ignored, warn
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.labels.targets import signed_targets
from eigenlabel.linalg.numerics import fix_signs, rank_tolerance, turn_equal
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.solvers.shifted import ShiftedSystem

LEAST_BETA = 1e-4  # of alpha: LIBLINEAR needs a penalty on every direction
FIRST_ITERATIONS = 1000  # of LIBLINEAR, which many labels never need
LOOSE, TIGHT = 0.1, 1e-3  # tolerances of LIBLINEAR, while rounds gain much and at the end

LOSSES = {
    "hinge": lambda margin: np.maximum(0, 1 - margin),
    "squared_hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
    "squared": lambda margin: (1 - margin) ** 2,
}


class Step(Protocol):
    """Solve all labels for a given Theta."""

    unsolved: int  # labels whose solver stopped early in the last call

    def persist(self) -> bool:
        """Take more iterations from now on; tell whether there are any left to take."""

    def __call__(self, Theta: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
        """Give weights (d, m) and intercepts (m,)."""


class MarginStep:
    """Labels solved by LIBLINEAR on the features ``[x, rho Theta x, tau]``.

    Weights w + rho Theta'z of these have the penalty (alpha + beta)(|w|^2 + |z|^2), least over w
    and z, which with rho^2 = alpha / beta is (alpha + beta)|u|^2 - alpha |Theta u|^2. The weight
    of tau^2 = (alpha + beta) / beta makes the penalty of the intercept beta b^2. Sparse X stays
    sparse, with r dense columns beside it.
    """

    def __init__(
        self, X: Any, T: np.ndarray, penalties: tuple[float, float], model: "ASOClassifier"
    ) -> None:
        alpha, beta = penalties
        self.X, self.T = X, T
        self.rho = np.sqrt(alpha / beta)
        self.tau = np.sqrt((alpha + beta) / beta) if model.fit_intercept else 0.0
        self.unsolved, self.most = 0, model.svm_max_iter
        self.svm = LinearSVC(
            loss=model.loss,
            max_iter=min(FIRST_ITERATIONS, self.most),
            C=1 / (2 * len(T) * (alpha + beta)),
            fit_intercept=False,
            random_state=check_random_state(model.random_state).randint(2**31 - 1),
        )

    def persist(self) -> bool:
        """Let LIBLINEAR take ten times as many iterations, at most ``svm_max_iter``."""
        before = self.svm.max_iter
        self.svm.set_params(max_iter=min(10 * before, self.most))
        return self.svm.max_iter > before

    def __call__(self, Theta: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
        """Solve the labels one by one."""
        self.unsolved = 0
        shared = np.asarray(self.X @ Theta.T)
        more = np.column_stack([self.rho * shared, np.full(len(self.T), self.tau)])
        A = sp.hstack([self.X, more], "csr") if sp.issparse(self.X) else np.hstack([self.X, more])
        W = np.column_stack([self._solve(A, t, tol) for t in self.T.T])
        d = self.X.shape[1]
        return W[:d] + self.rho * (Theta.T @ W[d:-1]), self.tau * W[-1]

    def _solve(self, A: Any, t: np.ndarray, tol: float) -> np.ndarray:
        if (t == t[0]).all():  # LinearSVC wants two classes: a sample of zeros moves nothing
            zero = np.zeros((1, A.shape[1]))
            A = sp.vstack([A, zero], "csr") if sp.issparse(A) else np.vstack([A, zero])
            t = np.append(t, -t[0])
        with ignored(ConvergenceWarning):  # counted, and told at the end
            self.svm.set_params(tol=tol).fit(A, t)
        self.unsolved += bool(self.svm.n_iter_ >= self.svm.max_iter)
        return np.asarray(self.svm.coef_[0])


class SquaredStep:
    """Labels solved by one ridge regression, exactly, and a correction of rank r for Theta."""

    unsolved = 0

    def persist(self) -> bool:
        """There is nothing to iterate."""
        return False

    def __init__(
        self, X: Any, T: np.ndarray, penalties: tuple[float, float], model: "ASOClassifier"
    ) -> None:
        self.alpha, self.n = penalties[0], len(T)
        self.operator = CentredOperator(X, None, model.fit_intercept)
        self.mean = T.mean(axis=0) if model.fit_intercept else np.zeros(T.shape[1])
        self.wide = X.shape[0] <= X.shape[1]
        M = self.operator.gram() if self.wide else self.operator.covariance()
        self.system = ShiftedSystem(M, rank_tolerance(max(X.shape), X.dtype))
        self.shift = self.n * sum(penalties)
        right = T - self.mean
        self.plain = self._solve(right if self.wide else self.operator.rmatmat(right))

    def _solve(self, right: np.ndarray) -> np.ndarray:
        """Give (Xc'Xc + shift)^-1 of Xc'right (wide X) or of right."""
        found = self.system.solve(right, [self.shift])[0]
        return self.operator.rmatmat(found) if self.wide else found

    def __call__(self, Theta: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG002  exact
        """Solve (N - alpha Theta'Theta) U = Xc'T / n with N = Xc'Xc / n + (alpha + beta) I."""
        F = self._shrunk(Theta)
        small = np.eye(len(Theta)) - self.alpha * Theta @ F
        U = self.plain + self.alpha * F @ np.linalg.lstsq(small, Theta @ self.plain)[0]
        return U, self.mean - self.operator.mean @ U

    def _shrunk(self, Theta: np.ndarray) -> np.ndarray:
        """Give N^-1 Theta' = (Theta' - Xc'(Xc Xc' + shift)^-1 Xc Theta') n / shift for wide X."""
        if not self.wide:
            return self.n * self._solve(Theta.T)
        if not self.shift:
            return np.zeros(Theta.T.shape)  # alpha = 0: not used
        return (Theta.T - self._solve(self.operator.matmat(Theta.T))) * (self.n / self.shift)


def leading_directions(U: np.ndarray, r: int) -> np.ndarray:
    """Give the Theta (at most r, d) that takes most of U; no directions that U has not."""
    left, s, _ = np.linalg.svd(U, full_matrices=False)
    kept = np.count_nonzero(s[:r] > s[:1] * max(U.shape) * np.finfo(float).eps)
    return fix_signs(turn_equal(s, left)[:, :kept]).T


class ASOClassifier(ScoreClassifier):
    """Classify by alternating structure optimisation: linear models near a shared subspace.

        min sum_l [ 1/n sum_i L(u_l'x_i + b_l, t_il) + alpha |u_l - Theta'v_l|^2 + beta |u_l|^2 ]

    over U, V and Theta (r, d) with orthonormal rows; t of +-1 (Ando and Zhang, JMLR 2005; TKDD
    2010, Eq. 28, with the penalty beta of Section 7 added). Rounds of two steps: one linear SVM a
    label for given Theta, by LIBLINEAR; an SVD of U for Theta. The objective never rises: a label
    whose SVM came out worse than what it had keeps that. The problem is not convex; rounds begin
    with independent labels and end in a local minimum.

    For ``alpha=0`` or ``n_components=0`` it is one SVM a label, with ``C = 1 / (2 n beta)`` or
    ``1 / (2 n (alpha + beta))``. With the squared loss, which :class:`SharedSubspaceClassifier`
    solves at once and globally, every round is exact.

    Cost a round: m SVM fits on d + r features and an SVD of the (d, m) weights. Sparse X is never
    densified, r dense columns are put beside it.

    Parameters
    ----------
    alpha : float >= 0, default=1e-3
        Penalty of what the subspace does not share.
    beta : float >= 0, default=1e-3
        Penalty of all weights. 0 is ASO as published; LIBLINEAR then works with 1e-4 alpha. Small
        beta / alpha makes rounds many and slow.
    n_components : int in 0..n_labels or None
        Dimension r of the shared subspace; None is the papers' 5 floor((m - 1) / 5), at least 1.
    loss : "hinge", "squared_hinge" or "squared"
    fit_intercept : bool, default=True
        With the squared loss without penalty, with the others with the penalty beta b^2.
    tol : float >= 0, default=1e-3
        Stop when a round lowers the objective by no more than this share of it.
    max_iter : int >= 1, default=100
    svm_max_iter : int >= 1, default=10,000
        Iterations of LIBLINEAR for one label; 1,000 until rounds gain nothing with so many.
    random_state : int, RandomState or None
        Order of samples in LIBLINEAR.

    Attributes
    ----------
    coef_ : (n_labels, n_features), U transposed
    intercept_ : (n_labels,)
    components_ : (n_components_, n_features), Theta
    n_components_ : int, less than ``n_components`` where the weights have fewer directions
    objective_ : (n_iter_,), after each round
    beta_ : float, the beta that was used
    n_iter_ : int
    n_unsolved_ : int, labels for which LIBLINEAR took ``svm_max_iter`` iterations in the last round
    classes_ : columns of a label matrix, or classes of a vector y

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

    def __init__(
        self,
        alpha: float = 1e-3,
        beta: float = 1e-3,
        n_components: int | None = None,
        *,
        loss: str = "hinge",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 100,
        svm_max_iter: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.n_components = n_components
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.svm_max_iter = svm_max_iter
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "ASOClassifier":
        """Alternate between the labels' models and the subspace they share.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features)
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        """
        self._check_parameters()
        X = check_data(self, X, reset=True)
        self._codec, Y = LabelCodec.fit(y)
        check_consistent_length(X, Y)
        check_scale(X)
        dtype, X, T = X.dtype, X.astype(float, copy=False), signed_targets(Y)
        r = default_rank(T.shape[1]) if self.n_components is None else self.n_components
        check_number("n_components", r, 0, T.shape[1], integer=True)
        U, b, Theta = self._alternate(X, T, int(r))
        self.coef_, self.intercept_ = U.T.astype(dtype), b.astype(dtype)
        self.components_ = Theta.astype(dtype)
        self.n_components_, self.n_iter_ = len(Theta), len(self.objective_)
        self.classes_ = self._codec.classes
        return self

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, tuple(LOSSES))
        for name in ("alpha", "beta", "tol"):
            check_number(name, getattr(self, name), 0)
        for name in ("max_iter", "svm_max_iter"):
            check_number(name, getattr(self, name), 1, integer=True)
        check_flag("fit_intercept", self.fit_intercept)
        self.beta_ = float(self.beta)
        if self.loss != "squared":
            if self.alpha + self.beta == 0:
                raise ValueError(
                    f"loss={self.loss!r} needs alpha + beta > 0, got 0: without any penalty "
                    "weights may grow without bound."
                )
            self.beta_ = max(self.beta_, LEAST_BETA * self.alpha)

    def _alternate(
        self, X: Any, T: np.ndarray, r: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        penalties = float(self.alpha), self.beta_
        step: Step = (SquaredStep if self.loss == "squared" else MarginStep)(X, T, penalties, self)
        U, b = np.zeros((X.shape[1], T.shape[1])), np.zeros(T.shape[1])
        Theta = np.zeros((0, X.shape[1]))
        objective: list[float] = []
        precision, stalled = LOOSE, [np.inf]  # objectives where rounds gained nothing more
        for _ in range(self.max_iter):
            U_new, b_new = step(Theta, precision)
            better = self._values(X, T, U_new, b_new, Theta) < self._values(X, T, U, b, Theta)
            U, b = np.where(better, U_new, U), np.where(better, b_new, b)
            Theta = leading_directions(U, r)
            objective.append(float(self._values(X, T, U, b, Theta).sum()))
            gain = objective[-2] - objective[-1] if len(objective) > 1 else np.inf
            if gain <= self.tol * objective[-2 if len(objective) > 1 else -1]:
                if precision > TIGHT and self.loss != "squared":
                    precision = max(TIGHT, precision / 10)
                    continue
                stalled.append(objective[-1])
                if not (step.unsolved and step.persist()):
                    break
        else:
            self._warn(gain / max(objective[-1], np.finfo(float).tiny))
        self.objective_, self.n_unsolved_ = np.array(objective), step.unsolved
        # Ten times as many iterations that gain nothing say that the first were enough.
        if step.unsolved and len(stalled) > 1 and stalled[-2] > (1 + self.tol) * stalled[-1]:
            self._warn_unsolved(T.shape[1])
        return U, b, Theta

    def _values(
        self, X: Any, T: np.ndarray, U: np.ndarray, b: np.ndarray, Theta: np.ndarray
    ) -> np.ndarray:
        """Give the objective of each label at its best v."""
        loss = LOSSES[self.loss](T * (np.asarray(X @ U) + b)).mean(axis=0)
        all_of_it, shared = (U**2).sum(axis=0), ((Theta @ U) ** 2).sum(axis=0)
        of_intercept = 0.0 if self.loss == "squared" else self.beta_ * b**2
        return loss + (self.alpha + self.beta_) * all_of_it - self.alpha * shared + of_intercept

    def _warn(self, gain: float) -> None:
        told = f"the last of which lowered the objective by {gain:.2g} of it"
        if np.isinf(gain):
            told = "too few to tell whether the objective still falls"
        warn(
            f"ASO stopped after max_iter = {self.max_iter} rounds, {told}; tol = {self.tol}. Raise "
            "max_iter or tol.",
            ConvergenceWarning,
        )

    def _warn_unsolved(self, m: int) -> None:
        warn(
            f"LIBLINEAR stopped after svm_max_iter = {self.svm_max_iter} iterations for "
            f"{self.n_unsolved_} of {m} labels in the last round: the objective may be far from "
            "its minimum. Scale X to rows of unit length, raise beta or svm_max_iter.",
            ConvergenceWarning,
        )

    def _scores(self, X: Any) -> np.ndarray:
        X = check_data(self, X, reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores.astype(self.intercept_.dtype, copy=False)
