"""The problem of MtSDA: scores of labels that sparse combinations of features predict.

    min_{B, theta}  1/n sum_j |Yc theta_j - Xc b_j|^2 + l2 b_j'Omega b_j + l1 |b_j|_1
    s.t.  theta'(Yc'Yc / n) theta = I,       Omega = (1 - rho) I + rho 11'

This is Eq. 1 of Han et al. (2010), divided by n, with centred X and Y. It is solved by alternating
steps: for fixed theta there is one elastic net for each score, all with the same design; for fixed
B there is a Procrustes problem with a closed solution.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.inputs.parameters import check_number
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.numerics import descending_eigh, positive_count
from eigenlabel.linalg.operators import CentredOperator, total_weight, weighted_mean
from eigenlabel.linalg.solvers.elastic_net import ElasticNets
from eigenlabel.linalg.ties import first_highest

MAX_DISCRETE_LABELS = 20
CHUNK = 2**22  # objectives of label sets that exist at once
UNDETERMINED = 1e-7  # relative size below which the accuracy of B, 1e-9, determines nothing


@dataclass(frozen=True)
class Penalty:
    """The penalties l1 and l2 Omega, where l2 Omega is ``shift I + tie 11'``."""

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

    def check(self, n_features: int) -> None:
        """Raise ValueError if the penalty is not convex."""
        check_number("l1", self.l1, 0)
        check_number("l2", self.l2, 0)
        check_number("rho", self.rho, -np.inf)
        low = -1 / (n_features - 1) if n_features > 1 else -np.inf
        if not low <= self.rho <= 1:
            raise ValueError(
                f"rho must lie between -1 / (n_features - 1) = {low:.6g} and 1, got {self.rho!r}: "
                "otherwise the penalty is not convex. rho=0 is the identity matrix."
            )


@dataclass(frozen=True)
class Solution:
    """The solution of a problem.

    Attributes
    ----------
    B : ndarray of shape (p, q)
        The weights of the features.
    theta : ndarray of shape (m, q)
        The scores of the labels.
    objective : list of float
        The objective after each iteration.
    first : ndarray of shape (p, q)
        B for the first theta, from which the next penalty starts.
    violation : float
        The relative violation of optimality of the last elastic nets.
    converged : bool
        Whether the iterations ended before their maximum number.
    """

    B: Floats
    theta: Floats
    objective: list[float]
    first: Floats
    violation: float = 0.0
    converged: bool = True


