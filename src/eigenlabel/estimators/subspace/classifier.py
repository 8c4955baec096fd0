"""ML-LS, shared-subspace least squares (Ji et al. 2010), for given parameters."""

from dataclasses import replace
from typing import Any, ClassVar

from sklearn.exceptions import NotFittedError

from eigenlabel.estimators.base import CALIBRATION, check_training
from eigenlabel.estimators.heldout_by_refitting import FOLDS
from eigenlabel.estimators.subspace.base import BaseSharedSubspace
from eigenlabel.estimators.subspace.coefficients import Domain
from eigenlabel.estimators.subspace.exact_heldout import (
    default_folds,
    exact_scores,
    single,
    stream_scores,
)
from eigenlabel.estimators.subspace.many_labels import (
    Sizes,
    SparseTraining,
    check_sparse_training,
    factorise_many,
    is_needed,
    solve_many,
)
from eigenlabel.estimators.subspace.many_labels_calibration import calibrate_many
from eigenlabel.estimators.subspace.solve import (
    Point,
    SubspaceSolution,
    choose_rank,
    factorise,
    factorise_folds,
    solve,
    solve_statistics,
)
from eigenlabel.estimators.subspace.stream import Stream, linear_only
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import Integer, Maybe, Number, Parameters, check_parameters
from eigenlabel.kernels.factor import SOLVER_PARAMETERS
from eigenlabel.kernels.kernel import KERNEL_PARAMETERS, Kernel
from eigenlabel.labels.checks import blank
from eigenlabel.linalg.statistics import Statistics
from eigenlabel.thresholds.calibration import fit_probabilities


