"""Labels that spread over similarity graphs of several views."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.base import RuleClassifier
from eigenlabel.estimators.graphs.similarity import (
    add_graphs,
    degrees,
    feature_graph,
    given_graph,
    nearest_similarities,
    place_graph,
    scale_graph,
    simultaneous_weights,
    solve_positive,
)
from eigenlabel.estimators.views.kernels import ViewKernelsMixin
from eigenlabel.estimators.views.weights import to_mean_one
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.validation import check_choice, check_number
from eigenlabel.inputs.views import Views, as_float, per_view
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.thresholds import Rule, get_rule


class NetworkClassifier(ViewKernelsMixin, RuleClassifier):
    """What methods on graphs of views share.

    They define ``_spread``, which sets ``transduction_``, and ``_extend``.
    """

    approximation = None  # graphs have no features
    _sparse_pairs = True

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "NetworkClassifier":
        """Build the graphs of all samples and spread the labels of those that have them.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features), or Views, dict or list of such or of graphs
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
            A sample has no known labels if its row of the matrix is NaN, or its class is NaN or
            None.
        """
        self._check_parameters()
        views = self._read_views(X, reset=True)
        self._codec, Y, known = LabelCodec.fit_known(y)
        check_consistent_length(views, Y)
        if len(Y) < 2:
            raise ValueError(f"A graph needs at least 2 samples, got n_samples = {len(Y)}.")
        self.classes_ = self._codec.classes
        T = Y.astype(float)
        self.label_shares_ = T[known].mean(axis=0)
        graphs = self._graphs(views)
        self.view_weights_ = self._find_weights(graphs, T, known)
        self._known, self.n_iter_ = known, 0
        self._spread(graphs, T, known)
        self._fit_threshold(graphs, Y[known])
        return self

    def _check_parameters(self) -> None:
        if self.n_neighbors is not None:
            check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        check_number("tol", self.tol, np.finfo(float).tiny)
        check_number("max_iter", self.max_iter, 1, integer=True)
        self._check_views()
        self._rule = get_rule(self.threshold)

    def _graphs(self, views: Views) -> list[Any]:
        """Give each view's graph of all samples, scaled by the roots of its degrees."""
        self._n = n = len(views)
        graphs = []
        self._rows, self._degrees = {}, {}
        for name, samples, rows in self._settle_views(views):
            fitted, where = self.views_[name], f"view {name!r}"
            if fitted.columns is not None:
                W = given_graph(samples, where)
            else:
                fitted.X = as_float(samples)
                W = feature_graph(fitted.kernel, fitted.X, self.n_neighbors, where, self._dtype)
            d = degrees(W)
            self._rows[name], self._degrees[name] = rows, d
            graphs.append(place_graph(scale_graph(W, d, d), rows, rows, (n, n)))
        return graphs

    def _find_weights(self, graphs: list[Any], T: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Give weights of the views, of sum one."""
        if self.view_weights is None:
            return np.full(len(graphs), 1 / len(graphs))
        if isinstance(self.view_weights, str):
            check_choice("view_weights", self.view_weights, ("simultaneous",))
            parts = graphs if known.all() else [W[known][:, known] for W in graphs]
            weights = to_mean_one(simultaneous_weights(parts, T[known]))
            return weights / weights.sum()
        given = per_view("view_weights", self.view_weights, self.view_names_)
        for value in given.values():
            check_number("view_weights", value, 0)
        weights = np.array([float(value) for value in given.values()])
        if not weights.any():
            raise ValueError("view_weights are all zero: one at least must be positive.")
        return weights / weights.sum()

    def _new_graphs(self, views: Views) -> list[Any]:
        """Give each view's scaled similarities of new samples with the training samples."""
        found = []
        for name, table, here in self._tables(views):
            shape = (len(views), self._n)
            if not here.any():
                found.append(sp.csr_array(shape))
                continue
            fitted = self.views_[name]
            samples = fitted.prepare(table, name)
            if fitted.columns is not None:
                W = samples.maximum(0) if sp.issparse(samples) else np.maximum(samples, 0.0)
            elif self.n_neighbors is None:
                W = np.maximum(fitted.kernel(as_float(samples), fitted.X), 0.0)
            else:
                W = nearest_similarities(
                    fitted.kernel, as_float(samples), fitted.X, self.n_neighbors, self._dtype
                )
            W = scale_graph(W, degrees(W), self._degrees[name])
            found.append(place_graph(W, np.flatnonzero(here), self._rows[name], shape))
        return found

    def _solve(self, A: Any, B: np.ndarray) -> np.ndarray:
        F, steps = solve_positive(A, B, self.tol, self.max_iter)
        self.n_iter_ = max(self.n_iter_, steps)
        return F

    def _spread(self, graphs: list[Any], T: np.ndarray, known: np.ndarray) -> None:
        raise NotImplementedError

    def _extend(self, graphs: list[Any]) -> np.ndarray:
        """Give the scores of new samples from their similarities with training samples."""
        raise NotImplementedError

    def _scores(self, X: Any) -> np.ndarray:
        scores = self._extend(self._new_graphs(self._read_views(X, reset=False)))
        return scores.astype(self._dtype, copy=False)

    def _training_scores(self, graphs: list[Any]) -> np.ndarray:
        """Score labelled samples like new ones: ``transduction_`` knows their own labels."""
        return self._extend(graphs)[self._known]

    @all_or_nothing
    def fit_predict(self, X: Any, y: Any) -> Any:
        """Fit, and give the label sets of all samples of X, those with unknown labels included."""
        return self.fit(X, y)._decide(self.transduction_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class GaussianFields(NetworkClassifier):
    """Spread labels over a weighted sum of the views' graphs: Gaussian random fields.

    Scores f of each label minimise, with t = +-1 on labelled samples and the label's mean b of t on
    the others,

        sum_i s_i (f_i - t_i)^2 + smoothness / 2 sum_ij W_ij (f_i - f_j)^2

    where s is 1 on labelled samples and ``prior`` on others, that is ``(S + smoothness L) f = S t``
    with L = D - W the Laplacian of ``W = sum_v w_v D_v^-1/2 W_v D_v^-1/2`` (Zhu, Ghahramani,
    Lafferty, ICML 2003; label bias of Mostafavi et al., Genome Biology 2008). A new sample gets
    what it would minimise by itself, the scores of training samples held.

    ``view_weights="simultaneous"`` is SW of paper 003's Table 7 (Mostafavi and Morris, 2010),
    equal weights are GRF-MK.

    Cost: n^2 kernel values, in strips, to build graphs of features; then the stored weights for
    each step of conjugate gradients and label. Sparse graphs stay sparse; dense ones take n^3 / 3.

    Parameters
    ----------
    smoothness : float > 0, default=1.0
    prior : float > 0, default=1.0
        How much samples without known labels keep to the labels' means; near 0 they go by
        their neighbours alone.
    view_weights : None, "simultaneous", list or dict of numbers >= 0
        Of the graphs; equal by default. "simultaneous" takes those whose sum is nearest to
        the agreement of all labels.
    n_neighbors : int >= 1 or None, default=10
        Samples are joined to their n most similar ones in a view of features; None joins all. Of
        samples that are equally similar up to rounding, those that come first in training count.
    kernel, gamma, degree, coef0
        Similarity of features, as in :class:`KGHA`; "precomputed" takes graphs, dense or sparse
        and symmetric. Negative similarities count as none.
    views, transformers
        As in :class:`KGHA`.
    threshold : str or rule, default="proportional"
        Rule of ``eigenlabel.thresholds`` for label sets, such as ``Top(5)``, fitted to scores that
        labelled samples would get from their neighbours as new ones. Scores draw to the labels'
        shares, so that zero would leave out all but frequent labels.
    tol, max_iter : of conjugate gradients
        Relative residual, and steps; warns with the residual if it does not get there.

    Attributes
    ----------
    transduction_ : (n_samples, n_labels), scores of the samples of fit, labelled or not
    view_weights_ : (n_views,), sum one
    n_iter_ : int, most steps of conjugate gradients that a label took
    label_shares_ : (n_labels,), share of labelled samples with each label
    views_, view_names_ : of the views, in order
    thresholds_ : (n_labels,), for a label matrix
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from eigenlabel import GaussianFields
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> left, right = data.X[:, :10], data.X[:, 10:]
    >>> model = GaussianFields(view_weights="simultaneous")
    >>> model.fit([left[:150], right[:150]], data.Y[:150]).predict([left[150:], right[150:]]).shape
    (50, 6)
    >>> Y = data.Y.astype(float)
    >>> Y[150:] = float("nan")  # not observed
    >>> model.fit_predict([left, right], Y).shape
    (200, 6)
    """

    def __init__(
        self,
        smoothness: float = 1.0,
        prior: float = 1.0,
        *,
        view_weights: Any = None,
        n_neighbors: int | None = 10,
        kernel: Any = "rbf",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        views: Any = None,
        transformers: Any = None,
        threshold: str | Rule = "proportional",
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.smoothness = smoothness
        self.prior = prior
        self.view_weights = view_weights
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.views = views
        self.transformers = transformers
        self.threshold = threshold
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("smoothness", self.smoothness, np.finfo(float).tiny)
        check_number("prior", self.prior, np.finfo(float).tiny)

    def _spread(self, graphs: list[Any], T: np.ndarray, known: np.ndarray) -> None:
        W = add_graphs(graphs, self.view_weights_)
        s = np.where(known, 1.0, float(self.prior))
        bias = 2.0 * self.label_shares_ - 1.0
        targets = np.where(known[:, None], 2.0 * T - 1.0, bias)
        diagonal = s + self.smoothness * degrees(W)
        if sp.issparse(W):
            A = (sp.diags_array(diagonal) - self.smoothness * W).tocsr()
        else:
            A = np.diag(diagonal) - self.smoothness * W
        # Deviations from the mean: the constant is in the graph's null space, and zero is exact.
        self.transduction_ = self._solve(A, s[:, None] * (targets - bias)) + bias

    def _extend(self, graphs: list[Any]) -> np.ndarray:
        W = self.smoothness * add_graphs(graphs, self.view_weights_)
        bias = 2.0 * self.label_shares_ - 1.0
        found = W @ (self.transduction_ - bias)
        return np.asarray(found / (self.prior + degrees(W))[:, None]) + bias
