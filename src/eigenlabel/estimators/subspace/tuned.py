"""ML-LS tuned over its whole grid by exact cross-validation."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from eigenlabel.estimators.base import check_training
from eigenlabel.estimators.subspace import missing_labels as observed
from eigenlabel.estimators.subspace.classifier import BaseSharedSubspace
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
from eigenlabel.labels.codec import signed_targets
from eigenlabel.linalg.factors.solution import worst
from eigenlabel.linalg.heldout import Fold, FoldBlock, heldout_of_statistics, tuning_arrays
from eigenlabel.linalg.numerics import descending_eigh
from eigenlabel.model_selection.routing import TunedRoutingMixin
from eigenlabel.model_selection.scorers import GridScorer
from eigenlabel.model_selection.search import (
    find_best,
    list_folds,
    make_scorer,
    tabulate,
    to_floats,
)
from eigenlabel.thresholds import Rule, get_rule

PAPER_GRID = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
CHUNK = 2**22  # held-out scores of grid points held at once
PIECE = 2**19  # of them, thresholds of which are fitted at once: that takes ten arrays as large
MAX_SPLIT_COLUMNS = 100  # more folds than this (leave-one-out) get no columns of their own


@dataclass(frozen=True)
class Grid:
    """All (alpha, beta, r), ordered from the simplest model to the least simple.

    Simpler is a smaller shared subspace, then larger penalties. The first of equal scores wins.
    """

    alphas: np.ndarray
    betas: np.ndarray
    ranks: np.ndarray

    @cached_property
    def shifts(self) -> list[float]:
        """All distinct beta and alpha + beta, ascending."""
        pairs = self.penalties
        return sorted({b for _, b in pairs} | {a + b for a, b in pairs})

    @property
    def penalties(self) -> list[tuple[float, float]]:
        """Pairs (alpha, beta), heaviest first."""
        betas, alphas = (sorted({float(v) for v in g})[::-1] for g in (self.betas, self.alphas))
        return [(a, b) for b in betas for a in alphas]

    @property
    def shift_pairs(self) -> list[tuple[int, int]]:
        """The positions of beta and alpha + beta among the shifts, for all pairs."""
        return [self.shift_pair(a, b) for a, b in self.penalties]

    @property
    def size(self) -> int:
        """The number of distinct grid points."""
        return len(self.penalties) * len({int(r) for r in self.ranks})

    def shift_pair(self, alpha: float, beta: float) -> tuple[int, int]:
        """Give the positions of beta and alpha + beta among the shifts."""
        return self.shifts.index(beta), self.shifts.index(alpha + beta)


class SharedSubspaceClassifierCV(TunedRoutingMixin, BaseSharedSubspace):
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
        split, score = self._route("fit", metadata)
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
        limit = self._solver().limit
        with progress.tuning(len(folds) + grid.size, self.verbose) as bar:
            blocks = tuning.heldout(
                T[used], folds, grid.shifts, grid.shift_pairs, limit, bar.update
            )
            warn_shortfall(worst([block.shortfall for block in blocks]))
            search = _Search(
                blocks,
                Y[used],
                folds,
                grid,
                rule,
                make_scorer(self.scoring, y, codec, Y, used, folds, weights, cells, score),
                limit,
            )
            self._store_search(search, grid, used, len(Y), bar.update)
        del blocks, search, tuning  # folds and factors are as large as the final fit's
        chosen = self.best_params_
        parameters = (chosen["alpha"], chosen["beta"], chosen["n_components"])
        self._fit_factor(factor, X, T, parameters)
        if self.threshold_on == "training" and codec.multilabel:
            truth = blank(Y[used], part)
            some = None if weights is None else weights[used]
            scores = self._scores_of_checked(X)[used]
            self.thresholds_ = rule.find_thresholds(scores, truth, some)
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
        return Grid(alphas, betas, np.array(ranks))

    def _store_search(
        self,
        search: "_Search",
        grid: Grid,
        used: np.ndarray,
        n: int,
        advance: Callable[[int], Any],
    ) -> None:
        pooled, split, thresholds = search.run(advance)
        points = search.points
        best = find_best(pooled, self.scoring)
        self.alpha_, self.beta_, _ = points[best]
        keys = ("alpha", "beta", "n_components")
        self.cv_results_ = tabulate(points, keys, pooled, split)
        self.best_index_, self.best_score_ = best, float(pooled[best])
        self.best_params_ = dict(zip(keys, points[best], strict=True))
        place = {point: k for k, point in enumerate(points)}
        self.score_grid_ = np.array(
            [
                [
                    [pooled[place[float(a), float(b), int(r)]] for r in grid.ranks]
                    for b in grid.betas
                ]
                for a in grid.alphas
            ]
        )
        self.thresholds_ = thresholds[best]
        self.oof_scores_ = np.full((n, len(self.thresholds_)), np.nan)
        self.oof_scores_[used] = search.heldout_scores(best)

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
        _, score = self._route("partial_fit", {"sample_weight": kept.weights})
        y, rows = codec.decide(signed_targets(kept.Y)), np.arange(len(fold))
        search = _Search(
            heldout_of_statistics(parts, kept.X, tests, grid.shifts, self.fit_intercept),
            kept.Y,
            folds,
            grid,
            rule,
            make_scorer(self.scoring, y, codec, kept.Y, rows, folds, kept.weights, metadata=score),
        )
        with progress.tuning(grid.size, self.verbose) as bar:
            self._store_search(search, grid, rows, len(fold), bar.update)
        chosen = self.best_params_
        parameters = (chosen["alpha"], chosen["beta"], chosen["n_components"])
        self._fit_statistics(stream.total(), parameters)
        if self.threshold_on == "training" and codec.multilabel:
            self.thresholds_ = rule.find_thresholds(self._scores(kept.X), kept.Y, kept.weights)

    def _decide(self, scores: np.ndarray) -> Any:
        if self._codec.multilabel:
            return self._codec.decode(self._rule.decide(scores, self.thresholds_))
        return self._codec.decide(scores)


def _part(
    kernel: Kernel, X: Any, weights: np.ndarray | None, used: np.ndarray
) -> tuple[Any, np.ndarray]:
    assert weights is not None
    part = X[used][:, used] if kernel.precomputed else X[used]
    return part, weights[used]


def _pieces(items: Sequence[Any], size: int) -> Iterator[Any]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


class _Search:
    """Held-out scores of all grid points, in chunks that fit in memory."""

    def __init__(
        self,
        blocks: list[FoldBlock],
        Y: np.ndarray,
        folds: list[Fold],
        grid: Grid,
        rule: Rule,
        scorer: GridScorer,
        max_memory: float = np.inf,
    ) -> None:
        self.grid, self.rule, self.scorer = grid, rule, scorer
        self.chunk = int(min(CHUNK, max_memory // 128))
        self.n, self.m = Y.shape
        self.blocks = blocks
        self.times = np.bincount(
            np.concatenate([test for _, test in folds]), minlength=self.n
        )  # how often each sample is held out
        self.by_fold = len(folds) <= MAX_SPLIT_COLUMNS and self.times.max() <= 1
        self.ranks = sorted({int(r) for r in grid.ranks})
        self.pairs = grid.penalties
        self.points = [(a, b, r) for r in self.ranks for a, b in self.pairs]

    def _chunks(self) -> Iterator[tuple[list[int], list[tuple[float, float]]]]:
        """Cut the grid into ranks x pairs whose scores fit in a chunk."""
        room = max(1, self.chunk // (self.n * self.m))
        for ranks in _pieces(self.ranks, room):
            for pairs in _pieces(self.pairs, max(1, room // len(ranks))):
                yield ranks, pairs

    def _scores(self, ranks: list[int], pairs: list[tuple[float, float]]) -> np.ndarray:
        """Give (len(ranks), len(pairs), m, n) held-out scores."""
        out = np.zeros((len(ranks), len(pairs), self.m, self.n))
        shifts = [self.grid.shift_pair(a, b) for a, b in pairs]
        for block in self.blocks:
            found, S = block.evaluate(shifts)
            W = descending_eigh(S)[1]
            for p, (i, j) in enumerate(shifts):
                FA, FB = found[i], found[j]  # (folds, size, m)
                for k, r in enumerate(ranks):
                    Wr = W[p][..., :r]
                    F = FB + ((FA - FB) @ Wr) @ np.swapaxes(Wr, -1, -2)
                    F = block.settle(F)
                    out[k, p][:, block.rows.ravel()] += F.reshape(-1, self.m).T
        if (self.times > 1).any():
            out /= np.maximum(self.times, 1)
        return out

    def run(self, advance: Callable[[int], Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return pooled scores, scores by fold and thresholds of all points, in their order.

        ``advance`` is called with the number of points that are done, each time some are.
        """
        place = {point: k for k, point in enumerate(self.points)}
        tested = self.times > 0
        pooled = np.empty(len(place))
        split = np.empty((len(place), self.scorer.n_folds if self.by_fold else 0))
        thresholds = np.empty((len(place), self.m))
        for ranks, pairs in self._chunks():
            at = [place[a, b, r] for r in ranks for a, b in pairs]
            scores = self._scores(ranks, pairs).reshape(-1, self.m, self.n)
            piece = min(PIECE, self.chunk) // (self.n * self.m)
            for some in _pieces(range(len(at)), max(1, piece)):
                points = [at[k] for k in some]
                part = scores[some.start : some.stop]
                if not tested.all():
                    part = np.ascontiguousarray(part[..., tested])
                thresholds[points] = self._thresholds(part)
                pooled[points], split[points] = self.scorer.score(
                    part, self.rule, thresholds[points], self.by_fold
                )
                advance(len(points))
        return pooled, split, thresholds

    def _thresholds(self, scores: np.ndarray) -> np.ndarray:
        if not self.scorer.codec.multilabel:
            return np.zeros(scores.shape[:2])
        scorer = self.scorer
        return self.rule.find_grid(scores, scorer.truth, scorer.weights, scorer.observed)

    def heldout_scores(self, index: int) -> np.ndarray:
        """Give (n, m) held-out scores of one grid point, NaN where a sample never was held out."""
        alpha, beta, r = self.points[index]
        scores = self._scores([r], [(alpha, beta)])[0, 0].T.copy()
        scores[self.times == 0] = np.nan
        return scores
