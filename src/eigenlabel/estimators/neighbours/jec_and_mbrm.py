"""Taggers by the distances to training samples: JEC and MBRM."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.base import CALIBRATION, RuleClassifier
from eigenlabel.estimators.views.distances import METRIC, fit_distances, view_distance_tags
from eigenlabel.estimators.views.tables import VIEW_PARAMETERS
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    POSITIVE,
    ByView,
    CheckedBy,
    Declaration,
    Number,
    Parameters,
    check_parameters,
)
from eigenlabel.inputs.views import Part, per_view, read_views
from eigenlabel.kernels.neighbours import mean_over_views
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.rules import get_rule

# What all taggers by distances declare.
DISTANCE_PARAMETERS: dict[str, Declaration] = {
    "metric": METRIC,
    **VIEW_PARAMETERS,
    "threshold": CheckedBy("get_rule"),
    "calibration": CALIBRATION,
}


class DistanceTagger(RuleClassifier):
    """The base of taggers by distances: it reads the views and settles their distances.

    Subclasses define ``_score_parts`` and call ``_prepare`` in ``fit``.
    """

    def __init__(
        self,
        metric: Any,
        views: Any,
        transformers: Any,
        threshold: str | Rule,
        calibration: str | None,
    ) -> None:
        self.metric = metric
        self.views = views
        self.transformers = transformers
        self.threshold = threshold
        self.calibration = calibration

    def _prepare(self, X: Any, y: Any) -> tuple[Rule, list[Part], Bools]:
        """Check the parameters and the data; return the rule, the samples of views, and Y."""
        check_parameters(self)
        rule = get_rule(self.threshold)
        parts, self._layout = read_views(self, X, self.views, sparse_pairs=True, metric=self.metric)
        self._codec, Y = LabelCodec.fit(y)
        check_consistent_length(parts[0].here, Y)
        if len(Y) < 2:
            raise ValueError(f"Neighbours need at least 2 samples, got n_samples = {len(Y)}.")
        self.classes_ = self._codec.classes
        self._distances = fit_distances(parts, self._layout, self.metric, self.transformers)
        self.views_, self.view_names_ = self._distances.views, self._layout.names
        self._Y = sp.csr_array(Y, dtype=float)
        self.label_shares_ = Y.mean(axis=0)
        return rule, parts, Y

    def _score_parts(self, parts: Sequence[Part], *, training: bool = False) -> Floats:
        """Return scores (n, m); training samples are not compared with themselves."""
        raise NotImplementedError

    def _scores(self, X: Any) -> Floats:
        scores = self._score_parts(self._layout.read(self, X))
        return np.asarray(scores.astype(self._layout.dtype, copy=False))

    def __sklearn_tags__(self) -> Any:
        return view_distance_tags(super().__sklearn_tags__(), self.views, self.metric)


class JEC(DistanceTagger):
    """Transfer labels from the nearest samples by joint equal contribution of the views' distances.

    The distance of two samples is the mean over views of ``d_j / max d_j``, the largest over
    training samples (Makadia et al. 2010, Section 3). Labels are ranked in three steps (Section 4):
    those of the nearest neighbour, the most frequent in training first; those of the second to the
    last neighbour, by ``co-occurrence with the labels of the nearest x number of these neighbours
    that have them``; then all others by frequency.

    Scores express that order: labels of the first step have scores above 0, those of the second
    between -1 and 0, those of the third from -2 to -1. ``threshold="zero"`` is thus
    nearest-neighbour classification, ``Top(5)`` the protocol of the paper. Distances that differ by
    no more than rounding are equal; of equally distant samples the first one in training counts as
    the nearer one.

    Cost: the n^2 distances of training samples once, for their largest (with several views), and n
    distances per new sample, in strips; no n x n array.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbours, >= 1.
    metric : str, callable, list or dict, default="euclidean"
        The distance of all views, or one by view: "euclidean" or "l2", "manhattan" or "l1",
        "cosine", "chi2" or "kl" (of histograms), or "precomputed". A callable takes two matrices
        and returns the distances of their rows. Distances need not be symmetric: rows are the
        samples that look for neighbours. In a sparse precomputed matrix, pairs that are not stored
        are not neighbours.
    views : dict or None, default=None
        The columns of each view in one matrix X, by name: a slice, positions, a mask, or the names
        of columns of a frame. None if X is several tables (:class:`Views`, dict or list), or one
        view.
    transformers : transformer, dict or None, default=None
        A transformer for all views, or one by view, that is fitted to the samples of the view
        before its distances.
    threshold : str or Rule, default="zero"
        The rule of ``eigenlabel.thresholds`` that turns scores into label sets, such as ``Top(5)``.
        Rules with fitted thresholds use the scores of training samples, each left out of its own
        neighbours.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to held-out scores of
        five folds, which costs five more fits. None leaves out ``predict_proba``, and rules on
        probabilities.

    Attributes
    ----------
    cooccurrence_ : ndarray of shape (n_labels, n_labels)
        The number of samples that have both labels.
    label_shares_ : ndarray of shape (n_labels,)
        The share of samples with each label.
    views_ : dict
        The fitted views by name, with the attributes ``metric`` and ``scale``, the largest
        distance.
    view_names_ : tuple of str
        The names of the views, in order.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds of the rule. Only if y is a label matrix.
    calibration_ : Calibration
        The maps from scores to probabilities. Only if ``calibration`` is not None.
    classes_ : ndarray of shape (n_labels,)
        The columns of the label matrix, or the classes of a vector y.
    n_features_in_ : int
        The number of columns of X, or of all tables together.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X was a frame.

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

    _parameters: ClassVar[Parameters] = {"n_neighbors": COUNT, **DISTANCE_PARAMETERS}

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        metric: Any = "euclidean",
        views: Any = None,
        transformers: Any = None,
        threshold: str | Rule = "zero",
        calibration: str | None = None,
    ) -> None:
        super().__init__(metric, views, transformers, threshold, calibration)
        self.n_neighbors = n_neighbors

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "JEC":
        """Settle the distances and count the labels.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The training samples (n_samples, n_features), several tables of them, or distances.
        y : array or sparse matrix
            The 0/1 label matrix (n_samples, n_labels), label sets, or a vector of classes.

        Returns
        -------
        self : JEC
            The fitted classifier.
        """
        rule, parts, Y = self._prepare(X, y)
        if len(self.view_names_) > 1:  # the scale of a single distance changes no order
            self._distances.settle_scales(parts, "largest")
        self.cooccurrence_ = (self._Y.T @ self._Y).toarray()
        heldout = self._calibrate(X, y, Y)
        self._fit_rule(rule, Y, lambda: self._score_parts(parts, training=True), heldout)
        return self

    def _score_parts(self, parts: Sequence[Part], *, training: bool = False) -> Floats:
        near = self._distances.nearest(parts, self.n_neighbors, training=training)
        first = self._labels_of(near.index[:, :1], near.there[:, :1])
        local = self._labels_of(near.index[:, 1:], near.there[:, 1:]).toarray()
        joint = first @ self.cooccurrence_
        joint[first.sum(axis=1) == 0] = 1.0  # the nearest has no labels: local frequency alone
        product = local * joint
        best = product.max(axis=1, keepdims=True)
        second = product / np.where(best > 0, best, 1.0) / 2 - 0.75
        scores = np.where(local > 0, second, self.label_shares_ - 2.0)
        return np.asarray(np.where(first.toarray() > 0, self.label_shares_, scores))

    def _labels_of(self, index: Ints, there: Bools) -> Any:
        """Return how many neighbours of each sample have each label (n, m), sparse."""
        rows = np.repeat(np.arange(len(index)), there.sum(axis=1))
        shape = (len(index), self._Y.shape[0])
        return sp.csr_array((np.ones(len(rows)), (rows, index[there])), shape=shape) @ self._Y


