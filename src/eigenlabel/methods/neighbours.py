"""ML-kNN: each label decided by how many of the nearest neighbours have it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import pairwise_distances_chunked
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel._fitting import all_or_nothing
from eigenlabel._validation import check_data, check_largest, check_number
from eigenlabel.core.operators import row_blocks
from eigenlabel.labels import LabelCodec

CHUNK = 2**21  # distances held at once: small chunks stay in the caches
COARSE = 1e-9  # rounding, as a share of a distance, above which it is computed from differences

SCALED_BY = {  # metrics that are Euclidean after a step of scikit-learn's
    "seuclidean": "sklearn.preprocessing.StandardScaler()",
    "mahalanobis": "sklearn.decomposition.PCA(whiten=True)",
}


def nearest(
    distances: np.ndarray,
    k: int,
    tolerance: float = 0.0,
    again: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None,
) -> np.ndarray:
    """Give the k nearest columns of each row (rows, k), in no order; of equally far ones the first.

    Rows are cut at their k-th distance; only those where more columns lie at that distance, give or
    take the tolerance, than are needed are looked at again. Where the tolerance is more than a
    COARSE share of that distance, ``again(rows)`` gives better distances and their tolerances.
    """
    if k >= distances.shape[1]:
        return np.argsort(distances, axis=1, kind="stable")[:, :k]
    found = np.argpartition(distances, k - 1, axis=1)[:, :k]
    limit = np.take_along_axis(distances, found, axis=1).max(axis=1, keepdims=True)
    tied = np.flatnonzero((distances <= limit + tolerance).sum(axis=1) > k)
    if again is not None:
        coarse = tied[tolerance > COARSE * limit[tied, 0]]
        if len(coarse):
            better, rounding = again(coarse)
            found[coarse] = _first_nearest(
                better, np.sort(better, axis=1)[:, k - 1 : k], rounding, k
            )
            tied = np.setdiff1d(tied, coarse)
    if len(tied):
        found[tied] = _first_nearest(distances[tied], limit[tied], tolerance, k)
    return found


def _first_nearest(distances: np.ndarray, limit: np.ndarray, tolerance: Any, k: int) -> np.ndarray:
    """Give the k nearest columns, of those at the limit the first."""
    near = distances < limit - tolerance
    edge = (distances <= limit + tolerance) & ~near
    room = k - near.sum(axis=1, keepdims=True)
    chosen = near | (edge & (np.cumsum(edge, axis=1, dtype=np.int32) <= room))
    return np.nonzero(chosen)[1].reshape(len(distances), k)


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)


class MLkNN(ClassifierMixin, BaseEstimator):
    """Multi-label k nearest neighbours (Zhang and Zhou, Pattern Recognition 2007).

    For each label, the number of neighbours that have it is compared with what that number was
    in training, for samples with the label and without (each sample left out of its own
    neighbours): Bayes' rule with smoothed counts gives the probability of the label.

    Exact: of equally distant neighbours those with the lowest training index count, as in the
    authors' code; distances that differ by no more than rounding are equal. Distances are
    computed in chunks, so memory stays bounded. Cost: n^2 distances to fit, n per sample to
    predict. Duplicated samples are neighbours of each other at distance zero; a row of zeros is
    a point like any other (with ``metric="cosine"`` it is at distance 1 from everything).

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
        self._tolerance = self._rounding(X)
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
        if self.metric != "precomputed":
            check_largest(X)
            return
        if X.shape[0] != X.shape[1]:
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
        parts, start = [], 0
        for chunk in self._distances(X):
            if training:  # a sample is not its own neighbour
                rows = np.arange(len(chunk))
                chunk[rows, start + rows] = np.inf
            again = partial(self._differences, X, start, training) if self._squared else None
            parts.append(self._label_counts(nearest(chunk, self._k, self._tolerance, again)))
            start += len(chunk)
        return np.concatenate(parts)

    def _differences(
        self, X: Any, start: int, training: bool, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give squared distances from differences, not inner products, and their rounding.

        Slow, and exact also where samples lie far from the origin or far apart.
        """
        X, D = X[start + rows], np.zeros((len(rows), len(self._Y)))
        for columns in row_blocks(X.shape[1], len(self._Y)):
            D += cdist(_dense(X[:, columns]), _dense(self._X[:, columns]), "sqeuclidean")
        rounding = (
            4 * np.finfo(float).eps * np.sqrt(X.shape[1]) * np.sort(D, axis=1)[:, self._k - 1]
        )
        if training:
            D[np.arange(len(rows)), start + rows] = np.inf
        return D, rounding[:, None]

    @property
    def _squared(self) -> bool:
        """Whether distances are Euclidean: squares are compared then."""
        return isinstance(self.metric, str) and self.metric in ("euclidean", "l2")

    def _rounding(self, X: Any) -> float:
        """Bound what rounding may do to a distance; nothing where distances are given.

        Euclidean distances are squared, and come from lengths and inner products, so that the
        longest sample decides; others are bounded by the longest and the number of features.
        """
        if self.metric == "precomputed":
            return 0.0
        squares = np.asarray((X.multiply(X) if sp.issparse(X) else X * X).sum(axis=1), dtype=float)
        eps = 4 * np.finfo(float).eps * np.sqrt(X.shape[1])
        longest = float(squares.max())
        if self._squared:
            return float(4 * eps * longest)
        return float(eps * max(1.0, np.sqrt(X.shape[1] * longest)))

    def _label_counts(self, neighbours: np.ndarray) -> np.ndarray:
        counts = np.zeros((len(neighbours), self._Y.shape[1]), dtype=np.int32)
        for column in neighbours.T:
            counts += self._Y[column]
        return counts

    def _distances(self, X: Any) -> Any:
        """Give the distances to the training samples, chunk by chunk, each a new array."""
        if self.metric == "precomputed":
            D = X.toarray() if hasattr(X, "toarray") else X
            if D.min() < 0:
                raise ValueError(
                    f"metric='precomputed' takes distances, and {D.min():.6g} is less than 0. Are "
                    "these similarities?"
                )
            step = max(1, CHUNK // max(1, D.shape[1]))
            return (D[i : i + step].copy() for i in range(0, len(D), step))
        if self.metric not in PAIRWISE_DISTANCE_FUNCTIONS and hasattr(X, "toarray"):
            raise ValueError(
                f"metric={self.metric!r} does not take sparse X: use 'euclidean', 'cosine' or "
                "'manhattan', or pass X.toarray()."
            )
        more = {"squared": True} if self._squared else {}
        memory = 8 * CHUNK / 2**20
        return pairwise_distances_chunked(
            X, self._X, metric=self.metric, working_memory=memory, **more
        )

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
