"""The classifier by SVM-perf: linear SVMs for losses of all samples together, such as F1.

    min_w  1/2 |w|^2 + 100 C max_{y'} [ loss(y', y) - w'(Psi(y) - Psi(y')) ]_+

with ``Psi(y) = sum_i y_i x_i / (2 n)`` for labels y of +-1, and the maximum over all label vectors
of the samples (Joachims 2005). Each maximiser is a plane below the second term.
"""

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from eigenlabel.estimators.base import CALIBRATION, ScoreClassifier, check_training
from eigenlabel.estimators.margin.cutting_planes import DualSolution, minimise, qp_solver
from eigenlabel.estimators.margin.violations import LOSSES, most_violated
from eigenlabel.inputs.data import check_data, check_scale
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    POSITIVE,
    Choice,
    Flag,
    Integer,
    Maybe,
    Parameters,
    check_number,
    check_parameters,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Bools, Floats, Matrix


class SVMPerfClassifier(ScoreClassifier):
    """Classify by linear SVMs for F1, precision or recall at k, ROC area or the error rate.

    There is one problem per label (Joachims 2005, Optimization Problem 2):

        min 1/2 |w|^2 + C slack,   w'(Psi(y) - Psi(y')) >= 100 loss(y', y) - slack  for all y',
        slack >= 0

    with ``Psi(y) = 100 sum_i y_i x_i / (2 n)`` and y and y' of +-1. Losses count in percent. For
    the error rate it is scikit-learn's ``LinearSVC(loss="hinge")`` with its C equal to
    ``100 C / n_samples``. For the ROC area it is the mean hinge loss of all pairs of a positive
    and a negative sample.

    The problem is solved by cutting planes with one slack (Joachims et al. 2009) up to a duality
    gap. Cost of a round: two products with X, one sort (the most violated y' is found exactly,
    also for F1) and a QP over the planes in use, some tens to some hundreds. The number of rounds
    increases with C and hardly with n. Sparse X is never densified. The classifier needs the extra
    ``eigenlabel[margin]``.

    Parameters
    ----------
    loss : {"f1", "precision_at_k", "recall_at_k", "error_rate", "roc_area"}, default="f1"
        Loss of all samples together: one minus the measure of that name, or the error rate. For
        the losses at k, y' is any vector with k positives.
    C : float, default=5000
        Price of a percent of loss, more than 0. The default is that of Ji et al. (2010).
    k : int or None, default=None
        Number of positives for the losses at k, between 1 and n_samples. None is the number of
        positives of each label.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is the weight of a constant feature and has the same
        penalty as the other weights. The ROC area does not depend on it: its intercept is 0 and
        decisions at zero have no meaning, nor have they with losses at k. Use a
        :class:`ThresholdedClassifier` for label sets.
    intercept_scaling : float, default=1.0
        Value of the constant feature, more than 0. A larger value makes the penalty lighter.
    tol : float, default=1e-3
        The rounds stop at a duality gap of ``100 C tol``, that is at a loss within ``tol`` of the
        smallest one. It is more than 0.
    max_iter : int, default=2000
        Upper bound on the number of rounds for each label.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to held-out scores of
        five folds, which costs five more fits. None leaves out ``predict_proba``, and rules on
        probabilities.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the SVMs.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts of the SVMs.
    gap_ : ndarray of shape (n_labels,)
        Duality gaps in units of ``100 C``.
    n_iter_ : ndarray of shape (n_labels,)
        Number of rounds for each label.
    calibration_ : Calibration
        The maps from scores to probabilities. Only if ``calibration`` is not None.
    classes_ : ndarray of shape (n_labels,) or (n_classes,)
        Columns of a label matrix, or classes of a vector y.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in ``fit``. It exists only if all names are strings.

    Notes
    -----
    A label that all samples have, or none, gets zero weights and an intercept of 1 or -1. The
    bound on F1, precision and recall is loose if classes overlap much: zero weights may then be
    the best solution. Look at ``coef_``, or use "error_rate" or "roc_area".

    Examples
    --------
    >>> from eigenlabel import SVMPerfClassifier
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(300, n_features=10, n_labels=4, random_state=0)
    >>> model = SVMPerfClassifier("f1", C=50).fit(data.X[:200], data.Y[:200])
    >>> model.predict(data.X[200:]).shape, bool((model.gap_ <= 1e-3).all())
    ((100, 4), True)
    """

    _parameters: ClassVar[Parameters] = {
        "loss": Choice(*LOSSES),
        "C": POSITIVE,
        "k": Maybe(Integer()),
        "fit_intercept": Flag(),
        "intercept_scaling": POSITIVE,
        "tol": POSITIVE,
        "max_iter": COUNT,
        "calibration": CALIBRATION,
    }

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
        calibration: str | None = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.k = k
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.calibration = calibration

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Fit one linear SVM per label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
            Label matrix of 0 and 1, a list of label sets, or a vector of classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        qp_solver()  # raises an error before any work if it is missing
        check_parameters(self)
        self._check_loss()
        data = check_training(self, X, y, complete=True)
        check_scale(data.X)
        if self.k is not None:
            check_number("k", self.k, 1, len(data.Y), integer=True)
        A = data.X.astype(float, copy=False)
        self._check_rounding(A)
        self._store([self._fit_label(A, positive) for positive in data.Y.T], data.X.dtype)
        self._codec, self.classes_ = data.codec, data.codec.classes
        self._warn()
        self._calibrate(X, y, data.Y)
        return self

    def _check_loss(self) -> None:
        if self.k is not None and not self.loss.endswith("_at_k"):
            raise ValueError(
                f"k = {self.k!r} has no meaning for loss={self.loss!r}: leave k out, or use "
                "'precision_at_k' or 'recall_at_k'."
            )

    def _check_rounding(self, X: Matrix) -> None:
        """Raise ValueError if rounding of the scores, at most ``100 C |x|^2``, may exceed 1."""
        sparse = sp.issparse(X)
        squares = np.asarray((X.multiply(X) if sparse else X * X).sum(axis=1))
        longest = float(np.sqrt(squares.max(initial=0.0)))
        if np.finfo(float).eps * 100 * self.C * longest**2 > 1:
            raise ValueError(
                f"The longest sample has length {longest:.3g}, so that with C = {self.C:g} the "
                "scores may be rounding. Rescale X to rows of unit length, for instance with "
                "sklearn.preprocessing.Normalizer, or lower C."
            )

    def _fit_label(self, X: Matrix, positive: Bools) -> DualSolution:
        if positive.all() or not positive.any():
            return DualSolution(
                np.append(np.zeros(X.shape[1]), 1.0 if positive[0] else -1.0), 0.0, 0
            )
        k = int(positive.sum()) if self.k is None else int(self.k)
        unused = not self.fit_intercept or self.loss == "roc_area"
        constant = 0.0 if unused else float(self.intercept_scaling)
        find = partial(most_violated, self.loss, positive, k)
        found = minimise(X, find, 100 * self.C, constant, self.tol, self.max_iter)
        return replace(found, w=np.append(found.w[:-1], constant * found.w[-1]))

    def _store(self, found: list[DualSolution], dtype: Any) -> None:
        W = np.array([s.w for s in found])
        self.coef_ = W[:, :-1].astype(dtype)
        self.intercept_ = W[:, -1].astype(dtype)
        self.gap_ = np.array([s.gap for s in found])
        self.n_iter_ = np.array([s.n_iter for s in found])

    def _warn(self) -> None:
        gaps = np.abs(self.gap_)  # negative ones are rounding
        late = np.count_nonzero(gaps > self.tol)
        if late:
            warn(
                f"{late} of {len(gaps)} labels did not reach tol = {self.tol} in "
                f"max_iter = {self.max_iter} rounds; the largest gap is {gaps.max():.2g}. "
                "Raise max_iter, lower C or scale X to rows of unit length.",
                ConvergenceWarning,
            )

    def _scores(self, X: Any) -> Floats:
        X = check_data(self, X, reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return np.asarray(scores.astype(self.intercept_.dtype, copy=False))
