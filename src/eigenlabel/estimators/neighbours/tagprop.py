"""TagProp: weights of neighbours learnt from how well they predict the labels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit, softmax
from sklearn.exceptions import ConvergenceWarning

from eigenlabel.estimators.neighbours.tagging import DistanceTagger
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.validation import check_choice, check_flag, check_number
from eigenlabel.inputs.views import Views
from eigenlabel.inputs.warning import warn
from eigenlabel.kernels.distances import Neighbours, nearest_by_mean, nearest_by_rank
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.thresholds import Rule

START = 10.0  # sum of the first weights of distances, which are at most one

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class Votes:
    """The labels that neighbours vote for: linear in their weights.

    Attributes
    ----------
    near : neighbours of the samples
    Y : (training samples, m), sparse
    """

    near: Neighbours
    Y: Any

    def shares(self, weights: np.ndarray) -> np.ndarray:
        """Give the weighted shares of neighbours with each label (n, m)."""
        n, k = weights.shape
        pointers = np.arange(0, n * k + 1, k)
        shape = (n, self.Y.shape[0])
        W = sp.csr_array((weights.ravel(), self.near.index.ravel(), pointers), shape=shape)
        return np.asarray((W @ self.Y).toarray())

    def pull(self, G: np.ndarray) -> np.ndarray:
        """Give the derivative by the weights (n, k) from that by the shares (n, m).

        Only labels that neighbours have are looked at: n k times their mean number.
        """
        n, k = self.near.index.shape
        out = np.empty((n, k))
        for part in row_blocks(n, k * max(1, -(-self.Y.nnz // self.Y.shape[0]))):
            chosen = self.Y[self.near.index[part].ravel()]
            place = np.repeat(np.arange(chosen.shape[0]), np.diff(chosen.indptr))
            values = G[part][place // k, chosen.indices]
            sums = np.bincount(place, values, minlength=chosen.shape[0])
            out[part] = sums.reshape(-1, k)
        return np.where(self.near.there, out, 0.0)


@dataclass(frozen=True)
class Likelihood:
    """The log-likelihood of the labels given the shares of votes, and its derivative.

    Attributes
    ----------
    Y : (n, m) boolean
    costs : weights of a label that is there and of one that is not
    epsilon : probability of a label that no neighbour has
    """

    Y: np.ndarray
    costs: tuple[float, float]
    epsilon: float

    @property
    def weights(self) -> np.ndarray:
        """The weights (n, m)."""
        return np.where(self.Y, *self.costs)

    def mixture(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """With ``p = epsilon + (1 - 2 epsilon) x``."""
        p = self.epsilon + (1 - 2 * self.epsilon) * x
        right = np.where(self.Y, p, 1.0 - p)
        slope = np.where(self.Y, 1.0, -1.0) * (1 - 2 * self.epsilon)
        return float(np.sum(self.weights * np.log(right))), self.weights * slope / right

    def sigmoid(self, x: np.ndarray, curves: np.ndarray) -> tuple[float, np.ndarray]:
        """With ``p = sigmoid(a x + b)``, curves (2, m) holding a and b."""
        z = curves[0] * x + curves[1]
        value = np.sum(self.weights * log_expit(np.where(self.Y, z, -z)))
        return float(value), self.weights * (self.Y - expit(z)) * curves[0]


def fit_sigmoids(
    x: np.ndarray, likelihood: Likelihood, ridge: float, start: np.ndarray, n_steps: int = 50
) -> np.ndarray:
    """Maximise the log-likelihood less ``ridge / 2 (a^2 + b^2)`` for all labels; give (2, m).

    Newton's method, steps halved label by label until none falls.
    """
    C, Y = likelihood.weights, likelihood.Y

    def values(curves: np.ndarray) -> np.ndarray:
        z = curves[0] * x + curves[1]
        fit = (C * log_expit(np.where(Y, z, -z))).sum(axis=0)
        return np.asarray(fit - ridge / 2 * (curves**2).sum(axis=0))

    curves, value = start, values(start)
    for _ in range(n_steps):
        p = expit(curves[0] * x + curves[1])
        error, bend = C * (Y - p), C * p * (1 - p)
        g = np.stack([(error * x).sum(axis=0), error.sum(axis=0)]) - ridge * curves
        aa, ab = (bend * x * x).sum(axis=0) + ridge, (bend * x).sum(axis=0)
        bb = bend.sum(axis=0) + ridge
        step = np.stack([bb * g[0] - ab * g[1], aa * g[1] - ab * g[0]]) / (aa * bb - ab**2)
        if float((g * step).sum(axis=0).max()) <= 1e-14 * np.abs(value).max():
            break
        for _ in range(30):
            moved = values(curves + step)
            worse = moved < value
            if not worse.any():
                break
            step[:, worse] /= 2
        step[:, moved < value] = 0.0
        curves, gain, value = (
            curves + step,
            np.maximum(moved, value) - value,
            np.maximum(moved, value),
        )
        if gain.max() <= 1e-14 * np.abs(value).max():
            break
    return curves


def to_simplex(v: np.ndarray) -> np.ndarray:
    """Give the nearest vector of numbers >= 0 that sum to one."""
    u = np.sort(v)[::-1]
    excess = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
    return np.maximum(v - excess[np.flatnonzero(u > excess)[-1]], 0.0)


def to_positive(v: np.ndarray) -> np.ndarray:
    """Give the nearest vector of numbers >= 0."""
    return np.maximum(v, 0.0)


def ascend(
    objective: Objective, z: np.ndarray, project: Callable[[np.ndarray], np.ndarray]
) -> Iterator[tuple[float, np.ndarray]]:
    """Give values and points of projected gradient ascent, the first included; none falls.

    Steps have the length of Barzilai and Borwein, halved until the value rises enough (Armijo).
    """
    value, g = objective(z)
    yield value, z
    if not g.any():
        return
    length = 0.1 / max(float(np.abs(g).max()), np.finfo(float).tiny)
    while True:
        for _ in range(40):
            moved = project(z + length * g)
            new_value, new_g = objective(moved)
            if new_value >= value + 1e-4 * float(g @ (moved - z)):
                break
            length /= 2
        else:
            return
        s, turn = moved - z, g - new_g
        yield new_value, moved
        if not s.any():
            return
        curvature = float(s @ turn)
        length = float(s @ s) / curvature if curvature > 0 else 2 * length
        z, value, g = moved, new_value, new_g


class TagProp(DistanceTagger):
    """Weigh the labels of the nearest samples so that they predict those of training samples best.

    ``p(y_il = 1) = sum_j pi_ij (1 - epsilon if y_jl else epsilon)`` over the neighbours j of i,
    with weights that maximise ``sum_il c_il ln p(y_il)`` (Guillaumin, Mensink, Verbeek, Schmid,
    ICCV 2009), each training sample left out of its own neighbours:

    * "rank": ``pi_ij = gamma_k`` for the k-th neighbour by the mean of the scaled distances
      (Section 2.1), numbers >= 0 that sum to one; a concave problem;
    * "distance": ``pi_ij ~ exp(-sum_v theta_v d_v(i, j))`` with theta >= 0, among
      neighbours that are the nearest in some view. The first neighbours of all views are taken
      before the second ones, and the last place goes to the view that is listed first: with few
      neighbours, predictions depend on the order of the views.

    With ``sigmoid=True`` the weighted share x_il of neighbours with the label goes through a curve
    of the label's own, ``p = 1 / (1 + exp(-a_l x_il - b_l))``, fitted anew at each step of
    the weights. The objective never falls.

    Cost: n^2 distances per view to find neighbours, once (twice with several views, for their
    scale); then about n k times the labels of a sample plus n m per step. No n x n array.

    Parameters
    ----------
    n_neighbors : int >= 1, default=200
        Fewer where there are not so many other training samples.
    weights : "distance" or "rank"
    sigmoid : bool, default=True
        The word-specific modulation: lifts the recall of rare labels.
    balanced : bool, default=True
        ``c_il = 1 / n+`` for labels that are there, ``1 / n-`` for others, of n+ and n- in all.
        False weighs all the same.
    epsilon : float in (0, 0.5), default=1e-5
    ridge : float > 0, default=1e-6
        Of the sigmoids: keeps the curves of labels that are separable, or never seen, finite.
    metric, views, transformers
        As in :class:`JEC`.
    threshold : str or rule, default="zero"
        Rule of ``eigenlabel.thresholds`` for label sets, such as ``Top(5)``; fitted to scores of
        training samples, each left out of its own neighbours. Zero is p = 1/2.
    max_iter, tol : of the ascent
        It ends when a step gains less than tol of the objective, and warns if ``max_iter`` steps
        do not get there.

    Attributes
    ----------
    weights_ : (n_neighbors,) of ranks, or (n_views,) of scaled distances
    curves_ : (2, n_labels), slopes and offsets, ``sigmoid=True`` only
    log_likelihood_ : (n_iter_ + 1,), the objective after each step
    n_iter_ : int
    label_shares_ : (n_labels,)
    views_, view_names_ : of the views, as in :class:`JEC`
    thresholds_ : (n_labels,), for a label matrix
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

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
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.sigmoid = sigmoid
        self.balanced = balanced
        self.epsilon = epsilon
        self.ridge = ridge
        self.metric = metric
        self.views = views
        self.transformers = transformers
        self.threshold = threshold
        self.max_iter = max_iter
        self.tol = tol

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "TagProp":
        """Find the neighbours of training samples and learn their weights.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features), or Views, dict or list of such or of distances
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        """
        self._check_parameters()
        views, Y = self._prepare(X, y)
        if len(self.view_names_) > 1:
            self._settle_scales(views, "largest")
        near = self._find(views, training=True)
        some = near.there.any(axis=1)
        self._learn(Votes(near[some], self._Y), self._likelihood(Y[some]))
        self._fit_threshold(near, Y)
        return self

    def _check_parameters(self) -> None:
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        check_choice("weights", self.weights, ("distance", "rank"))
        check_flag("sigmoid", self.sigmoid)
        check_flag("balanced", self.balanced)
        check_number("epsilon", self.epsilon, np.finfo(float).tiny, 0.5 - 1e-9)
        check_number("ridge", self.ridge, np.finfo(float).tiny)
        check_number("max_iter", self.max_iter, 1, integer=True)
        check_number("tol", self.tol, 0)

    def _find(self, views: Views, *, training: bool = False) -> Neighbours:
        choose = nearest_by_rank if self.weights == "distance" else nearest_by_mean
        k = min(self.n_neighbors, self._n - 1)
        return self._neighbours(views, k, choose, training=training)

    def _likelihood(self, Y: np.ndarray) -> Likelihood:
        present, absent = int(Y.sum()), int((~Y).sum())
        if not self.balanced:
            present = absent = Y.size
        return Likelihood(Y, (1 / max(present, 1), 1 / max(absent, 1)), self.epsilon)

    def _weigh(self, near: Neighbours, parameters: np.ndarray) -> np.ndarray:
        """Give the weights of the neighbours (n, k)."""
        if self.weights == "rank":
            return np.where(near.there, parameters, 0.0)
        logits = -np.tensordot(parameters, near.distances, axes=1)
        return np.asarray(softmax(np.where(near.there, logits, -np.inf), axis=1))

    def _slope(self, near: Neighbours, W: np.ndarray, pull: np.ndarray) -> np.ndarray:
        """Give the derivative by the parameters from that by the weights."""
        if self.weights == "rank":
            return pull.sum(axis=0)
        inner = W * (pull - (W * pull).sum(axis=1, keepdims=True))
        return -np.tensordot(near.distances, inner, axes=([1, 2], [0, 1]))

    def _objective(self, votes: Votes, likelihood: Likelihood) -> Objective:
        """Give the function of the parameters to maximise, with its gradient.

        Sigmoids are at their best for the parameters, so their own change does not count.
        """

        def objective(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            W = self._weigh(votes.near, parameters)
            x = votes.shares(W)
            if self.sigmoid:
                self.curves_ = fit_sigmoids(x, likelihood, self.ridge, self.curves_)
                value, G = likelihood.sigmoid(x, self.curves_)
                value -= self.ridge / 2 * float(np.sum(self.curves_**2))
            else:
                value, G = likelihood.mixture(x)
            return value, self._slope(votes.near, W, votes.pull(G))

        return objective

    def _learn(self, votes: Votes, likelihood: Likelihood) -> None:
        """Climb from equal weights."""
        k, views = votes.near.index.shape[1], len(self.view_names_)
        if self.weights == "rank":
            z, project = np.full(k, 1 / k), to_simplex
        else:
            # Steps are alike in all views if distances to neighbours are.
            spread = votes.near.distances.max(axis=(1, 2), initial=0.0)
            z = START / views / np.where(spread > 0, spread, 1.0)
            project = to_positive
        vars(self).pop("curves_", None)
        if self.sigmoid:
            self.curves_ = np.zeros((2, likelihood.Y.shape[1]))
        history: list[float] = []
        gain = np.inf
        objective = self._objective(votes, likelihood)
        for value, point in ascend(objective, z, project):
            z = point
            gain = (value - history[-1]) / max(abs(value), 1e-300) if history else np.inf
            history.append(value)
            if gain <= self.tol or len(history) > self.max_iter:
                break
        else:
            gain = 0.0  # no step rises
            objective(z)  # the sigmoids of this point, not of a step tried
        self.weights_, self.log_likelihood_ = z, np.array(history)
        self.n_iter_ = len(history) - 1
        if self.tol and gain > self.tol:
            warn(
                f"TagProp's last step still gained {gain:.1e} of the objective (wanted "
                f"{self.tol:.0e}) after {self.n_iter_} steps: raise max_iter.",
                ConvergenceWarning,
            )

    def _share_scores(self, near: Neighbours) -> np.ndarray:
        """Give ``2 p - 1``; a sample without neighbours gets the labels' shares."""
        some = near.there.any(axis=1)
        P = np.tile(self.label_shares_, (len(some), 1))
        x = Votes(near[some], self._Y).shares(self._weigh(near[some], self.weights_))
        if self.sigmoid:
            P[some] = expit(self.curves_[0] * x + self.curves_[1])
        else:
            P[some] = self.epsilon + (1 - 2 * self.epsilon) * x
        return 2.0 * P - 1.0

    def _scores_of(self, views: Views, *, training: bool = False) -> np.ndarray:
        return self._share_scores(self._find(views, training=training))

    def _training_scores(self, X: Neighbours) -> np.ndarray:
        return self._share_scores(X)  # the neighbours are known already
