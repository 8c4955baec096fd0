"""ML-LS tuned over its whole grid by exact cross-validation."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from eigenlabel.estimators.base import CALIBRATION, check_training
from eigenlabel.estimators.subspace.base import BaseSharedSubspace
from eigenlabel.estimators.subspace.coefficients import Domain, Dual
from eigenlabel.estimators.subspace.exact_heldout import stream_scores
from eigenlabel.estimators.subspace.many_labels import Sizes, check_tunable
from eigenlabel.estimators.subspace.solve import (
    SubspaceSolution,
    Tuning,
    choose_rank,
    solve,
    solve_statistics,
)
from eigenlabel.estimators.subspace.stream import Stream
from eigenlabel.estimators.subspace.tuning import GridLists, TunedSearch, chunk_size
from eigenlabel.inputs import progress
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    CheckedBy,
    Choice,
    Maybe,
    Number,
    Parameters,
    check_number,
    check_parameters,
)
from eigenlabel.kernels.factor import SOLVER_PARAMETERS
from eigenlabel.kernels.kernel import KERNEL_PARAMETERS, Kernel, check_bandwidths, is_list
from eigenlabel.labels.codec import LabelCodec, signed_targets
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.covariance import StatisticsFactor
from eigenlabel.linalg.heldout import sort_by_fold
from eigenlabel.model_selection.routing import NO_GROUPS, make_tuned_router, route_tuned
from eigenlabel.model_selection.scorers import Truth, make_scorer
from eigenlabel.model_selection.search import PIECE, Pooled, SearchResult, search, to_floats
from eigenlabel.model_selection.splits import list_folds
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.rules import get_rule


class SharedSubspaceClassifierCV(BaseSharedSubspace):
    """Classify by shared-subspace least squares that tunes its parameters and thresholds.

    Every (alpha, beta, n_components) of the grid is cross-validated exactly, as if each fold had
    been fitted from scratch, at the cost of about one factorisation per fold. Each grid point is
    scored on the held-out scores of all samples together, with label thresholds fitted to them.
    The model is that of :class:`SharedSubspaceClassifier` with the best parameters.

    The cost is one reduction (4 p^3 / 3 operations, with p the smaller side of X) per fold, or one
    eigendecomposition for leave-one-out; a grid point adds products with n x m arrays and one sort
    of the scores. Memory is at most 7 + min(n / p, folds) arrays of p x p numbers (8 for wide X
    and kernels, of which 4 to 5 are usual), and up to 0.1 GB for the scores of grid points. If
    memory allows, tall X (n > d) uses one more array per fold, and is read once instead of
    several times.

    Parameters
    ----------
    alphas : array-like of float, default=None
        The values of alpha to try, at least 0. None tries 0 (ridge regression), 9 beta and infinity
        (reduced-rank ridge regression) with each beta. The grid of Ji et al. 2010 is
        {0, 1e-6, 1e-5, ..., 1}.
    betas : array-like of float, default=None
        The values of beta to try, at least 0. None is v {1, 10^-0.5, 10^-1, ..., 10^-6}, where v
        is the variance of the samples: their mean squared distance from their mean, or from zero
        if ``fit_intercept`` is False, in the feature space of the kernel. The grid of Ji et al.
        2010 is {0, 1e-6, 1e-5, ..., 1}.
    n_components : int or array-like of int, default=None
        The dimensions of the shared subspace to try. None is that of Ji et al. 2010,
        5 floor((m - 1) / 5), at least 1.
    cv : int, splitter or iterable of (train, test), default=5
        The folds. An int is the number of folds of a MultilabelStratifiedKFold.
        ``sklearn.model_selection.LeaveOneOut()`` costs one factorisation, and n eigenproblems of
        size m x m for each (alpha, beta).
    scoring : str or callable, default="f1_macro"
        A metric of ``eigenlabel.metrics`` by name (losses are negated; "average_precision" is the
        one over samples), a scikit-learn scorer by name, or a callable ``scorer(estimator, X, y)``
        that calls ``estimator.predict(X)`` or ``estimator.decision_function(X)``. There X is the
        matrix of held-out scores, not the data, and there are no probabilities.
    threshold : str or rule, default="mixed"
        How scores become label sets: "zero", "f1", "fbr", "global", "top", "proportional",
        "mixed", or a rule of ``eigenlabel.thresholds``. Thresholds apply to label matrices; a
        vector y is decided by the highest score. A rule on probabilities is fitted to those of
        ``oof_scores_``, and grid points are compared with the rule "mixed".
    threshold_on : {"heldout", "training"}, default="heldout"
        The scores that the final thresholds are fitted to; Ji et al. 2010 use those of training.
        Grid points are always compared on held-out scores.
    kernel : str or callable, default="linear"
        The kernel: "linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "chi2" or
        "intersection" (both of histograms), or "precomputed". A callable takes two matrices and
        returns the kernel matrix of their rows. Sums of kernels are passed as "precomputed". A
        kernel matrix that is not positive semi-definite is used without its negative part, with a
        warning.
    gamma : float or list, default=None
        The bandwidth of "poly", "rbf", "sigmoid", "laplacian" and "chi2". None is the default rule
        of the kernel on the training samples. The bandwidths of a list, which may contain None,
        are compared like the other parameters. The distances of the samples are computed once for
        all of them; each one costs a reduction per fold.
    degree : float, default=3
        The power of "poly".
    coef0 : float, default=1
        The constant of "poly" and "sigmoid".
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    fit_intercept : bool, default=True
        Whether there is an intercept without penalty. False, with a constant column in X, is the
        setting of Ji et al. 2010.
    solver : {"auto", "gram", "covariance", "krylov"}, default="auto"
        How the equations are solved: with the n x n matrix, with the d x d matrix, or with
        products alone (conjugate gradients; kernel values are computed again in each iteration).
        "auto" is the smaller matrix, or products if it does not fit in memory and the kernel is
        linear.
    tol : float, default=1e-6
        The residual at which "krylov" stops, relative to the right side of its equations. It works
        in float32 on sparse float32 X if ``tol`` is 1e-5 or more. The relative error of the
        weights is at most tol (largest + shift) / (smallest + shift eigenvalue of the covariance),
        and usually close to tol.
    max_iter : int, default=1000
        The number of iterations after which "krylov" stops, with a ConvergenceWarning that states
        the residual.
    max_memory : float, default=None
        Upper bound in bytes on the arrays that a solver holds at once, in addition to X and y.
        None is the memory that the process can still use: the least of the machine's free memory,
        what its control groups (containers) have left, and ``ulimit -v``. If the arrays
        do not fit, "auto" is "krylov" for a linear kernel; everything else raises MemoryError.
    verbose : int, default=0
        Whether the progress of the tuning is shown on stderr: 0 for silence, 1 to show it.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default="auto"
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to ``oof_scores_``,
        without another fit. None leaves out ``predict_proba``.

    Attributes
    ----------
    alpha_ : float
        The best value of alpha. Of equal grid points the simplest is best: the smaller subspace,
        then larger penalties.
    beta_ : float
        The best value of beta.
    gamma_ : float
        The bandwidth of the kernel, the best one if ``gamma`` is a list; among equal scores, the
        smallest. Only for kernels with a bandwidth.
    best_params_ : dict
        The values of alpha, beta and n_components of the best grid point, and that of gamma if it
        is a list.
    best_index_ : int
        The position of the best grid point in ``cv_results_``.
    best_score_ : float
        The score of the best grid point.
    cv_results_ : dict
        The results in the form of GridSearchCV, one entry per grid point. ``pooled_test_score`` is
        the score on all held-out scores together, by which the best point is chosen.
        ``split<k>_test_score``, ``mean_test_score`` and ``std_test_score`` are by fold (not stored
        for more than 100 folds, nor if samples are tested repeatedly). ``rank_test_score`` ranks
        the pooled score.
    score_grid_ : ndarray of shape (n_alphas, n_betas, n_dimensions)
        The pooled scores in the order of the lists of parameters; the defaults are 3 values of
        alpha for each of 13 values of beta, in ascending order. If ``gamma`` is a list, there is
        a last axis for its values.
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The held-out scores of the best grid point: NaN if a sample was in no test part or has
        weight zero, a mean if it was in several.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds of the scores.
    calibration_ : Calibration
        The maps from scores to probabilities. Only if ``calibration`` is not None.
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the features. Only for a linear kernel.
    dual_coef_ : ndarray of shape (n_samples, n_labels)
        Dual coefficients of the training samples. Only for other kernels.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    eigenlabels_ : ndarray of shape (n_labels, n_components_)
        The combinations W of labels that share the subspace, with orthonormal columns.
    eigenvalues_ : ndarray of shape (n_labels,)
        The eigenvalues of S = A'B, descending; for ``alpha=inf``, those of alpha A'B.
    components_ : ndarray of shape (n_components_, n_features)
        The basis Theta of the shared subspace, with orthonormal rows. Only for a linear kernel.
    dual_components_ : ndarray of shape (n_samples, n_components_)
        The dual coefficients of the basis. Only for other kernels.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        The training samples, or their kernel matrix if it is precomputed. Only for other kernels.
    n_components_ : int
        The dimension of the shared subspace, without directions on which the features predict
        nothing.
    classes_ : ndarray of shape (n_labels,)
        The names or numbers of the columns of a label matrix, or the classes of a vector y.
    n_iter_ : int
        The number of iterations of "krylov" for the final fit; 1 for the exact solvers.
    residuals_ : ndarray of shape (1 or 2, n_labels)
        The residuals of the ridge regressions with beta and, for a finite alpha, alpha + beta:
        relative to the right side, rounding included, by label. Only for "krylov".
    n_samples_seen_ : int
        The number of samples that came in blocks, without those forgotten. Only for models fitted
        by blocks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features. Only if X is a frame whose column names are strings.

    Notes
    -----
    Labels that are not observed (NaN in a label matrix) count neither in scores nor in thresholds.

    Samples may come in blocks (``partial_fit``, ``fit_files``), for a linear kernel and an int cv.
    Then the fold of a sample depends on its position. Statistics are stored by fold, and rows on
    which grid points are compared: all of them up to 2^24 samples times labels and 512 MiB, a
    random sample beyond.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = SharedSubspaceClassifierCV(n_components=[1, 2, 3]).fit(data.X, data.Y)
    >>> model.score_grid_.shape, model.thresholds_.shape
    ((3, 13, 3), (6,))
    """

    gamma: Any

    _parameters: ClassVar[Parameters] = {
        "alphas": CheckedBy("_lists"),
        "betas": CheckedBy("_lists"),
        "n_components": CheckedBy("_lists"),
        "cv": CheckedBy("list_folds"),
        "scoring": CheckedBy("make_scorer"),
        "threshold": CheckedBy("get_rule"),
        "threshold_on": Choice("heldout", "training"),
        **KERNEL_PARAMETERS,
        "gamma": CheckedBy("_make_kernel"),
        **SOLVER_PARAMETERS,
        "verbose": CheckedBy("the progress bar, which any value is good for"),
        "calibration": CALIBRATION,
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
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        max_memory: float | None = None,
        verbose: int = 0,
        calibration: str | None = "auto",
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
        self.calibration = calibration

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
        """Tune the parameters and the thresholds, and fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix (n_samples, n_samples) if the kernel is
            precomputed.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            A 0/1 label matrix, a list of label sets (None if they are not observed), or a vector of
            classes. NaN in a matrix (also None and pandas' NA; stored NaN in a sparse one) marks a
            label that is not observed on a sample.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of k counts like k copies of the sample: in the fit, in the thresholds, and in
            the scoring if the scorer accepts weights.
        groups : array-like of shape (n_samples,), default=None
            The groups of the samples, which are passed to the splitter.
        **params : dict
            Metadata for the splitter and the scorer. They need scikit-learn's metadata routing,
            with which a scorer gets what it requests.

        Returns
        -------
        self : SharedSubspaceClassifierCV
            The fitted model.
        """
        check_parameters(self)
        kernel, solver, rule = self._make_kernel(), self._make_solver(), get_rule(self.threshold)
        metadata = {"sample_weight": sample_weight, "groups": groups, **params}
        split, score = route_tuned(self, "fit", metadata)
        check_tunable(Sizes.read(X, y, kernel.linear))
        data = check_training(self, X, y, sample_weight, square=kernel.precomputed)
        lists = self._lists(data.Y.shape[1])
        folds = list_folds(self.cv, data.X, y, split, data.codec, data.used)
        order, sorted_folds = sort_by_fold(folds, len(data.used))
        rows = data.used[order]
        truth = Truth.of(data.Y, data.weights, data.observed, rows, sorted_folds)
        scorer = make_scorer(self.scoring, y, data.codec, truth, rows, score)
        room = min(PIECE, chunk_size(solver.limit))
        judge = Pooled(scorer, rule, truth, room, self.calibration)
        run = TunedSearch(data, folds, order, lists, judge, solver, self.verbose)
        found = run.tune_path(kernel, self.gamma) if is_list(self.gamma) else run.tune(kernel)
        result, tuning = found.result, Tuning.of(found.result, found.grid, rows, len(data.Y))
        domain = Domain(found.kernel, data.X.dtype, data.X)
        solution = solve(found.factor, data.targets, tuning.point, domain)
        training = solution.weights.scores(data.X)[rows] if self._on_training(data.codec) else None
        return self._store(data.codec, _tuned(solution, judge, result, tuning, training))

    def _make_kernel(self) -> Kernel:
        if not is_list(self.gamma):
            Maybe(Number(0)).check("gamma", self.gamma)
            return super()._make_kernel()
        kernel = Kernel(self.kernel, None, self.degree, self.coef0, self.kernel_params)
        check_bandwidths(kernel, self.gamma)
        self._make_solver().check_kernel(kernel)
        return kernel

    def _on_training(self, codec: LabelCodec) -> bool:
        """Return True if the final thresholds are fitted to training scores."""
        return self.threshold_on == "training" and codec.multilabel

    def _lists(self, n_labels: int) -> GridLists:
        """Return the lists of parameters; raise ValueError if a value is out of range."""
        alphas = None if self.alphas is None else to_floats("alphas", self.alphas)
        betas = None if self.betas is None else to_floats("betas", self.betas)
        for value in () if alphas is None else alphas:
            check_number("alphas", float(value), 0, inf=True)
        for value in () if betas is None else betas:
            check_number("betas", float(value), 0)
        given = self.n_components
        several = isinstance(given, Iterable) and not isinstance(given, str)
        ranks = [choose_rank(r, n_labels) for r in (given if several else [given])]
        if not ranks:
            raise ValueError("n_components is empty: pass at least one dimension.")
        return GridLists(alphas, betas, ranks)

    def _check_stream(self) -> int:
        super()._check_stream()
        get_rule(self.threshold)
        if self.cv is None:
            return 5
        check_number("cv", self.cv, 2, integer=True)
        return int(self.cv)

    def _solve_stream(self, stream: Stream) -> SubspaceSolution:
        codec, rule = stream.columns.codec, get_rule(self.threshold)
        kept = stream.sample.blocks[0]
        total = stream.total()
        factor = StatisticsFactor(total, self.fit_intercept)
        grid = self._lists(kept.Y.shape[1]).grid(factor.variance)
        held_out, truth = stream_scores(stream, grid, self.fit_intercept)
        _, score = route_tuned(self, "partial_fit", {"sample_weight": kept.weights})
        y, rows = codec.decide(signed_targets(kept.Y)), np.arange(len(kept.Y))
        scorer = make_scorer(self.scoring, y, codec, truth, rows, score)
        judge = Pooled(scorer, rule, truth, calibration=self.calibration)
        with progress.tuning(len(grid.points), self.verbose) as bar:
            result = search(held_out, judge, bar.update)
        tuning = Tuning.of(result, grid, rows, len(rows))
        solution = solve_statistics(total, tuning.point, centre=self.fit_intercept)
        training = solution.weights.scores(kept.X) if self._on_training(codec) else None
        return _tuned(solution, judge, result, tuning, training)

    # Fitted attributes

    def _tuning(self) -> Tuning:
        tuning = self._solved().tuning
        assert tuning is not None
        return tuning

    @property
    def alpha_(self) -> float:
        """Best value of alpha."""
        return self._tuning().point[0]

    @property
    def beta_(self) -> float:
        """Best value of beta."""
        return self._tuning().point[1]

    @property
    def gamma_(self) -> float:
        """Bandwidth of the kernel."""
        subspace = self._solved().weights.subspace
        gamma = None
        if isinstance(subspace, Dual) and subspace.kernel.has_bandwidth:
            gamma = subspace.kernel.gamma
        return self._present("gamma_", gamma)

    @property
    def best_index_(self) -> int:
        """Position of the best grid point in ``cv_results_``."""
        return self._tuning().best_index

    @property
    def best_score_(self) -> float:
        """Score of the best grid point."""
        return self._tuning().best_score

    @property
    def best_params_(self) -> dict[str, Any]:
        """Values of alpha, beta and n_components of the best grid point."""
        return self._tuning().best_params

    @property
    def cv_results_(self) -> dict[str, Any]:
        """Results of all grid points."""
        return self._tuning().cv_results

    @property
    def score_grid_(self) -> Floats:
        """Scores (n_alphas, n_betas, n_dimensions) in the order of the lists of parameters."""
        return self._tuning().score_grid

    @property
    def oof_scores_(self) -> Floats:
        """Held-out scores (n_samples, n_labels) of the best grid point."""
        return self._tuning().oof_scores

    @property
    def thresholds_(self) -> Floats:
        """Thresholds (n_labels,) of the scores."""
        return np.asarray(self._solved().thresholds)


def _tuned(
    solution: SubspaceSolution,
    judge: Pooled,
    result: SearchResult,
    tuning: Tuning,
    training: Floats | None,
) -> SubspaceSolution:
    """Return a solution with the outcome of the search that chose its parameters.

    ``training`` are the scores that the final thresholds are fitted to; None are held-out ones.
    """
    thresholds = result.thresholds
    if training is not None:
        thresholds = judge.fit_to_training(training, result.calibration)
    assert thresholds is not None
    return replace(
        solution,
        rule=judge.rule,
        thresholds=thresholds,
        tuning=tuning,
        calibration=result.calibration,
    )
