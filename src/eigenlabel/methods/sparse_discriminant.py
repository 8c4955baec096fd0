"""MtSDA, multi-task sparse discriminant analysis (Han, Wu, Jia, Zhuang, Yu; AAAI 2010).

    min_{B, theta}  1/n sum_j |Yc theta_j - Xc b_j|^2 + l2 b_j'Omega b_j + l1 |b_j|_1
    s.t.  theta'(Yc'Yc / n) theta = I,       Omega = (1 - rho) I + rho 11'

(Eq. 1, with X and Y centred) by turns: for fixed theta one elastic net a score, all with the same
design (``core.elastic_net``); for fixed B a Procrustes problem with a closed solution.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel._validation import (
    check_choice,
    check_data,
    check_number,
    check_scale,
    check_weights,
)
from eigenlabel.core.eigen import descending_eigh, positive_count
from eigenlabel.core.elastic_net import ElasticNets
from eigenlabel.core.operators import CentredOperator, total_weight, weighted_mean
from eigenlabel.labels import LabelCodec
from eigenlabel.methods._base import ScoreClassifier
from eigenlabel.thresholds import Rule, get_rule

MAX_DISCRETE_LABELS = 20
CHUNK = 2**22  # objectives of label sets held at once
UNDETERMINED = 1e-7  # relative size of what the accuracy of B, 1e-9, leaves to chance
TOLERATED = 1e-6  # violation of optimality, relative to the largest correlation


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
        """Give theta of Eq. 9, which leaves the constraint unless XB lies in the range of Y.

        What XB does not determine, because its rank is lower, is zero and not left to rounding.
        """
        U, s, Vt = np.linalg.svd(self._scale(self.operator.matmat(B)), full_matrices=False)
        k = int(np.count_nonzero(s > UNDETERMINED * s[0]))
        return np.sqrt(self.total) * self._pseudo_inverse() @ U[:, :k] @ Vt[:k]

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
        has the largest ``m_j'G^-1 z - m_j'G^-1 m_j / 2``.
        """
        B, w = solution.B, self.operator.weights
        Z = self.operator.matmat(B)
        M = member.astype(float) if w is None else w[:, None] * member
        means = (M.T @ Z) / M.sum(axis=0)[:, None]
        within = self._scale(Z - member @ means)
        sums = B.sum(axis=0)
        G = within.T @ within + penalty.shift * B.T @ B + penalty.tie * np.outer(sums, sums)
        A = np.linalg.pinv(G / self.total, hermitian=True) @ means.T  # (q, k)
        W = B @ A
        return W, -0.5 * (means.T * A).sum(axis=0) - self.operator.mean @ W

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
        best[start : start + step] = (squares - 2 * inner).argmin(axis=1)
    return (best[:, None] >> np.arange(m)) & 1 == 1


def _product(X: Any, W: Any) -> np.ndarray:
    """X W' of dense or sparse X and W."""
    found = X @ W.T
    return found.toarray() if sp.issparse(found) else np.asarray(found)


class BaseMtSDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ScoreClassifier):
    """What MtSDA and its tuned twin share: checking, storing, scoring, deciding."""

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, LabelCodec, np.ndarray, np.ndarray | None]:
        check_choice("scores", self.scores, ("exact", "paper"))
        check_number("n_iter", self.n_iter, 1, integer=True)
        check_number("tol", self.tol, 0)
        X = check_data(self, X, reset=True)
        codec, Y = LabelCodec.fit(y)
        check_consistent_length(X, Y)
        weights = check_weights(sample_weight, X)
        if self.n_components is not None:
            check_number("n_components", self.n_components, 1, Y.shape[1], integer=True)
        check_scale(X)
        return X, codec, Y, weights

    def _problem(self, X: Any, Y: np.ndarray, weights: np.ndarray | None) -> ScoreProblem:
        return ScoreProblem(X, Y, weights, self.fit_intercept, self.n_components)

    def _fit_problem(
        self,
        problem: ScoreProblem,
        penalty: Penalty,
        Y: np.ndarray,
        dtype: np.dtype,
        first: np.ndarray | None = None,
    ) -> None:
        """Solve for one penalty, warn if it did not end well, and store."""
        paper = self.scores == "paper"
        found = problem.solve(penalty, paper, self.n_iter, self.tol, first)
        if not found.converged:
            last, before = found.objective[-1], found.objective[-2]
            warnings.warn(
                f"MtSDA stopped after n_iter={self.n_iter} iterations: the last changed the "
                f"objective by {abs(before - last) / before:.2g} of itself, tol is {self.tol:g}. "
                "Raise n_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if found.violation > TOLERATED:
            warnings.warn(
                f"An elastic net stopped at a relative violation of optimality of "
                f"{found.violation:.2g}. Standardise X or raise l2.",
                ConvergenceWarning,
                stacklevel=3,
            )
        W, intercept = problem.weights(found, penalty, self._codec, Y)
        self.coef_ = W.T.astype(dtype)
        self.intercept_ = intercept.astype(dtype)
        self.components_ = found.B.T.astype(dtype)
        self.label_scores_ = found.theta
        self.objective_ = np.array(found.objective)
        self.n_iter_ = len(found.objective)
        self.n_components_ = problem.q
        self.n_features_selected_ = int(np.count_nonzero(found.B.any(axis=1)))
        self._embedding_offset = (problem.operator.mean @ found.B).astype(dtype)
        self._label_mean = problem.mean

    def _fit_thresholds(self, X: Any, Y: np.ndarray, weights: np.ndarray | None) -> None:
        """Fit thresholds to the training scores; a sample of weight zero is as good as absent."""
        used = slice(None) if weights is None else weights > 0
        scores = self._scores_of(X[used])
        part = None if weights is None else weights[used]
        self.thresholds_ = self._rule.fit(scores, Y[used], part)

    def _scores_of(self, X: Any) -> np.ndarray:
        scores = _product(X, self.coef_) + self.intercept_
        return scores.astype(self.intercept_.dtype, copy=False)

    def _scores(self, X: Any) -> np.ndarray:
        return self._scores_of(check_data(self, X, reset=False))

    def transform(self, X: Any) -> np.ndarray:
        """Embed samples: ``B'(x - mean)``, which approximates the scores of their labels.

        Returns
        -------
        (n_samples, n_components_)
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        embedded = _product(X, self.components_) - self._embedding_offset
        return embedded.astype(self.intercept_.dtype, copy=False)

    def predict(self, X: Any, method: str = "auto") -> Any:
        """Give label sets as a 0/1 matrix (sparse if y was), or classes if y was a vector.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features)
        method : "auto" or "discrete"
            "auto" compares the scores of labels with their thresholds (Algorithm 1), and takes the
            nearest class mean for a vector y (Eq. 2). "discrete" takes the label set whose scores
            are nearest to the embedded sample: of all sets, exactly (Eq. 5, up to 20 labels), or
            of all classes for a vector y (Eq. 4).
        """
        check_is_fitted(self)
        check_choice("method", method, ("auto", "discrete"))
        if method == "discrete":
            return self._predict_discrete(self.transform(X))
        scores = self._scores(X)
        if self._codec.multilabel:
            return self._codec.decode(self._rule.decide(scores, self.thresholds_))
        return self._codec.decide(scores)

    def _predict_discrete(self, Z: np.ndarray) -> Any:
        offset = self._label_mean @ self.label_scores_
        if self._codec.multilabel:
            return self._codec.decode(best_label_sets(self.label_scores_, Z + offset))
        places = self.label_scores_
        if self._codec.kind == "binary":
            places = places[:1] * np.arange(2 if len(self.classes_) == 2 else 1)[:, None]
        nearest = (Z + offset) @ places.T - 0.5 * (places**2).sum(axis=1)
        return self.classes_[nearest.argmax(axis=1)]

    def selected_features(self) -> list[np.ndarray]:
        """List the features that each score uses, heaviest first, by name if X had names."""
        check_is_fitted(self)
        dense = self.components_.toarray() if sp.issparse(self.components_) else self.components_
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        found = []
        for row in np.abs(dense):
            order = np.argsort(-row, kind="stable")
            found.append(names[order[: np.count_nonzero(row)]])
        return found

    def sparsify(self) -> "BaseMtSDA":
        """Store ``coef_`` and ``components_`` as CSR arrays; predictions stay the same."""
        check_is_fitted(self)
        self.coef_ = sp.csr_array(self.coef_)
        self.components_ = sp.csr_array(self.components_)
        return self

    def densify(self) -> "BaseMtSDA":
        """Store ``coef_`` and ``components_`` as arrays again."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_, self.components_ = self.coef_.toarray(), self.components_.toarray()
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class MtSDA(BaseMtSDA):
    """Classify by multi-task sparse discriminant analysis for given penalties.

    Labels get scores theta, combinations of labels that sparse combinations of features predict:

        min 1/n sum_j |Yc theta_j - Xc b_j|^2 + l2 b_j'Omega b_j + l1 |b_j|_1  (all over n)
        s.t. theta'(Yc'Yc / n) theta = I,   Omega = (1 - rho) I + rho 11'

    (AAAI 2010, Eq. 1). A sample's label scores are ``(x - mean) B theta^+ + mean of Y`` (Eq. 11).
    With ``l1=0`` they are ridge regression with shift l2 (Omega = I), whatever theta. For one
    class a sample it is sparse discriminant analysis, with l1 = 0 penalised discriminant analysis.

    Cost: an iteration solves q elastic nets by a few Newton steps each, k^3 / 3 for k features in
    use, and multiplies X with q vectors; the score step costs p m q. Sparse X is never densified.

    Parameters
    ----------
    l1, l2 : float >= 0
        The paper's lambda_1 and lambda_2: penalties beside a sum over samples, not a mean.
    rho : float in [-1 / (n_features - 1), 1], default=0
        Correlation in the penalty matrix; 0 is the identity. Towards 1 weights of opposite sign
        are cheap. At both ends Omega is singular and the minimiser may not be unique.
    n_components : int in 1..n_labels or None
        Number q of scores; None is one a label (less what labels depend on each other).
    scores : "exact" or "paper"
        The score step: the minimiser, with which the objective never rises, or the paper's Eq. 9
        and start, which leave the constraint.
    n_iter : int >= 1, default=100
        Iterations at most. 1 regresses the first scores and leaves them as they are.
    tol : float >= 0, default=1e-3
        Relative change of the objective at which iterations end.
    threshold : str or rule of ``eigenlabel.thresholds``, default="global"
        How scores become label sets, fitted to the training scores; "global" is Algorithm 1.
    fit_intercept : bool, default=True
        Centre X and Y. False takes both as they are.

    Attributes
    ----------
    coef_ : (n_labels, n_features), weights of label scores (a vector y: of classes, by Eq. 2)
    intercept_ : (n_labels,)
    components_ : (n_components_, n_features), the sparse weights B'
    label_scores_ : (n_labels, n_components_), theta
    objective_ : (n_iter_,), Eq. 1 after each iteration
    n_iter_, n_components_ : int
    n_features_selected_ : int, features with a weight in some score
    thresholds_ : (n_labels,), absent for a vector y
    classes_ : (n_labels,), columns of a label matrix, or classes of a vector y
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from eigenlabel import MtSDA
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = MtSDA(l1=20.0, l2=1.0).fit(data.X[:150], data.Y[:150])
    >>> model.predict(data.X[150:]).shape, len(model.selected_features())
    ((50, 6), 6)
    """

    def __init__(
        self,
        l1: float = 1.0,
        l2: float = 1.0,
        rho: float = 0.0,
        *,
        n_components: int | None = None,
        scores: str = "exact",
        n_iter: int = 100,
        tol: float = 1e-3,
        threshold: str | Rule = "global",
        fit_intercept: bool = True,
    ) -> None:
        self.l1 = l1
        self.l2 = l2
        self.rho = rho
        self.n_components = n_components
        self.scores = scores
        self.n_iter = n_iter
        self.tol = tol
        self.threshold = threshold
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MtSDA":
        """Fit to samples X (n, p) and labels y.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features)
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        sample_weight : (n_samples,) or None
            A weight of k counts like k copies of the sample.
        """
        rule = get_rule(self.threshold)
        X, codec, Y, weights = self._check_training(X, y, sample_weight)
        penalty = Penalty(self.l1, self.l2, self.rho)
        penalty.check(X.shape[1])
        self._codec, self.classes_, self._rule = codec, codec.classes, rule
        self._fit_problem(self._problem(X, Y, weights), penalty, Y, X.dtype)
        vars(self).pop("thresholds_", None)
        if codec.multilabel:
            self._fit_thresholds(X, Y, weights)
        return self