class MBRM(DistanceTagger):
    """Average the labels of training samples by how likely each is to generate the new sample.

    It is the multiple Bernoulli relevance model (Feng et al. 2004). A training sample J, drawn with
    equal chances, generates each view by a Gaussian kernel around its own, and each label l by a
    coin with ``P(l | J) = (1 - s) y_Jl + s N_l / n``, N_l the number of samples with l (the paper's
    Beta prior has ``s = n / (mu + n)``). Then

        p(l | x) = sum_J w_J P(l | J),    w_J ~ exp(-sum_v d_v(x, J)^2 / (2 sigma_v^2))

    Each view is one region of the paper's images. A view in which one of two samples is missing
    counts as the mean of the others. Scores are ``2 p - 1``.

    Cost: the n^2 distances of training samples once, for their mean, and n distances and n times
    the labels of a sample per new sample, in strips; no n x n array.

    Parameters
    ----------
    bandwidth : float, list or dict, default=0.2
        The width sigma_v > 0 of all views, or one by view, relative to the mean distance of
        training samples in the view. Small values approach the labels of the nearest neighbour,
        large ones the labels' shares.
    smoothing : float, default=0.1
        The weight s in [0, 1] of the labels' shares in training.
    metric : str, callable, list or dict, default="euclidean"
        The distance of all views, or one by view: "euclidean" or "l2", "manhattan" or "l1",
        "cosine", "chi2" or "kl" (of histograms), or "precomputed". A callable takes two matrices
        and returns the distances of their rows. Distances need not be symmetric: rows are the
        samples that look for neighbours. In a sparse precomputed matrix, pairs that are not stored
        are not neighbours.
    views : dict or None, default=None
        The columns of each view in one matrix X, by name: a slice, positions, a mask, or the names
        of columns of a frame. None if X is several tables (:class:`Views`, dict or list), or one
        view.
    transformers : transformer, dict or None, default=None
        A transformer for all views, or one by view, that is fitted to the samples of the view
        before its distances.
    threshold : str or Rule, default="zero"
        The rule of ``eigenlabel.thresholds`` that turns scores into label sets, such as ``Top(5)``.
        Rules with fitted thresholds use the scores of training samples, each left out. A score of
        zero is p = 1/2.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to held-out scores of
        five folds, which costs five more fits. None leaves out ``predict_proba``, and rules on
        probabilities.

    Attributes
    ----------
    label_shares_ : ndarray of shape (n_labels,)
        The share N_l / n of samples with each label.
    bandwidth_ : ndarray of shape (n_views,)
        The width sigma of each view.
    views_ : dict
        The fitted views by name, with the attributes ``metric`` and ``scale``, the mean distance.
    view_names_ : tuple of str
        The names of the views, in order.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds of the rule. Only if y is a label matrix.
    calibration_ : Calibration
        The maps from scores to probabilities. Only if ``calibration`` is not None.
    classes_ : ndarray of shape (n_labels,)
        The columns of the label matrix, or the classes of a vector y.
    n_features_in_ : int
        The number of columns of X, or of all tables together.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X was a frame.

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

    _parameters: ClassVar[Parameters] = {
        "bandwidth": ByView(POSITIVE),
        "smoothing": Number(0, 1),
        **DISTANCE_PARAMETERS,
    }

    def __init__(
        self,
        bandwidth: Any = 0.2,
        smoothing: float = 0.1,
        *,
        metric: Any = "euclidean",
        views: Any = None,
        transformers: Any = None,
        threshold: str | Rule = "zero",
        calibration: str | None = None,
    ) -> None:
        super().__init__(metric, views, transformers, threshold, calibration)
        self.bandwidth = bandwidth
        self.smoothing = smoothing

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "MBRM":
        """Settle the bandwidths and count the labels.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The training samples (n_samples, n_features), several tables of them, or distances.
        y : array or sparse matrix
            The 0/1 label matrix (n_samples, n_labels), label sets, or a vector of classes.

        Returns
        -------
        self : MBRM
            The fitted classifier.
        """
        rule, parts, Y = self._prepare(X, y)
        given = per_view("bandwidth", self.bandwidth, self.view_names_)
        self._distances.settle_scales(parts, "mean")
        self._widths = np.array([float(value) for value in given.values()])
        self.bandwidth_ = self._widths * [view.scale for view in self.views_.values()]
        heldout = self._calibrate(X, y, Y)
        self._fit_rule(rule, Y, lambda: self._score_parts(parts, training=True), heldout)
        return self

    def _score_parts(self, parts: Sequence[Part], *, training: bool = False) -> Floats:
        P = np.tile(self.label_shares_, (len(parts[0].here), 1))
        for rows, D, _ in self._distances.strips(parts, training=training):
            exponents = mean_over_views((D / self._widths[:, None, None]) ** 2) * (len(D) / 2)
            some = np.isfinite(exponents).any(axis=1)  # others keep the shares
            W = softmax(-exponents[some], axis=1)
            P[rows][some] = (self._Y.T @ W.T).T
        shares = (1 - self.smoothing) * P + self.smoothing * self.label_shares_
        return np.asarray(2.0 * shares - 1.0)
