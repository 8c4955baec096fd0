"""MtSDA tuned over l1, l2 and rho by cross-validation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.estimators.discriminant.mtsda import BaseMtSDA
from eigenlabel.estimators.discriminant.optimal_scoring import Penalty, ScoreProblem
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.progress import tuning
from eigenlabel.inputs.validation import check_choice
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

L1_SHARES = (1 / 8, 1 / 16, 1 / 32, 1 / 64)  # of an l1 at which all weights vanish
L2_SHARES = (1.0, 10.0)  # of the mean squared distance of samples from their mean


@dataclass(frozen=True)
class Path:
    """The values of l1, heaviest first, for one l2 and rho."""

    l1s: list[float]
    l2: float
    rho: float

    @property
    def points(self) -> list[tuple[float, float, float]]:
        """All (l1, l2, rho)."""
        return [(l1, self.l2, self.rho) for l1 in self.l1s]


class MtSDACV(BaseMtSDA):
    """Multi-task sparse discriminant analysis that tunes itself, thresholds included.

    For every l2 and rho each fold follows a path of falling l1: a grid point starts its elastic
    nets at the solution of the point before and shares the covariances of features with all
    points of the fold. Its result is that of :class:`MtSDA` fitted to the training part alone. Each
    point is scored on the held-out scores of all samples together, with thresholds fitted to
    them.

    Cost: a fit of :class:`MtSDA` per fold and grid point, less the work that is shared.

    Parameters
    ----------
    l1s : sequence of floats >= 0 or None
        None is 1/8, 1/16, 1/32 and 1/64 of an l1 at which all weights vanish.
    l2s : sequence of floats >= 0 or None
        None is 1 and 10 times the mean squared distance of samples from their mean.
    rhos : sequence of floats, default=(0.0,)
    cv : int, splitter, or iterable of (train, test)
        An int is a MultilabelStratifiedKFold.
    scoring : str or callable, default="f1_macro"
        As in :class:`SharedSubspaceClassifierCV`.
    threshold : str or rule of ``eigenlabel.thresholds``, default="mixed"
    threshold_on : "heldout" or "training"
        Scores that the final thresholds are fitted to; the paper used those of training.
    n_components, scores, n_iter, tol, fit_intercept
        As in :class:`MtSDA`.
    verbose : int, default=0
        0 is silent; 1 shows the progress of the tuning on stderr.

    Attributes
    ----------
    l1_, l2_, rho_, best_score_, best_index_
        The best grid point; of equal ones the simplest (larger l1, then larger l2).
    best_params_ : dict with l1, l2 and rho
    cv_results_ : dict of arrays as in GridSearchCV, one entry per grid point
        ``pooled_test_score`` is what decides: the score on all held-out scores together.
        ``n_features_selected`` is the mean over folds; ``converged`` tells whether all folds did.
    oof_scores_ : (n_samples, n_labels), held-out scores of the best grid point; NaN where a sample
        was in no test part or has weight zero, a mean where it was in several
    thresholds_ : (n_labels,)
    and those of :class:`MtSDA`.

    Examples
    --------
    >>> from eigenlabel import MtSDACV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = MtSDACV(rhos=[0.0, 0.5], cv=3).fit(data.X, data.Y)
    >>> len(model.cv_results_["params"]), model.thresholds_.shape
    (16, (6,))
    """

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
        """Tune and fit to samples X and labels y, as :class:`MtSDA` takes them.

        ``groups`` goes to the splitter. Sample weights count in the fit, the thresholds and the
        scoring (scorers that take none are called without). With scikit-learn's metadata routing
        a scorer gets what it requests, and ``params`` go to the splitter and the scorer.
        """
        check_choice("threshold_on", self.threshold_on, ("heldout", "training"))
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
        self.place = np.argsort(order)  # of a point that is met along the paths, in the grid
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
        return self.scores[point]

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
