"""ML-LS tuned over its whole grid by exact cross-validation."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from eigenlabel.estimators.base import check_training
from eigenlabel.estimators.subspace import missing_labels as observed
from eigenlabel.estimators.subspace.classifier import BaseSharedSubspace
from eigenlabel.estimators.subspace.grid import PAPER_GRID, Grid, GridScores, chunk_size
from eigenlabel.estimators.subspace.stream import Stream
from eigenlabel.inputs import progress
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    CheckedBy,
    Choice,
    Parameters,
    check_number,
    check_parameters,
)
from eigenlabel.kernels.factor import SOLVER_PARAMETERS, warn_shortfall
from eigenlabel.kernels.kernel import KERNEL_PARAMETERS, Kernel
from eigenlabel.labels.cells import blank
from eigenlabel.labels.targets import signed_targets
from eigenlabel.labels.truth import Truth
from eigenlabel.linalg.factors.solution import worst
from eigenlabel.linalg.heldout import Fold, heldout_of_statistics, tuning_arrays
from eigenlabel.model_selection.folds import list_folds
from eigenlabel.model_selection.judges import PIECE, Pooled
from eigenlabel.model_selection.routing import NO_GROUPS, make_tuned_router, route_tuned
from eigenlabel.model_selection.scorers import GridScorer, make_scorer
from eigenlabel.model_selection.search import SearchResult, search, store, to_floats
from eigenlabel.thresholds import Rule, get_rule
from eigenlabel.thresholds.decisions import decide


class SharedSubspaceClassifierCV(BaseSharedSubspace):
    """Shared-subspace least squares that tunes itself, thresholds included.

    Every (alpha, beta, n_components) of the grid is cross-validated exactly, as if each fold had
    been fitted from scratch, at the price of about one factorisation per fold. Each grid point is
    scored on the held-out scores of all samples together, with label thresholds fitted to them.

    Cost: one reduction (4 p^3 / 3, p the smaller side of X) per fold, or one eigendecomposition
    for leave-one-out; a grid point adds products with n x m arrays and one sort of the scores.
    Memory: at most 7 + min(n / p, folds) arrays of p x p numbers (8 for wide X and kernels, of
    which 4 to 5 are common), and up to 0.1 GB for the scores of grid points. Where memory allows,
    tall X (n > 2 d) takes one array more per fold, and is read once instead of several times.

    Parameters
    ----------
    alphas, betas : sequences of floats >= 0 or None
        None is the papers' grid {0, 1e-6, 1e-5, ..., 1}, with ``inf`` added for alpha.
    n_components : int, sequence of ints, or None
        Dimensions to try; None is the papers' one, 5 floor((m - 1) / 5), at least 1.
    cv : int, splitter, or iterable of (train, test)
        An int is a MultilabelStratifiedKFold. ``sklearn.model_selection.LeaveOneOut()`` takes one
        factorisation and n m x m eigenproblems per (alpha, beta).
    scoring : str or callable, default="f1_macro"
        A metric of ``eigenlabel.metrics`` by name (losses are negated; "average_precision" is the
        one over samples), a scikit-learn scorer by name, or a callable ``scorer(estimator, X, y)``
        that calls ``estimator.predict(X)`` or ``estimator.decision_function(X)``. X is the matrix
        of held-out scores then, not the data, and there are no probabilities.
    threshold : str or rule of ``eigenlabel.thresholds``, default="mixed"
        How scores become label sets: "zero", "f1", "fbr", "global", "top", "proportional" or
        "mixed". Thresholds apply to label matrices; a vector y is decided by the highest score.
    threshold_on : "heldout" or "training"
        Scores that the final thresholds are fitted to; the papers used those of training. The
        grid is always compared on held-out scores.
    kernel, gamma, degree, coef0, kernel_params, fit_intercept, solver, tol, max_iter, max_memory
        As in :class:`SharedSubspaceClassifier`.
    verbose : int, default=0
        0 is silent; 1 shows the progress of the tuning on stderr.

    Attributes
    ----------
    alpha_, beta_, n_components_, best_score_, best_index_
        The best grid point; of equal ones the simplest (smaller subspace, larger penalties).
        n_components_ counts the directions that the features do predict.
    best_params_ : dict with alpha, beta and n_components as they stand in the grid
    cv_results_ : dict of arrays as in GridSearchCV, one entry per grid point
        ``pooled_test_score`` is what decides: the score on all held-out scores together.
        ``split<k>_test_score``, ``mean_test_score`` and ``std_test_score`` are by fold (not kept
        for more than 100 folds, nor if samples are tested repeatedly), ``rank_test_score`` ranks
        the pooled score.
    score_grid_ : (n_alphas, n_betas, n_dimensions), the pooled scores in the order of the lists
    oof_scores_ : (n_samples, n_labels), held-out scores of the best grid point; NaN where a sample
        was in no test part or has weight zero, a mean where it was in several
    thresholds_ : (n_labels,)
    and those of :class:`SharedSubspaceClassifier`.

    Labels that were not observed (NaN in a label matrix) count neither in scores nor in thresholds.

    Samples may come in blocks (``partial_fit``, ``fit_files``), for a linear kernel and an int cv.
    Then a sample's fold depends on its position; statistics are kept by fold, and rows to compare
    grid points on: all of them up to 2^24 samples times labels and 512 MiB, an even draw beyond.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = SharedSubspaceClassifierCV(n_components=[1, 2, 3]).fit(data.X, data.Y)
    >>> model.score_grid_.shape, model.thresholds_.shape
    ((9, 8, 3), (6,))
    """

    _parameters: ClassVar[Parameters] = {
        "alphas": CheckedBy("_grid"),
        "betas": CheckedBy("_grid"),
        "n_components": CheckedBy("_grid"),
        "cv": CheckedBy("list_folds"),
        "scoring": CheckedBy("make_scorer"),
        "threshold": CheckedBy("get_rule"),
        "threshold_on": Choice("heldout", "training"),
        **KERNEL_PARAMETERS,
        **SOLVER_PARAMETERS,
        "verbose": CheckedBy("the progress bar, which any value is good for"),
    }

    def __init__(
        self,
        alphas: Any = None,
        betas: Any = None,
        n_components: Any = None,
        *,
        cv: Any = 5,
        scoring: Any = "f1_macro",
        threshold: str | Rule = "mixed",
        threshold_on: str = "heldout",
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        max_memory: float | None = None,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.betas = betas
        self.n_components = n_components
        self.cv = cv
        self.scoring = scoring
        self.threshold = threshold
        self.threshold_on = threshold_on
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_memory = max_memory
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
    ) -> "SharedSubspaceClassifierCV":
        """Tune and fit to samples X and labels y, as :class:`SharedSubspaceClassifier` takes them.

        ``groups`` goes to the splitter. Sample weights count in the fit, the thresholds and the
        scoring (scorers that take none are called without). With scikit-learn's metadata routing
        a scorer gets what it requests, and ``params`` go to the splitter and the scorer.
        """
        check_parameters(self)
        kernel = self._make_kernel()
        metadata = {"sample_weight": sample_weight, "groups": groups, **params}
        split, score = route_tuned(self, "fit", metadata)
        rule = get_rule(self.threshold)
        self._refuse_many_labels(X, y)
        data = check_training(self, X, y, sample_weight, square=kernel.precomputed)
        X, codec, Y, weights, cells = data.X, data.codec, data.Y, data.weights, data.observed
        self._kernel = kernel.settle(X, weights)
        self._codec, self.classes_, self._rule = codec, codec.classes, rule
        grid = self._grid(Y.shape[1])
        T, used = data.targets, data.used
        folds = list_folds(self.cv, X, y, split, codec, used)
        n, d = X.shape
        arrays = tuning_arrays(n, d if self._linear else n, folds)
        factor = observed.factorise(self._kernel, X, weights, cells, self._solver(), arrays)
        tuning, part = factor, None if cells is None else cells[used]
        if len(used) < len(Y):
            some = _part(kernel, X, weights, used)
            tuning = observed.factorise(self._kernel, *some, part, self._solver(), arrays)
        truth = Truth.of(Y, weights, cells, used, folds)
        scorer = make_scorer(self.scoring, y, codec, truth, used, score)
        store(self, self._tune(tuning, T[used], folds, grid, truth, scorer), used, len(Y))
        del tuning  # as large as the factor of the final fit
        self._fit_factor(factor, X, T, self._store_point(grid))
        if self.threshold_on == "training" and codec.multilabel:
            known = blank(Y[used], part)
            scores = self._scores_of_checked(X)[used]
            self.thresholds_ = rule.find_thresholds(scores, known, truth.weights)
        return self

    def _grid(self, n_labels: int) -> Grid:
        alphas = to_floats("alphas", (*PAPER_GRID, np.inf) if self.alphas is None else self.alphas)
        betas = to_floats("betas", PAPER_GRID if self.betas is None else self.betas)
        for value in alphas:
            check_number("alphas", float(value), 0, inf=True)
        for value in betas:
            check_number("betas", float(value), 0)
        given = self.n_components
        several = isinstance(given, Iterable) and not isinstance(given, str)
        ranks = [self._rank(r, n_labels) for r in (given if several else [given])]
        if not ranks:
            raise ValueError("n_components is empty: give at least one dimension.")
        return Grid(alphas, betas, ranks)

    def _tune(
        self,
        factor: Any,
        T: np.ndarray,
        folds: list[Fold],
        grid: Grid,
        truth: Truth,
        scorer: GridScorer,
    ) -> SearchResult:
        """Search the grid; the prepared folds exist while this method runs, and no longer."""
        limit = self._solver().limit
        with progress.tuning(len(folds) + len(grid.points), self.verbose) as bar:
            blocks = factor.heldout(T, folds, grid.shifts, grid.shift_pairs, limit, bar.update)
            warn_shortfall(worst([block.shortfall for block in blocks]))
            judge = Pooled(scorer, self._rule, truth, min(PIECE, chunk_size(limit)))
            return search(GridScores(blocks, grid, truth, limit), judge, bar.update)

    def _store_point(self, grid: Grid) -> tuple[float, float, int]:
        """Store the best point of the search and return it."""
        point = alpha, beta, _ = tuple(self.best_params_.values())
        self.alpha_, self.beta_ = alpha, beta
        self.score_grid_ = grid.arrange(self.cv_results_["pooled_test_score"])
        return point

    _solved = BaseSharedSubspace._solved | {
        "alpha_",
        "beta_",
        "best_index_",
        "best_score_",
        "best_params_",
        "cv_results_",
        "score_grid_",
        "thresholds_",
        "oof_scores_",
    }

    @property
    def _stream_folds(self) -> int:
        return 5 if self.cv is None else int(self.cv)

    def _check_stream(self) -> None:
        super()._check_stream()
        if self.cv is not None:
            check_number("cv", self.cv, 2, integer=True)
        self._rule = get_rule(self.threshold)

    def _solve_stream(self, stream: Stream) -> None:
        codec, rule = stream.codec, self._rule
        kept, fold = stream.sample.blocks[0], stream.sample.folds[0]
        numbers = [k for k, a in enumerate(stream.folds) if a.total is not None and a.total.n > 0]
        if len(numbers) < 2:
            raise ValueError(f"{len(fold)} samples are too few to tune on.")
        folds: list[Fold] = [(None, np.flatnonzero(fold == k)) for k in numbers]
        grid = self._grid(kept.Y.shape[1])
        parts = [stream.folds[k].total for k in numbers]
        tests = [test for _, test in folds]
        _, score = route_tuned(self, "partial_fit", {"sample_weight": kept.weights})
        y, rows = codec.decide(signed_targets(kept.Y)), np.arange(len(fold))
        truth = Truth.of(kept.Y, kept.weights, None, rows, folds)
        blocks = heldout_of_statistics(parts, kept.X, tests, grid.shifts, self.fit_intercept)
        judge = Pooled(make_scorer(self.scoring, y, codec, truth, rows, score), rule, truth)
        with progress.tuning(len(grid.points), self.verbose) as bar:
            result = search(GridScores(blocks, grid, truth), judge, bar.update)
        store(self, result, rows, len(fold))
        self._fit_statistics(stream.total(), self._store_point(grid))
        if self.threshold_on == "training" and codec.multilabel:
            self.thresholds_ = rule.find_thresholds(self._scores(kept.X), kept.Y, kept.weights)

    def _decide(self, scores: np.ndarray) -> Any:
        return decide(self._codec, scores, self._rule, self.thresholds_)


def _part(
    kernel: Kernel, X: Any, weights: np.ndarray | None, used: np.ndarray
) -> tuple[Any, np.ndarray]:
    assert weights is not None
    part = X[used][:, used] if kernel.precomputed else X[used]
    return part, weights[used]
