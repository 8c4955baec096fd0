"""MtSDA tuned over l1, l2 and rho by cross-validation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eigenlabel.estimators.discriminant.mtsda import BaseMtSDA
from eigenlabel.estimators.discriminant.optimal_scoring import Penalty, ScoreProblem
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import CheckedBy, Choice, Parameters, check_parameters
from eigenlabel.inputs.progress import tuning
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.labels.truth import Truth
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.heldout import Fold, training_rows
from eigenlabel.model_selection.folds import list_folds
from eigenlabel.model_selection.judges import Pooled
from eigenlabel.model_selection.routing import NO_GROUPS, make_tuned_router, route_tuned
from eigenlabel.model_selection.scorers import make_scorer
from eigenlabel.model_selection.search import Chunk, search, store, to_floats
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
        """All (l1, l2, rho)."""
        return [(l1, self.l2, self.rho) for l1 in self.l1s]


class MtSDACV(BaseMtSDA):
    """Classify by multi-task sparse discriminant analysis that tunes itself and its thresholds.

    For every l2 and rho each fold follows a path of decreasing l1: a grid point starts its elastic
    nets at the solution of the previous point and shares the covariances of features with all
    points of the fold. Its result is that of :class:`MtSDA` fitted to the training part alone. Each
    point is scored on the held-out scores of all samples together, with thresholds fitted to them.

    The cost is one fit of :class:`MtSDA` for each fold and grid point, less the shared work.

    Parameters
    ----------
    l1s : sequence of float or None, default=None
        The values of l1, not negative. None is 1/8, 1/16, 1/32 and 1/64 of an l1 at which all
        weights vanish.
    l2s : sequence of float or None, default=None
        The values of l2, not negative. None is 1 and 10 times the mean squared distance of samples
        from their mean.
    rhos : sequence of float, default=(0.0,)
        The values of rho, between ``-1 / (n_features - 1)`` and 1.
    cv : int, splitter or iterable, default=5
        The folds. An int is a MultilabelStratifiedKFold.
    scoring : str or callable, default="f1_macro"
        The name of a metric of ``eigenlabel.metrics`` (losses are negated; "average_precision" is
        the mean over samples), the name of a scikit-learn scorer, or a callable
        ``scorer(estimator, X, y)`` that calls ``estimator.predict(X)`` or
        ``estimator.decision_function(X)``. There X is the matrix of held-out scores, not the data,
        and there are no probabilities.
    threshold : str or Rule, default="mixed"
        The rule that turns scores into label sets: "zero", "f1", "fbr", "global", "top",
        "proportional", "mixed", or a rule with its own settings. Thresholds apply to label
        matrices; the class of a vector y is that of the highest score.
    threshold_on : {"heldout", "training"}, default="heldout"
        The scores that the final thresholds are fitted to. Han et al. (2010) use those of training.
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
    fit_intercept : bool, default=True
        Whether X and Y are centred.
    verbose : int, default=0
        The verbosity. 0 is silent; 1 shows the progress of the tuning on stderr.

    Attributes
    ----------
    l1_ : float
        The best l1. Of equally good grid points the simplest one wins: larger l1, then larger l2.
    l2_ : float
        The best l2.
    rho_ : float
        The best rho.
    best_score_ : float
        The score of the best grid point.
    best_index_ : int
        The position of the best grid point in ``cv_results_``.
    best_params_ : dict
        The best values of l1, l2 and rho.
    cv_results_ : dict of ndarray
        The results of all grid points, as in GridSearchCV. ``pooled_test_score``, the score on all
        held-out scores together, decides. ``n_features_selected`` is the mean over folds;
        ``converged`` is True if the iterations of all folds converged.
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The held-out scores of the best grid point. They are NaN for a sample that is in no test
        part or has weight zero, and a mean for a sample that is in several.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds of the labels.
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
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels, or the classes of a vector y.
    n_features_in_ : int
        The number of features of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has string names.

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
        "l1s": CheckedBy("_paths"),
        "l2s": CheckedBy("_paths"),
        "rhos": CheckedBy("_paths"),
        "cv": CheckedBy("list_folds"),
        "scoring": CheckedBy("make_scorer"),
        "threshold_on": Choice("heldout", "training"),
        **BaseMtSDA._shared_parameters,
        "verbose": CheckedBy("the progress bar"),
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
    ) -> None:
        self.l1s = l1s
        self.l2s = l2s
        self.rhos = rhos
        self.cv = cv
        self.scoring = scoring
        self.threshold = threshold
        self.threshold_on = threshold_on
        self.n_components = n_components
        self.scores = scores
        self.n_iter = n_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
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
    ) -> "MtSDACV":
        """Tune and fit the scores, the weights and the thresholds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels), or array-like of classes
            The 0/1 label matrix, or a vector of classes.
        sample_weight : array-like of shape (n_samples,), default=None
            The sample weights, which count in the fit, the thresholds and the scoring. A scorer
            that does not accept weights is called without them.
        groups : array-like of shape (n_samples,), default=None
            The groups of the samples, which are passed to the splitter.
        **params : dict
            Other parameters of the splitter and the scorer, which need scikit-learn's metadata
            routing. With routing, a scorer gets what it requests.

        Returns
        -------
        self : MtSDACV
            The fitted classifier.
        """
        check_parameters(self)
        metadata = {"sample_weight": sample_weight, "groups": groups, **params}
        split, score = route_tuned(self, "fit", metadata)
        rule = get_rule(self.threshold)
        X, codec, Y, weights = self._check_training(X, y, sample_weight)
        self._codec, self.classes_, self._rule = codec, codec.classes, rule
        problem = self._problem(X, Y, weights)
        paths = self._paths(problem)
        used = np.arange(len(Y)) if weights is None else np.flatnonzero(weights > 0)
        folds = list_folds(self.cv, X, y, split, codec, used)
        truth = Truth.of(Y, weights, None, used, folds)
        judge = Pooled(make_scorer(self.scoring, y, codec, truth, used, score), rule, truth)
        held_out = PathScores(self, X[used], truth, codec, folds, paths)
        store(self, search(held_out, judge), used, len(Y))
        self.cv_results_["n_features_selected"] = held_out.selected
        self.cv_results_["converged"] = held_out.converged
        self.l1_, self.l2_, self.rho_ = self.best_params_.values()
        del held_out  # the scores of all points
        penalty = Penalty(self.l1_, self.l2_, self.rho_)
        self._fit_problem(problem, penalty, Y, X.dtype)
        if self.threshold_on == "training" and codec.multilabel:
            self._fit_thresholds(X, Y, weights)
        return self

    def _paths(self, problem: ScoreProblem) -> list[Path]:
        l1s, l2s = self.l1s, self.l2s
        if l1s is None:
            l1s = [share * problem.l1_max for share in L1_SHARES]
        if l2s is None:
            l2s = [share * problem.spread for share in L2_SHARES]
        lists = [("l1s", l1s), ("l2s", l2s), ("rhos", self.rhos)]
        l1s, l2s, rhos = (sorted(set(to_floats(*item).tolist()))[::-1] for item in lists)
        paths = [Path(l1s, l2, rho) for l2 in l2s for rho in rhos]
        for path in paths:
            for point in path.points:
                Penalty(*point).check(problem.operator.shape[1])
        return paths


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
        found: Floats = self.scores[point]
        return found

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
