"""MtSDA tuned over l1, l2 and rho by cross-validation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from eigenlabel.estimators.discriminant.base import MTSDA_PARAMETERS, BaseMtSDA
from eigenlabel.estimators.discriminant.optimal_scoring import Penalty, ScoreProblem, check_rho
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    NOT_NEGATIVE,
    CheckedBy,
    Choice,
    Parameters,
    check_parameters,
)
from eigenlabel.inputs.progress import tuning
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.heldout import Fold, training_rows
from eigenlabel.model_selection.routing import NO_GROUPS, make_tuned_router, route_tuned
from eigenlabel.model_selection.scorers import Truth, make_scorer
from eigenlabel.model_selection.search import Chunk, Pooled, search, store, to_floats
from eigenlabel.model_selection.splits import list_folds
from eigenlabel.thresholds import Rule, get_rule

L1_SHARES = (1 / 8, 1 / 16, 1 / 32, 1 / 64)  # shares of an l1 at which all weights vanish
L2_SHARES = (1.0, 10.0)  # multiples of the mean squared distance of samples from their mean


@dataclass(frozen=True)
class Path:
    """The values of l1, the largest first, for one l2 and rho."""

    l1s: list[float]
    l2: float
    rho: float

    @property
    def points(self) -> list[tuple[float, float, float]]:
        """All points (l1, l2, rho)."""
        return [(l1, self.l2, self.rho) for l1 in self.l1s]


class MtSDACV(BaseMtSDA):
    """Classify by multi-task sparse discriminant analysis with penalties tuned by cross-validation.

    For every l2 and rho, each fold follows a path of decreasing l1: a grid point starts its elastic
    nets at the solution of the point before and shares the covariances of features with all points
    of the fold. Its result is that of :class:`MtSDA` fitted to the training part alone. Each point
    is scored on the held-out scores of all samples together, with thresholds fitted to them.

    Cost: a fit of :class:`MtSDA` per fold and grid point, minus the work that is shared.

    Parameters
    ----------
    l1s : float, array-like or None, default=None
        Values of l1, at least 0. None is 1/8, 1/16, 1/32 and 1/64 of an l1 at which all weights
        are zero.
    l2s : float, array-like or None, default=None
        Values of l2, at least 0. None is 1 and 10 times the mean squared distance of samples from
        their mean.
    rhos : float or array-like, default=(0.0,)
        Values of rho, between ``-1 / (n_features - 1)`` and 1.
    cv : int, splitter or iterable of (train, test), default=5
        How samples are split. An int is the number of folds of a MultilabelStratifiedKFold.
    scoring : str or callable, default="f1_macro"
        What is maximised: the name of a metric of ``eigenlabel.metrics`` or of scikit-learn, or a
        scorer.
    threshold : str or Rule, default="mixed"
        How scores become label sets: a rule of ``eigenlabel.thresholds`` or its name. A rule on
        probabilities is fitted to those of ``oof_scores_``, and grid points are compared with the
        rule "mixed".
    threshold_on : {"heldout", "training"}, default="heldout"
        Scores that the final thresholds are fitted to. Han et al. (2010) use those of training.
    n_components : int or None, default=None
        Upper bound on the number of scores, between 1 and n_labels. None is the rank of the
        centred label matrix.
    scores : {"exact", "paper"}, default="exact"
        The score step: the minimiser, with which the objective never increases, or Equation 9 and
        the start of the paper, which do not satisfy the constraint.
    n_iter : int, default=100
        Upper bound on the number of iterations of each fit.
    tol : float, default=1e-3
        Relative change of the objective at which the iterations end.
    fit_intercept : bool, default=True
        Whether X and Y are centred.
    verbose : int, default=0
        With 1 or more, the progress of the tuning is shown on stderr.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default="auto"
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to ``oof_scores_``,
        without another fit. None leaves out ``predict_proba``, and rules on probabilities.

    Attributes
    ----------
    l1_ : float
        The best l1. Among equal scores the largest l1 wins, then the largest l2.
    l2_ : float
        The best l2.
    rho_ : float
        The best rho.
    best_params_ : dict
        The best grid point, with the keys l1, l2 and rho.
    best_score_ : float
        Score of the best grid point on all held-out scores together.
    best_index_ : int
        Position of the best grid point in ``cv_results_``.
    cv_results_ : dict of ndarray
        Results as in scikit-learn's GridSearchCV, one entry per grid point. ``pooled_test_score``
        is the score on all held-out scores together, which decides. ``n_features_selected`` is the
        mean over folds, and ``converged`` whether the iterations of all folds converged.
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        Held-out scores of the best grid point. They are NaN for a sample that was in no test part
        or has weight zero, and a mean for a sample that was in several test parts.
    coef_ : ndarray or CSR array of shape (n_labels, n_features)
        Weights of label scores, or of classes by Equation 2 if y was a vector.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts of label scores, or of classes.
    components_ : ndarray or CSR array of shape (n_components_, n_features)
        Sparse weights of the features in each score.
    label_scores_ : ndarray of shape (n_labels, n_components_)
        Scores of the labels.
    objective_ : ndarray of shape (n_iter_,)
        Objective after each iteration of the final fit.
    n_iter_ : int
        Number of iterations of the final fit.
    n_components_ : int
        Number of scores.
    n_features_selected_ : int
        Number of features with a weight in at least one score.
    thresholds_ : ndarray of shape (n_labels,)
        Thresholds of the label scores.
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
    >>> from eigenlabel import MtSDACV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = MtSDACV(rhos=[0.0, 0.5], cv=3).fit(data.X, data.Y)
    >>> len(model.cv_results_["params"]), model.thresholds_.shape
    (16, (6,))
    """

    _parameters: ClassVar[Parameters] = {
        "l1s": CheckedBy("eigenlabel.model_selection.search.to_floats"),
        "l2s": CheckedBy("eigenlabel.model_selection.search.to_floats"),
        "rhos": CheckedBy("eigenlabel.model_selection.search.to_floats"),
        "cv": CheckedBy("eigenlabel.model_selection.splits.list_folds"),
        "scoring": CheckedBy("eigenlabel.model_selection.scorers.make_scorer"),
        "threshold_on": Choice("heldout", "training"),
        **MTSDA_PARAMETERS,
        "verbose": CheckedBy("eigenlabel.inputs.progress.tuning"),
    }

    def __init__(
        self,
        l1s: Any = None,
        l2s: Any = None,
        rhos: Any = (0.0,),
        *,
        cv: Any = 5,
        scoring: Any = "f1_macro",
        threshold: str | Rule = "mixed",
        threshold_on: str = "heldout",
        n_components: int | None = None,
        scores: str = "exact",
        n_iter: int = 100,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        verbose: int = 0,
        calibration: str | None = "auto",
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
        self.l1s = l1s
        self.l2s = l2s
        self.rhos = rhos
        self.cv = cv
        self.scoring = scoring
        self.threshold_on = threshold_on
        self.verbose = verbose

    __metadata_request__fit = NO_GROUPS

    def get_metadata_routing(self) -> Any:
        """Return the requests of the classifier itself, its splitter and its scorer.

        Returns
        -------
        routing : MetadataRouter
            The requests.
        """
        return make_tuned_router(self)

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any
    ) -> Self:
        """Tune the penalties and fit with the best ones.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
            Label matrix of 0 and 1, a list of label sets, or a vector of classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights, which count in the fit, the thresholds and the scoring. Scorers that do
            not accept weights are called without them.
        groups : array-like of shape (n_samples,), default=None
            Groups of samples, which are passed to the splitter.
        **params : dict
            Metadata that are passed to the splitter and the scorer if scikit-learn's metadata
            routing is enabled.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        check_parameters(self)
        metadata = {"sample_weight": sample_weight, "groups": groups, **params}
        split, score = route_tuned(self, "fit", metadata)
        self._rule = get_rule(self.threshold)
        data = self._check_data(X, y, sample_weight)
        codec, used = data.codec, data.used
        self._codec, self.classes_ = codec, codec.classes
        problem = self._problem(data.X, data.Y, data.weights)
        paths = self._paths(problem)
        folds = list_folds(self.cv, data.X, y, split, codec, used)
        truth = Truth.of(data.Y, data.weights, None, used, folds)
        scorer = make_scorer(self.scoring, y, codec, truth, used, score)
        held_out = PathScores(self, data.X[used], truth, codec, folds, paths)
        judge = Pooled(scorer, self._rule, truth, calibration=self.calibration)
        store(self, search(held_out, judge), used, len(data.Y))
        self.cv_results_["n_features_selected"] = held_out.selected
        self.cv_results_["converged"] = held_out.converged
        self.l1_, self.l2_, self.rho_ = self.best_params_.values()
        del held_out  # the scores of all points
        self._fit_penalty(problem, Penalty(self.l1_, self.l2_, self.rho_), data)
        if self.threshold_on == "training" and codec.multilabel:
            self._fit_thresholds(data)
        return self

    def _paths(self, problem: ScoreProblem) -> list[Path]:
        """Return the paths of the grid, larger l2 and rho first."""
        l1s, l2s = self.l1s, self.l2s
        if l1s is None:
            largest = problem.largest_l1()
            l1s = [share * largest for share in L1_SHARES]
        if l2s is None:
            spread = problem.mean_spread()
            l2s = [share * spread for share in L2_SHARES]
        lists = [("l1s", l1s), ("l2s", l2s), ("rhos", self.rhos)]
        grid = {name: sorted(set(to_floats(name, v).tolist()))[::-1] for name, v in lists}
        for name in ("l1s", "l2s"):
            for value in grid[name]:
                NOT_NEGATIVE.check(name, value)
        for rho in grid["rhos"]:
            check_rho(rho, problem.operator.shape[1])
        return [Path(grid["l1s"], l2, rho) for l2 in grid["l2s"] for rho in grid["rhos"]]


