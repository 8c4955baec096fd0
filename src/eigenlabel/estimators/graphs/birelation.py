"""Labels that spread over graphs of samples and labels together."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from eigenlabel.estimators.graphs.random_fields import NetworkClassifier
from eigenlabel.estimators.graphs.similarity import add_graphs, degrees, scale_graph
from eigenlabel.inputs.validation import check_choice, check_flag, check_number
from eigenlabel.inputs.warning import warn
from eigenlabel.thresholds import Rule


def label_graph(T: np.ndarray) -> np.ndarray:
    """Join labels by the cosine of their columns (m, m), scaled by the roots of degrees."""
    C = T.T @ T
    norms = np.sqrt(np.diag(C))
    C = C / np.outer(*(np.where(norms > 0, norms, 1.0),) * 2)
    np.fill_diagonal(C, 0.0)
    d = degrees(C)
    return np.asarray(scale_graph(C, d, d))


def in_reach(W: Any, known: np.ndarray) -> np.ndarray:
    """Tell which samples (n,) are joined to a known one, over others or not."""
    n_parts, part = connected_components(W, directed=False)
    return np.bincount(part[known], minlength=n_parts)[part] > 0


class BiRelationGraph(NetworkClassifier):
    """Spread labels by walks over samples and labels: neighbours of a sample, and related labels.

    With W the scaled graph of samples, R that of labels (cosine of their columns, scaled), and Y~
    the edges between samples and their labels, ``Y_il / sqrt(labels of i x samples of l)``, scores
    F of samples and G of labels satisfy (bi-relational graphs: Wang, Huang, Ding, CVPR 2011; Yu et
    al., IEEE/ACM TCBB 2013)

        F = alpha ((1 - beta) W F + beta Y~ G) + (1 - alpha) Y
        G = alpha ((1 - beta) R G + beta Y~'F) + (1 - alpha) I

    If ``directed``, steps lead from samples to labels only, and the term ``Y~'F`` is left out:
    labels then pass what they share on to their samples, and known labels are not overwritten by
    those of others. ``beta=0`` is learning with local and global consistency (Zhou et al., NIPS
    2003), which knows no relation of labels.

    ``combine="scores"`` adds the scores of each view's own graph (TMEC of paper 003's Table 7),
    ``combine="graphs"`` takes one graph, the sum (PfunBG-MK). Decisions are ``2 F / F1 - 1`` with
    F1 what a label of all labelled samples gets: zero says that half of the walks meet the label.

    Cost: as :class:`GaussianFields`, once for each view with ``combine="scores"``, and m^3 for the
    labels. Sparse graphs stay sparse, solved by conjugate gradients.

    Parameters
    ----------
    alpha : float in (0, 1), default=0.9
        How far labels spread.
    beta : float in [0, 1), default=0.2
        Part of the steps that lead between samples and labels.
    combine : "scores" or "graphs"
    directed : bool, default=True
    view_weights, n_neighbors, kernel, gamma, degree, coef0, views, transformers
        As in :class:`GaussianFields`.
    threshold : str or rule, default="proportional"
        Rule of ``eigenlabel.thresholds`` for label sets, such as ``Top(5)``, fitted to scores that
        labelled samples would get from their neighbours as new ones. Scores draw to the labels'
        shares, so that zero would leave out all but frequent labels.
    tol, max_iter : of conjugate gradients

    Attributes
    ----------
    transduction_ : (n_samples, n_labels), scores of the samples of fit, labelled or not
    label_graph_ : (n_labels, n_labels), R
    view_weights_ : (n_views,), sum one
    n_iter_ : int, most steps of conjugate gradients that a label took
    label_shares_ : (n_labels,), share of labelled samples with each label
    views_, view_names_ : of the views, in order
    thresholds_ : (n_labels,), for a label matrix
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from eigenlabel import BiRelationGraph
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> left, right = data.X[:, :10], data.X[:, 10:]
    >>> Y = data.Y.astype(float)
    >>> Y[150:] = float("nan")  # not observed
    >>> BiRelationGraph().fit_predict([left, right], Y).shape
    (200, 6)
    """

    def __init__(
        self,
        alpha: float = 0.9,
        beta: float = 0.2,
        *,
        combine: str = "scores",
        directed: bool = True,
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
        self.alpha = alpha
        self.beta = beta
        self.combine = combine
        self.directed = directed
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
        check_number("alpha", self.alpha, np.finfo(float).tiny, 1 - 1e-9)
        check_number("beta", self.beta, 0, 1 - 1e-9)
        check_choice("combine", self.combine, ("scores", "graphs"))
        check_flag("directed", self.directed)

    def _merge(self, graphs: list[Any]) -> tuple[list[Any], np.ndarray]:
        """Give the graphs to spread over, with the weights of their scores."""
        if self.combine == "scores":
            return graphs, self.view_weights_
        return [add_graphs(graphs, self.view_weights_)], np.ones(1)

    def _spread(self, graphs: list[Any], T: np.ndarray, known: np.ndarray) -> None:
        self.label_graph_ = label_graph(T)
        edges = scale_graph(sp.csr_array(T), T.sum(axis=1), T.sum(axis=0))
        targets = np.column_stack([T, known])  # the last column: a label of all who are labelled
        solve = self._solve_directed if self.directed else self._solve_whole
        graphs, weights = self._merge(graphs)
        self._fields = [solve(W, edges, targets) for W in graphs]
        self._reach = [in_reach(W, known) for W in graphs]
        total = sum(w * F for w, F in zip(weights, self._fields, strict=True))
        # Conjugate gradients leave noise of this size.
        self._floor = 10 * self.tol * float(total[:, -1].max())
        self.transduction_ = self._shares(total, np.any(self._reach, axis=0))

    def _solve_directed(self, W: Any, edges: Any, targets: np.ndarray) -> np.ndarray:
        """Solve for the labels, then for the samples."""
        a, b, m = self.alpha, self.beta, len(self.label_graph_)
        inner = np.eye(m) - a * (1 - b) * self.label_graph_
        G = (1 - a) * self._solve(inner, np.eye(m, m + 1))
        right = a * b * (edges @ G) + (1 - a) * targets
        return self._solve(_less(W, a * (1 - b)), right)

    def _solve_whole(self, W: Any, edges: Any, targets: np.ndarray) -> np.ndarray:
        """Solve for samples and labels together."""
        a, b, (n, m) = self.alpha, self.beta, edges.shape
        R = self.label_graph_
        if sp.issparse(W):
            blocks = [[(1 - b) * W, b * edges], [b * edges.T, sp.csr_array((1 - b) * R)]]
            A = sp.block_array(blocks, format="csr")
        else:
            dense = edges.toarray()
            A = np.block([[(1 - b) * W, b * dense], [b * dense.T, (1 - b) * R]])
        right = (1 - a) * np.vstack([targets, np.eye(m, m + 1)])
        return self._solve(_less(A, a), right)[:n]

    def _extend(self, graphs: list[Any]) -> np.ndarray:
        graphs, weights = self._merge(graphs)
        fields = zip(weights, graphs, self._fields, strict=True)
        total = sum(w * np.asarray(W @ F) for w, W, F in fields)
        reach = [W @ r.astype(float) > 0 for W, r in zip(graphs, self._reach, strict=True)]
        return self._shares(total, np.any(reach, axis=0))

    def _shares(self, F: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Give ``2 F / F1 - 1``, by the labels' shares where no labelled sample is in reach."""
        reached = F[:, -1:] > self._floor
        lost = int((reach & ~reached[:, 0]).sum())
        if lost:
            warn(
                f"{lost} of {len(F)} samples are so far from labelled ones that rounding hides what"
                " reaches them: they get the labels' shares. Lower tol, or raise n_neighbors.",
                UserWarning,
            )
        shares = F[:, :-1] / np.where(reached, F[:, -1:], 1.0)
        return 2.0 * np.where(reached, shares, self.label_shares_) - 1.0


def _less(A: Any, factor: float) -> Any:
    """Give ``I - factor A``."""
    if sp.issparse(A):
        return (sp.eye_array(A.shape[0]) - factor * A).tocsr()
    return np.eye(len(A)) - factor * A
