"""One binary classifier a label, each tuned for its own label."""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context, get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import ParameterGrid
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.base import ScoreClassifier
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.progress import follow
from eigenlabel.inputs.validation import (
    check_choice,
    check_data,
    check_jobs,
    check_largest,
    check_row_weights,
    is_estimator,
    take_rows,
)
from eigenlabel.inputs.warning import ignored
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.heldout import Fold
from eigenlabel.linalg.ties import first_largest
from eigenlabel.model_selection.reading import score_method, scores_matrix
from eigenlabel.model_selection.routing import make_router, requesting_weights, route_fit
from eigenlabel.model_selection.search import list_folds
from eigenlabel.thresholds import PerLabelF1

LARGEST = 1e60  # beyond, LIBLINEAR computes infinity and does not end
COSTS = tuple(10.0**k for k in range(-5, 6))  # Ji, Tang, Yu, Ye (TKDD 2010)


def _f1(t: np.ndarray, s: np.ndarray, sample_weight: np.ndarray | None) -> float:
    """Compute F1 at the threshold that is best for these scores."""
    rule = PerLabelF1()
    decided = rule.decide(s[:, None], rule.fit(s[:, None], t[:, None], sample_weight))[:, 0]
    return float(f1_score(t, decided, sample_weight=sample_weight, zero_division=0))


SCORINGS = {"f1": _f1, "auc": roc_auc_score, "average_precision": average_precision_score}


