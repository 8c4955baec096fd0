"""TagProp: weights of neighbours learnt from how well they predict the labels."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from eigenlabel.estimators.neighbours.jec_and_mbrm import DISTANCE_PARAMETERS, DistanceTagger
from eigenlabel.estimators.neighbours.weighted_votes import (
    ByDistance,
    ByRank,
    Learnt,
    Likelihood,
    Objective,
    Votes,
    Weighting,
    learn,
)
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    Choice,
    Flag,
    Number,
    Parameters,
)
from eigenlabel.inputs.views import Part
from eigenlabel.inputs.warning import warn
from eigenlabel.kernels.neighbours import Neighbours, nearest_by_mean, nearest_by_rank
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.thresholds.base import Rule


class TagProp(DistanceTagger):
    """Predict labels by those of the nearest samples, with weights that are learnt.

    ``p(y_il = 1) = sum_j pi_ij (1 - epsilon if y_jl else epsilon)`` over the neighbours j of i,
    with weights that maximise ``sum_il c_il ln p(y_il)`` (Guillaumin et al. 2009), each training
    sample left out of its own neighbours:

    * "rank": ``pi_ij = gamma_k`` for the k-th neighbour by the mean of the scaled distances
      (Section 2.1), numbers >= 0 that sum to one; a concave problem;
    * "distance": ``pi_ij ~ exp(-sum_v theta_v d_v(i, j))`` with theta >= 0, among
      neighbours that are the nearest in some view. The first neighbours of all views are chosen
      before the second ones, and the last place goes to the view that is listed first: with few
      neighbours, predictions depend on the order of the views.

    With ``sigmoid=True`` the weighted share x_il of neighbours with the label is passed through a
    curve of its own for each label, ``p = 1 / (1 + exp(-a_l x_il - b_l))``, which is fitted anew at
    each step of the weights. The objective never decreases.

    Cost: n^2 distances per view to find neighbours, once (twice with several views, for their
    scale); then about n k times the labels of a sample plus n m per step. No n x n array.

    Parameters
    ----------
    n_neighbors : int, default=200
        The number of neighbours, >= 1. There are fewer if there are fewer other training samples.
    weights : {"distance", "rank"}, default="distance"
        What the weights of neighbours depend on.
    sigmoid : bool, default=True
        Whether each label has a curve of its own, which increases the recall of rare labels.
    balanced : bool, default=True
        Whether ``c_il`` is ``1 / n+`` for labels that are present and ``1 / n-`` for others, n+ and
        n- of them in all. If False, all have the same weight.
    epsilon : float, default=1e-5
        The probability in (0, 0.5) of a label that no neighbour has.
    ridge : float, default=1e-6
        The penalty > 0 of the curves. It keeps the curves of labels that are separable, or never
        occur, finite.
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
        neighbours. A score of zero is p = 1/2.
    max_iter : int, default=200
        The largest number of steps. A warning is raised if they do not converge.
    tol : float, default=1e-5
        The ascent ends when a step gains less than this share of the objective.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to held-out scores of
        five folds, which costs five more fits. None leaves out ``predict_proba``, and rules on
        probabilities.

    Attributes
    ----------
    weights_ : ndarray of shape (n_neighbors,) or (n_views,)
        The weights of ranks, or of scaled distances.
    curves_ : ndarray of shape (2, n_labels)
        The slopes and offsets of the curves. Only with ``sigmoid=True``.
    log_likelihood_ : ndarray of shape (n_iter_ + 1,)
        The objective before and after each step.
    n_iter_ : int
        The number of steps.
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
    >>> from eigenlabel import TagProp
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> left, right = data.X[:, :10], data.X[:, 10:]
    >>> model = TagProp(20).fit([left[:150], right[:150]], data.Y[:150])
    >>> model.predict([left[150:], right[150:]]).shape
    (50, 6)
    """

    _parameters: ClassVar[Parameters] = {
        "n_neighbors": COUNT,
        "weights": Choice("distance", "rank"),
        "sigmoid": Flag(),
        "balanced": Flag(),
        "epsilon": Number(0, 0.5 - 1e-9, above=True),
        "ridge": POSITIVE,
        "max_iter": COUNT,
        "tol": NOT_NEGATIVE,
        **DISTANCE_PARAMETERS,
    }

    def __init__(
        self,
        n_neighbors: int = 200,
        *,
        weights: str = "distance",
        sigmoid: bool = True,
        balanced: bool = True,
        epsilon: float = 1e-5,
        ridge: float = 1e-6,
        metric: Any = "euclidean",
        views: Any = None,
        transformers: Any = None,
        threshold: str | Rule = "zero",
        max_iter: int = 200,
        tol: float = 1e-5,
        calibration: str | None = None,
    ) -> None:
        super().__init__(metric, views, transformers, threshold, calibration)
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.sigmoid = sigmoid
        self.balanced = balanced
        self.epsilon = epsilon
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "TagProp":
        """Find the neighbours of training samples and learn their weights.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The training samples (n_samples, n_features), several tables of them, or distances.
        y : array or sparse matrix
            The 0/1 label matrix (n_samples, n_labels), label sets, or a vector of classes.

        Returns
        -------
        self : TagProp
            The fitted classifier.
        """
        rule, parts, Y = self._prepare(X, y)
        if len(self.view_names_) > 1:
            self._distances.settle_scales(parts, "largest")
        near = self._find(parts, training=True)
        some = near[near.some]
        objective = self._objective(some, Y[near.some])
        found = learn(objective, self._weighting(), some, self.max_iter, self.tol)
        self._store(found, objective)
        self._fit_rule(rule, Y, lambda: self._vote(near), self._calibrate(X, y, Y))
        return self

    def _find(self, parts: Sequence[Part], *, training: bool = False) -> Neighbours:
        choose = nearest_by_rank if self.weights == "distance" else nearest_by_mean
        k = min(self.n_neighbors, self._Y.shape[0] - 1)
        return self._distances.nearest(parts, k, choose, training=training)

    def _weighting(self) -> Weighting:
        return ByRank() if self.weights == "rank" else ByDistance()

    def _objective(self, near: Neighbours, Y: Bools) -> Objective:
        present, absent = int(Y.sum()), int((~Y).sum())
        if not self.balanced:
            present = absent = Y.size
        likelihood = Likelihood(Y, (1 / max(present, 1), 1 / max(absent, 1)), self.epsilon)
        ridge = self.ridge if self.sigmoid else None
        return Objective(Votes(near, self._Y), likelihood, self._weighting(), ridge)

    def _store(self, found: Learnt, objective: Objective) -> None:
        self.__dict__.pop("curves_", None)
        if objective.curves is not None:
            self.curves_ = objective.curves
        self.weights_, self.log_likelihood_ = found.parameters, found.history
        self.n_iter_ = len(found.history) - 1
        if self.tol and found.gain > self.tol:
            warn(
                f"TagProp's last step still gained {found.gain:.1e} of the objective (wanted "
                f"{self.tol:.0e}) after {self.n_iter_} steps: raise max_iter.",
                ConvergenceWarning,
            )

    def _vote(self, near: Neighbours) -> Floats:
        """Return ``2 p - 1``; for a sample without neighbours p is the labels' shares."""
        some = near.some
        P = np.tile(self.label_shares_, (len(some), 1))
        W = self._weighting().weights(near[some], self.weights_)
        x = Votes(near[some], self._Y).shares(W)
        if self.sigmoid:
            P[some] = expit(self.curves_[0] * x + self.curves_[1])
        else:
            P[some] = self.epsilon + (1 - 2 * self.epsilon) * x
        return np.asarray(2.0 * P - 1.0)

    def _score_parts(self, parts: Sequence[Part], *, training: bool = False) -> Floats:
        return self._vote(self._find(parts, training=training))
