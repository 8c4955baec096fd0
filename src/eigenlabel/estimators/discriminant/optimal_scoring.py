"""The problem behind MtSDA: scores of labels that sparse combinations of features predict.

    min_{B, theta}  1/n sum_j |Yc theta_j - Xc b_j|^2 + l2 b_j'Omega b_j + l1 |b_j|_1
    s.t.  theta'(Yc'Yc / n) theta = I,       Omega = (1 - rho) I + rho 11'

(Han et al., AAAI 2010, Eq. 1; all over n, X and Y centred) by turns: for fixed theta one elastic
net a score, all with the same design; for fixed B a Procrustes problem with a closed solution.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.inputs.validation import check_number
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.numerics import descending_eigh, positive_count
from eigenlabel.linalg.operators import CentredOperator, total_weight, weighted_mean
from eigenlabel.linalg.solvers.elastic_net import ElasticNets
from eigenlabel.linalg.ties import first_highest

MAX_DISCRETE_LABELS = 20
CHUNK = 2**22  # objectives of label sets held at once
UNDETERMINED = 1e-7  # relative size of what the accuracy of B, 1e-9, leaves to chance


@dataclass(frozen=True)
class Penalty:
    """l1, and l2 Omega as ``shift I + tie 11'``."""

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
        """Refuse penalties that are not convex."""
        check_number("l1", self.l1, 0)
        check_number("l2", self.l2, 0)
        check_number("rho", self.rho, -np.inf)
        low = -1 / (n_features - 1) if n_features > 1 else -np.inf
        if not low <= self.rho <= 1:
            raise ValueError(
                f"rho must lie between -1 / (n_features - 1) = {low:.6g} and 1, got {self.rho!r}: "
                "beyond, the penalty is not convex. rho=0 is the identity matrix."
            )


@dataclass(frozen=True)
class Solution:
    """Weights B (p, q), scores theta (m, q) of labels, and how they were reached."""

    B: np.ndarray
    theta: np.ndarray
    objective: list[float]
    first: np.ndarray  # B for the first theta, a start for the next penalty
    violation: float = 0.0
    converged: bool = True


