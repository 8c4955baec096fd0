"""Taggers that go by the distances to training samples: JEC and MBRM."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from eigenlabel._validation import check_number
from eigenlabel.labels import LabelCodec
from eigenlabel.methods._base import RuleClassifier
from eigenlabel.methods.distances import ViewDistancesMixin
from eigenlabel.methods.views import Views
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
    the paper.

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