class OneVsRestSearchCV(MetaEstimatorMixin, ScoreClassifier):
    """Fit one binary classifier a label, with the parameters that are best for that label.

    A grid search for all labels together gives rare and frequent labels the same parameters; here
    held-out scores of each label choose its own. Label sets are those of scores above zero
    (probabilities above a half): put :class:`ThresholdedClassifier` around it for better ones.

    Cost: candidates times folds times labels fits of the binary classifier.

    Parameters
    ----------
    estimator : binary classifier with decision_function or predict_proba, or None
        None is scikit-learn's ``LinearSVC(random_state=0)``.
    param_grid : dict or list of dicts as of GridSearchCV, or None
        None is ``{"C": [1e-5, 1e-4, ..., 1e5]}``. Of equally good candidates the first one wins.
    cv : int, splitter, or iterable of (train, test)
        An int is a MultilabelStratifiedKFold.
    scoring : "f1", "auc" or "average_precision"
        Of a label's held-out scores, all folds together; "f1" at the best threshold for them.
    n_jobs : int or None
        Candidates that are tried in parallel.
    verbose : int, default=0
        0 is silent; 1 shows the progress of the tuning on stderr.

    Attributes
    ----------
    estimators_ : list of the fitted classifiers, None for a label that is always or never there
    best_params_ : list of dicts, by label
    best_scores_ : (n_labels,), NaN for labels of which held-out scores tell nothing, such as those
        with one positive sample; they get the candidate that is best for the others on average
    cv_results_ : dict with ``params`` and ``label_test_score`` (candidates, n_labels)
    classes_ : (n_labels,), columns of a label matrix, or classes of a vector y
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from eigenlabel import OneVsRestSearchCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=4, random_state=0)
    >>> model = OneVsRestSearchCV(param_grid={"C": [0.01, 1.0]}).fit(data.X, data.Y)
    >>> len(model.best_params_), model.predict(data.X).shape
    (4, (200, 4))
    """

    def __init__(
        self,
        estimator: Any = None,
        param_grid: Any = None,
        *,
        cv: Any = 5,
        scoring: str = "f1",
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any, **fit_params: Any) -> "OneVsRestSearchCV":
        """Tune and fit.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features)
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        fit_params : of the binary classifier's fit, such as ``sample_weight``; ``groups`` goes to
            the splitter. With scikit-learn's metadata routing their requests decide. The weights
            that the classifier gets count in the scoring too; weight zero leaves a sample out.
        """
        check_choice("scoring", self.scoring, tuple(SCORINGS))
        check_jobs(self.n_jobs)
        if self.estimator is not None and not is_estimator(self.estimator):
            raise TypeError(f"estimator must be a classifier or None, got {self.estimator!r}.")
        X = check_data(self, X, reset=True)
        check_largest(X, most=LARGEST)
        self._codec, Y = LabelCodec.fit(y)
        check_consistent_length(X, Y)
        self.classes_ = self._codec.classes
        candidates = self._candidates()
        routed = route_fit(self, fit_params, self._base())
        params = dict(routed.estimator.fit)
        weights = check_row_weights(params.get("sample_weight"), len(Y))
        used = np.arange(len(Y)) if weights is None else np.flatnonzero(weights > 0)
        folds = list_folds(self.cv, X, y, routed.splitter.split, self._codec, used)
        if len(used) < len(Y):
            params, X, Y = take_rows(X, params, used), X[used], Y[used]
        # Parallel of scikit-learn passes the configuration on too, but replaces warning filters.
        config = get_config()
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_score_candidate)(self._make(one), X, Y, folds, self.scoring, params, config)
            for one in follow(candidates, self.verbose, "candidate")
        )
        self.cv_results_ = {"params": candidates, "label_test_score": np.array(found)}
        table = self.cv_results_["label_test_score"]
        undefined = np.isnan(table).all(axis=0)
        # Labels that tell nothing take what is best for the others.
        common = int(first_largest(table[:, ~undefined].mean(axis=1))) if not undefined.all() else 0
        best = np.where(undefined, common, first_largest(table))
        self.best_params_ = [candidates[k] for k in best]
        self.best_scores_ = table[best, np.arange(Y.shape[1])]
        self.estimators_ = [
            _fit(self._make(one), X, t, params)
            for one, t in zip(self.best_params_, Y.T, strict=True)
        ]
        self._constant = np.where(Y.any(axis=0), 1.0, -1.0)  # of labels without a classifier
        return self

    def _candidates(self) -> list[dict[str, Any]]:
        grid = self.param_grid
        if grid is None:
            grid = {"C": list(COSTS)}
        candidates = list(ParameterGrid(grid))
        if not candidates:
            raise ValueError("param_grid has no candidates.")
        return candidates

    def _base(self) -> Any:
        if self.estimator is None:
            return requesting_weights(LinearSVC(random_state=0))
        return self.estimator

    def _make(self, parameters: dict[str, Any]) -> Any:
        return clone(self._base()).set_params(**parameters)

    def get_metadata_routing(self) -> Any:
        """Return the requests of the binary classifier and the splitter."""
        return make_router(self, self.cv, estimator=self._base())

    def _scores(self, X: Any) -> np.ndarray:
        X = check_data(self, X, reset=False)
        return np.column_stack(
            [_margins(one, X, c) for one, c in zip(self.estimators_, self._constant, strict=True)]
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if is_estimator(self.estimator):
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
            tags.input_tags.positive_only = get_tags(self.estimator).input_tags.positive_only
        return tags


def _fit(model: Any, X: Any, t: np.ndarray, params: dict[str, Any]) -> Any:
    """Fit a classifier to one label; None where there is nothing to tell apart."""
    return model.fit(X, t.astype(int), **params) if t.any() and not t.all() else None


def _margins(model: Any, X: Any, constant: float) -> np.ndarray:
    """Give scores that are positive where the label is rather there."""
    if model is None:
        return np.full(X.shape[0], constant)
    found = scores_matrix(model, X, 1)[:, 0].astype(float)
    return 2.0 * found - 1.0 if score_method(model) == "predict_proba" else found


def _score_candidate(
    model: Any,
    X: Any,
    Y: np.ndarray,
    folds: list[Fold],
    scoring: str,
    params: dict[str, Any],
    config: dict[str, Any],
) -> np.ndarray:
    """Give the score of each label (m,) with one candidate; NaN where it is undefined.

    Test parts whose training part has a label always or never do not count for it: no candidate
    would have anything to do with their scores.
    """
    total, times = np.zeros(Y.shape), np.zeros(Y.shape)
    # The fit that is kept warns by itself.
    with config_context(**config), ignored(ConvergenceWarning):
        for train, test in folds:
            rows = np.setdiff1d(np.arange(len(Y)), test) if train is None else train
            some = take_rows(X, params, rows)
            for j, t in enumerate(Y.T):
                fitted = _fit(clone(model), X[rows], t[rows], some)
                if fitted is not None:
                    total[test, j] += _margins(fitted, X[test], 0.0)
                    times[test, j] += 1
    out = np.full(Y.shape[1], np.nan)
    weights = params.get("sample_weight")
    for j, (t, tested) in enumerate(zip(Y.T, times.T > 0, strict=True)):
        if t[tested].any() and not t[tested].all():
            some = None if weights is None else np.asarray(weights, dtype=float)[tested]
            scores = total[tested, j] / times[tested, j]
            out[j] = SCORINGS[scoring](t[tested], scores, sample_weight=some)
    return out
