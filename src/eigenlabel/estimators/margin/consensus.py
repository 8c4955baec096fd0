"""The SVMs of all labels at once, for the rounds of ASO on matrices of moderate size.

    min_{U,b,G}  sum_l [ 1/n sum_i max(0, 1 - t_il g_il) + u_l'N u_l + beta b_l^2 ],
    G = Z U + 1 b',   N = (alpha + beta) I - alpha Theta'Theta

The alternating direction method of multipliers (Boyd et al. 2011) finds U and b by ridge regression
of ``G - S`` for the scaled multipliers S, then G from one scalar problem for each sample and label.
All labels share the matrix of the ridge regression. LIBLINEAR begins each round of ASO from zero;
this method begins where it ended in the round before.
"""

import numpy as np

from eigenlabel.estimators.margin.alternation import AlternationProblem
from eigenlabel.linalg._types import Floats

CHECK = 10  # iterations between two looks at the gap
TOLERANCE = 1e-3  # of the gap, as a share of the objective
SEPARATED = 1e-3  # of the objective of zero weights: smaller objectives need no better gap


class Ridge:
    """The ridge regression of scores on orthogonal features for a given subspace.

    ``2 N + rho Z'Z`` is diagonal but for r directions, and the intercept adds one row. Cost: two
    products with Z, after r^3 + d r^2 operations for each subspace.

    Parameters
    ----------
    problem : AlternationProblem
        The problem, whose X has orthogonal columns.
    squares : (d,) array
        The squared lengths of these columns.
    Theta : (r, d) array
        The subspace.
    rho : float
        Weight of the squared differences of scores.
    """

    def __init__(
        self, problem: AlternationProblem, squares: Floats, Theta: Floats, rho: float
    ) -> None:
        self.Z, self.Theta, self.rho = np.asarray(problem.X), Theta, rho
        alpha, total = problem.alpha, problem.alpha + problem.beta
        self.inverse = 1 / (2 * total + rho * squares)
        self.shrunk = self.inverse[:, None] * Theta.T
        small = np.eye(len(Theta)) - 2 * alpha * Theta @ self.shrunk
        self.small = 2 * alpha * np.linalg.inv(small)
        self.sums = self.Z.sum(axis=0)
        self.slope = self._solve(rho * self.sums[:, None])[:, 0]
        self.pivot = np.inf  # no intercept
        if problem.fit_intercept:
            self.pivot = 2 * problem.beta + rho * (len(self.Z) - self.sums @ self.slope)

    def _solve(self, R: Floats) -> Floats:
        """Return ``(2 N + rho Z'Z)^-1 R``."""
        R = self.inverse[:, None] * R
        return np.asarray(R + self.shrunk @ (self.small @ (self.Theta @ R)))

    def fit(self, V: Floats) -> tuple[Floats, Floats]:
        """Return the weights and intercepts for the scores V."""
        U = self._solve(self.rho * (self.Z.T @ V))
        b = self.rho * (V.sum(axis=0) - self.sums @ U) / self.pivot
        return U - np.outer(self.slope, b), b


class ConsensusStep:
    """The alternating direction method for the SVMs of all labels; a step of ASO.

    Margins are about 1 whatever the scale of the features, so that ``rho = 1 / n`` serves all data:
    an iteration changes the score of a sample by at most 1. It costs two products of
    (n, d) with (d, n_labels) matrices.

    Parameters
    ----------
    problem : AlternationProblem
        The problem, whose loss is "hinge" and whose beta is positive. X is dense and has orthogonal
        columns.
    max_iter : int
        Upper bound on the iterations of a round.
    """

    tolerances: tuple[float, ...] = (TOLERANCE,)

    def __init__(self, problem: AlternationProblem, max_iter: int) -> None:
        self.problem, self.limit, self.unsolved = problem, max_iter, 0
        self.max_iter = min(CHECK, max_iter)  # may grow up to the limit
        self.rho = 1 / len(problem.T)
        self.squares = np.einsum("ij,ij->j", problem.X, problem.X)
        self.G, self.S = np.zeros(problem.T.shape), np.zeros(problem.T.shape)

    def persist(self) -> bool:
        """Allow ten times as many iterations, at most ``max_iter``."""
        before = self.max_iter
        self.max_iter = min(10 * before, self.limit)
        return self.max_iter > before

    def solve(self, Theta: Floats, tol: float) -> tuple[Floats, Floats]:
        """Iterate until the gap of each label is at most ``tol`` of the mean objective."""
        T = self.problem.T
        ridge = Ridge(self.problem, self.squares, Theta, self.rho)
        for k in range(1, self.max_iter + 1):
            U, b = ridge.fit(self.G - self.S)
            scores = ridge.Z @ U + b
            margins = T * (scores + self.S)
            self.G = T * np.maximum(margins, np.minimum(margins + 1, 1))
            self.S += scores - self.G
            if k % CHECK == 0 or k == self.max_iter:
                values = self.problem.plain_values(U, b) - self.problem.gains(U, Theta)
                late = values - self._bounds(Theta) > tol * max(values.mean(), SEPARATED)
                if not late.any():
                    break
        self.unsolved = int(np.count_nonzero(late))
        return U, b

    def _bounds(self, Theta: Floats) -> Floats:
        """Return lower bounds of the objectives: the dual values of the multipliers.

        The multipliers A are feasible: ``T A`` is between 0 and 1 / n.
        """
        p = self.problem
        A = -self.rho * self.S
        P = np.asarray(p.X).T @ A
        shared = np.einsum("ij,ij->j", Theta @ P, Theta @ P)
        other = np.einsum("ij,ij->j", P, P) - shared
        constant = A.sum(axis=0) ** 2 if p.fit_intercept else 0.0
        penalty = (shared + constant) / p.beta + other / (p.alpha + p.beta)
        return np.asarray((p.T * A).sum(axis=0) - penalty / 4)
