"""One binary classifier for each label, tuned for its own label."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context, get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.base import CALIBRATION, ScoreClassifier
from eigenlabel.inputs.data import check_data, check_largest, check_scores, is_estimator
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    CheckedBy,
    Choice,
    Jobs,
    Parameters,
    check_parameters,
)
from eigenlabel.inputs.progress import tuning
from eigenlabel.inputs.sample_weights import check_row_weights
from eigenlabel.inputs.sklearn_private import take_rows
from eigenlabel.inputs.warning import ignored
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.heldout import Fold, training_rows
from eigenlabel.model_selection.classifier_scores import score_method, scores_matrix
from eigenlabel.model_selection.routing import make_router, requesting_weights, route_fit
from eigenlabel.model_selection.search import (
    LABEL_SCORINGS,
    ByLabel,
    Chunk,
    search,
    store_calibration,
)
from eigenlabel.model_selection.splits import list_folds
from eigenlabel.thresholds.calibration import fit_probabilities

LARGEST = 1e60  # with larger numbers LIBLINEAR computes infinity and does not terminate
COSTS = tuple(10.0**k for k in range(-5, 6))  # Ji et al. (2010)


class OneVsRestSearchCV(MetaEstimatorMixin, ScoreClassifier):  # type: ignore[misc]
    """Fit one binary classifier for each label, with the parameters that are best for that label.

    In a grid search for all labels together, rare and frequent labels have the same parameters.
    Here the held-out scores of each label choose its own. Label sets consist of scores above zero
    (probabilities above a half); wrap the estimator in :class:`ThresholdedClassifier` for better
    ones.

    The cost is one fit of the binary classifier for each candidate, fold and label.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A binary classifier with ``decision_function`` or ``predict_proba``. None is scikit-learn's
        ``LinearSVC(random_state=0)``.
    param_grid : dict, list of dict or None, default=None
        The candidates, as for GridSearchCV. None is ``{"C": [1e-5, 1e-4, ..., 1e5]}``. Of equally
        good candidates the first one wins.
    cv : int, splitter or iterable, default=5
        The folds. An int is a MultilabelStratifiedKFold.
    scoring : {"f1", "auc", "average_precision"}, default="f1"
        The score of a label's held-out scores, all folds together. "f1" is F1 at the threshold
        that is best for them.
    n_jobs : int or None, default=None
        The number of candidates that are fitted in parallel.
    verbose : int, default=0
        The verbosity. 0 is silent; 1 shows the progress of the tuning on stderr.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default="auto"
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to ``oof_scores_``,
        without another fit. None leaves out ``predict_proba``.

    Attributes
    ----------
    estimators_ : list of classifier
        The fitted classifiers, None for a label that all samples or no samples have.
    best_params_ : list of dict
        The best parameters of each label.
    best_scores_ : ndarray of shape (n_labels,)
        The scores of these parameters. They are NaN for labels whose held-out scores are
        undefined, such as those with one positive sample; these labels use the candidate that is
        best on average for the others.
    cv_results_ : dict
        The candidates, ``params``, and their scores, ``label_test_score`` of shape
        (n_candidates, n_labels).
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The held-out scores of each label's best candidate: 1 or -1 if all samples of a training
        part have the label or none has it, NaN if a sample was in no test part or has weight zero,
        a mean if it was in several. Only if ``calibration`` is not None.
    calibration_ : Calibration
        The maps from scores to probabilities. Only if ``calibration`` is not None.
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels, or the classes of a vector y.
    n_features_in_ : int
        The number of features of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has string names.

    Examples
    --------
    >>> from eigenlabel import OneVsRestSearchCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=4, random_state=0)
    >>> model = OneVsRestSearchCV(param_grid={"C": [0.01, 1.0]}).fit(data.X, data.Y)
    >>> len(model.best_params_), model.predict(data.X).shape
    (4, (200, 4))
    """

    _parameters: ClassVar[Parameters] = {
        "estimator": CheckedBy("fit"),
        "param_grid": CheckedBy("_candidates"),
        "cv": CheckedBy("list_folds"),
        "scoring": Choice(*LABEL_SCORINGS),
        "n_jobs": Jobs(),
        "verbose": CheckedBy("the progress bar"),
        "calibration": CALIBRATION,
    }

    def __init__(
        self,
        estimator: Any = None,
        param_grid: Any = None,
        *,
        cv: Any = 5,
        scoring: str = "f1",
        n_jobs: Any = None,
        verbose: int = 0,
        calibration: str | None = "auto",
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.calibration = calibration

    @all_or_nothing
    def fit(self, X: Any, y: Any, **fit_params: Any) -> "OneVsRestSearchCV":
        """Tune and fit one classifier for each label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels), or array-like of classes
            The 0/1 label matrix, a list of label sets, or a vector of classes.
        **fit_params : dict
            The parameters of the binary classifier's ``fit``, such as ``sample_weight``, which
            counts in the scoring too; a sample of weight zero is left out. ``groups`` is passed to
            the splitter. With scikit-learn's metadata routing the requests decide.

        Returns
        -------
        self : OneVsRestSearchCV
            The fitted classifier.
        """
        check_parameters(self)
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
        folds, n = list_folds(self.cv, X, y, routed.splitter.split, self._codec, used), len(Y)
        self._used = used  # of a kernel matrix the columns that count
        if len(used) < len(Y):
            params, Y = take_rows(X, params, used), Y[used]
            X = _take(X, used, used, self._base())
        weights = None if weights is None else weights[used]
        held_out = CandidateScores(self._base(), candidates, X, Y, folds, params, self.n_jobs)
        keep = self.calibration is not None
        judge = ByLabel(self.scoring, np.ascontiguousarray(Y.T), weights, keep)
        with tuning(len(candidates), self.verbose, "candidate") as bar:
            result = search(held_out, judge, bar.update)
        self.cv_results_, self.best_scores_ = result.table, result.score
        self.best_params_ = [candidates[k] for k in result.best]
        self.estimators_ = [
            _fit(_make(self._base(), one), X, t, params)
            for one, t in zip(self.best_params_, Y.T, strict=True)
        ]
        self._constant = np.where(Y.any(axis=0), 1.0, -1.0)  # scores of labels without classifier
        self._store_scores(result.oof_scores, Y, weights, folds, used, n)
        return self

    def _store_scores(
        self,
        oof_scores: Floats | None,
        Y: Bools,
        weights: Floats | None,
        folds: list[Fold],
        used: Ints,
        n_samples: int,
    ) -> None:
        """Set or remove ``oof_scores_`` and ``calibration_``."""
        self.__dict__.pop("oof_scores_", None)
        calibration = None
        if oof_scores is not None and self.calibration is not None:
            scores = _with_constants(oof_scores, Y, folds)
            calibration = fit_probabilities(
                self._codec, scores, Y, weights, method=self.calibration
            )
            self.oof_scores_ = np.full((n_samples, Y.shape[1]), np.nan)
            self.oof_scores_[used] = scores
        store_calibration(self, calibration)

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

    def get_metadata_routing(self) -> Any:
        """Return the requests of the binary classifier and the splitter.

        Returns
        -------
        routing : MetadataRouter
            The requests.
        """
        return make_router(self, self.cv, estimator=self._base())

    def _scores(self, X: Any) -> Floats:
        X = check_data(self, X, reset=False)
        if len(self._used) < X.shape[1] and get_tags(self._base()).input_tags.pairwise:
            X = X[:, self._used]
        return np.column_stack(
            [_margins(one, X, c) for one, c in zip(self.estimators_, self._constant, strict=True)]
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if is_estimator(self.estimator):
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
            tags.input_tags.positive_only = get_tags(self.estimator).input_tags.positive_only
            tags.input_tags.pairwise = get_tags(self.estimator).input_tags.pairwise
        return tags


def _with_constants(scores: Floats, Y: Bools, folds: list[Fold]) -> Floats:
    """Return held-out scores (n, m) with 1 or -1 where all training samples of a fold agree."""
    scores = scores.copy()
    for fold in folds:
        train = Y[training_rows(len(Y), fold)]
        agree = train.all(axis=0) | ~train.any(axis=0)
        part = scores[fold[1]]
        constant = np.where(train.any(axis=0), 1.0, -1.0)
        scores[fold[1]] = np.where(np.isnan(part) & agree, constant, part)
    return scores


def _fit(model: Any, X: Any, t: Bools, params: dict[str, Any]) -> Any:
    """Return the classifier fitted to one label, or None if all samples agree."""
    return model.fit(X, t.astype(int), **params) if t.any() and not t.all() else None


def _margins(model: Any, X: Any, constant: float) -> Floats:
    """Return scores that are positive where the label is more likely present than absent."""
    if model is None:
        return np.full(X.shape[0], constant)
    found = scores_matrix(model, X, 1)[:, 0].astype(float)
    return 2.0 * found - 1.0 if score_method(model) == "predict_proba" else found


def _make(estimator: Any, parameters: dict[str, Any]) -> Any:
    """Return an unfitted copy of the classifier with other parameters."""
    return clone(estimator).set_params(**parameters)


def _take(X: Any, rows: Ints, training: Ints, model: Any) -> Any:
    """Return samples; of a kernel matrix their values with the training samples."""
    return X[rows][:, training] if get_tags(model).input_tags.pairwise else X[rows]


class CandidateScores:
    """Held-out scores of all candidates, one candidate at a time.

    Test parts whose training part has a label always or never do not count for that label: no
    candidate has anything to do with their scores.

    Parameters
    ----------
    estimator : classifier
        The binary classifier.
    params : list of dict
        The parameters of the candidates.
    X : array or sparse array of shape (n_samples, n_features)
        The samples of the search.
    Y : ndarray of shape (n_samples, n_labels), bool
        Their labels.
    folds : list of Fold
        The folds.
    fit_params : dict
        The parameters of the classifier's ``fit``.
    n_jobs : int or None
        The number of candidates that are fitted in parallel.
    """

    def __init__(
        self,
        estimator: Any,
        params: list[dict[str, Any]],
        X: Any,
        Y: Bools,
        folds: list[Fold],
        fit_params: dict[str, Any],
        n_jobs: Any,
    ) -> None:
        self.estimator, self.params, self.n_jobs = estimator, params, n_jobs
        self.data = X, Y, folds, fit_params

    def chunks(self) -> Iterator[Chunk]:
        """Yield the scores of each candidate, NaN where no fold tests a label of a sample."""
        # scikit-learn's Parallel passes the configuration on too, but replaces warning filters.
        config = get_config()
        if hasattr(self.estimator, "fit_along"):
            for k, scores in enumerate(_score_along(self.estimator, self.params, *self.data)):
                yield Chunk(np.array([k]), scores.T[None])
            return
        found = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(_score_candidate)(_make(self.estimator, one), *self.data, config)
            for one in self.params
        )
        for k, scores in enumerate(found):
            yield Chunk(np.array([k]), scores.T[None])


def _score_along(
    model: Any,
    candidates: list[dict[str, Any]],
    X: Any,
    Y: Bools,
    folds: list[Fold],
    params: dict[str, Any],
) -> Floats:
    """Return the held-out scores (candidates, n, m) of a classifier that fits all at once."""
    shape = (len(candidates), *Y.shape)
    total, times = np.zeros(shape), np.zeros(Y.shape)
    with ignored(ConvergenceWarning):  # the final fit issues its own warnings
        for fold in folds:
            rows, test = training_rows(len(Y), fold), fold[1]
            some = take_rows(X, params, rows)
            inside, held_out = _take(X, rows, rows, model), _take(X, test, rows, model)
            for j in np.flatnonzero(Y[rows].any(axis=0) & ~Y[rows].all(axis=0)):
                fitted = model.fit_along(inside, Y[rows, j], candidates, **some)
                for k, one in enumerate(fitted):
                    total[k][test, j] += _margins(one, held_out, 0.0)
                times[test, j] += 1
    check_scores("scores", total.reshape(-1, Y.shape[1]), (total.shape[0] * len(Y), Y.shape[1]))
    out = np.full(shape, np.nan)
    return np.asarray(np.divide(total, times, out=out, where=times > 0))


def _score_candidate(
    model: Any,
    X: Any,
    Y: Bools,
    folds: list[Fold],
    params: dict[str, Any],
    config: dict[str, Any],
) -> Floats:
    """Return the held-out scores (n, m) of one candidate, NaN where there are none."""
    total, times = np.zeros(Y.shape), np.zeros(Y.shape)
    # The final fit issues its own warnings.
    with config_context(**config), ignored(ConvergenceWarning):
        for fold in folds:
            rows, test = training_rows(len(Y), fold), fold[1]
            some = take_rows(X, params, rows)
            inside, held_out = _take(X, rows, rows, model), _take(X, test, rows, model)
            for j, t in enumerate(Y.T):
                fitted = _fit(clone(model), inside, t[rows], some)
                if fitted is not None:
                    total[test, j] += _margins(fitted, held_out, 0.0)
                    times[test, j] += 1
    check_scores("scores", total, Y.shape)
    out = np.full(Y.shape, np.nan)
    return np.asarray(np.divide(total, times, out=out, where=times > 0))
