"""MtSDA, multi-task sparse discriminant analysis (Han et al. 2010)."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.estimators.base import ScoreClassifier
from eigenlabel.estimators.discriminant.optimal_scoring import (
    Penalty,
    ScoreProblem,
    best_label_sets,
)
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    NOT_NEGATIVE,
    CheckedBy,
    Choice,
    Flag,
    Parameters,
    check_choice,
    check_number,
    check_parameters,
)
from eigenlabel.inputs.validation import (
    check_data,
    check_scale,
    check_weights,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.labels.checks import to_dense
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.ties import first_highest
from eigenlabel.thresholds import Rule, get_rule
from eigenlabel.thresholds.decisions import decide

TOLERATED = 1e-6  # violation of optimality relative to the largest correlation, without warning


def _product(X: Any, W: Any) -> Floats:
    """Return X W' of dense or sparse X and W."""
    return np.asarray(to_dense(X @ W.T))


class BaseMtSDA(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,
    ScoreClassifier,
):
    """The common base of MtSDA and MtSDACV, which checks, solves, stores and predicts."""

    _shared_parameters: ClassVar[Parameters] = {
        "n_components": CheckedBy("_check_training"),
        "scores": Choice("exact", "paper"),
        "n_iter": COUNT,
        "tol": NOT_NEGATIVE,
        "threshold": CheckedBy("get_rule"),
        "fit_intercept": Flag(),
    }

    n_components: int | None
    scores: str
    n_iter: int
    tol: float
    fit_intercept: bool
    coef_: Any
    components_: Any
    _rule: Rule

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, LabelCodec, Bools, Floats | None]:
        """Return the checked samples, the codec, the label matrix and the weights."""
        check_parameters(self)
        X = check_data(self, X, reset=True)
        codec, Y = LabelCodec.fit(y)
        check_consistent_length(X, Y)
        weights = check_weights(sample_weight, X)
        if self.n_components is not None:
            check_number("n_components", self.n_components, 1, Y.shape[1], integer=True)
        check_scale(X)
        return X, codec, Y, weights

    def _problem(self, X: Any, Y: Bools, weights: Floats | None) -> ScoreProblem:
        return ScoreProblem(X, Y, weights, self.fit_intercept, self.n_components)

    def _fit_problem(
        self,
        problem: ScoreProblem,
        penalty: Penalty,
        Y: Bools,
        dtype: Any,
        first: Floats | None = None,
    ) -> None:
        """Solve the problem for one penalty, warn if it did not converge, and store the result."""
        paper = self.scores == "paper"
        found = problem.solve(penalty, paper, self.n_iter, self.tol, first)
        if not found.converged:
            last, before = found.objective[-1], found.objective[-2]
            warn(
                f"MtSDA stopped after n_iter={self.n_iter} iterations: the last changed the "
                f"objective by {abs(before - last) / before:.2g} of itself, tol is {self.tol:g}. "
                "Raise n_iter or tol.",
                ConvergenceWarning,
            )
        if found.violation > TOLERATED:
            warn(
                f"An elastic net stopped at a relative violation of optimality of "
                f"{found.violation:.2g}. Standardise X or raise l2.",
                ConvergenceWarning,
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

    def _fit_thresholds(self, X: Any, Y: Bools, weights: Floats | None) -> None:
        """Fit the thresholds to the training scores of samples with positive weight."""
        used = slice(None) if weights is None else weights > 0
        scores = self._scores_of(X[used])
        part = None if weights is None else weights[used]
        self.thresholds_ = self._rule.find_thresholds(scores, Y[used], part)

    def _scores_of(self, X: Any) -> Floats:
        scores = _product(X, self.coef_) + self.intercept_
        return np.asarray(scores, dtype=self.intercept_.dtype)

    def _scores(self, X: Any) -> Floats:
        return self._scores_of(check_data(self, X, reset=False))

    def transform(self, X: Any) -> Floats:
        """Embed samples by ``B'(x - mean)``, which approximates the scores of their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The embedded samples.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        embedded = _product(X, self.components_) - self._embedding_offset
        return np.asarray(embedded, dtype=self.intercept_.dtype)

    def predict(self, X: Any, method: str = "auto") -> Any:
        """Predict the label sets, or the classes if y was a vector.

        The result is sparse if y was sparse.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        method : {"auto", "discrete"}, default="auto"
            How label sets are decided. "auto" compares the scores of labels with their thresholds
            (Algorithm 1 of Han et al. 2010), and chooses the nearest class mean for a vector y
            (Eq. 2). "discrete" chooses the label set whose scores are nearest to the embedded
            sample, exactly among all sets (Eq. 5, up to 20 labels), or among all classes for a
            vector y (Eq. 4).

        Returns
        -------
        y_pred : ndarray or sparse matrix of shape (n_samples, n_labels), or ndarray of classes
            The predictions.
        """
        check_is_fitted(self)
        check_choice("method", method, ("auto", "discrete"))
        if method == "discrete":
            return self._predict_discrete(self.transform(X))
        thresholds = self.thresholds_ if self._codec.multilabel else 0.0
        return decide(self._codec, self._scores(X), self._rule, thresholds)

    def _predict_discrete(self, Z: Floats) -> Any:
        """Return the label sets or classes whose scores are nearest to embedded samples."""
        offset = self._label_mean @ self.label_scores_
        if self._codec.multilabel:
            return self._codec.decode(best_label_sets(self.label_scores_, Z + offset))
        places = self.label_scores_
        if self._codec.kind == "binary":
            places = places[:1] * np.arange(2 if len(self.classes_) == 2 else 1)[:, None]
        nearest = (Z + offset) @ places.T - 0.5 * (places**2).sum(axis=1)
        return self.classes_[first_highest(nearest)]

    def selected_features(self) -> list[Any]:
        """List the features that each score uses.

        Returns
        -------
        features : list of ndarray
            The features of each score, with the largest weight first, by name if X had names and
            by position otherwise.
        """
        check_is_fitted(self)
        dense = to_dense(self.components_)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        found = []
        for row in np.abs(dense):
            order = np.argsort(-row, kind="stable")
            found.append(names[order[: np.count_nonzero(row)]])
        return found

    @all_or_nothing
    def sparsify(self) -> "BaseMtSDA":
        """Store ``coef_`` and ``components_`` as CSR arrays; predictions stay the same.

        Returns
        -------
        self : MtSDA or MtSDACV
            The estimator.
        """
        check_is_fitted(self)
        self.coef_ = sp.csr_array(self.coef_)
        self.components_ = sp.csr_array(self.components_)
        return self

    @all_or_nothing
    def densify(self) -> "BaseMtSDA":
        """Store ``coef_`` and ``components_`` as dense arrays.

        Returns
        -------
        self : MtSDA or MtSDACV
            The estimator.
        """
        check_is_fitted(self)
        self.coef_, self.components_ = to_dense(self.coef_), to_dense(self.components_)
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

    Labels have scores theta, combinations of labels that sparse combinations of features predict:

        min 1/n sum_j |Yc theta_j - Xc b_j|^2 + l2 b_j'Omega b_j + l1 |b_j|_1  (all over n)
        s.t. theta'(Yc'Yc / n) theta = I,   Omega = (1 - rho) I + rho 11'

    (Eq. 1 of Han et al. 2010). The label scores of a sample are
    ``(x - mean) B theta^+ + mean of Y`` (Eq. 11). With ``l1=0`` they equal ridge regression with
    the shift l2 (for Omega = I), whatever theta. For one class per sample the method is sparse
    discriminant analysis, and with ``l1=0`` penalised discriminant analysis.

    An iteration solves q elastic nets by a few Newton steps each, at the cost of k^3 / 3 for k
    features in use, and multiplies X with q vectors; the score step costs p m q. Sparse X is never
    densified.

    Parameters
    ----------
    l1 : float, default=1.0
        The penalty lambda_1 on absolute weights, beside a sum over samples, not a mean.
    l2 : float, default=1.0
        The penalty lambda_2 on squared weights, beside a sum over samples, not a mean.
    rho : float, default=0.0
        The correlation in the penalty matrix, between ``-1 / (n_features - 1)`` and 1; 0 is the
        identity. For values near 1, weights of opposite sign are cheap. At both ends Omega is
        singular and the minimiser may not be unique.
    n_components : int or None, default=None
        The number q of scores, between 1 and the number of labels. None is one score for each
        label, less the number of labels that depend linearly on others.
    scores : {"exact", "paper"}, default="exact"
        The score step. "exact" is the minimiser, with which the objective never rises. "paper" is
        Eq. 9 of Han et al. (2010) and their start, which violate the constraint. Eq. 9 does not
        determine all of theta if the rank of XB is lower than the number of scores, as after the
        first iteration if the label sets of the first samples are linearly dependent. The rest is
        then chosen by a fixed rule, such that theta has full rank; with ``l1=0`` no choice changes
        the scores of new samples.
    n_iter : int, default=100
        The maximum number of iterations. With 1 the first scores are regressed and not changed.
    tol : float, default=1e-3
        The relative change of the objective at which the iterations end.
    threshold : str or Rule, default="global"
        The rule of ``eigenlabel.thresholds`` that turns scores into label sets, fitted to the
        training scores. "global" is Algorithm 1 of Han et al. (2010).
    fit_intercept : bool, default=True
        Whether X and Y are centred.

    Attributes
    ----------
    coef_ : ndarray or sparse array of shape (n_labels, n_features)
        The weights of the label scores, or of the classes of a vector y by Eq. 2.
    intercept_ : ndarray of shape (n_labels,)
        The intercepts of the label scores.
    components_ : ndarray or sparse array of shape (n_components_, n_features)
        The sparse weights B'.
    label_scores_ : ndarray of shape (n_labels, n_components_)
        The scores theta of the labels.
    objective_ : ndarray of shape (n_iter_,)
        The objective of Eq. 1 after each iteration.
    n_iter_ : int
        The number of iterations.
    n_components_ : int
        The number of scores.
    n_features_selected_ : int
        The number of features with a weight in some score.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds of the labels. The attribute is absent for a vector y.
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels, or the classes of a vector y.
    n_features_in_ : int
        The number of features of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has string names.

    Examples
    --------
    >>> from eigenlabel import MtSDA
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = MtSDA(l1=20.0, l2=1.0).fit(data.X[:150], data.Y[:150])
    >>> model.predict(data.X[150:]).shape, len(model.selected_features())
    ((50, 6), 6)
    """

    _parameters: ClassVar[Parameters] = {
        "l1": CheckedBy("Penalty.check"),
        "l2": CheckedBy("Penalty.check"),
        "rho": CheckedBy("Penalty.check"),
        **BaseMtSDA._shared_parameters,
    }

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

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MtSDA":
        """Fit the scores, the weights and the thresholds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels), or array-like of classes
            The 0/1 label matrix, or a vector of classes.
        sample_weight : array-like of shape (n_samples,), default=None
            The sample weights. A weight of k counts like k copies of the sample.

        Returns
        -------
        self : MtSDA
            The fitted classifier.
        """
        rule = get_rule(self.threshold)
        X, codec, Y, weights = self._check_training(X, y, sample_weight)
        penalty = Penalty(self.l1, self.l2, self.rho)
        penalty.check(X.shape[1])
        self._codec, self.classes_, self._rule = codec, codec.classes, rule
        self._fit_problem(self._problem(X, Y, weights), penalty, Y, X.dtype)
        self.__dict__.pop("thresholds_", None)  # from an earlier fit to a label matrix
        if codec.multilabel:
            self._fit_thresholds(X, Y, weights)
        return self
