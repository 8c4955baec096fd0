"""ML-kNN: each label decided by how many of the nearest neighbours have it."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.estimators.label_forms import LabelForms
from eigenlabel.inputs.data import check_data
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    POSITIVE,
    CheckedBy,
    Parameters,
    check_parameters,
)
from eigenlabel.kernels.neighbours import nearest_in_strips
from eigenlabel.kernels.rounding import EUCLIDEAN, metric_rounding
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.nearest import NearestEuclidean
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.linalg.ties import precision

SMALL = 2  # strips are this many times smaller than others: they stay in the caches

SCALED_BY = {  # metrics that are Euclidean after a transformer of scikit-learn
    "seuclidean": "sklearn.preprocessing.StandardScaler()",
    "mahalanobis": "sklearn.decomposition.PCA(whiten=True)",
}


class MLkNN(LabelForms, BaseEstimator):  # type: ignore[misc]
    """Classify by the labels of the k nearest neighbours (Zhang and Zhou 2007).

    For each label, the number of neighbours that have it is compared with the numbers in training,
    for samples with the label and without (each sample left out of its own neighbours). Bayes' rule
    with smoothed counts then yields the probability of the label.

    The search is exact: of equally distant neighbours those with the lowest training index count,
    as in the authors' code. Distances that differ by no more than rounding are equal: the rounding
    of their computation in float64 and that of the features in their own type, float32 or float64.
    Duplicated samples are neighbours of each other at distance zero. A row of zeros is a point like
    any other; with ``metric="cosine"`` its distance from everything is 1.

    Cost: n^2 distances to fit, n per sample to predict. They are computed in strips, so that memory
    stays bounded.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number of neighbours, >= 1. There are fewer if there are fewer other training samples.
    smoothing : float, default=1.0
        The number > 0 that is added to each count.
    metric : str or callable, default="euclidean"
        Any metric of ``sklearn.metrics.pairwise_distances`` that has no parameters, or
        "precomputed": X is then the matrix of distances to the training samples.
    index : object or None, default=None
        An approximate index with scikit-learn's interface, ``fit(X)`` and ``kneighbors(X,
        n_neighbors, return_distance=False)``, that replaces exact distances.

    Attributes
    ----------
    prior_ : ndarray of shape (n_labels,)
        The smoothed share of samples with each label.
    likelihood_ : ndarray of shape (2, n_labels, k + 1)
        The probabilities of the number of neighbours, given that a sample has not the label and
        that it has. k is ``n_neighbors``, or the number of other training samples if that is less.
    classes_ : ndarray of shape (n_labels,)
        The columns of the label matrix, or the classes of a vector y.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X was a frame.

    Examples
    --------
    >>> from eigenlabel import MLkNN
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_features=5, n_labels=4, random_state=0)
    >>> model = MLkNN().fit(data.X[:150], data.Y[:150])
    >>> model.predict_proba(data.X[150:]).shape
    (50, 4)
    """

    _parameters: ClassVar[Parameters] = {
        "n_neighbors": COUNT,
        "smoothing": POSITIVE,
        "metric": CheckedBy("sklearn.metrics.pairwise_distances"),
        "index": CheckedBy("MLkNN._check_metric"),
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        smoothing: float = 1.0,
        *,
        metric: Any = "euclidean",
        index: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.metric = metric
        self.index = index

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "MLkNN":
        """Count the labels of each training sample's neighbours.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The training samples, or their distances (n_samples, n_samples).
        y : array or sparse matrix
            The 0/1 label matrix (n_samples, n_labels), label sets, or a vector of classes.

        Returns
        -------
        self : MLkNN
            The fitted classifier.
        """
        check_parameters(self)
        X = check_data(self, X, reset=True)
        self._check_metric(X)
        self._codec, Y = LabelCodec.fit(y)
        check_consistent_length(X, Y)
        self.classes_ = self._codec.classes
        n, s = len(Y), float(self.smoothing)
        if n < 2:
            raise ValueError(f"Neighbours need at least 2 samples, got n_samples = {n}.")
        self._k = min(self.n_neighbors, n - 1)
        self._X, self._Y = X, Y.astype(np.uint8)
        self.prior_ = (s + Y.sum(axis=0)) / (2 * s + n)
        if self.index is not None:
            self._index = clone(self.index, safe=False).fit(X)
        counts = self._counts(X, training=True)
        self.likelihood_ = np.stack([self._likelihood(counts, ~Y), self._likelihood(counts, Y)])
        return self

    def _check_metric(self, X: Any) -> None:
        if self.index is not None and not hasattr(self.index, "kneighbors"):
            raise TypeError(
                "index must be an object with fit(X) and kneighbors(X, n_neighbors, "
                f"return_distance), such as sklearn.neighbors.NearestNeighbors, got {self.index!r}."
            )
        if isinstance(self.metric, str) and self.metric in SCALED_BY:
            raise ValueError(
                f"metric={self.metric!r} needs parameters that come from training samples. Put "
                f"{SCALED_BY[self.metric]} before MLkNN and use metric='euclidean'."
            )
        if self.metric == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                "metric='precomputed' needs the square matrix of distances between training "
                f"samples, got {X.shape}. Pass D(X, X) to fit and D(X_new, X) to predict."
            )

    def _likelihood(self, counts: Ints, among: Bools) -> np.ndarray:
        """Return the smoothed shares of each count among some samples of each label (m, k + 1)."""
        k, s = self._k, float(self.smoothing)
        found = np.stack([((counts == c) & among).sum(axis=0) for c in range(k + 1)], axis=1)
        return np.asarray((s + found) / (s * (k + 1) + found.sum(axis=1, keepdims=True)))

    def _counts(self, X: Any, training: bool = False) -> Ints:
        """Return the number of neighbours that have each label (n, m)."""
        return np.concatenate([self._label_counts(found) for found in self._strips(X, training)])

    def _neighbours(self, X: Any) -> Ints:
        """Return the neighbours (n, k) of new samples, as positions of training samples."""
        return np.concatenate(list(self._strips(X)))

    def _strips(self, X: Any, training: bool = False) -> Iterator[Ints]:
        """Yield the neighbours of strips of samples."""
        if self.index is not None:
            yield self._approximate(X, training)
            return
        dtype = max((X.dtype, self._X.dtype), key=precision)
        rounding = partial(metric_rounding, self.metric, dtype=dtype)
        blocks = row_blocks(X.shape[0], SMALL * len(self._Y))
        if isinstance(self.metric, str) and self.metric in EUCLIDEAN:
            search = NearestEuclidean(self._X)
            for rows in blocks:
                some = X[rows]
                yield search(some, self._k, rounding(some), rows if training else None)
            return
        strips = nearest_in_strips(
            self._distances(X),
            lambda rows: rounding(X[rows]),
            blocks,
            self._k,
            training=training,
        )
        for _, found in strips:
            yield found

    def _label_counts(self, neighbours: Ints) -> Ints:
        counts: Any = np.zeros((len(neighbours), self._Y.shape[1]), dtype=np.int32)
        for column in neighbours.T:
            counts += self._Y[column]
        return np.asarray(counts)

    def _distances(self, X: Any) -> Callable[[slice], Floats]:
        """Return the function of rows that computes their distances to the training samples.

        They are computed in float64, which also keeps squares of float32 values in range.
        """
        if self.metric == "precomputed":
            D = X.toarray() if hasattr(X, "toarray") else X
            if D.min() < 0:
                raise ValueError(
                    f"metric='precomputed' means distances, and {D.min():.6g} is less than 0. Are "
                    "these similarities?"
                )
            return lambda rows: np.array(D[rows])
        if self.metric not in PAIRWISE_DISTANCE_FUNCTIONS and hasattr(X, "toarray"):
            raise ValueError(
                f"metric={self.metric!r} does not support sparse X: use 'euclidean', 'cosine' or "
                "'manhattan', or pass X.toarray()."
            )
        A, Z = (M.astype(float, copy=False) for M in (X, self._X))
        whole = slice(0, A.shape[0])

        def distances(rows: slice) -> Floats:
            # scikit-learn calls a callable once for each pair if both matrices are the same one.
            some = A if rows == whole else A[rows]
            return np.asarray(pairwise_distances(some, Z, metric=self.metric))

        return distances

    def _approximate(self, X: Any, training: bool) -> Ints:
        k = self._k + training
        found = np.asarray(self._index.kneighbors(X, n_neighbors=k, return_distance=False))
        if not training:
            return found
        own = found == np.arange(len(found))[:, None]
        own[~own.any(axis=1), -1] = True  # the index missed the sample itself: drop the furthest
        return np.asarray(found[~own].reshape(len(found), self._k))

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each label, or of each class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The samples, or their distances (n_samples, n_training_samples) to the training samples.

        Returns
        -------
        P : ndarray of shape (n_samples, n_labels)
            The probabilities. Those of classes are scaled to sum to one.
        """
        check_is_fitted(self)
        return self._codec.shape_probabilities(self._probabilities(X))

    def _probabilities(self, X: Any) -> Floats:
        counts = self._counts(check_data(self, X, reset=False))
        labels = np.arange(counts.shape[1])
        without, have = (side[labels, counts] for side in self.likelihood_)
        P = self.prior_ * have / (self.prior_ * have + (1 - self.prior_) * without)
        return np.asarray(P)

    def predict(self, X: Any) -> Any:
        """Predict the labels that are at least as likely as not, or the likeliest class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The samples, or their distances (n_samples, n_training_samples) to the training samples.

        Returns
        -------
        Y : ndarray or sparse matrix of shape (n_samples, n_labels)
            The label sets in the form of y, or a vector of classes if y was one.
        """
        check_is_fitted(self)
        P = self._probabilities(X)
        if self._codec.multilabel:
            return self._codec.decode(P >= 0.5)
        return self._codec.decide(P - 0.5)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.classifier_tags.multi_label = True
        return tags