class PathScores:
    """Held-out scores of all grid points, computed fold by fold.

    Each fold follows the paths of falling l1, so that a point starts at the solution of the point
    before. The scores of all points are held at once.

    Parameters
    ----------
    model : MtSDACV
        The model, whose parameters apply to all points.
    X : array or sparse array of shape (n_samples, n_features)
        The samples of the search.
    truth : Truth
        The truth about these samples.
    codec : LabelCodec
        The form of y.
    folds : list of Fold
        The folds.
    paths : list of Path
        The grid.

    Attributes
    ----------
    params : list of dict
        The grid points, larger l1 first, then larger l2.
    selected : ndarray of shape (n_points,)
        The mean number of selected features over folds.
    converged : ndarray of shape (n_points,)
        Whether the iterations of all folds converged.
    """

    def __init__(
        self,
        model: MtSDACV,
        X: Any,
        truth: Truth,
        codec: LabelCodec,
        folds: list[Fold],
        paths: list[Path],
    ) -> None:
        self.model, self.X, self.truth, self.codec = model, X, truth, codec
        self.folds, self.paths = folds, paths
        points = [point for path in paths for point in path.points]
        order = sorted(range(len(points)), key=lambda k: (-points[k][0], k))
        self.params = [dict(zip(("l1", "l2", "rho"), points[k], strict=True)) for k in order]
        self.place = np.argsort(order)  # the grid position of each point along the paths
        self.selected = np.zeros(len(points))
        self.converged = np.ones(len(points), dtype=bool)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the scores of all points at once, after all fits."""
        self.scores = np.zeros((len(self.params), *self.truth.labels.shape))
        steps = len(self.folds) * len(self.params)
        with tuning(steps, self.model.verbose, "fit") as bar:
            for fold in self.folds:
                self._add_fold(fold, bar.update)
        self.scores /= np.maximum(self.truth.times, 1)
        yield Chunk(np.arange(len(self.params)), self.scores)

    def at(self, point: int) -> Floats:
        """Return the scores (m, n) of one point."""
        return np.asarray(self.scores[point])

    def _add_fold(self, fold: Fold, advance: Callable[[int], Any]) -> None:
        """Follow all paths on one training part and add the scores of its test part."""
        train, test = training_rows(self.X.shape[0], fold), fold[1]
        weights = None if self.truth.weights is None else self.truth.weights[train]
        Y, model = np.ascontiguousarray(self.truth.labels[:, train].T), self.model
        problem = model._problem(self.X[train], Y, weights)
        held_out = self.X[test]
        place = iter(self.place)
        for path in self.paths:
            first = None
            for point in path.points:
                k, penalty = next(place), Penalty(*point)
                found = problem.solve(
                    penalty, model.scores == "paper", model.n_iter, model.tol, first
                )
                first = found.first
                W, intercept = problem.weights(found, penalty, self.codec, Y)
                self.scores[k][:, test] += (np.asarray(held_out @ W) + intercept).T
                self.selected[k] += np.count_nonzero(found.B.any(axis=1)) / len(self.folds)
                self.converged[k] &= found.converged
                advance(1)