class ScoreProblem:
    """The products of X and Y that the steps of one fit need.

    Parameters
    ----------
    X : array or CSR array of shape (n, p)
        The samples.
    Y : ndarray of shape (n, m), bool
        The labels.
    weights : ndarray of shape (n,) or None
        The sample weights.
    centre : bool
        Whether the means of X and Y are subtracted.
    n_scores : int or None
        The number q of scores; None is the number of linearly independent labels.
    """

    def __init__(
        self,
        X: Any,
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

    @property
    def l1_max(self) -> float:
        """The l1 above which all weights are zero, whatever the scores."""
        reach = np.linalg.norm(self.XtT @ self.root, axis=1).max(initial=0.0)
        return 2 * float(reach)

    @property
    def spread(self) -> float:
        """The mean squared distance of samples from their mean, 1 if it is zero."""
        return self.operator.squared_norm() / self.total or 1.0

    def start(self, paper: bool) -> Floats:
        """Return the first theta.

        With one score for each label, each score is as near to its label as the constraint allows.
        Fewer scores are the combinations of labels that are most correlated with the features. Han
        et al. (2010) start with the first rows of the pseudo-inverse of Y.
        """
        if paper:
            return np.asarray(np.sqrt(self.total) * self._pseudo_inverse()[:, : self.q])
        if self.q == len(self.D):
            return np.asarray(self.root @ self.V.T)
        M = self.XtT @ self.root
        return np.asarray(self.root @ descending_eigh(M.T @ M)[1][:, : self.q])

    def _pseudo_inverse(self) -> Floats:
        """Return the pseudo-inverse of the weighted labels."""
        return np.asarray(np.linalg.pinv(self._scale(self.T)), dtype=float)

    def _scale(self, A: Floats) -> Floats:
        """Multiply rows by the square roots of the sample weights."""
        w = self.operator.weights
        return A if w is None else np.sqrt(w)[:, None] * A

    def rescore(self, B: Floats, theta: Floats) -> Floats:
        """Return the best theta for B, ``D^-1/2`` times the Procrustes factor of ``D^-1/2 Y'XB``.

        The part of theta that B does not determine stays as near as possible to the previous theta.
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
        """Return theta of Eq. 9, which violates the constraint unless XB is in the range of Y."""
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
    ) -> Solution:
        """Alternate the two steps until the objective changes by less than ``tol`` of itself."""
        theta = self.start(paper)
        B = np.zeros((len(self.XtT), self.q)) if first is None else first
        if self.q == 0:
            return Solution(B, theta, [0.0], B)
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
        return Solution(B, theta, objective, first, violation, converged)

    def _objective(self, penalty: Penalty, theta: Floats, B: Floats, C: Floats) -> float:
        """Return the objective of Eq. 1."""
        fit = self.total * np.trace(theta.T @ self.D @ theta) - 2 * (B * C).sum()
        quadratic = (B * self.nets.apply(B, penalty.shift, penalty.tie)).sum()
        return float(fit + quadratic + penalty.l1 * np.abs(B).sum()) / self.total

    def label_weights(self, solution: Solution) -> tuple[Floats, Floats]:
        """Return the weights (p, m) and intercepts (m,) of Eq. 11."""
        W = solution.B @ np.linalg.pinv(solution.theta)
        return W, self.mean - self.operator.mean @ W

    def class_weights(
        self, solution: Solution, penalty: Penalty, member: Bools
    ) -> tuple[Floats, Floats]:
        """Return the weights (p, k) and intercepts (k,) of Eq. 2, for 0/1 member (n, k).

        The nearest mean ``m_j`` of embedded samples, in the metric ``G = B'(S_W + l2 Omega)B``,
        has the largest ``m_j'G^-1 z - m_j'G^-1 m_j / 2``. The score of a class without samples,
        such as a rare class that is missing in a fold, is the mean of the others less one, so that
        it is never the highest.
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
        self, solution: Solution, penalty: Penalty, codec: LabelCodec, Y: Bools
    ) -> tuple[Floats, Floats]:
        """Return the weights of labels, or of classes if y was a vector."""
        if codec.multilabel:
            return self.label_weights(solution)
        W, intercept = self.class_weights(solution, penalty, class_members(codec, Y))
        if codec.kind == "binary":
            W, intercept = W @ [[-1], [1]], intercept @ [[-1], [1]]
        return W, intercept


def class_members(codec: LabelCodec, Y: Bools) -> Bools:
    """Return the 0/1 matrix of classes (n, k), with two columns for two classes."""
    return np.column_stack([~Y, Y]) if codec.kind == "binary" else Y


def best_label_sets(theta: Floats, targets: Floats) -> Bools:
    """Solve Eq. 5 exactly: return the 0/1 rows y with the least ``|y theta - target|``.

    All 2^m sets are compared: ``|y theta|^2`` is computed once for all sets, by adding one label
    after the other, and ``2 y theta target`` for each sample. The cost is 2^m operations for each
    sample.
    """
    m = len(theta)
    if m > MAX_DISCRETE_LABELS:
        raise ValueError(
            f"method='discrete' compares all 2^m label sets and supports at most "
            f"{MAX_DISCRETE_LABELS} labels, there are {m}: use thresholds instead."
        )
    G = theta @ theta.T
    squares, cross = np.zeros(1), np.zeros((m, 1))  # for the sets of the first k labels
    for k in range(m):
        squares = np.concatenate([squares, squares + G[k, k] + 2 * cross[k]])
        cross = np.concatenate([cross, cross + G[:, k : k + 1]], axis=1)
    best = np.empty(len(targets), dtype=np.int64)
    step = max(1, CHUNK >> m)
    for start in range(0, len(targets), step):
        linear = targets[start : start + step] @ theta.T
        inner = np.zeros((len(linear), 1))
        for k in range(m):
            inner = np.concatenate([inner, inner + linear[:, k : k + 1]], axis=1)
        best[start : start + step] = first_highest(2 * inner - squares)
    return np.asarray((best[:, None] >> np.arange(m)) & 1 == 1)
