"""MtSDA, multi-task sparse discriminant analysis (Han, Wu, Jia, Zhuang, Yu; AAAI 2010)."""

from typing import Any

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
from eigenlabel.inputs.validation import (
    check_choice,
    check_data,
    check_flag,
    check_number,
    check_scale,
    check_weights,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.ties import first_highest
from eigenlabel.thresholds import Rule, get_rule
from eigenlabel.thresholds.decisions import decide

TOLERATED = 1e-6  # violation of optimality, relative to the largest correlation


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
        check_flag("fit_intercept", self.fit_intercept)
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

    def _fit_thresholds(self, X: Any, Y: np.ndarray, weights: np.ndarray | None) -> None:
        """Fit thresholds to the training scores; a sample of weight zero is as good as absent."""
        used = slice(None) if weights is None else weights > 0
        scores = self._scores_of(X[used])
        part = None if weights is None else weights[used]
        self.thresholds_ = self._rule.find_thresholds(scores, Y[used], part)

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
        thresholds = self.thresholds_ if self._codec.multilabel else 0.0
        return decide(self._codec, self._scores(X), self._rule, thresholds)

    def _predict_discrete(self, Z: np.ndarray) -> Any:
        offset = self._label_mean @ self.label_scores_
        if self._codec.multilabel:
            return self._codec.decode(best_label_sets(self.label_scores_, Z + offset))
        places = self.label_scores_
        if self._codec.kind == "binary":
            places = places[:1] * np.arange(2 if len(self.classes_) == 2 else 1)[:, None]
        nearest = (Z + offset) @ places.T - 0.5 * (places**2).sum(axis=1)
        return self.classes_[first_highest(nearest)]

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

    @all_or_nothing
    def sparsify(self) -> "BaseMtSDA":
        """Store ``coef_`` and ``components_`` as CSR arrays; predictions stay the same."""
        check_is_fitted(self)
        self.coef_ = sp.csr_array(self.coef_)
        self.components_ = sp.csr_array(self.components_)
        return self

    @all_or_nothing
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
        and start, which leave the constraint. Eq. 9 does not determine all of theta if the rank of
        XB is lower than the number of scores, as after the first iteration if the label sets of
        the first samples are linearly dependent. The rest is then chosen by a fixed rule, such
        that theta has full rank; with ``l1=0`` no choice changes the scores of new samples.
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

    @all_or_nothing
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
