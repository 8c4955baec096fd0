"""Taggers that go by the distances to training samples: JEC and MBRM."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.base import RuleClassifier
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.validation import check_number
from eigenlabel.inputs.views import Views, per_view
from eigenlabel.kernels.distances import ViewDistancesMixin, mean_over_views
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.thresholds import Rule, get_rule


class DistanceTagger(ViewDistancesMixin, RuleClassifier):
    """What taggers by distances share; they define ``_scores_of`` and call ``_prepare`` in fit."""

    def _prepare(self, X: Any, y: Any) -> tuple[Views, np.ndarray]:
        """Check all that fit takes and settle the distances; give the views and the labels."""
        self._check_views()
        self._rule = get_rule(self.threshold)
        views = self._read_views(X, reset=True)
        self._codec, Y = LabelCodec.fit(y)
        check_consistent_length(views, Y)
        if len(Y) < 2:
            raise ValueError(f"Neighbours need at least 2 samples, got n_samples = {len(Y)}.")
        self.classes_ = self._codec.classes
        self._fit_distances(views)
        self._Y = sp.csr_array(Y, dtype=float)
        self.label_shares_ = Y.mean(axis=0)
        return views, Y

    def _scores_of(self, views: Views, *, training: bool = False) -> np.ndarray:
        """Give scores (n, m); training samples are not compared with themselves."""
        raise NotImplementedError

    def _scores(self, X: Any) -> np.ndarray:
        scores = self._scores_of(self._read_views(X, reset=False))
        return scores.astype(self._dtype, copy=False)

    def _training_scores(self, X: Any) -> np.ndarray:
        return self._scores_of(X, training=True)


class JEC(DistanceTagger):
    """Transfer labels from the nearest samples by joint equal contribution of the views' distances.

    The distance of two samples is the mean over views of ``d_j / max d_j``, the largest over
    training samples (Makadia, Pavlovic, Kumar, IJCV 2010, Section 3). Labels are listed in three
    steps (Section 4): those of the nearest neighbour, the most frequent in training first; those
    of the second to the last neighbour, by ``co-occurrence with the labels of the nearest x
    number of these neighbours that have them``; then all others by frequency.

    Scores say that order: above 0 the first kind, between -1 and 0 the second, from -2 to -1 the
    third. ``threshold="zero"`` is thus nearest-neighbour classification, ``Top(5)`` the protocol of
    the paper. Distances that differ by no more than rounding are equal; of equally distant samples
    the one that comes first in training is taken as the nearer one.

    Cost: the n^2 distances of training samples once, for their largest (with several views), and n
    distances per new sample, in strips; no n x n array.

    Parameters
    ----------
    n_neighbors : int >= 1, default=5
    metric : str, callable, list or dict by view, default="euclidean"
        "euclidean" or "l2", "manhattan" or "l1", "cosine", "chi2" or "kl" (of histograms), or
        "precomputed"; a callable takes two matrices and gives the distances of their rows.
        Distances need not be symmetric: rows are the samples that look for neighbours. In a sparse
        precomputed matrix, pairs that are not stored are no neighbours.
    views : dict or None
        Name -> columns of one matrix X: a slice, positions, a mask, or names of a frame's columns.
        None if X is several tables (:class:`Views`, dict or list), or one view.
    transformers : transformer, dict by view, or None
        Fitted to each view's own samples before its distances.
    threshold : str or rule, default="zero"
        Rule of ``eigenlabel.thresholds`` for label sets, such as ``Top(5)``. Rules that need it are
        fitted to the scores of training samples, each left out of its own neighbours.

    Attributes
    ----------
    cooccurrence_ : (n_labels, n_labels), samples that have both labels
    label_shares_ : (n_labels,), share of samples with each label
    views_ : dict of the fitted views, with ``scale``, the largest distance
    view_names_ : of the views, in order
    thresholds_ : (n_labels,), for a label matrix
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from eigenlabel import JEC
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> left, right = data.X[:, :10], data.X[:, 10:]
    >>> model = JEC(metric=["l1", "l2"]).fit([left[:150], right[:150]], data.Y[:150])
    >>> model.predict([left[150:], right[150:]]).shape
    (50, 6)
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        metric: Any = "euclidean",
        views: Any = None,
        transformers: Any = None,
        threshold: str | Rule = "zero",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.views = views
        self.transformers = transformers
        self.threshold = threshold

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "JEC":
        """Settle the distances and count the labels.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features), or Views, dict or list of such or of distances
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        """
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        views, Y = self._prepare(X, y)
        if len(self.view_names_) > 1:  # the scale of a single distance changes no order
            self._settle_scales(views, "largest")
        self.cooccurrence_ = (self._Y.T @ self._Y).toarray()
        self._fit_threshold(views, Y)
        return self

    def _scores_of(self, views: Views, *, training: bool = False) -> np.ndarray:
        near = self._neighbours(views, self.n_neighbors, training=training)
        first = self._labels_of(near.index[:, :1], near.there[:, :1])
        local = self._labels_of(near.index[:, 1:], near.there[:, 1:]).toarray()
        joint = first @ self.cooccurrence_
        joint[first.sum(axis=1) == 0] = 1.0  # no labels to occur with: local frequency alone
        product = local * joint
        best = product.max(axis=1, keepdims=True)
        second = product / np.where(best > 0, best, 1.0) / 2 - 0.75
        scores = np.where(local > 0, second, self.label_shares_ - 2.0)
        return np.where(first.toarray() > 0, self.label_shares_, scores)

    def _labels_of(self, index: np.ndarray, there: np.ndarray) -> Any:
        """Count the labels of each sample's neighbours (n, m), sparse."""
        rows = np.repeat(np.arange(len(index)), there.sum(axis=1))
        shape = (len(index), self._n)
        return sp.csr_array((np.ones(len(rows)), (rows, index[there])), shape=shape) @ self._Y


