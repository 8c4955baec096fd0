"""The problem that MtSDA solves: label scores that sparse combinations of features predict.

    min_{B, theta}  1/n sum_j |Yc theta_j - Xc b_j|^2 + l2 b_j'Omega b_j + l1 |b_j|_1
    s.t.  theta'(Yc'Yc / n) theta = I,       Omega = (1 - rho) I + rho 11'

(Han et al. 2010, Equation 1; all terms divided by n, X and Y centred). The two steps alternate: for
fixed theta there is one elastic net per score, all with the same design; for fixed B there is a
Procrustes problem with a closed solution.
"""

from dataclasses import dataclass

import numpy as np

from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.numerics import descending_eigh, positive_count
from eigenlabel.linalg.operators import CentredOperator, total_weight, weighted_mean
from eigenlabel.linalg.solvers.elastic_net import ElasticNets

UNDETERMINED = 1e-7  # relative size below which the accuracy of B, 1e-9, leaves digits to chance


@dataclass(frozen=True)
class Penalty:
    """The penalty ``l1 |b|_1 + b'(shift I + tie 11')b``, where the matrix is l2 Omega.

    Attributes
    ----------
    l1 : float
        Weight of the absolute values.
    l2 : float
        Weight of the quadratic form.
    rho : float
        Correlation in Omega.
    """

    l1: float
    l2: float
    rho: float

    @property
    def shift(self) -> float:
        """The factor of I."""
        return self.l2 * (1 - self.rho)

    @property
    def tie(self) -> float:
        """The factor of 11'."""
        return self.l2 * self.rho


def check_rho(rho: float, n_features: int) -> None:
    """Raise ValueError if the penalty with this rho is not convex."""
    low = -1 / (n_features - 1) if n_features > 1 else -np.inf
    if not low <= rho <= 1:
        raise ValueError(
            f"rho must lie between -1 / (n_features - 1) = {low:.6g} and 1, got {rho!r}: "
            "beyond, the penalty is not convex. rho=0 is the identity matrix."
        )


@dataclass(frozen=True)
class ScoringSolution:
    """The result of the alternating steps.

    Attributes
    ----------
    B : (p, q) array
        Weights of the features in each score.
    theta : (m, q) array
        Scores of the labels.
    objective : list of float
        The objective after each iteration.
    first : (p, q) array
        B for the first theta, which is a start for the next penalty.
    violation : float
        The relative violation of optimality of the last elastic nets.
    converged : bool
        Whether the objective converged.
    """

    B: Floats
    theta: Floats
    objective: list[float]
    first: Floats
    violation: float = 0.0
    converged: bool = True


