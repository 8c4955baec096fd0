"""ML-kNN: each label decided by how many of the nearest neighbours have it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import pairwise_distances_chunked
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.validation import check_data, check_number
from eigenlabel.kernels.rounding import EUCLIDEAN, metric_rounding
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.euclidean import EuclideanDistances
from eigenlabel.linalg.ties import nearest, precision

CHUNK = 2**21  # distances held at once: small chunks stay in the caches

SCALED_BY = {  # metrics that are Euclidean after a step of scikit-learn's
    "seuclidean": "sklearn.preprocessing.StandardScaler()",
    "mahalanobis": "sklearn.decomposition.PCA(whiten=True)",
}


class MLkNN(ClassifierMixin, BaseEstimator):
    """Multi-label k nearest neighbours (Zhang and Zhou, Pattern Recognition 2007).

    For each label, the number of neighbours that have it is compared with what that number was
    in training, for samples with the label and without (each sample left out of its own
    neighbours): Bayes' rule with smoothed counts gives the probability of the label.

    Exact: of equally distant neighbours those with the lowest training index count, as in the
    authors' code. Distances that differ by no more than rounding are equal: the rounding of
    their computation in float64 and that of the features in their own type, float32 or float64.
    Distances are computed in chunks, so memory stays bounded. Cost: n^2 distances to fit, n per
    sample to predict. Duplicated samples are neighbours of each other at distance zero; a row of
    zeros is a point like any other (with ``metric="cosine"`` it is at distance 1 from everything).

    Parameters
    ----------
    n_neighbors : int, default=10
        Fewer where there are not so many other training samples.
    smoothing : float > 0, default=1.0
    metric : str or callable, default="euclidean"
        Any metric of ``sklearn.metrics.pairwise_distances`` that has no parameters, or
        "precomputed": X is then the matrix of distances to the training samples.
    index : object or None
        An approximate index with scikit-learn's interface, ``fit(X)`` and ``kneighbors(X,
        n_neighbors, return_distance=False)``, instead of exact distances.

    Attributes
    ----------
    prior_ : (n_labels,), smoothed share of samples with each label
    likelihood_ : (2, n_labels, k + 1), P(count of neighbours | without, with the label), k being
        ``n_neighbors`` or, if that is less, the number of other training samples
    classes_ : columns of a label matrix, or classes of a vector y

    Examples
    --------
    >>> from eigenlabel import MLkNN
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_features=5, n_labels=4, random_state=0)
    >>> model = MLkNN().fit(data.X[:150], data.Y[:150])
    >>> model.predict_proba(data.X[150:]).shape
    (50, 4)
    """

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
        X : dense or sparse (n_samples, n_features), or distances (n_samples, n_samples)
        y : 0/1 label matrix, dense or sparse, or a vector of classes
        """
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        check_number("smoothing", self.smoothing, np.finfo(float).tiny)
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
                f"{SCALED_BY[self.metric]} before MLkNN and take metric='euclidean'."
            )
        if self.metric == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                "metric='precomputed' needs the square matrix of distances between training "
                f"samples, got {X.shape}. Pass D(X, X) to fit and D(X_new, X) to predict."
            )

    def _likelihood(self, counts: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Give the smoothed shares of each count among some samples of each label (m, k + 1)."""
        k, s = self._k, float(self.smoothing)
        found = np.stack([((counts == c) & among).sum(axis=0) for c in range(k + 1)], axis=1)
        return (s + found) / (s * (k + 1) + found.sum(axis=1, keepdims=True))

    def _counts(self, X: Any, training: bool = False) -> np.ndarray:
        """Count the neighbours that have each label (n, m)."""
        if self.index is not None:
            return self._label_counts(self._approximate(X, training))
        dtype = max((X.dtype, self._X.dtype), key=precision)
        parts, start = [], 0
        for chunk in self._distances(X):
            rows = slice(start, start + len(chunk))
            if training:  # a sample is not its own neighbour
                own = np.arange(len(chunk))
                chunk[own, start + own] = np.inf
            rounding = metric_rounding(self.metric, X[rows], dtype)
            parts.append(self._label_counts(nearest(chunk, self._k, rounding)))
            start = rows.stop
        return np.concatenate(parts)

    def _label_counts(self, neighbours: np.ndarray) -> np.ndarray:
        counts = np.zeros((len(neighbours), self._Y.shape[1]), dtype=np.int32)
        for column in neighbours.T:
            counts += self._Y[column]
        return counts

    def _distances(self, X: Any) -> Iterator[np.ndarray]:
        """Return the distances to the training samples, chunk by chunk, each a new array.

        They are computed in float64, which also keeps squares of float32 values in range.
        """
        if self.metric == "precomputed":
            D = X.toarray() if hasattr(X, "toarray") else X
            if D.min() < 0:
                raise ValueError(
                    f"metric='precomputed' takes distances, and {D.min():.6g} is less than 0. Are "
                    "these similarities?"
                )
            return (D[rows].copy() for rows in self._chunks(X))
        if self.metric not in PAIRWISE_DISTANCE_FUNCTIONS and hasattr(X, "toarray"):
            raise ValueError(
                f"metric={self.metric!r} does not take sparse X: use 'euclidean', 'cosine' or "
                "'manhattan', or pass X.toarray()."
            )
        if isinstance(self.metric, str) and self.metric in EUCLIDEAN:
            distances = EuclideanDistances(self._X)
            return (distances(X[rows]) for rows in self._chunks(X))
        A, Z = (M.astype(float, copy=False) for M in (X, self._X))
        return pairwise_distances_chunked(
            A, Z, metric=self.metric, working_memory=8 * CHUNK / 2**20
        )

    def _chunks(self, X: Any) -> Iterator[slice]:
        step = max(1, CHUNK // len(self._Y))
        return (slice(i, i + step) for i in range(0, X.shape[0], step))

    def _approximate(self, X: Any, training: bool) -> np.ndarray:
        k = self._k + training
        found = np.asarray(self._index.kneighbors(X, n_neighbors=k, return_distance=False))
        if not training:
            return found
        own = found == np.arange(len(found))[:, None]
        own[~own.any(axis=1), -1] = True  # an index may miss the sample itself: drop the furthest
        return found[~own].reshape(len(found), self._k)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Give the probability of each label (n_samples, n_labels).

        For a vector y, that of each class, made to sum to one.
        """
        check_is_fitted(self)
        P = self._probabilities(X)
        if self._codec.multilabel:
            return P
        if self._codec.kind == "binary":
            return np.column_stack([1 - P[:, 0], P[:, 0]]) if len(self.classes_) == 2 else P
        return P / P.sum(axis=1, keepdims=True)

    def _probabilities(self, X: Any) -> np.ndarray:
        counts = self._counts(check_data(self, X, reset=False))
        labels = np.arange(counts.shape[1])
        without, have = (side[labels, counts] for side in self.likelihood_)
        return self.prior_ * have / (self.prior_ * have + (1 - self.prior_) * without)

    def predict(self, X: Any) -> Any:
        """Give the labels that are at least as likely as not, or the likeliest class."""
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