class SharedSubspaceClassifier(BaseSharedSubspace):
    """Classify by shared-subspace least squares, for given parameters.

    The label combinations that the features predict best (the *eigenlabels*, ``n_components`` of
    them) are regressed with the small penalty ``beta``, everything else with ``alpha + beta``:

        min 1/n |Xc U - T|^2 + alpha |U - Theta'V|^2 + beta |U|^2,   Theta Theta' = I

    with T the targets 1 and -1 (Ji et al. 2010, Eq. 5; for kernels, Theorem 5.1). The minimiser is
    exact. It is ridge regression with shift beta if ``alpha=0`` or ``n_components`` is the number
    of labels, ridge regression with shift alpha + beta if ``n_components=0``, and reduced-rank
    ridge regression if ``alpha=inf``.

    The cost is the smaller of n^2 d and n d^2 operations (for sparse X, one sparse product), and
    two Cholesky factors of the n x n or d x d matrix. Sparse X is never converted to dense.

    Parameters
    ----------
    alpha : float, default=1e-3
        Penalty of what the labels do not share, at least 0. It may be infinite.
    beta : float, default=1e-3
        Penalty of all weights, at least 0. If it is 0 and X does not have full rank, the solution
        has minimum norm.
    n_components : int, default=None
        The dimension r of the shared subspace, between 0 and the number of labels. None is that of
        Ji et al. 2010, 5 floor((m - 1) / 5), at least 1. For many labels, pass some hundreds.
    kernel : str or callable, default="linear"
        The kernel: "linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "chi2" or
        "intersection" (both of histograms), or "precomputed". A callable takes two matrices and
        returns the kernel matrix of their rows. Sums of kernels are passed as "precomputed". A
        kernel matrix that is not positive semi-definite is used without its negative part, with a
        warning.
    gamma : float, default=None
        The bandwidth of "poly", "rbf", "sigmoid", "laplacian" and "chi2". None is the default rule
        of the kernel on the training samples.
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
        and usually close to tol. For many labels, eigenvectors of S are computed to residuals
        of 10 tol times their eigenvalue.
    max_iter : int, default=1000
        The number of iterations after which "krylov" stops, with a ConvergenceWarning that states
        the residual.
    max_memory : float, default=None
        Upper bound in bytes on the arrays that a solver holds at once, in addition to X and y.
        None is the memory that the process can still use: the least of the machine's free memory,
        what its control groups (containers) have left, and ``ulimit -v``. An exact fit
        holds three arrays of p x p numbers, with p the smaller side of X (n for other kernels),
        and five if they are singular; five must fit. Blocks of at most 32 MiB come in addition. If
        the arrays do not fit, "auto" is "krylov" for a linear kernel; everything else raises
        MemoryError.

    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to exact held-out scores
        of five folds, at the cost of a reduction per fold; for many labels, to those of five more
        fits. None leaves out ``predict_proba``.

    Attributes
    ----------
    calibration_ : Calibration
        The maps from scores to probabilities. Only if ``calibration`` is not None.
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the features. Only for a linear kernel.
    dual_coef_ : ndarray of shape (n_samples, n_labels)
        Dual coefficients of the training samples. Only for other kernels.
    label_weights_ : ndarray of shape (n_components_, n_labels)
        The weights V = Theta U of the labels in the shared subspace. Only for many labels and
        ``alpha=inf``. ``components_.T @ label_weights_`` are the weights then, and ``coef_`` is
        computed each time it is read.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    eigenlabels_ : ndarray of shape (n_labels, n_components_)
        The combinations W of labels that share the subspace, with orthonormal columns.
    eigenvalues_ : ndarray of shape (n_labels,) or (n_components_,)
        The eigenvalues of S = A'B, descending; for ``alpha=inf``, those of alpha A'B. For
        many labels, only those of the shared subspace.
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
        relative to the right side, rounding included, by label. Only for "krylov", and
        not for many labels.
    n_samples_seen_ : int
        The number of samples that came in blocks, without those forgotten. Only for models fitted
        by blocks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features. Only if X is a frame whose column names are strings.

    Notes
    -----
    NaN in a label matrix marks a label that is not observed. Each label is then regressed on its
    own samples, with the same penalties. The minimiser is exact if ``alpha=0``, if
    ``n_components`` is 0 or the number of labels, and if all labels are observed on the same
    samples. Labels that are observed on the same samples share a factor; if there are too many
    such groups, "auto" is "krylov".

    With many labels (10,000 or more, or fewer whose targets, weights and S do not fit in
    ``max_memory``) S is not formed, a sparse y stays sparse, and with ``alpha=inf`` the weights
    are stored as two factors, so that memory is linear in n, d and m. ``predict_top`` and
    ``rank_labels`` return the best labels of each sample. Like ``predict``, they hold the scores
    of some rows only.

    Samples may come in blocks (``partial_fit``, ``fit_files``), be removed again (``forget``), and
    models may be merged (``merge``), all exactly, for a linear kernel. Memory is four to five
    d x d matrices, for any number of samples. With ``calibration``, statistics are stored for each
    of five folds, as are rows whose held-out scores are calibrated: all of them up to 2^24 samples
    times labels and 512 MiB, a random sample beyond; nothing can be forgotten then.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifier
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = SharedSubspaceClassifier(n_components=2).fit(data.X[:150], data.Y[:150])
    >>> model.predict(data.X[150:]).shape, model.transform(data.X[150:]).shape
    ((50, 6), (50, 2))
    """

    _parameters: ClassVar[Parameters] = {
        "alpha": Number(0, inf=True),
        "beta": Number(0),
        "n_components": Maybe(Integer(0)),
        **KERNEL_PARAMETERS,
        **SOLVER_PARAMETERS,
        "calibration": CALIBRATION,
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        beta: float = 1e-3,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        max_memory: float | None = None,
        calibration: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.n_components = n_components
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
        self.calibration = calibration

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SharedSubspaceClassifier":
        """Fit the model to samples and labels.

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
            A weight of k counts like k copies of the sample.

        Returns
        -------
        self : SharedSubspaceClassifier
            The fitted model.
        """
        check_parameters(self)
        kernel, solver = self._make_kernel(), self._make_solver()
        sizes = Sizes.read(X, y, kernel.linear)
        if is_needed(sizes, solver, self.alpha, self.n_components):
            return self._fit_many(X, y, sample_weight, kernel)
        data = check_training(self, X, y, sample_weight, square=kernel.precomputed)
        kernel = kernel.settle(data.X, data.weights)
        point = self._point(data.Y.shape[1])
        domain = Domain(kernel, data.X.dtype, data.X)
        if self.calibration is None:
            factor = factorise(kernel, data.X, data.weights, data.observed, solver)
            return self._store(data.codec, solve(factor, data.targets, point, domain))
        folds = default_folds(data)
        factor, some = factorise_folds(kernel, data, folds, solver)
        scores = exact_scores(some, data, folds, point, solver.limit)
        known = blank(data.Y, data.observed)
        calibration = fit_probabilities(
            data.codec, scores, known, data.weights, method=self.calibration
        )
        solution = solve(factor, data.targets, point, domain)
        return self._store(data.codec, replace(solution, calibration=calibration))

    def _fit_many(
        self, X: Any, y: Any, sample_weight: Any, kernel: Kernel
    ) -> "SharedSubspaceClassifier":
        """Fit the model to many labels, without their m x m matrix S."""
        data = check_sparse_training(self, X, y, sample_weight, square=kernel.precomputed)
        kernel = kernel.settle(data.X, data.weights)
        point = self._point(data.Y.shape[1])

        def solved(part: SparseTraining) -> SubspaceSolution:
            factor = factorise_many(kernel, part, self._make_solver(), self.alpha, point[-1])
            return solve_many(factor, part, point, Domain(kernel, part.X.dtype, part.X))

        if self.calibration is None:
            return self._store(data.codec, solved(data))
        # The folds come first, so that their models are gone when the last one needs memory.
        calibration = calibrate_many(data, solved, self.calibration, kernel.precomputed)
        return self._store(data.codec, replace(solved(data), calibration=calibration))

    def _point(self, n_labels: int) -> Point:
        return self.alpha, self.beta, choose_rank(self.n_components, n_labels)

    def _check_stream(self) -> int:
        super()._check_stream()
        return 1 if self.calibration is None else FOLDS

    def _solve_stream(self, stream: Stream) -> SubspaceSolution:
        check_parameters(self)
        statistics: Statistics = stream.total()
        point = self._point(len(statistics.t))
        solution = solve_statistics(statistics, point, centre=self.fit_intercept)
        if self.calibration is None:
            return solution
        if len(stream.folds) == 1:
            raise ValueError(
                "The first block came with calibration=None, so that no samples are held out: "
                "set calibration before the first block, or to None again."
            )
        scores, truth = stream_scores(stream, single(point), self.fit_intercept)
        calibration = fit_probabilities(
            stream.columns.codec,
            scores.at(0).T,
            truth.labels.T,
            truth.weights,
            method=self.calibration,
        )
        return replace(solution, calibration=calibration)

    @linear_only
    @all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> "SharedSubspaceClassifier":
        """Remove samples that were added by ``partial_fit``, ``fit_files`` or ``merge``.

        What is left is the model of one fit to the other samples, up to rounding errors relative
        to all samples that were ever added. Samples that were never added are detected if the
        statistics show it (more samples than there are, negative variances), but not otherwise.
        Models with a calibration cannot forget.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples to remove.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            The labels that they had.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that they had.

        Returns
        -------
        self : SharedSubspaceClassifier
            The model.
        """
        stream = self._stream
        if stream is None:
            raise NotFittedError("forget needs a model fitted by partial_fit or fit_files.")
        if len(stream.folds) > 1:
            raise ValueError(
                "With calibration the statistics are stored by fold, and the fold of a sample is "
                "not known again: use calibration=None from the first block on."
            )
        block = stream.columns.check_block(self, X, y, sample_weight)
        return self._follow(stream.forget(block))