class ScoreProblem:
    """X and Y of one fit, as the products that the steps need.

    Parameters
    ----------
    X : (n, p) array or CSR matrix
        The samples.
    Y : (n, m) array of bool
        The labels.
    weights : (n,) array or None
        Sample weights; None if all are one.
    centre : bool
        Whether the means of X and Y are subtracted.
    n_scores : int or None
        Upper bound on the number q of scores; None is the rank of the labels.
    """

    def __init__(
        self,
        X: Matrix,
        Y: Bools,
        weights: Floats | None,
        centre: bool,
        n_scores: int | None,
    ) -> None:
        self.operator = CentredOperator(X, weights, centre)
        self.nets = ElasticNets(self.operator)
        self.total = total_weight(len(Y), weights)
        T = Y.astype(float)
        self.mean = weighted_mean(T, weights) if centre else np.zeros(T.shape[1])
        self.T = T - self.mean
        WT = self.T if weights is None else weights[:, None] * self.T
        self.XtT = self.operator.rmatmat(WT)  # (p, m)
        self.D = self.T.T @ WT / self.total
        values, V = descending_eigh(self.D)
        rank = positive_count(values)
        self.V = V[:, :rank]
        self.root = self.V / np.sqrt(values[:rank])  # root'D root = I
        self.q = rank if n_scores is None else min(n_scores, rank)

    def largest_l1(self) -> float:
        """Return the l1 above which all weights are zero, for any scores."""
        reach = np.linalg.norm(self.XtT @ self.root, axis=1).max(initial=0.0)
        return 2 * float(reach)

    def mean_spread(self) -> float:
        """Return the mean squared distance of samples from their mean, or 1 if it is zero."""
        return self.operator.squared_norm() / self.total or 1.0

    def start(self, paper: bool) -> Floats:
        """Return the first theta.

        There is one score per label, as near to the label as the constraint allows. Fewer scores
        are those in which features and labels are most correlated. The paper starts from the first
        rows of the pseudo-inverse of Y.
        """
        if paper:
            return np.asarray(np.sqrt(self.total) * self._pseudo_inverse()[:, : self.q])
        if self.q == len(self.D):
            return np.asarray(self.root @ self.V.T)
        M = self.XtT @ self.root
        return np.asarray(self.root @ descending_eigh(M.T @ M)[1][:, : self.q])

    def _pseudo_inverse(self) -> Floats:
        return np.asarray(np.linalg.pinv(self._scale(self.T)), dtype=float)

    def _scale(self, A: Floats) -> Floats:
        w = self.operator.weights
        return A if w is None else np.sqrt(w)[:, None] * A

    def rescore(self, B: Floats, theta: Floats) -> Floats:
        """Return the best theta for B: ``D^-1/2`` times the Procrustes factor of ``D^-1/2 Y'XB``.

        The part of theta that B does not determine stays as near as possible to the previous one.
        """
        M = self.root.T @ (self.XtT.T @ B)
        U, s, Vt = np.linalg.svd(M)
        k = int(np.count_nonzero(s > s[0] * max(M.shape) * np.finfo(float).eps))
        R = U[:, :k] @ Vt[:k]
        if k < M.shape[1]:
            before = self.root.T @ self.D @ theta
            u, _, vt = np.linalg.svd(U[:, k:].T @ before @ Vt[k:].T, full_matrices=False)
            R = R + U[:, k:] @ (u @ vt) @ Vt[k:]
        return np.asarray(self.root @ R)

    def rescore_by_paper(self, B: Floats) -> Floats:
        """Return theta of Equation 9.

        It does not satisfy the constraint unless XB lies in the range of Y.
        """
        return np.asarray(np.sqrt(self.total) * self._pseudo_inverse() @ self.polar_factor(B))

    def polar_factor(self, B: Floats) -> Floats:
        """Return UV' (n, q) of the singular value decomposition of XB.

        If the rank of XB is lower than q, UV' is not unique, and an SVD leaves the choice to
        rounding. The rest is then as near as possible to fixed pseudo-random numbers, so that it
        is the same on every machine, and theta has full rank. A choice in the range of Y would
        lead to larger scores, but with l1 > 0 the iterations often alternate between two solutions.
        """
        U, s, Vt = np.linalg.svd(self._scale(self.operator.matmat(B)), full_matrices=False)
        k = int(np.count_nonzero(s > UNDETERMINED * s[0]))
        U, known, rest = U[:, :k], Vt[:k], Vt[k:]
        if not len(rest):
            return np.asarray(U @ known)
        # NumPy guarantees that the numbers of this generator never change.
        G = np.random.RandomState(0).standard_normal((len(U), self.q)) @ rest.T
        u, _, vt = np.linalg.svd(G - U @ (U.T @ G), full_matrices=False)
        return np.asarray(U @ known + u @ vt @ rest)

    def solve(
        self,
        penalty: Penalty,
        paper: bool = False,
        n_iter: int = 100,
        tol: float = 1e-3,
        first: Floats | None = None,
    ) -> ScoringSolution:
        """Alternate between both steps until the objective changes by at most ``tol`` of it.

        Parameters
        ----------
        penalty : Penalty
            The penalty of the weights.
        paper : bool
            Whether the start and the score step are those of the paper.
        n_iter : int
            Upper bound on the number of iterations.
        tol : float
            The relative change of the objective at which the iterations end.
        first : (p, q) array or None
            Where the first elastic nets start, such as the ``first`` of another solution.
        """
        theta = self.start(paper)
        B = np.zeros((len(self.XtT), self.q)) if first is None else first
        if self.q == 0:
            return ScoringSolution(B, theta, [0.0], B)
        ridge = None
        if penalty.l1 == 0:
            ridge = self.nets.ridge(self.T, penalty.shift, penalty.tie)
        objective: list[float] = []
        violation, converged = 0.0, n_iter == 1
        for k in range(n_iter):
            if k:
                theta = self.rescore_by_paper(B) if paper else self.rescore(B, theta)
            C = self.XtT @ theta
            if ridge is not None:
                B = ridge @ theta
            else:
                found = self.nets.solve(C, penalty.shift, penalty.tie, penalty.l1 / 2, B)
                B, violation = found.B, found.residual
            objective.append(self._objective(penalty, theta, B, C))
            if k == 0:
                first = B
            elif abs(objective[-2] - objective[-1]) <= tol * objective[-2]:
                converged = True
                break
        assert first is not None
        return ScoringSolution(B, theta, objective, first, violation, converged)

    def _objective(self, penalty: Penalty, theta: Floats, B: Floats, C: Floats) -> float:
        """Return the objective of Equation 1."""
        fit = self.total * np.trace(theta.T @ self.D @ theta) - 2 * (B * C).sum()
        quadratic = (B * self.nets.apply(B, penalty.shift, penalty.tie)).sum()
        return float(fit + quadratic + penalty.l1 * np.abs(B).sum()) / self.total

    def label_weights(self, solution: ScoringSolution) -> tuple[Floats, Floats]:
        """Return the weights (p, m) and intercepts (m,) of Equation 11."""
        W = solution.B @ np.linalg.pinv(solution.theta)
        return W, self.mean - self.operator.mean @ W

    def class_weights(
        self, solution: ScoringSolution, penalty: Penalty, member: Bools
    ) -> tuple[Floats, Floats]:
        """Return the weights (p, k) and intercepts (k,) of Equation 2, for 0/1 member (n, k).

        The nearest mean ``m_j`` of embedded samples, in the metric ``G = B'(S_W + l2 Omega)B``,
        has the largest ``m_j'G^-1 z - m_j'G^-1 m_j / 2``. A class without samples, such as a rare
        class in a fold, gets the mean of the others minus one, so that it is never predicted.
        """
        B, w = solution.B, self.operator.weights
        Z = self.operator.matmat(B)
        M = member.astype(float) if w is None else w[:, None] * member
        sizes = M.sum(axis=0)
        means = (M.T @ Z) / np.where(sizes > 0, sizes, 1.0)[:, None]
        within = self._scale(Z - member @ means)
        sums = B.sum(axis=0)
        G = within.T @ within + penalty.shift * B.T @ B + penalty.tie * np.outer(sums, sums)
        A = np.linalg.pinv(G / self.total, hermitian=True) @ means.T  # (q, k)
        W = B @ A
        intercept = -0.5 * (means.T * A).sum(axis=0) - self.operator.mean @ W
        absent = sizes == 0
        if absent.any():
            W[:, absent] = W[:, ~absent].mean(axis=1, keepdims=True)
            intercept[absent] = intercept[~absent].mean() - 1.0
        return W, intercept

    def weights(
        self, solution: ScoringSolution, penalty: Penalty, codec: LabelCodec, Y: Bools
    ) -> tuple[Floats, Floats]:
        """Return the weights and intercepts of labels, or of classes if y was a vector."""
        if codec.multilabel:
            return self.label_weights(solution)
        W, intercept = self.class_weights(solution, penalty, class_members(codec, Y))
        if codec.kind == "binary":
            W, intercept = W @ [[-1], [1]], intercept @ [[-1], [1]]
        return W, intercept


def class_members(codec: LabelCodec, Y: Bools) -> Bools:
    """Return the 0/1 matrix of classes (n, k), with two columns for two classes."""
    return np.column_stack([~Y, Y]) if codec.kind == "binary" else Y
