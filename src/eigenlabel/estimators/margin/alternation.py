"""The rounds of ASO: models of all labels for a given subspace, and a subspace for given models.

    min_{U,V,Theta}  sum_l [ 1/n sum_i L(u_l'x_i + b_l, t_il) + alpha |u_l - Theta'v_l|^2
                             + beta |u_l|^2 ],   Theta Theta' = I

(Ji et al. 2010, Equation 28, with the second penalty that their Section 7 asks for.) For a given
Theta the best v is Theta u, and every label has a problem of its own. For given U the best Theta
consists of its leading left singular vectors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.sklearn_private import fit_liblinear, liblinear_seed
from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.linalg.numerics import fix_signs, rank_tolerance, turn_equal
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.solvers.shifted import ShiftedSystem

EARLY = 10  # times tol is the gain below which rounds use a smaller tolerance
CLEAR = 1e-3  # singular values above this share of the largest may be computed from squares
FIRST_ITERATIONS = 1000  # of LIBLINEAR; many labels never need more
TOLERANCES = (0.1, 0.01, 1e-3)  # of LIBLINEAR, from rounds that gain much to the last ones

LOSSES: dict[str, Callable[[Floats], Floats]] = {
    "hinge": lambda margin: np.maximum(0, 1 - margin),
    "squared_hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
    "squared": lambda margin: (1 - margin) ** 2,
}


@dataclass(frozen=True)
class AlternationProblem:
    """The data and the penalties of ASO.

    Attributes
    ----------
    X : (n, d) array or sparse matrix
        The samples.
    T : (n, m) array
        The targets, 1 for a label and -1 for none.
    loss : str
        One of ``LOSSES``.
    alpha : float
        Penalty of the part of the weights outside the subspace.
    beta : float
        Penalty of all weights, and of the intercepts unless the loss is "squared".
    fit_intercept : bool
        Whether the models have intercepts.
    """

    X: Matrix
    T: Floats
    loss: str
    alpha: float
    beta: float
    fit_intercept: bool

    def plain_values(self, U: Floats, b: Floats) -> Floats:
        """Return the objective of each label without a subspace."""
        loss = LOSSES[self.loss](self.T * (np.asarray(self.X @ U) + b)).mean(axis=0)
        intercept = 0.0 if self.loss == "squared" else self.beta * b**2
        return np.asarray(loss + (self.alpha + self.beta) * _squares(U) + intercept)

    def gains(self, U: Floats, Theta: Floats) -> Floats:
        """Return by how much a subspace lowers the objective of each label, at its best v."""
        return self.alpha * _squares(Theta @ U)


def _squares(U: Floats) -> Floats:
    """Return the squared lengths of the columns."""
    return np.asarray(np.einsum("ij,ij->j", U, U))


class Step(Protocol):
    """A solver for all labels at a given Theta.

    Attributes
    ----------
    tolerances : tuple of float
        The tolerances of the solver, the loosest first.
    unsolved : int
        The number of labels whose solver stopped early in the last call.
    """

    tolerances: tuple[float, ...]
    unsolved: int

    def persist(self) -> bool:
        """Allow more iterations from now on; return False if no more are allowed."""

    def solve(self, Theta: Floats, tol: float) -> tuple[Floats, Floats]:
        """Return weights (d, m) and intercepts (m,)."""


class MarginStep:
    """LIBLINEAR on the features ``[x, rho Theta x, tau]`` for each label.

    For weights w of x and z of ``rho Theta x`` the penalty is (alpha + beta)(|w|^2 + |z|^2). With
    rho^2 = alpha / beta, its minimum over all w and z with the same u = w + rho Theta'z is
    (alpha + beta)|u|^2 - alpha |Theta u|^2. The constant feature tau, with
    tau^2 = (alpha + beta) / beta, makes the penalty of the intercept beta b^2. Sparse X stays
    sparse, with r dense columns added.

    Parameters
    ----------
    problem : AlternationProblem
        The problem, whose loss is "hinge" or "squared_hinge" and whose beta is positive.
    max_iter : int
        Upper bound on the iterations of LIBLINEAR for one label.
    seed : int
        Seed of the order in which LIBLINEAR visits the samples.
    """

    tolerances: tuple[float, ...] = TOLERANCES

    def __init__(self, problem: AlternationProblem, max_iter: int, seed: int) -> None:
        alpha, beta = problem.alpha, problem.beta
        self.X, self.T = problem.X, problem.T
        self.rho = np.sqrt(alpha / beta)
        self.tau = np.sqrt((alpha + beta) / beta) if problem.fit_intercept else 0.0
        self.unsolved, self.limit = 0, max_iter
        self.max_iter = min(FIRST_ITERATIONS, max_iter)  # may grow up to the limit
        C = 1 / (2 * len(problem.T) * (alpha + beta))
        self._svm = partial(fit_liblinear, loss=problem.loss, C=C, seed=liblinear_seed(seed))

    def persist(self) -> bool:
        """Allow ten times as many iterations, at most ``max_iter``."""
        before = self.max_iter
        self.max_iter = min(10 * before, self.limit)
        return self.max_iter > before

    def solve(self, Theta: Floats, tol: float) -> tuple[Floats, Floats]:
        """Solve the labels one by one."""
        self.unsolved = 0
        shared = np.asarray(self.X @ Theta.T)
        more = np.column_stack([self.rho * shared, np.full(len(self.T), self.tau)])
        A = _beside(self.X, more)
        W = np.column_stack([self._solve_label(A, t, tol) for t in self.T.T])
        d = self.X.shape[1]
        return W[:d] + self.rho * (Theta.T @ W[d:-1]), self.tau * W[-1]

    def _solve_label(self, A: Matrix, t: Floats, tol: float) -> Floats:
        if (t == t[0]).all():  # LIBLINEAR needs two classes; a sample of zeros changes nothing
            A, t = _below(A, np.zeros((1, A.shape[1]))), np.append(t, -t[0])
        w, n_iter = self._svm(A, t > 0, tol=tol, max_iter=self.max_iter)
        self.unsolved += n_iter >= self.max_iter
        return w


def _beside(A: Matrix, B: Floats) -> Matrix:
    """Return [A, B], sparse if A is."""
    parts: Any = [A, B]
    return sp.hstack(parts, "csr") if sp.issparse(A) else np.hstack(parts)


def _below(A: Matrix, B: Floats) -> Matrix:
    """Return B below A, sparse if A is."""
    parts: Any = [A, B]
    return sp.vstack(parts, "csr") if sp.issparse(A) else np.vstack(parts)


class SquaredStep:
    """One exact ridge regression for all labels, and a correction of rank r for Theta.

    Parameters
    ----------
    problem : AlternationProblem
        The problem, whose loss is "squared".
    """

    tolerances: tuple[float, ...] = (0.0,)
    unsolved: int = 0

    def __init__(self, problem: AlternationProblem) -> None:
        X, T = problem.X, problem.T
        self.alpha, self.n = problem.alpha, len(T)
        self.operator = CentredOperator(X, None, problem.fit_intercept)
        self.mean = T.mean(axis=0) if problem.fit_intercept else np.zeros(T.shape[1])
        self.wide = X.shape[0] <= X.shape[1]
        M = self.operator.gram() if self.wide else self.operator.covariance()
        self.system = ShiftedSystem(M, rank_tolerance(max(X.shape), X.dtype))
        self.shift = self.n * (problem.alpha + problem.beta)
        right = T - self.mean
        self.plain = self._solve(right if self.wide else self.operator.rmatmat(right))

    def persist(self) -> bool:
        """Return False: there are no iterations."""
        return False

    def _solve(self, right: Floats) -> Floats:
        """Return ``(Xc'Xc + shift I)^-1 Xc'right`` for wide X, without ``Xc'`` for tall X."""
        found = self.system.solve(right, [self.shift])[0]
        return self.operator.rmatmat(found) if self.wide else found

    def solve(self, Theta: Floats, tol: float) -> tuple[Floats, Floats]:  # noqa: ARG002  exact
        """Solve (N - alpha Theta'Theta) U = Xc'T / n with N = Xc'Xc / n + (alpha + beta) I."""
        F = self._shrunk(Theta)
        small = np.eye(len(Theta)) - self.alpha * Theta @ F
        U = self.plain + self.alpha * F @ np.linalg.lstsq(small, Theta @ self.plain)[0]
        return U, self.mean - self.operator.mean @ U

    def _shrunk(self, Theta: Floats) -> Floats:
        """Return ``N^-1 Theta'``.

        For wide X it is ``(Theta' - Xc'(Xc Xc' + shift)^-1 Xc Theta') n / shift``.
        """
        if not self.wide:
            return np.asarray(self.n * self._solve(Theta.T))
        if not self.shift:
            return np.zeros(Theta.T.shape)  # alpha is 0, so that the result is not used
        rest = Theta.T - self._solve(self.operator.matmat(Theta.T))
        return np.asarray(rest * (self.n / self.shift))


def leading_directions(U: Floats, r: int) -> Floats:
    """Return the best Theta (at most r, d) for U: its leading left singular vectors.

    Singular vectors whose singular values are zero up to rounding are left out.
    """
    left, s = _left_singular(U)
    kept = np.count_nonzero(s[:r] > s[:1] * max(U.shape) * np.finfo(float).eps)
    return fix_signs(turn_equal(s, left)[:, :kept]).T


def _left_singular(U: Floats) -> tuple[Floats, Floats]:
    """Return the left singular vectors of U and its singular values.

    The eigenvectors V of ``U'U`` have the errors of squared singular values. If all are above CLEAR
    times the largest, ``U V / s`` is orthonormal up to 1e-9, and a second step of the same kind
    makes it orthonormal up to rounding. Otherwise the SVD of U is computed.
    """
    values, V = np.linalg.eigh(U.T @ U)
    values, V = values[::-1], V[:, ::-1]
    s = np.sqrt(np.maximum(values, 0.0))
    if not s[-1] > CLEAR * s[0]:
        left, s, _ = np.linalg.svd(U, full_matrices=False)
        return left, s
    left = U @ (V / s)
    return left @ np.linalg.inv(np.linalg.cholesky(left.T @ left)).T, s


@dataclass(frozen=True)
class Alternation:
    """The result of the rounds.

    Attributes
    ----------
    U : (d, m) array
        The weights.
    b : (m,) array
        The intercepts.
    Theta : (r, d) array
        The subspace.
    objective : list of float
        The objective after each round.
    n_unsolved : int
        The number of labels whose solver stopped early in the last round.
    unsolved_matter : bool
        Whether more iterations of the solver would probably lower the objective.
    last_gain : float or None
        The relative decrease of the objective in the last round if the rounds ended too early,
        which is infinite after a single round; None if they converged.
    """

    U: Floats
    b: Floats
    Theta: Floats
    objective: list[float]
    n_unsolved: int
    unsolved_matter: bool
    last_gain: float | None


def alternate(
    problem: AlternationProblem, step: Step, r: int, tol: float, max_iter: int
) -> Alternation:
    """Alternate between both steps until a round lowers the objective by at most tol of it.

    The objective never increases: a label whose new model is worse keeps its old one. When the
    rounds gain little, the solver of the labels uses a smaller tolerance. When those with the
    smallest one gain nothing more, it uses more iterations, as long as it stops early for some
    labels.
    """
    d, m = problem.X.shape[1], problem.T.shape[1]
    U, b, Theta = np.zeros((d, m)), np.zeros(m), np.zeros((0, d))
    plain = problem.plain_values(U, b)
    objective: list[float] = []
    stalled = [np.inf]  # objectives at which the smallest tolerance gained nothing more
    tolerances = list(step.tolerances)
    gain: float | None = None
    for _ in range(max_iter):
        new, c = step.solve(Theta, tolerances[0])
        other = problem.plain_values(new, c)
        better = other - problem.gains(new, Theta) < plain - problem.gains(U, Theta)
        U, b = np.where(better, new, U), np.where(better, c, b)
        plain = np.where(better, other, plain)
        Theta = leading_directions(U, r)
        objective.append(float((plain - problem.gains(U, Theta)).sum()))
        before = objective[-2] if len(objective) > 1 else np.inf
        gain = before - objective[-1]
        last = len(tolerances) == 1
        if len(objective) == 1 or gain > (tol if last else EARLY * tol) * before:
            continue
        if not last:
            tolerances = tolerances[1:]
            continue
        stalled.append(objective[-1])
        if not (step.unsolved and step.persist()):
            gain = None
            break
    # If ten times as many iterations gain nothing, the first ones were enough.
    matter = len(stalled) > 1 and stalled[-2] > (1 + tol) * stalled[-1]
    last_gain = None if gain is None else gain / max(objective[-1], np.finfo(float).tiny)
    return Alternation(
        U, b, Theta, objective, step.unsolved, bool(step.unsolved and matter), last_gain
    )
