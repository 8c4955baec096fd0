"""What the classifiers of ML-LS share: the fitted state, predictions, embeddings and blocks."""

import copy
from abc import abstractmethod
from collections.abc import Iterator
from inspect import getattr_static
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.base import ScoreClassifier, check_calibrated
from eigenlabel.estimators.subspace.coefficients import Weights
from eigenlabel.estimators.subspace.solve import SubspaceSolution
from eigenlabel.estimators.subspace.stream import Columns, Stream, extend, linear_only
from eigenlabel.inputs.data import check_data
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing, available_if
from eigenlabel.inputs.parameters import check_number, check_parameters
from eigenlabel.inputs.warning import warn
from eigenlabel.kernels.factor import Solver, warn_shortfall
from eigenlabel.kernels.kernel import Kernel, kernel_tags
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.threads import idle_threads
from eigenlabel.thresholds.calibration import Calibration
from eigenlabel.thresholds.rules import Decisions, decide, top_labels, top_matrix

Value = TypeVar("Value")


class FittedSubspace(ScoreClassifier):
    """The solution or the stream of a model, and its fitted attributes.

    Subclasses define how a stream of blocks is solved.
    """

    kernel: Any
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: dict[str, Any] | None
    fit_intercept: bool
    solver: str
    tol: float
    max_iter: int
    max_memory: float | None

    _solution: SubspaceSolution | None = None
    _stream: Stream | None = None
    _finished: bool = False

    def _make_kernel(self) -> Kernel:
        """Return the kernel of the parameters; its bandwidth is not settled yet."""
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        self._make_solver().check_kernel(kernel)
        return kernel

    @property
    def _limit(self) -> float:
        """Upper bound on the memory in bytes."""
        return self._make_solver().limit

    def _make_solver(self) -> Solver:
        """Return how the parameters say that equations are solved."""
        return Solver(self.solver, self.tol, self.max_iter, self.max_memory, self.fit_intercept)

    # The solution

    @abstractmethod
    def _solve_stream(self, stream: Stream) -> SubspaceSolution:
        """Solve the equations of all samples of a stream."""

    def _solved(self) -> SubspaceSolution:
        """Return the solution; a stream is solved once after its last block."""
        if self._stream is None:
            if self._solution is None:
                raise NotFittedError(
                    f"This {type(self).__name__} is not fitted yet: call fit or partial_fit."
                )
            return self._solution
        if self._stream.solution is None:
            with idle_threads():
                stream = self._stream.settle()
                stream.check_solvable()
                stream.solution = self._solve_stream(stream)
            warn_shortfall(stream.solution.shortfall)
        assert self._stream.solution is not None
        return self._stream.solution

    @all_or_nothing
    def _store(
        self, codec: LabelCodec, solution: SubspaceSolution, columns: Columns | None = None
    ) -> Self:
        """Become the model of a solution; columns are those of data the model has not seen."""
        if columns is not None:
            columns.store(self)
        self._codec, self.classes_ = codec, codec.classes
        self._solution, self._stream, self._finished = solution, None, False
        warn_shortfall(solution.shortfall)
        return self

    @all_or_nothing
    def _follow(self, stream: Stream) -> Self:
        """Become the model of a stream."""
        stream.columns.store(self)
        self._codec = stream.columns.codec
        self.classes_ = self._codec.classes
        self._solution, self._stream, self._finished = None, stream, False
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self._solution is not None or self._stream is not None

    # Display

    def __dir__(self) -> list[str]:
        """List the attributes, without those that are expensive to compute.

        scikit-learn reads every attribute that is listed. That must neither solve a stream nor
        multiply the factors of the weights of many labels.
        """
        hidden: set[str] = set()
        solution = self._solution if self._stream is None else self._stream.solution
        if solution is None:
            names = dir(type(self))
            hidden = {n for n in names if isinstance(getattr_static(type(self), n), property)}
            hidden.discard("n_samples_seen_")  # is known without a solution
        else:
            if solution.weights.label_weights is not None:
                hidden |= {"coef_", "dual_coef_"}
            if not solution.weights.subspace.ready:
                hidden.add("components_")
        return [n for n in object.__dir__(self) if n not in hidden and hasattr(self, n)]

    def _displayed(self) -> Self:
        """Return the model that a notebook shows: one without a stream that is not solved yet."""
        shown = copy.copy(self)
        if shown._stream is not None and shown._stream.solution is None:
            shown._stream = None
        return shown

    def _repr_html_inner(self) -> Any:
        return super(FittedSubspace, self._displayed())._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return super(FittedSubspace, self._displayed())._repr_mimebundle_(**kwargs)

    # Fitted attributes

    def _present(self, name: str, value: Value | None) -> Value:
        """Return a fitted attribute; raise AttributeError if the model does not have it."""
        if value is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return value

    def _full_weights(self, name: str, *, linear: bool) -> Floats:
        weights: Weights = self._solved().weights
        if weights.subspace.linear != linear:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        try:
            return weights.full(self._limit)
        except MemoryError as error:  # so that hasattr returns False
            raise AttributeError(str(error)) from None

    def _basis(self, name: str, *, linear: bool) -> Floats:
        subspace = self._solved().weights.subspace
        return self._present(name, subspace.array if subspace.linear == linear else None)

    @property
    def coef_(self) -> Floats:
        """Weights (n_labels, n_features) of a linear kernel."""
        return self._full_weights("coef_", linear=True)

    @property
    def dual_coef_(self) -> Floats:
        """Dual coefficients (n_samples, n_labels) of other kernels."""
        return self._full_weights("dual_coef_", linear=False)

    @property
    def X_fit_(self) -> Any:  # noqa: N802
        """Training samples, or their kernel matrix, which kernels that are not linear need."""
        return self._present("X_fit_", self._solved().weights.subspace.samples)

    @property
    def components_(self) -> Floats:
        """Basis (n_components_, n_features) of the shared subspace, for a linear kernel."""
        return self._basis("components_", linear=True)

    @property
    def dual_components_(self) -> Floats:
        """Dual coefficients (n_samples, n_components_) of the basis, for other kernels."""
        return self._basis("dual_components_", linear=False)

    @property
    def label_weights_(self) -> Floats:
        """Weights (n_components_, n_labels) in the shared subspace, for many labels."""
        return self._present("label_weights_", self._solved().weights.label_weights)

    @property
    def intercept_(self) -> Floats:
        """Intercepts (n_labels,)."""
        return self._solved().weights.intercept

    @property
    def eigenlabels_(self) -> Floats:
        """Combinations (n_labels, n_components_) of labels that share the subspace."""
        return self._solved().eigenlabels

    @property
    def eigenvalues_(self) -> Floats:
        """Eigenvalues of S, descending."""
        return self._solved().eigenvalues

    @property
    def n_components_(self) -> int:
        """Dimension of the shared subspace."""
        return int(self._solved().eigenlabels.shape[1])

    @property
    def n_iter_(self) -> int:
        """Number of iterations of the solver."""
        return self._solved().n_iter

    @property
    def residuals_(self) -> Floats:
        """Residuals of an iterative solver, by label."""
        return self._present("residuals_", self._solved().residuals)

    @property
    def calibration_(self) -> Calibration:  # type: ignore[override]
        """Maps from scores to probabilities."""
        return self._present("calibration_", self._solved().calibration)

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples that came in blocks, without those forgotten."""
        count = None if self._stream is None else self._stream.count
        return self._present("n_samples_seen_", count)


class BaseSharedSubspace(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,
    FittedSubspace,
):
    """Predictions, embeddings and blocks of samples of ML-LS.

    Subclasses define ``fit``, and how a stream of blocks is solved.
    """

    def _check_stream(self) -> int:
        """Check the parameters of a stream and return its number of folds."""
        check_parameters(self)
        self._make_kernel()
        if self.solver not in ("auto", "covariance"):
            raise ValueError(
                "Blocks are collected in the d x d covariance: use solver='auto' or 'covariance', "
                f"got {self.solver!r}."
            )
        return 1

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    # Blocks

    @linear_only
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add a block of samples; the weights are those of one ``fit`` to all blocks.

        For fixed parameters, the order of blocks does not matter. A tuned model chooses its
        parameters and thresholds on folds that depend on the positions of the samples, so that
        another order, or ``fit``, may choose others.

        Only statistics are collected (n d^2 operations for a block of n samples, and d x d numbers
        in all). The equations are solved once, when a prediction or a fitted attribute is asked
        for. A block that raises an error leaves the model unchanged. After ``fit``, which keeps no
        statistics, the model starts again from this block, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples of the block.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Their labels: a 0/1 label matrix, or a vector of classes.
        classes : array-like of shape (n_classes,), default=None
            All classes of a vector y, needed in the first call; or names for the columns of a
            label matrix.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of k counts like k copies of the sample.

        Returns
        -------
        self : object
            The model.
        """
        stream = self._stream
        if stream is not None:
            return self._follow(extend(self, stream, X, y, classes, sample_weight))
        if self._finished:
            raise ValueError(
                "No block can be added after finish, which discards the statistics. Call finish "
                "after the last block, or start again with sklearn.base.clone(model)."
            )
        if self._solution is not None:
            warn(
                "fit keeps no statistics that a block could be added to: the model starts again "
                "from this block. Use partial_fit for all samples.",
                UserWarning,
            )
            classes = self.classes_ if classes is None else classes
        n_folds, limit = self._check_stream(), self._limit
        return self._follow(
            extend(self, None, X, y, classes, sample_weight, n_folds=n_folds, max_memory=limit)
        )

    @linear_only
    @all_or_nothing
    def fit_files(self, paths: Any, *, rows: int = 4096, like: Any = None, **options: Any) -> Self:
        """Fit to data files that need not fit in memory; they are read once, piece by piece.

        Equivalent to ``fit`` to all their rows. ``classes_`` are the names of the labels. Blocks
        can be added afterwards. An error leaves the model unchanged.

        Parameters
        ----------
        paths : str, Path or list of them
            One or several files of any form that :func:`eigenlabel.datasets.iterate` reads.
        rows : int, default=4096
            The number of samples that are in memory at once.
        like : Dataset, default=None
            A dataset with the features and labels that the files must have; None is the first
            piece.
        **options : dict
            Options of the reader of the form, see :func:`eigenlabel.datasets.load`.

        Returns
        -------
        self : object
            The model.
        """
        from eigenlabel.estimators.subspace.fit_files import read_pieces  # noqa: PLC0415  many readers

        n_folds, limit = self._check_stream(), self._limit
        stream: Stream | None = None
        for piece in read_pieces(paths, rows, like, options):
            stream = extend(
                self,
                stream,
                piece.X,
                piece.Y,
                piece.label_names,
                n_folds=n_folds,
                max_memory=limit,
                where=piece.where,
            )
        if stream is None:
            raise ValueError("The files contain no samples.")
        return self._follow(stream)

    @linear_only
    @all_or_nothing
    def merge(self, other: Any) -> Self:
        """Add all samples of another model that was fitted by blocks.

        Parameters
        ----------
        other : object
            A model of the same class, with the same features and labels. It does not change.

        Returns
        -------
        self : object
            The model.
        """
        if not isinstance(other, BaseSharedSubspace):
            raise TypeError(
                f"merge needs another {type(self).__name__} that was fitted by partial_fit or "
                f"fit_files, got {other!r}."
            )
        if type(self) is not type(other):
            raise ValueError("Only models of the same class can be merged.")
        if self._stream is None or other._stream is None:
            raise NotFittedError(
                "merge needs two models that were fitted by partial_fit or fit_files: fit keeps no "
                "statistics."
            )
        return self._follow(self._stream.merge(other._stream))

    @linear_only
    @all_or_nothing
    def finish(self) -> Self:
        """Solve the equations and discard the statistics, and the rows that tuning keeps.

        The model needs less memory afterwards, and its file reveals less about the samples. No
        block can be added to it.

        Returns
        -------
        self : object
            The model.
        """
        if self._stream is None:
            raise NotFittedError("finish needs a model fitted by partial_fit or fit_files.")
        self._solution, self._stream, self._finished = self._solved(), None, True
        return self

    # Predictions

    def _scores(self, X: Any) -> Floats:
        return self._solved().weights.scores(check_data(self, X, reset=False))

    def _by_rows(self, X: Any) -> tuple[Iterator[Floats], int]:
        """Return the scores of pieces of rows, one after the other, and the number of samples."""
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        weights: Weights = self._solved().weights
        return weights.scores_by_rows(X), X.shape[0]

    def decision_function(self, X: Any) -> Floats:
        """Compute the score of every label, before any threshold.

        If the weights are factored, which is the case for many labels, scores that need more than
        ``max_memory`` raise MemoryError: they need 8 n m bytes. ``predict``, ``predict_top`` and
        ``rank_labels`` need no such array.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix with the training samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels) or (n_samples,)
            The scores; a vector if y was a vector of two classes.
        """
        check_is_fitted(self)
        self._check_size(X, "Scores of")
        return self._codec.shape_scores(self._scores(X))

    def _check_size(self, X: Any, what: str) -> None:
        """Raise MemoryError if the weights are factored, and an array (n, m) does not fit."""
        weights: Weights = self._solved().weights
        if weights.label_weights is not None:
            rows = X.shape[0] if hasattr(X, "shape") else len(X)
            advice = "use predict, predict_top or rank_labels, or pass fewer samples at once"
            weights.check_size(what, rows, self._limit, advice)

    @available_if(check_calibrated)
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every label, or of every class if y was a vector.

        The probabilities are those of ``calibration_``, which never fall with the score. The method
        exists unless ``calibration`` is None. For many labels, an array that needs more than
        ``max_memory`` raises MemoryError, as in ``decision_function``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix with the training samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            The probabilities. Those of classes sum to one, in the order of ``classes_``.
        """
        check_is_fitted(self)
        self._check_size(X, "Probabilities of")
        pieces, n = self._by_rows(X)
        joined = Decisions(n)
        for scores in pieces:
            joined.add(self._probabilities(scores).astype(scores.dtype, copy=False))
        return np.asarray(joined.join())

    def _probabilities(self, scores: Floats) -> Floats:
        """Return what ``predict_proba`` returns for scores (n, m)."""
        return self._codec.shape_probabilities(self._calibrated().probabilities(scores))

    def predict(self, X: Any) -> Any:
        """Predict the label sets, or the classes if y was a vector.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix with the training samples.

        Returns
        -------
        labels : {ndarray, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            A 0/1 matrix, sparse if y was sparse; a list of label sets if y was one; or a vector of
            classes.
        """
        pieces, n = self._by_rows(X)
        s, joined = self._solved(), Decisions(n)
        for scores in pieces:
            joined.add(decide(self._codec, scores, s.rule, s.thresholds, s.calibration))
        return joined.join()

    def rank_labels(self, X: Any, n_labels: int = 5) -> tuple[Ints, Floats]:
        """Rank the labels of each sample by their probabilities, or by scores without calibration.

        Probabilities of different labels can be compared, scores hardly.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix with the training samples.
        n_labels : int, default=5
            The number of labels of each sample; all of them if there are fewer.

        Returns
        -------
        labels : ndarray of shape (n_samples, n_labels)
            The positions of the labels in ``classes_``, the best first. Of equal values the first
            label wins.
        values : ndarray of shape (n_samples, n_labels)
            Their probabilities, or their scores if ``calibration`` is None.
        """
        check_number("n_labels", n_labels, 1, integer=True)
        check_is_fitted(self)
        if len(self.classes_) != len(self._solved().weights.intercept):
            raise ValueError("One score decides between two classes: there is nothing to rank.")
        labels, best = [], []
        for scores in self._by_rows(X)[0]:
            known = self._solved().calibration is not None
            values = self._probabilities(scores) if known else scores
            labels.append(top_labels(values, int(n_labels)))
            best.append(np.take_along_axis(values, labels[-1], axis=1))
        return np.concatenate(labels), np.concatenate(best)

    def predict_top(self, X: Any, n_labels: int = 5) -> sp.csr_array:
        """Predict the best ``n_labels`` labels of each sample, as ``rank_labels`` ranks them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix with the training samples.
        n_labels : int, default=5
            The number of labels of each sample; all of them if there are fewer.

        Returns
        -------
        labels : sparse array of shape (n_samples, n_labels_of_y)
            A 0/1 matrix of int64. Of equal values the first label wins.
        """
        labels, _ = self.rank_labels(X, n_labels)
        return top_matrix(labels, len(self.classes_))

    def transform(self, X: Any) -> Floats:
        """Embed samples in the shared subspace: ``Theta (x - mean)``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix with the training samples.

        Returns
        -------
        embedded : ndarray of shape (n_samples, n_components_)
            Column k belongs to column k of ``eigenlabels_``.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        return self._solved().weights.embed(X)

    def __sklearn_tags__(self) -> Any:
        tags = kernel_tags(super().__sklearn_tags__(), self.kernel)
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