class ScoreProblem:
    """X and Y of one fit, as the products that the steps need.

    Parameters
    ----------
    X : (n, p) dense or CSR
    Y : (n, m) 0/1
    weights : (n,) or None
    centre : subtract the means of X and Y
    n_scores : q, None for as many as there are independent labels
    """

    def __init__(
        self,
        X: Any,
        Y: np.ndarray,
        weights: np.ndarray | None,
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
        """The mean squared distance of samples from their mean, 1 where it is zero."""
        return self.operator.squared_norm() / self.total or 1.0

    def start(self, paper: bool) -> np.ndarray:
        """Give the first theta.

        One score a label, as near to it as the constraint allows; fewer scores lie where features
        and labels are most correlated. The paper takes the first rows of the pseudo-inverse of Y.
        """
        if paper:
            return np.sqrt(self.total) * self._pseudo_inverse()[:, : self.q]
        if self.q == len(self.D):
            return self.root @ self.V.T
        M = self.XtT @ self.root
        return self.root @ descending_eigh(M.T @ M)[1][:, : self.q]

    def _pseudo_inverse(self) -> np.ndarray:
        return np.linalg.pinv(self._scale(self.T))

    def _scale(self, A: np.ndarray) -> np.ndarray:
        w = self.operator.weights
        return A if w is None else np.sqrt(w)[:, None] * A

    def rescore(self, B: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Give the best theta for B: ``D^-1/2`` times the Procrustes factor of ``D^-1/2 Y'XB``.

        Where B says nothing, theta stays as near as it can to what it was.
        """
        M = self.root.T @ (self.XtT.T @ B)
        U, s, Vt = np.linalg.svd(M)
        k = int(np.count_nonzero(s > s[0] * max(M.shape) * np.finfo(float).eps))
        R = U[:, :k] @ Vt[:k]
        if k < M.shape[1]:
            before = self.root.T @ self.D @ theta
            u, _, vt = np.linalg.svd(U[:, k:].T @ before @ Vt[k:].T, full_matrices=False)
            R = R + U[:, k:] @ (u @ vt) @ Vt[k:]
        return self.root @ R

    def rescore_by_paper(self, B: np.ndarray) -> np.ndarray:
        """Return theta of Eq. 9, which leaves the constraint unless XB lies in the range of Y."""
        return np.sqrt(self.total) * self._pseudo_inverse() @ self.polar_factor(B)

    def polar_factor(self, B: np.ndarray) -> np.ndarray:
        """Return UV' (n, q) of the singular value decomposition of XB.

        If the rank of XB is lower than q, UV' is not unique, and an SVD leaves the choice to
        rounding. The rest is then as near as possible to fixed pseudo-random numbers, so that it
        is the same on every machine, and theta has full rank. A choice in the range of Y would
        give larger scores, but with l1 > 0 the iterations often alternate between two solutions.
        """
        U, s, Vt = np.linalg.svd(self._scale(self.operator.matmat(B)), full_matrices=False)
        k = int(np.count_nonzero(s > UNDETERMINED * s[0]))
        U, known, rest = U[:, :k], Vt[:k], Vt[k:]
        if not len(rest):
            return U @ known
        # NumPy guarantees that the numbers of this generator never change.
        G = np.random.RandomState(0).standard_normal((len(U), self.q)) @ rest.T
        u, _, vt = np.linalg.svd(G - U @ (U.T @ G), full_matrices=False)
        return U @ known + u @ vt @ rest

    def solve(
        self,
        penalty: Penalty,
        paper: bool = False,
        n_iter: int = 100,
        tol: float = 1e-3,
        first: np.ndarray | None = None,
    ) -> Solution:
        """Take turns until the objective falls by less than ``tol`` of itself."""
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

    def _objective(
        self, penalty: Penalty, theta: np.ndarray, B: np.ndarray, C: np.ndarray
    ) -> float:
        """Eq. 1."""
        fit = self.total * np.trace(theta.T @ self.D @ theta) - 2 * (B * C).sum()
        quadratic = (B * self.nets.apply(B, penalty.shift, penalty.tie)).sum()
        return float(fit + quadratic + penalty.l1 * np.abs(B).sum()) / self.total

    def label_weights(self, solution: Solution) -> tuple[np.ndarray, np.ndarray]:
        """Give the weights (p, m) and intercepts (m,) of Eq. 11."""
        W = solution.B @ np.linalg.pinv(solution.theta)
        return W, self.mean - self.operator.mean @ W

    def class_weights(
        self, solution: Solution, penalty: Penalty, member: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the weights (p, k) and intercepts (k,) of Eq. 2, for 0/1 member (n, k).

        The nearest mean ``m_j`` of embedded samples, in the metric ``G = B'(S_W + l2 Omega)B``,
        has the largest ``m_j'G^-1 z - m_j'G^-1 m_j / 2``. A class without samples, as in a fold
        that a rare class is missing from, gets the mean of the others less one: it never wins.
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
        self, solution: Solution, penalty: Penalty, codec: LabelCodec, Y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give what decides: label weights, or class weights if y was a vector."""
        if codec.multilabel:
            return self.label_weights(solution)
        W, intercept = self.class_weights(solution, penalty, class_members(codec, Y))
        if codec.kind == "binary":
            W, intercept = W @ [[-1], [1]], intercept @ [[-1], [1]]
        return W, intercept


def class_members(codec: LabelCodec, Y: np.ndarray) -> np.ndarray:
    """Give the 0/1 matrix of classes (n, k), two columns for two classes."""
    return np.column_stack([~Y, Y]) if codec.kind == "binary" else Y


def best_label_sets(theta: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Solve Eq. 5 exactly: the 0/1 rows y with the least ``|y theta - target|``.

    All 2^m sets are compared: ``|y theta|^2`` of all of them is built once by adding label after
    label, ``2 y theta target`` for each sample; 2^m operations a sample.
    """
    m = len(theta)
    if m > MAX_DISCRETE_LABELS:
        raise ValueError(
            f"method='discrete' compares all 2^m label sets and takes at most "
            f"{MAX_DISCRETE_LABELS} labels, there are {m}: use thresholds instead."
        )
    G = theta @ theta.T
    squares, cross = np.zeros(1), np.zeros((m, 1))  # of sets of the first k labels
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
    return (best[:, None] >> np.arange(m)) & 1 == 1
