"""What methods on similarity graphs of views share: the graphs, known labels and new samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.base import CALIBRATION, RuleClassifier
from eigenlabel.estimators.graphs.similarity import (
    degrees,
    feature_graph,
    given_graph,
    nearest_similarities,
    place_graph,
    scale_graph,
    simultaneous_weights,
    solve_positive,
)
from eigenlabel.estimators.views.kernels import (
    VIEW_KERNEL_PARAMETERS,
    KernelSettings,
    KernelView,
    TrainingView,
    fit_kernels,
    view_kernel_tags,
)
from eigenlabel.estimators.views.tables import as_float
from eigenlabel.estimators.views.view_weights import given_weights, to_mean_one
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    ByView,
    CheckedBy,
    Declaration,
    Maybe,
    WordOr,
    check_parameters,
)
from eigenlabel.inputs.views import Layout, Part, read_views
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.rules import get_rule

# What all methods on graphs declare.
NETWORK_PARAMETERS: dict[str, Declaration] = {
    "view_weights": Maybe(WordOr(("simultaneous",), ByView(NOT_NEGATIVE))),
    "n_neighbors": Maybe(COUNT),
    **VIEW_KERNEL_PARAMETERS,
    "threshold": CheckedBy("get_rule"),
    "tol": POSITIVE,
    "max_iter": COUNT,
    "calibration": CALIBRATION,
}


@dataclass(frozen=True)
class ViewGraphs:
    """The graphs of views, to which new samples can be joined.

    Attributes
    ----------
    views : dict of KernelView
        The kernels of the views by name.
    layout : Layout
        The number and the precision of the training samples.
    rows : dict of (n_view_samples,) array of int
        The training samples that each view has.
    degrees : dict of (n_view_samples,) array
        The degrees of the training samples in the graph of each view.
    n_neighbors : int or None
        The number of most similar samples that a sample is joined to; None joins all.
    """

    views: dict[str, KernelView]
    layout: Layout
    rows: dict[str, Ints]
    degrees: dict[str, Floats]
    n_neighbors: int | None

    def join(self, parts: Sequence[Part]) -> list[Matrix]:
        """Return the scaled similarities of new samples with the training samples in each view."""
        return [self._join(part) for part in parts]

    def _join(self, part: Part) -> Matrix:
        shape = (len(part.here), self.layout.n_samples)
        if not part.here.any():
            return sp.csr_array(shape)
        view = self.views[part.name]
        samples = view.prepare(part)
        W: Matrix
        if view.columns is not None:
            W = samples.maximum(0) if is_sparse(samples) else np.maximum(samples, 0.0)
        elif self.n_neighbors is None:
            W = np.maximum(view.kernel(as_float(samples), view.X), 0.0)
        else:
            W = nearest_similarities(
                view.kernel, as_float(samples), view.X, self.n_neighbors, self.layout.dtype
            )
        W = scale_graph(W, degrees(W), self.degrees[part.name])
        return place_graph(W, part.rows, self.rows[part.name], shape)


def fit_graphs(
    views: dict[str, KernelView],
    training: Sequence[TrainingView],
    layout: Layout,
    n_neighbors: int | None,
) -> tuple[ViewGraphs, list[Matrix]]:
    """Build the graph of the training samples in each view, scaled by the roots of its degrees."""
    n = layout.n_samples
    rows, sizes, graphs = {}, {}, []
    for part in training:
        view, where = views[part.name], f"view {part.name!r}"
        if view.columns is not None:
            W = given_graph(part.samples, where)
        else:
            W = feature_graph(view.kernel, view.X, n_neighbors, where, layout.dtype)
        d = degrees(W)
        rows[part.name], sizes[part.name] = part.rows, d
        graphs.append(place_graph(scale_graph(W, d, d), part.rows, part.rows, (n, n)))
    return ViewGraphs(views, layout, rows, sizes, n_neighbors), graphs


class NetworkClassifier(RuleClassifier):
    """The base of methods on graphs of views.

    Subclasses define ``_spread``, which sets ``transduction_``, and ``_extend``.
    """

    transduction_: Floats
    view_weights_: Floats
    label_shares_: Floats

    def __init__(
        self,
        view_weights: Any,
        n_neighbors: int | None,
        kernel: Any,
        gamma: Any,
        degree: float,
        coef0: float,
        views: Any,
        transformers: Any,
        threshold: str | Rule,
        tol: float,
        max_iter: int,
        calibration: str | None,
    ) -> None:
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
        self.calibration = calibration

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "NetworkClassifier":
        """Build the graphs of all samples and spread the known labels.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The samples (n_samples, n_features), several tables of them, or graphs.
        y : array or sparse matrix
            The 0/1 label matrix (n_samples, n_labels), or a vector of classes. A sample has no
            known labels if its row of the matrix is NaN, or its class is NaN or None.

        Returns
        -------
        self : NetworkClassifier
            The fitted classifier.
        """
        check_parameters(self)
        rule = get_rule(self.threshold)
        parts, self._layout = read_views(self, X, self.views, sparse_pairs=True, kernel=self.kernel)
        self._codec, Y, known = LabelCodec.fit_known(y)
        check_consistent_length(parts[0].here, Y)
        if len(Y) < 2:
            raise ValueError(f"A graph needs at least 2 samples, got n_samples = {len(Y)}.")
        self.classes_ = self._codec.classes
        T = Y.astype(float)
        self.label_shares_ = T[known].mean(axis=0)
        settings = KernelSettings(
            self.kernel, self.gamma, self.degree, self.coef0, self.transformers
        )
        self.views_, training = fit_kernels(parts, settings, keep_samples=True)
        self.view_names_ = self._layout.names
        self._graphs, graphs = fit_graphs(self.views_, training, self._layout, self.n_neighbors)
        self.view_weights_ = self._find_weights(graphs, T, known)
        self.n_iter_ = 0
        self._spread(graphs, T, known)
        # ``transduction_`` depends on the samples' own labels: they are scored like new ones.
        heldout = self._calibrate(X, y, Y, known=known)
        heldout = None if heldout is None else heldout[known]
        self._fit_rule(rule, Y[known], lambda: self._extend(graphs)[known], heldout)
        return self

    def _find_weights(self, graphs: list[Matrix], T: Floats, known: Bools) -> Floats:
        """Return the weights of the views, of sum one."""
        if self.view_weights is None:
            return np.full(len(graphs), 1 / len(graphs))
        if isinstance(self.view_weights, str):
            parts = graphs if known.all() else [W[known][:, known] for W in graphs]
            weights = to_mean_one(simultaneous_weights(parts, T[known]))
        else:
            weights = given_weights(self.view_weights, self.view_names_)
        return np.asarray(weights / weights.sum())

    def _solve(self, A: Matrix, B: Floats) -> Floats:
        F, steps = solve_positive(A, B, self.tol, self.max_iter)
        self.n_iter_ = max(self.n_iter_, steps)
        return F

    def _spread(self, graphs: list[Matrix], T: Floats, known: Bools) -> None:
        """Set ``transduction_``, the scores of all samples, given the labels of known ones."""
        raise NotImplementedError

    def _extend(self, graphs: list[Matrix]) -> Floats:
        """Return the scores of new samples from their similarities with training samples."""
        raise NotImplementedError

    def _scores(self, X: Any) -> Floats:
        scores = self._extend(self._graphs.join(self._layout.read(self, X)))
        return np.asarray(scores.astype(self._layout.dtype, copy=False))

    @all_or_nothing
    def fit_predict(self, X: Any, y: Any) -> Any:
        """Fit, and predict the label sets of all samples, those without known labels included.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The samples (n_samples, n_features), several tables of them, or graphs.
        y : array or sparse matrix
            The 0/1 label matrix (n_samples, n_labels), or a vector of classes, as in ``fit``.

        Returns
        -------
        Y : ndarray or sparse matrix of shape (n_samples, n_labels)
            The label sets, or a vector of classes if y was one.
        """
        return self.fit(X, y)._decide(self.transduction_)

    def __sklearn_tags__(self) -> Any:
        tags = view_kernel_tags(super().__sklearn_tags__(), self.views, self.kernel)
        tags.target_tags.required = True
        return tags
