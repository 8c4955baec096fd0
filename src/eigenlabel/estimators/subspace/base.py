"""What the classifier of ML-LS and the classifier that tunes itself have in common."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.subspace.files import read_pieces
from eigenlabel.estimators.subspace.fitted import FittedSubspace
from eigenlabel.estimators.subspace.solve import SubspaceSolution
from eigenlabel.estimators.subspace.stream import Stream
from eigenlabel.estimators.subspace.streaming import extend, linear_only
from eigenlabel.estimators.subspace.weights import Weights
from eigenlabel.inputs.data import check_data
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import check_number, check_parameters
from eigenlabel.inputs.warning import warn
from eigenlabel.kernels.kernel import kernel_tags
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.thresholds.decisions import decide, join_decisions
from eigenlabel.thresholds.rules import top_labels

Value = TypeVar("Value")
Model = TypeVar("Model", bound="BaseSharedSubspace")


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
    def partial_fit(
        self: Model, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Model:
        """Add a block of samples; the model is that of one ``fit`` to all blocks.

        The order of blocks does not matter. Only statistics are collected (n d^2 operations for a
        block of n samples, and d x d numbers in all). The equations are solved once, when a
        prediction or a fitted attribute is asked for. A block that raises an error leaves the
        model unchanged. After ``fit``, which keeps no statistics, the model starts again from this
        block, with a warning.

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
    def fit_files(
        self: Model, paths: Any, *, rows: int = 4096, like: Any = None, **options: Any
    ) -> Model:
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
    def merge(self: Model, other: Any) -> Model:
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
    def finish(self: Model) -> Model:
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

    def _by_rows(self, X: Any, use: Callable[[SubspaceSolution, Floats], Value]) -> list[Value]:
        """Use the scores of pieces of rows; the scores of a piece need at most 32 MiB."""
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        solution = self._solved()
        weights: Weights = solution.weights
        pieces = row_blocks(X.shape[0], len(weights.intercept))
        return [use(solution, weights.scores(X[rows])) for rows in pieces]

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
        weights: Weights = self._solved().weights
        if weights.label_weights is not None:
            rows = X.shape[0] if hasattr(X, "shape") else len(X)
            advice = "use predict, predict_top or rank_labels, or pass fewer samples at once"
            weights.check_size("Scores of", rows, self._limit, advice)
        return self._codec.shape_scores(self._scores(X))

    def predict(self, X: Any) -> Any:
        """Predict the label sets, or the classes if y was a vector.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix with the training samples.

        Returns
        -------
        labels : {ndarray, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            A 0/1 matrix, sparse if y was sparse; or a vector of classes.
        """
        return join_decisions(
            self._by_rows(X, lambda s, F: decide(self._codec, F, s.rule, s.thresholds))
        )

    def rank_labels(self, X: Any, n_labels: int = 5) -> tuple[Ints, Floats]:
        """Rank the labels of each sample by their scores, the highest first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix with the training samples.
        n_labels : int, default=5
            The number of labels of each sample; all of them if there are fewer.

        Returns
        -------
        labels : ndarray of shape (n_samples, n_labels)
            The positions of the labels in ``classes_``. Of equal scores the first label wins.
        scores : ndarray of shape (n_samples, n_labels)
            Their scores.
        """
        check_number("n_labels", n_labels, 1, integer=True)
        check_is_fitted(self)
        if len(self.classes_) != len(self._solved().weights.intercept):
            raise ValueError("One score decides between two classes: there is nothing to rank.")

        def best(_: SubspaceSolution, scores: Floats) -> tuple[Ints, Floats]:
            top = top_labels(scores, int(n_labels))
            return top, np.take_along_axis(scores, top, axis=1)

        labels, scores = zip(*self._by_rows(X, best), strict=True)
        return np.concatenate(labels), np.concatenate(scores)

    def predict_top(self, X: Any, n_labels: int = 5) -> sp.csr_array:
        """Predict the ``n_labels`` labels with the highest scores of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix with the training samples.
        n_labels : int, default=5
            The number of labels of each sample; all of them if there are fewer.

        Returns
        -------
        labels : sparse array of shape (n_samples, n_labels_of_y)
            A 0/1 matrix of int64. Of equal scores the first label wins.
        """
        labels, _ = self.rank_labels(X, n_labels)
        n, k = labels.shape
        ones = np.ones(n * k, dtype=np.int64)
        starts = np.arange(0, n * k + 1, k)
        return sp.csr_array(
            (ones, np.sort(labels, axis=1).ravel(), starts), shape=(n, len(self.classes_))
        )

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
