"""SVM-perf: linear SVMs for losses of whole samples, such as F1, by cutting planes.

    min_w  1/2 |w|^2 + 100 C max_{y'} [ loss(y', y) - w'(Psi(y) - Psi(y')) ]_+

with ``Psi(y) = sum_i y_i x_i / (2 n)`` for labels y of +-1, and the maximum over all label vectors
of the sample (Joachims, ICML 2005). Each maximiser is a plane below the second term; a QP over the
planes met so far gives the next w (one-slack formulation: Joachims, Finley, Yu, 2009).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.base import ScoreClassifier
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.validation import (
    check_choice,
    check_data,
    check_flag,
    check_number,
    check_scale,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.labels.codec import LabelCodec

IDLE = 10  # rounds below the other planes after which one may be replaced


def _error_rate(pos: np.ndarray, neg: np.ndarray, _: int) -> tuple[int, int, float]:
    a, b = np.count_nonzero(pos >= 1), np.count_nonzero(neg > -1)
    return a, b, (len(pos) - a + b) / (len(pos) + len(neg))


def _f1(pos: np.ndarray, neg: np.ndarray, _: int) -> tuple[int, int, float]:
    """Search all a; for each, the value is concave in b, so that bisection finds the best b."""
    p, n = len(pos), len(pos) + len(neg)
    a = np.arange(p + 1)
    low, high = np.zeros(p + 1, dtype=int), np.full(p + 1, len(neg))
    while (low < high).any():
        b = (low + high) // 2
        gain = 2 * a / ((a + b + p) * (a + b + p + 1)) + neg[np.minimum(b, len(neg) - 1)] / n
        more = (gain > 0) & (low < high)
        low, high = np.where(more, b + 1, low), np.where(more, high, b)
    loss = 1 - 2 * a / (a + low + p)
    best = np.argmax(loss + (_sums(pos)[a] + _sums(neg)[low]) / n)
    return a[best], low[best], loss[best]


def _at_k(pos: np.ndarray, neg: np.ndarray, k: int, among: int) -> tuple[int, int, float]:
    """Search the label vectors with k positives; hits count as shares of ``among``."""
    a = np.arange(max(0, k - len(neg)), min(k, len(pos)) + 1)
    loss = 1 - a / among
    best = np.argmax(loss + (_sums(pos)[a] + _sums(neg)[k - a]) / (len(pos) + len(neg)))
    return a[best], k - a[best], loss[best]


def _precision(pos: np.ndarray, neg: np.ndarray, k: int) -> tuple[int, int, float]:
    return _at_k(pos, neg, k, k)


def _recall(pos: np.ndarray, neg: np.ndarray, k: int) -> tuple[int, int, float]:
    return _at_k(pos, neg, k, len(pos))


def _sums(values: np.ndarray) -> np.ndarray:
    """Sum the first 0, 1, ... values."""
    return np.concatenate([[0.0], np.cumsum(values)])


# Scores of positives and of negatives, both descending, and k -> the numbers of true and of false
# positives of the most violated label vector, and its loss.
CONTINGENCY: dict[str, Callable[..., tuple[int, int, float]]] = {
    "f1": _f1,
    "precision_at_k": _precision,
    "recall_at_k": _recall,
    "error_rate": _error_rate,
}
LOSSES = (*CONTINGENCY, "roc_area")


def most_violated(
    loss: str, positive: np.ndarray, k: int, scores: np.ndarray
) -> tuple[np.ndarray, float]:
    """Find the label vector y' that maximises ``loss(y') - w'(Psi(y) - Psi(y'))``; n log n.

    For a given number of true and of false positives the best y' takes the highest scores, so
    that a search over contingency tables is exact. For ``roc_area`` the vector runs over pairs.

    Parameters
    ----------
    loss : one of LOSSES
    positive : (n,) boolean, with at least one True and one False
    k : number of positives of y' (losses at k)
    scores : (n,), w'x

    Returns
    -------
    coefficients : (n,), such that ``Psi(y) - Psi(y') = X'coefficients``
    value : the loss of y', 0..1
    """
    if loss == "roc_area":
        return _swapped_pairs(scores, positive)
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    pos, neg = pos[np.argsort(-scores[pos])], neg[np.argsort(-scores[neg])]
    a, b, value = CONTINGENCY[loss](scores[pos], scores[neg], k)
    coefficients = np.zeros(len(scores))
    coefficients[pos[a:]] = 1 / len(scores)
    coefficients[neg[:b]] = -1 / len(scores)
    return coefficients, float(value)


def _swapped_pairs(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, float]:
    """Count, for each sample, the partners that are not apart by a margin of 1."""
    pos, neg = scores[positive], scores[~positive]
    pairs = len(pos) * len(neg)
    above = len(neg) - np.searchsorted(np.sort(neg), pos - 1, side="right")
    below = np.searchsorted(np.sort(pos - 1), neg, side="left")  # the same difference, both times
    coefficients = np.empty(len(scores))
    coefficients[positive], coefficients[~positive] = above / pairs, -below / pairs
    return coefficients, float(above.sum() / pairs)


class Planes:
    """The cutting planes of one label, each ``loss - w'gradient`` from below, and their QP."""

    def __init__(self, n_features: int, C: float, tol: float) -> None:
        self.C, self.tol, self.size = C, tol, 0
        self._gradients = np.empty((16, n_features))
        self._gram = np.empty((16, 16), order="F")
        self._losses, self._idle = np.empty(16), np.zeros(16, dtype=int)

    def add(self, gradient: np.ndarray, loss: float) -> None:
        """Add a plane, in place of one that has long been inactive if there is such."""
        slot = int(self._idle[: self.size].argmax()) if self.size else 0
        if not self.size or self._idle[slot] < IDLE:
            slot = self.size
            self.size += 1
        if slot == len(self._losses):
            self._grow()
        self._gradients[slot], self._losses[slot], self._idle[slot] = gradient, loss, 0
        row = self._gradients[: self.size] @ gradient
        self._gram[slot, : self.size] = row
        self._gram[: self.size, slot] = row

    def _grow(self) -> None:
        more = len(self._losses)
        self._gradients = np.pad(self._gradients, ((0, more), (0, 0)))
        self._gram = np.asfortranarray(np.pad(self._gram, (0, more)))
        self._losses, self._idle = np.pad(self._losses, (0, more)), np.pad(self._idle, (0, more))

    def solve(self) -> tuple[np.ndarray, float]:
        """Give the w of the planes so far and the value of their dual, over C."""
        some = slice(self.size)
        Q, losses = self.C * self._gram[some, some], self._losses[some]
        weights = _solve_simplex(Q, losses)
        heights = losses - Q @ weights
        # By height, not by weight: with a large C the tiniest weight moves w.
        self._idle[some] = np.where(heights > heights.max() - self.tol, 0, self._idle[some] + 1)
        value = weights @ losses - weights @ Q @ weights / 2
        return self.C * (weights @ self._gradients[some]), float(value)


def _solve_simplex(Q: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Maximise ``c'v - v'Qv / 2`` over v >= 0 of sum at most 1."""
    solver = _qp_solver()
    k, one = len(c), np.ones(1)
    solver.setup(Q, -c, None, None, np.ones((1, k)), -np.inf * one, one, np.zeros(k))
    solver.solve()
    # Interior points are inside up to rounding only; on the simplex the dual value is a bound.
    v = np.maximum(solver.result.x, 0)
    return v / max(1.0, v.sum())


def _qp_solver() -> Any:
    try:
        import piqp  # noqa: PLC0415  an extra
    except ImportError as error:
        raise ImportError(
            "SVMPerfClassifier needs the QP solver piqp: pip install 'eigenlabel[margin]'."
        ) from error
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    return solver


@dataclass(frozen=True)
class Solution:
    """The weights of one label, the intercept's last, and how they were found."""

    w: np.ndarray
    gap: float
    n_iter: int


def minimise(
    X: Any,
    find: Callable[[np.ndarray], tuple[np.ndarray, float]],
    C: float,
    constant: float,
    tol: float,
    max_iter: int,
) -> Solution:
    """Minimise ``|w|^2 / (2 C) + loss - w'gradient`` of the planes that ``find`` gives for scores.

    Each round takes the plane halfway between the best w so far and the one of the planes. It
    lowers the best, or (convexity) cuts off the latter by at least the gap: no round is lost, and
    there are fewer of them than with the planes' own w.
    """
    planes = Planes(X.shape[1] + 1, C, tol)
    w = best = np.zeros(X.shape[1] + 1)
    lowest = gap = np.inf
    for n_iter in range(1, max_iter + 1):  # noqa: B007  given back
        w = (w + best) / 2
        scores = X @ w[:-1] + constant * w[-1]
        coefficients, loss = find(scores)
        value = w @ w / (2 * C) + max(0.0, loss - scores @ coefficients)
        if value < lowest:
            best, lowest = w, value
        planes.add(np.append(X.T @ coefficients, constant * coefficients.sum()), loss)
        w, bound = planes.solve()
        gap = lowest - bound
        if gap <= tol:
            break
    return Solution(best, gap, n_iter)


class SVMPerfClassifier(ScoreClassifier):
    """Classify by linear SVMs for F1, precision or recall at k, ROC area or the error rate.

    One problem a label (Joachims, ICML 2005, Optimization Problem 2):

        min 1/2 |w|^2 + C slack,   w'(Psi(y) - Psi(y')) >= 100 loss(y', y) - slack  for all y',
        slack >= 0

    with ``Psi(y) = 100 sum_i y_i x_i / (2 n)``, y and y' of +-1. Losses count in percent. For the
    error rate it is scikit-learn's ``LinearSVC(loss="hinge")`` with its C = 100 C / n_samples;
    ROC area is the mean hinge loss of pairs of a positive and a negative sample.

    Solved by cutting planes with one slack (Joachims, Finley, Yu, 2009), to a duality gap. Cost a
    round: two products with X, one sort (the most violated y' is found exactly, also for F1) and
    a QP over the planes that are in use, some tens to some hundreds. The number of rounds grows
    with C, hardly with n. Sparse X is never densified. Needs ``eigenlabel[margin]``.

    Parameters
    ----------
    loss : "f1", "precision_at_k", "recall_at_k", "roc_area" or "error_rate"
        One minus the figure of that name. At k, y' runs over the vectors with k positives.
    C : float > 0, default=5000
        Price of a percent of loss; the default is that of Ji et al. (TKDD 2010).
    k : int in 1..n_samples or None
        For the losses at k; None is the number of positives of each label.
    fit_intercept : bool, default=True
        The intercept is the weight of a constant feature, and is penalised like the others. ROC
        area does not depend on it: it stays 0 and decisions at zero mean nothing; put a
        :class:`ThresholdedClassifier` around it. So with losses at k.
    intercept_scaling : float > 0, default=1.0
        The value of that feature; a larger one makes the penalty lighter.
    tol : float > 0, default=1e-3
        Stop at a duality gap of ``100 C tol``, that is a loss of ``tol`` off the best.
    max_iter : int >= 1, default=2000
        Rounds for each label.

    Attributes
    ----------
    coef_ : (n_labels, n_features)
    intercept_ : (n_labels,)
    gap_ : (n_labels,), in units of ``100 C``
    n_iter_ : (n_labels,)
    classes_ : columns of a label matrix, or classes of a vector y

    Notes
    -----
    A label that all or no samples have gets no weights and an intercept of 1 or -1. The bound on
    F1, precision and recall is loose where classes overlap much: then no weights at all may be
    the best answer. Look at ``coef_``, or take "error_rate" or "roc_area".

    Examples
    --------
    >>> from eigenlabel import SVMPerfClassifier
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(300, n_features=10, n_labels=4, random_state=0)
    >>> model = SVMPerfClassifier("f1", C=50).fit(data.X[:200], data.Y[:200])
    >>> model.predict(data.X[200:]).shape, bool((model.gap_ <= 1e-3).all())
    ((100, 4), True)
    """

    def __init__(
        self,
        loss: str = "f1",
        C: float = 5000,
        *,
        k: int | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 2000,
    ) -> None:
        self.loss = loss
        self.C = C
        self.k = k
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "SVMPerfClassifier":
        """Fit one linear SVM a label.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features)
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        """
        _qp_solver()  # before any work
        self._check_parameters()
        X = check_data(self, X, reset=True)
        self._codec, Y = LabelCodec.fit(y)
        check_consistent_length(X, Y)
        check_scale(X)
        if self.k is not None:
            check_number("k", self.k, 1, len(Y), integer=True)
        dtype, X = X.dtype, X.astype(float, copy=False)
        self._check_rounding(X)
        found = [self._fit_label(X, positive) for positive in Y.T]
        W = np.array([s.w for s in found])
        self.coef_ = W[:, :-1].astype(dtype)
        self.intercept_ = W[:, -1].astype(dtype)
        self.gap_ = np.array([s.gap for s in found])
        self.n_iter_ = np.array([s.n_iter for s in found])
        self.classes_ = self._codec.classes
        self._warn()
        return self

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, LOSSES)
        tiny = float(np.finfo(float).tiny)
        for name in ("C", "intercept_scaling", "tol"):
            check_number(name, getattr(self, name), tiny)
        check_number("max_iter", self.max_iter, 1, integer=True)
        check_flag("fit_intercept", self.fit_intercept)
        if self.k is not None and not self.loss.endswith("_at_k"):
            raise ValueError(
                f"k = {self.k!r} has no meaning for loss={self.loss!r}: leave k out, or take "
                "'precision_at_k' or 'recall_at_k'."
            )

    def _check_rounding(self, X: Any) -> None:
        """Raise ValueError if rounding of the scores, at most ``100 C |x|^2``, may exceed 1."""
        squares = np.asarray((X.multiply(X) if sp.issparse(X) else X * X).sum(axis=1))
        longest = float(np.sqrt(squares.max(initial=0.0)))
        if np.finfo(float).eps * 100 * self.C * longest**2 > 1:
            raise ValueError(
                f"The longest sample has length {longest:.3g}, so that with C = {self.C:g} the "
                "scores may be rounding. Rescale X to rows of unit length, for instance with "
                "sklearn.preprocessing.Normalizer, or lower C."
            )

    def _fit_label(self, X: Any, positive: np.ndarray) -> Solution:
        if positive.all() or not positive.any():
            return Solution(np.append(np.zeros(X.shape[1]), 1.0 if positive[0] else -1.0), 0.0, 0)
        k = int(positive.sum()) if self.k is None else int(self.k)
        unused = not self.fit_intercept or self.loss == "roc_area"
        constant = 0.0 if unused else float(self.intercept_scaling)
        find = partial(most_violated, self.loss, positive, k)
        found = minimise(X, find, 100 * self.C, constant, self.tol, self.max_iter)
        found.w[-1] *= constant
        return found

    def _warn(self) -> None:
        gaps = np.abs(self.gap_)  # those below zero are rounding
        late = np.count_nonzero(gaps > self.tol)
        if late:
            warn(
                f"{late} of {len(gaps)} labels did not come to tol = {self.tol} in "
                f"max_iter = {self.max_iter} rounds; the largest gap is {gaps.max():.2g}. "
                "Raise max_iter, lower C or scale X to rows of unit length.",
                ConvergenceWarning,
            )

    def _scores(self, X: Any) -> np.ndarray:
        X = check_data(self, X, reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores.astype(self.intercept_.dtype, copy=False)