class MBRM(DistanceTagger):
    """Average the labels of training samples by how likely each would give the new sample.

    The multiple Bernoulli relevance model (Feng, Manmatha, Lavrenko, CVPR 2004): a
    training sample J, drawn with equal chances, gives each view by a Gaussian kernel around its
    own, and each label l by a coin with ``P(l | J) = (1 - s) y_Jl + s N_l / n``, N_l the number of
    samples with l (the paper's Beta prior has ``s = n / (mu + n)``). Then

        p(l | x) = sum_J w_J P(l | J),    w_J ~ exp(-sum_v d_v(x, J)^2 / (2 sigma_v^2))

    Each view is one region of the paper's images. A view that one of two samples lacks counts as
    the mean of the others. Scores are ``2 p - 1``.

    Cost: the n^2 distances of training samples once, for their mean, and n distances and n times
    the labels of a sample per new sample, in strips; no n x n array.

    Parameters
    ----------
    bandwidth : float > 0, list or dict by view, default=0.2
        sigma_v, as a part of the mean distance of training samples in the view. Small ones come
        to the labels of the nearest neighbour, large ones to the labels' shares.
    smoothing : float in [0, 1], default=0.1
        s, how much labels go by their share in training.
    metric, views, transformers
        As in :class:`JEC`.
    threshold : str or rule, default="zero"
        Rule of ``eigenlabel.thresholds`` for label sets, such as ``Top(5)``; fitted to scores of
        training samples, each left out. Zero is p = 1/2.

    Attributes
    ----------
    label_shares_ : (n_labels,), N_l / n
    bandwidth_ : (n_views,), sigma of each view
    views_, view_names_ : of the views, as in :class:`JEC`; ``scale`` is the mean distance
    thresholds_ : (n_labels,), for a label matrix
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from eigenlabel import MBRM
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> left, right = data.X[:, :10], data.X[:, 10:]
    >>> model = MBRM(bandwidth=0.3).fit([left[:150], right[:150]], data.Y[:150])
    >>> model.predict([left[150:], right[150:]]).shape
    (50, 6)
    """

    def __init__(
        self,
        bandwidth: Any = 0.2,
        smoothing: float = 0.1,
        *,
        metric: Any = "euclidean",
        views: Any = None,
        transformers: Any = None,
        threshold: str | Rule = "zero",
    ) -> None:
        self.bandwidth = bandwidth
        self.smoothing = smoothing
        self.metric = metric
        self.views = views
        self.transformers = transformers
        self.threshold = threshold

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "MBRM":
        """Settle the bandwidths and count the labels.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features), or Views, dict or list of such or of distances
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        """
        check_number("smoothing", self.smoothing, 0, 1)
        views, Y = self._prepare(X, y)
        given = per_view("bandwidth", self.bandwidth, self.view_names_)
        for value in given.values():
            check_number("bandwidth", value, np.finfo(float).tiny)
        self._settle_scales(views, "mean")
        self._widths = np.array([float(value) for value in given.values()])
        self.bandwidth_ = self._widths * [view.scale for view in self.views_.values()]
        self._fit_threshold(views, Y)
        return self

    def _scores_of(self, views: Views, *, training: bool = False) -> np.ndarray:
        P = np.tile(self.label_shares_, (len(views), 1))
        for part, D, _ in self._distance_strips(views, training=training):
            exponents = mean_over_views((D / self._widths[:, None, None]) ** 2) * (len(D) / 2)
            some = np.isfinite(exponents).any(axis=1)  # others keep the shares
            W = softmax(-exponents[some], axis=1)
            P[part][some] = (self._Y.T @ W.T).T
        return 2.0 * ((1 - self.smoothing) * P + self.smoothing * self.label_shares_) - 1.0
