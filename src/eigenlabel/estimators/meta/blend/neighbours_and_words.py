"""Members that compare a sample with all others: shares of neighbours, and words of labels."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from eigenlabel.estimators.base import Training
from eigenlabel.estimators.meta.blend.base import OwnMember
from eigenlabel.inputs.parameters import COUNT, POSITIVE, CheckedBy, Parameters
from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.euclidean import EuclideanDistances, distance_rounding
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.linalg.ties import nearest

ARRAYS = 4  # arrays of labels x features that exist at once while words are weighed
MOST_REFERENCES = 10_000  # training samples that others are compared with


@dataclass(frozen=True)
class References:
    """The training samples that others are compared with.

    Attributes
    ----------
    Z : (n, d) array or CSR matrix
        The scaled samples.
    Y : (n, m) sparse matrix
        Their labels; zero where a label is not observed.
    weights : (n,) array
        The sample weights, with mean one.
    seen : (n, m) array or None
        1 where a label is observed; None if all are.
    prior : (m,) array
        The share of each label.
    """

    Z: Matrix
    Y: Any
    weights: Floats
    seen: Floats | None
    prior: Floats

    @classmethod
    def of(cls, Z: Matrix, data: Training, rows: Ints) -> "References":
        """Return some of the training samples."""
        w = np.ones(len(rows)) if data.weights is None else data.weights[rows]
        w = w / w.mean()
        Y = data.Y[rows].astype(float)
        seen = None if data.observed is None else data.observed[rows].astype(float)
        total = np.full(Y.shape[1], w.sum()) if seen is None else w @ seen
        prior = (w @ Y) / np.maximum(total, np.finfo(float).tiny)
        return cls(Z[rows], sp.csr_array(Y), w, seen, prior)

    def vote(self, Z: Matrix, n_neighbors: int) -> Floats:
        """Return ``2 p - 1`` with the weighted shares p of labels among the neighbours (n, m)."""
        distances = EuclideanDistances(self.Z)
        k = min(n_neighbors, self.Z.shape[0])
        found = []
        for rows in row_blocks(Z.shape[0], 3 * (self.Z.shape[0] + self.Y.shape[1])):
            D = distances(Z[rows])
            near = nearest(D, k, distance_rounding(Z[rows]))
            d = np.take_along_axis(D, near, axis=1) ** 2
            d -= d.min(axis=1, keepdims=True)
            mean = d.mean(axis=1, keepdims=True)
            v = np.exp(-d / np.where(mean > 0, mean, 1.0)) * self.weights[near]
            found.append(self._average(v, near))
        return np.concatenate(found)

    def _average(self, v: Floats, near: Ints) -> Floats:
        """Return the scores by the weights v of neighbours; the prior counts as one of them."""
        n, k = near.shape
        starts = np.arange(0, n * k + 1, k)
        V = sp.csr_array((v.ravel(), near.ravel(), starts), shape=(n, self.Z.shape[0]))
        found = np.asarray((V @ self.Y).toarray())
        total = v.sum(axis=1, keepdims=True) if self.seen is None else np.asarray(V @ self.seen)
        return np.asarray(2.0 * (found + self.prior) / (total + 1.0) - 1.0)


class NeighbourShares(OwnMember):
    """Score labels by their weighted share among the nearest training samples.

    A neighbour at the squared distance d has the weight ``exp(-(d - d_min) / mean(d - d_min))``,
    so that no bandwidth has to be chosen. Columns of a dense X are scaled to unit variance, rows of
    a sparse X to unit length. A sample is held out with its fold.

    Parameters
    ----------
    n_neighbors : int, default=60
        The number of neighbours.
    cv : int, splitter or iterable of (train, test), default=5
        The folds: each sample is held out with its fold.
    random_state : int, RandomState instance or None, default=None
        Determines the 10,000 training samples that are compared if there are more.

    Attributes
    ----------
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The held-out scores.
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels, or the classes of a vector y.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has string names.
    """

    _parameters: ClassVar[Parameters] = {
        "n_neighbors": COUNT,
        "cv": CheckedBy("list_folds"),
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
    }

    def __init__(self, n_neighbors: int = 60, *, cv: Any = 5, random_state: Any = None) -> None:
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.random_state = random_state

    def _fit(self, data: Training) -> None:
        n, m = data.Y.shape
        self._scale = None
        if not sp.issparse(data.X):
            spread = data.X.std(axis=0, dtype=float)
            self._scale = np.where(spread > 0, spread, 1.0)
        kept = np.arange(n)
        if n > MOST_REFERENCES:
            rng = check_random_state(self.random_state)
            kept = np.sort(rng.choice(n, MOST_REFERENCES, replace=False))
        Z = self._scaled(data.X)
        self.oof_scores_ = np.full((n, m), np.nan)
        for train, test in self._folds(data):
            use = kept[np.isin(kept, train)]
            if len(use):
                self.oof_scores_[test] = References.of(Z, data, use).vote(Z[test], self.n_neighbors)
        self._references = References.of(Z, data, kept)

    def _scaled(self, X: Matrix) -> Matrix:
        if self._scale is None:
            return normalize(X)
        return np.asarray(X / self._scale, dtype=float)

    def _scores(self, X: Any) -> Floats:
        return self._references.vote(self._scaled(X), self.n_neighbors)


class WordRatios(OwnMember):
    """Score labels by the words that they use more than other labels (multinomial naive Bayes).

    The weight of a feature is the logarithm of its share in the samples with the label, over that
    in the samples without it. Both shares have a prior, which is the share in all samples and
    counts as ``smoothing`` samples. The score is the sum of value times weight. All labels cost one
    product of sparse matrices. Values of X must not be negative.

    Parameters
    ----------
    smoothing : float, default=10.0
        The number of samples that the prior counts for.
    cv : int, splitter or iterable of (train, test), default=5
        The folds of the held-out scores.

    Attributes
    ----------
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The held-out scores.
    coef_ : ndarray of shape (n_labels, n_features)
        The weights of the features.
    intercept_ : ndarray of shape (n_labels,)
        The log-odds of the share of each label.
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels, or the classes of a vector y.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has string names.
    """

    _parameters: ClassVar[Parameters] = {
        "smoothing": POSITIVE,
        "cv": CheckedBy("list_folds"),
    }

    def __init__(self, smoothing: float = 10.0, *, cv: Any = 5) -> None:
        self.smoothing = smoothing
        self.cv = cv

    def _fit(self, data: Training) -> None:
        values: Any = getattr(data.X, "data", data.X) if sp.issparse(data.X) else data.X
        if values.size and values.min() < 0:
            raise ValueError(
                f"Naive Bayes counts words, but X contains {values.min():.6g}: values must be 0 or "
                "more."
            )
        n, m = data.Y.shape
        w = np.ones(n) if data.weights is None else data.weights
        out = np.full((n, m), np.nan)
        for train, test in self._folds(data):
            if len(train):
                coef, intercept = self._ratios(data, w, train)
                out[test] = np.asarray(data.X[test] @ coef.T) + intercept
        self.coef_, self.intercept_ = self._ratios(data, w, np.arange(n))
        self.oof_scores_ = out

    def _ratios(self, data: Training, w: Floats, rows: Ints) -> tuple[Floats, Floats]:
        """Return the weights (m, d) and the log-odds of the prior (m,) by some samples."""
        X, Y, w = data.X[rows], data.Y[rows], w[rows]
        present = w[:, None] * Y
        absent = w[:, None] * ~Y
        if data.observed is not None:
            present, absent = present * data.observed[rows], absent * data.observed[rows]
        total = np.asarray(w @ X).ravel()
        sums = max(float(total.sum()), np.finfo(float).tiny)
        prior = self.smoothing * total / max(float(w.sum()), 1.0)  # of the mean sample
        coef = np.zeros((Y.shape[1], X.shape[1]))
        used = total > sums * np.finfo(float).tiny
        X, prior = X[:, used], prior[used]
        for part in row_blocks(Y.shape[1], ARRAYS * X.shape[1]):
            for sign, cells in ((1.0, present), (-1.0, absent)):
                counts = np.asarray((X.T @ cells[:, part]).T) + prior
                counts /= counts.sum(axis=1, keepdims=True)
                coef[part, used] += sign * np.log(counts, out=counts)
        mean = float(w.mean())
        intercept = np.log((present.sum(axis=0) + mean) / (absent.sum(axis=0) + mean))
        return coef, intercept

    def _scores(self, X: Any) -> Floats:
        return np.asarray(X @ self.coef_.T) + self.intercept_
