"""The classifier by multi-task sparse discriminant analysis, MtSDA (Han et al. 2010)."""

from typing import Any, ClassVar, Self

from eigenlabel.estimators.discriminant.base import MTSDA_PARAMETERS, BaseMtSDA
from eigenlabel.estimators.discriminant.optimal_scoring import (
    Penalty,
    check_rho,
)
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    NOT_NEGATIVE,
    Number,
    Parameters,
    check_parameters,
)
from eigenlabel.thresholds import Rule, get_rule
from eigenlabel.thresholds.rules import reads_probabilities


class MtSDA(BaseMtSDA):
    """Classify by multi-task sparse discriminant analysis for given penalties.

    Scores theta of labels are combinations of labels that sparse combinations of features predict:

        min 1/n sum_j |Yc theta_j - Xc b_j|^2 + l2 b_j'Omega b_j + l1 |b_j|_1  (all over n)
        s.t. theta'(Yc'Yc / n) theta = I,   Omega = (1 - rho) I + rho 11'

    (Han et al. 2010, Equation 1). The label scores of a sample are
    ``(x - mean) B theta^+ + mean of Y`` (Equation 11). With ``l1=0`` they are those of ridge
    regression with shift l2 (for Omega = I), for any theta. If y is a vector of classes, it is
    sparse discriminant analysis, and with ``l1=0`` penalised discriminant analysis.

    Cost: an iteration solves q elastic nets by a few Newton steps each, k^3 / 3 operations for k
    features in use, and multiplies X with q vectors; the score step costs p m q operations. Sparse
    X is never densified.

    Parameters
    ----------
    l1 : float, default=1.0
        Penalty lambda_1 of the paper, at least 0. It stands beside a sum over samples, not a mean.
    l2 : float, default=1.0
        Penalty lambda_2 of the paper, at least 0. It stands beside a sum over samples, not a mean.
    rho : float, default=0.0
        Correlation in the penalty matrix, between ``-1 / (n_features - 1)`` and 1; 0 is the
        identity. Towards 1, weights of opposite signs become cheap. At both ends Omega is singular
        and the minimiser may not be unique.
    n_components : int or None, default=None
        Upper bound on the number q of scores, between 1 and n_labels. None is the rank of the
        centred label matrix.
    scores : {"exact", "paper"}, default="exact"
        The score step: the minimiser, with which the objective never increases, or Equation 9 and
        the start of the paper, which do not satisfy the constraint. Equation 9 does not determine
        all of theta if the rank of XB is lower than the number of scores, as after the first
        iteration if the label sets of the first samples are linearly dependent. The rest is then
        chosen by a fixed rule, such that theta has full rank; with ``l1=0`` no choice changes the
        scores of new samples.
    n_iter : int, default=100
        Upper bound on the number of iterations. With 1 the first scores are regressed and not
        changed.
    tol : float, default=1e-3
        Relative change of the objective at which the iterations end.
    threshold : str or Rule, default="global"
        How scores become label sets: a rule of ``eigenlabel.thresholds`` or its name. It is fitted
        to the training scores; "global" is Algorithm 1 of the paper.
    fit_intercept : bool, default=True
        Whether X and Y are centred.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to held-out scores of
        five folds, which costs five more fits. None leaves out ``predict_proba``, and rules on
        probabilities.

    Attributes
    ----------
    coef_ : ndarray or CSR array of shape (n_labels, n_features)
        Weights of label scores, or of classes by Equation 2 if y was a vector.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts of label scores, or of classes.
    components_ : ndarray or CSR array of shape (n_components_, n_features)
        Sparse weights of the features in each score, the transpose of B.
    label_scores_ : ndarray of shape (n_labels, n_components_)
        Scores theta of the labels.
    objective_ : ndarray of shape (n_iter_,)
        Objective of Equation 1 after each iteration.
    n_iter_ : int
        Number of iterations.
    n_components_ : int
        Number of scores.
    n_features_selected_ : int
        Number of features with a weight in at least one score.
    thresholds_ : ndarray of shape (n_labels,)
        Thresholds of the label scores. It does not exist if y was a vector.
    calibration_ : Calibration
        The maps from scores to probabilities. Only if ``calibration`` is not None.
    classes_ : ndarray of shape (n_labels,) or (n_classes,)
        Columns of a label matrix, or classes of a vector y.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in ``fit``. It exists only if all names are strings.

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
        "l1": NOT_NEGATIVE,
        "l2": NOT_NEGATIVE,
        "rho": Number(),
        **MTSDA_PARAMETERS,
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
        calibration: str | None = None,
    ) -> None:
        super().__init__(
            n_components=n_components,
            scores=scores,
            n_iter=n_iter,
            tol=tol,
            threshold=threshold,
            fit_intercept=fit_intercept,
            calibration=calibration,
        )
        self.l1 = l1
        self.l2 = l2
        self.rho = rho

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the scores of labels and the weights of features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
            Label matrix of 0 and 1, a list of label sets, or a vector of classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. A weight of k counts like k copies of the sample.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        check_parameters(self)
        self._rule = get_rule(self.threshold)
        data = self._check_data(X, y, sample_weight)
        check_rho(self.rho, data.X.shape[1])
        self._codec, self.classes_ = data.codec, data.codec.classes
        problem = self._problem(data.X, data.Y, data.weights)
        self._fit_penalty(problem, Penalty(self.l1, self.l2, self.rho), data)
        self.__dict__.pop("thresholds_", None)
        heldout = self._calibrate(X, y, data.Y, data.weights)
        if data.codec.multilabel:
            self._fit_thresholds(data, heldout if reads_probabilities(self._rule) else None)
        return self
