"""What the classifiers of MtSDA share: training data, predictions, and the best label sets."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.base import CALIBRATION, ScoreClassifier, Training, check_training
from eigenlabel.estimators.discriminant.optimal_scoring import (
    Penalty,
    ScoreProblem,
    ScoringSolution,
)
from eigenlabel.inputs.data import check_data, check_scale
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    NOT_NEGATIVE,
    CheckedBy,
    Choice,
    Flag,
    Maybe,
    Parameters,
    check_choice,
    check_number,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.ties import first_highest
from eigenlabel.thresholds import Rule
from eigenlabel.thresholds.rules import decide, heldout_values, values_for

MAX_DISCRETE_LABELS = 20
CHUNK = 2**22  # objectives of label sets held at once


def _subset_sums(terms: Floats) -> Floats:
    """Return the sums (n, 2^k) of all subsets of the columns of terms (n, k)."""
    sums = np.zeros((len(terms), 1))
    for column in terms.T:
        sums = np.concatenate([sums, sums + column[:, None]], axis=1)
    return sums


def best_label_sets(theta: Floats, targets: Floats) -> Bools:
    """Return the 0/1 rows y with the smallest ``|y theta - target|``, exactly.

    All 2^m label sets are compared by ``|y theta|^2 - 2 y theta target``. The first term is the
    same for all samples and computed once. Cost: 2^m operations once, and 2^m per sample.

    Parameters
    ----------
    theta : (m, q) array
        The scores of the labels, m at most ``MAX_DISCRETE_LABELS``.
    targets : (n, q) array
        The embedded samples.

    Returns
    -------
    label_sets : (n, m) array of bool
        The best label set of each sample.
    """
    m = len(theta)
    if m > MAX_DISCRETE_LABELS:
        raise ValueError(
            f"method='discrete' compares all 2^m label sets and accepts at most "
            f"{MAX_DISCRETE_LABELS} labels, there are {m}: use thresholds instead."
        )
    G = theta @ theta.T
    squares = np.zeros(1)  # of sets of the first k labels
    for k in range(m):
        cross = _subset_sums(G[k : k + 1, :k])[0]
        squares = np.concatenate([squares, squares + G[k, k] + 2 * cross])
    best = np.empty(len(targets), dtype=np.int64)
    step = max(1, CHUNK >> m)
    for start in range(0, len(targets), step):
        linear = targets[start : start + step] @ theta.T
        inner = _subset_sums(linear)
        best[start : start + step] = first_highest(2 * inner - squares)
    return np.asarray((best[:, None] >> np.arange(m)) & 1 == 1)


TOLERATED = 1e-6  # violation of optimality, relative to the largest correlation

MTSDA_PARAMETERS: Parameters = {
    "n_components": Maybe(COUNT),
    "scores": Choice("exact", "paper"),
    "n_iter": COUNT,
    "tol": NOT_NEGATIVE,
    "threshold": CheckedBy("eigenlabel.thresholds.get_rule"),
    "fit_intercept": Flag(),
    "calibration": CALIBRATION,
}


class BaseMtSDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ScoreClassifier):  # type: ignore[misc]
    """Base of MtSDA for given and for tuned penalties.

    Parameters
    ----------
    n_components : int or None
        Upper bound on the number of scores; None is the rank of the labels.
    scores : str
        The score step, "exact" or "paper".
    n_iter : int
        Upper bound on the number of iterations.
    tol : float
        Relative change of the objective at which the iterations end.
    threshold : str or Rule
        How scores become label sets.
    fit_intercept : bool
        Whether X and Y are centred.
    calibration : str or None
        How scores become probabilities.
    """

    _rule: Rule

    def __init__(
        self,
        *,
        n_components: int | None,
        scores: str,
        n_iter: int,
        tol: float,
        threshold: str | Rule,
        fit_intercept: bool,
        calibration: str | None,
    ) -> None:
        self.n_components = n_components
        self.scores = scores
        self.n_iter = n_iter
        self.tol = tol
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.calibration = calibration

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Check the data passed to ``fit``, and the parameters whose bounds depend on them."""
        data = check_training(self, X, y, sample_weight, complete=True)
        if self.n_components is not None:
            check_number("n_components", self.n_components, 1, data.Y.shape[1], integer=True)
        check_scale(data.X)
        return data

    def _problem(self, X: Matrix, Y: Bools, weights: Floats | None) -> ScoreProblem:
        return ScoreProblem(X, Y, weights, self.fit_intercept, self.n_components)

    def _fit_penalty(self, problem: ScoreProblem, penalty: Penalty, data: Training) -> None:
        """Solve for one penalty and store the result."""
        found = problem.solve(penalty, self.scores == "paper", self.n_iter, self.tol)
        self._warn(found)
        W, intercept = problem.weights(found, penalty, data.codec, data.Y)
        dtype = data.X.dtype
        self.coef_: Matrix = W.T.astype(dtype)
        self.intercept_ = intercept.astype(dtype)
        self.components_: Matrix = found.B.T.astype(dtype)
        self.label_scores_ = found.theta
        self.objective_ = np.array(found.objective)
        self.n_iter_ = len(found.objective)
        self.n_components_ = problem.q
        self.n_features_selected_ = int(np.count_nonzero(found.B.any(axis=1)))
        self._embedding_offset = (problem.operator.mean @ found.B).astype(dtype)
        self._label_mean = problem.mean

    def _warn(self, found: ScoringSolution) -> None:
        """Warn if the iterations or the elastic nets stopped early."""
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

    def _fit_thresholds(self, data: Training, heldout: Floats | None = None) -> None:
        """Fit thresholds to the scores of the training samples with positive weight.

        ``heldout`` are scores (n, m) that are used instead of those of training.
        """
        weights = data.weights
        used = slice(None) if weights is None else weights > 0
        Y, part = data.Y[used], None if weights is None else weights[used]
        if heldout is None:
            scores = self._scores_of(data.X[used])
            values = values_for(self._rule, scores, getattr(self, "calibration_", None))
        else:
            values = heldout_values(self._rule, heldout[used], Y, part, self.calibration)
        self.thresholds_ = self._rule.find_thresholds(values, Y, part)

    def _scores_of(self, X: Matrix) -> Floats:
        scores = _product(X, self.coef_) + self.intercept_
        return np.asarray(scores.astype(self.intercept_.dtype, copy=False))

    def _scores(self, X: Any) -> Floats:
        return self._scores_of(check_data(self, X, reset=False))

    def transform(self, X: Any) -> Floats:
        """Embed samples: ``B'(x - mean)``, which approximates the scores of their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        embedded : ndarray of shape (n_samples, n_components_)
            Embedded samples.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        embedded = _product(X, self.components_) - self._embedding_offset
        return np.asarray(embedded.astype(self.intercept_.dtype, copy=False))

    def predict(self, X: Any, method: str = "auto") -> Any:
        """Predict the label sets, or the classes if y was a vector.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        method : {"auto", "discrete"}, default="auto"
            How scores become labels. "auto" compares the scores of labels with their thresholds
            (Algorithm 1 of the paper), and predicts the nearest class mean for a vector y
            (Equation 2). "discrete" predicts the label set whose scores are nearest to the
            embedded sample: among all sets, exactly (Equation 5, up to 20 labels), or among all
            classes for a vector y (Equation 4).

        Returns
        -------
        labels : ndarray or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
            Label matrix of 0 and 1, which is sparse if y was sparse, or classes.
        """
        check_is_fitted(self)
        check_choice("method", method, ("auto", "discrete"))
        if method == "discrete":
            return self._predict_discrete(self.transform(X))
        thresholds = self.thresholds_ if self._codec.multilabel else 0.0
        calibration = getattr(self, "calibration_", None)
        return decide(self._codec, self._scores(X), self._rule, thresholds, calibration)

    def _predict_discrete(self, Z: Floats) -> Any:
        offset = self._label_mean @ self.label_scores_
        if self._codec.multilabel:
            return self._codec.decode(best_label_sets(self.label_scores_, Z + offset))
        places = self.label_scores_
        if self._codec.kind == "binary":
            places = places[:1] * np.arange(2 if len(self.classes_) == 2 else 1)[:, None]
        nearest = (Z + offset) @ places.T - 0.5 * (places**2).sum(axis=1)
        return self.classes_[first_highest(nearest)]

    def selected_features(self) -> list[Any]:
        """List the features that each score uses, those with the largest weights first.

        Returns
        -------
        features : list of ndarray
            Names of the features if X had names, else their positions, for each score.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        found = []
        for row in np.abs(_dense(self.components_)):
            order = np.argsort(-row, kind="stable")
            found.append(names[order[: np.count_nonzero(row)]])
        return found

    @all_or_nothing
    def sparsify(self) -> Self:
        """Store ``coef_`` and ``components_`` as CSR arrays; predictions do not change.

        Returns
        -------
        self : object
            The classifier.
        """
        check_is_fitted(self)
        self.coef_ = sp.csr_array(self.coef_)
        self.components_ = sp.csr_array(self.components_)
        return self

    @all_or_nothing
    def densify(self) -> Self:
        """Store ``coef_`` and ``components_`` as dense arrays again.

        Returns
        -------
        self : object
            The classifier.
        """
        check_is_fitted(self)
        self.coef_, self.components_ = _dense(self.coef_), _dense(self.components_)
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _dense(A: Matrix) -> Floats:
    sparse = sp.issparse(A)
    return np.asarray(A.toarray() if sparse else A)


def _product(X: Matrix, W: Matrix) -> Floats:
    """Return X W' of dense or sparse X and W as a dense array."""
    return _dense(X @ W.T)
