"""Bi-relational graphs: labels that spread over samples and labels together."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from eigenlabel.estimators.graphs.network import NETWORK_PARAMETERS, NetworkClassifier
from eigenlabel.estimators.graphs.similarity import add_graphs, degrees, scale_graph
from eigenlabel.inputs.parameters import Choice, Flag, Number, Parameters
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.thresholds.base import Rule


def label_graph(T: Floats) -> Floats:
    """Return the cosines of the columns of labels (m, m), scaled by the roots of degrees."""
    C = T.T @ T
    norms = np.sqrt(np.diag(C))
    C = C / np.outer(*(np.where(norms > 0, norms, 1.0),) * 2)
    np.fill_diagonal(C, 0.0)
    d = degrees(C)
    return np.asarray(scale_graph(C, d, d))


def in_reach(W: Matrix, known: Bools) -> Bools:
    """Return which samples (n,) are joined to a known one, directly or through others."""
    n_parts, part = connected_components(W, directed=False)
    return np.bincount(part[known], minlength=n_parts)[part] > 0


class BiRelationGraph(NetworkClassifier):
    """Spread labels by walks over samples and labels: neighbours of a sample, and related labels.

    With W the scaled graph of samples, R that of labels (cosine of their columns, scaled), and Y~
    the edges between samples and their labels, ``Y_il / sqrt(labels of i x samples of l)``, the
    scores F of samples and G of labels satisfy (bi-relational graphs: Wang et al. 2011; Yu et al.
    2013)

        F = alpha ((1 - beta) W F + beta Y~ G) + (1 - alpha) Y
        G = alpha ((1 - beta) R G + beta Y~'F) + (1 - alpha) I

    If ``directed``, steps lead from samples to labels only, and the term ``Y~'F`` is left out:
    labels then pass what they share on to their samples, and known labels are not overwritten by
    those of others. ``beta=0`` is learning with local and global consistency (Zhou et al. 2003),
    which ignores relations of labels.

    ``combine="scores"`` adds the scores of each view's own graph (TMEC in Table 7 of Xiong et al.),
    ``combine="graphs"`` uses one graph, the sum (PfunBG-MK). Decisions are ``2 F / F1 - 1`` with F1
    the score of a label that all labelled samples have: zero means that half of the walks meet the
    label.

    Cost: n^2 kernel values, in strips, to build graphs of features; then the stored weights for
    each step of conjugate gradients and label, once for each view with ``combine="scores"``; and
    m^3 for the labels. Sparse graphs stay sparse; dense ones need n^3 / 3 operations.

    Parameters
    ----------
    alpha : float, default=0.9
        How far labels spread, in (0, 1).
    beta : float, default=0.2
        The share in [0, 1) of the steps that lead between samples and labels.
    combine : {"scores", "graphs"}, default="scores"
        Whether the views are combined by adding scores or graphs.
    directed : bool, default=True
        Whether steps lead from samples to labels only.
    view_weights : None, "simultaneous", list or dict of float, default=None
        The weights of the graphs, >= 0. They are equal by default. "simultaneous" is the weights
        whose sum is nearest to the agreement of all labels.
    n_neighbors : int or None, default=10
        In a view of features, samples are joined to this number of most similar ones, >= 1; None
        joins all. Of samples that are equally similar up to rounding, those that come first in
        training count.
    kernel : str, callable, list or dict, default="rbf"
        The similarity of features of all views, or one by view: "linear", "poly", "rbf", "sigmoid",
        "cosine", "laplacian", "chi2" or "intersection" (of histograms), or "precomputed" for
        symmetric graphs, dense or sparse. A callable takes two matrices and returns the
        similarities of their rows. Negative similarities count as zero.
    gamma : float, list, dict or None, default=None
        The bandwidth of the kernels, or one by view, >= 0. None stands for 1 / (2 sigma^2) with
        sigma the mean distance of training samples for "rbf", 1 for "chi2" and 1 / n_features for
        the others.
    degree : float, default=3
        The power of the kernel "poly".
    coef0 : float, default=1
        The constant of the kernels "poly" and "sigmoid".
    views : dict or None, default=None
        The columns of each view in one matrix X, by name: a slice, positions, a mask, or the names
        of columns of a frame. None if X is several tables (:class:`Views`, dict or list), or one
        view.
    transformers : transformer, dict or None, default=None
        A transformer for all views, or one by view, that is fitted to the samples of the view
        before its similarities.
    threshold : str or Rule, default="proportional"
        The rule of ``eigenlabel.thresholds`` that turns scores into label sets, such as ``Top(5)``.
        It is fitted to the scores that labelled samples would have as new ones, from their
        neighbours. Scores are drawn to the labels' shares, so that zero would leave out all but
        frequent labels.
    tol : float, default=1e-8
        The relative residual, > 0, at which conjugate gradients end.
    max_iter : int, default=1000
        The largest number of steps of conjugate gradients. If they do not converge, a warning
        states the residual.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to held-out scores of
        five folds, which costs five more fits. None leaves out ``predict_proba``, and rules on
        probabilities.

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples, n_labels)
        The scores of the samples of fit, labelled or not.
    label_graph_ : ndarray of shape (n_labels, n_labels)
        The scaled graph R of the labels.
    view_weights_ : ndarray of shape (n_views,)
        The weights of the graphs, of sum one.
    n_iter_ : int
        The largest number of steps of conjugate gradients of any label.
    label_shares_ : ndarray of shape (n_labels,)
        The share of labelled samples with each label.
    views_ : dict
        The fitted views by name, with the attributes ``kernel`` and ``transformer``.
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
    >>> from eigenlabel import BiRelationGraph
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> left, right = data.X[:, :10], data.X[:, 10:]
    >>> Y = data.Y.astype(float)
    >>> Y[150:] = float("nan")  # not observed
    >>> BiRelationGraph().fit_predict([left, right], Y).shape
    (200, 6)
    """

    _parameters: ClassVar[Parameters] = {
        "alpha": Number(0, 1 - 1e-9, above=True),
        "beta": Number(0, 1 - 1e-9),
        "combine": Choice("scores", "graphs"),
        "directed": Flag(),
        **NETWORK_PARAMETERS,
    }

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
        calibration: str | None = None,
    ) -> None:
        super().__init__(
            view_weights,
            n_neighbors,
            kernel,
            gamma,
            degree,
            coef0,
            views,
            transformers,
            threshold,
            tol,
            max_iter,
            calibration,
        )
        self.alpha = alpha
        self.beta = beta
        self.combine = combine
        self.directed = directed

    def _merge(self, graphs: list[Matrix]) -> tuple[list[Matrix], Floats]:
        """Return the graphs to spread over, with the weights of their scores."""
        if self.combine == "scores":
            return graphs, self.view_weights_
        return [add_graphs(graphs, self.view_weights_)], np.ones(1)

    def _spread(self, graphs: list[Matrix], T: Floats, known: Bools) -> None:
        self.label_graph_ = label_graph(T)
        edges = scale_graph(sp.csr_array(T), T.sum(axis=1), T.sum(axis=0))
        targets = np.column_stack([T, known])  # last: a label that all labelled samples have
        solve = self._solve_directed if self.directed else self._solve_whole
        graphs, weights = self._merge(graphs)
        self._fields = [solve(W, edges, targets) for W in graphs]
        self._reach = [in_reach(W, known) for W in graphs]
        total = sum(w * F for w, F in zip(weights, self._fields, strict=True))
        # Conjugate gradients leave errors of this size.
        self._floor = 10 * self.tol * float(total[:, -1].max())
        self.transduction_ = self._shares(total, np.any(self._reach, axis=0))

    def _solve_directed(self, W: Matrix, edges: Matrix, targets: Floats) -> Floats:
        """Solve for the labels, then for the samples."""
        a, b, m = self.alpha, self.beta, len(self.label_graph_)
        inner = np.eye(m) - a * (1 - b) * self.label_graph_
        G = (1 - a) * self._solve(inner, np.eye(m, m + 1))
        right = a * b * (edges @ G) + (1 - a) * targets
        return self._solve(_less(W, a * (1 - b)), right)

    def _solve_whole(self, W: Matrix, edges: Matrix, targets: Floats) -> Floats:
        """Solve for samples and labels together."""
        a, b, (n, m) = self.alpha, self.beta, edges.shape
        R = self.label_graph_
        A: Matrix
        if is_sparse(W):
            blocks = [[(1 - b) * W, b * edges], [b * edges.T, sp.csr_array((1 - b) * R)]]
            A = sp.block_array(blocks, format="csr")
        else:
            dense = edges.toarray()
            A = np.block([[(1 - b) * W, b * dense], [b * dense.T, (1 - b) * R]])
        right = (1 - a) * np.vstack([targets, np.eye(m, m + 1)])
        return self._solve(_less(A, a), right)[:n]

    def _extend(self, graphs: list[Matrix]) -> Floats:
        graphs, weights = self._merge(graphs)
        fields = zip(weights, graphs, self._fields, strict=True)
        total = sum(w * np.asarray(W @ F) for w, W, F in fields)
        reach = [W @ r.astype(float) > 0 for W, r in zip(graphs, self._reach, strict=True)]
        return self._shares(total, np.any(reach, axis=0))

    def _shares(self, F: Floats, reach: Bools) -> Floats:
        """Return ``2 F / F1 - 1``, with the labels' shares where no labelled sample is in reach."""
        reached = F[:, -1:] > self._floor
        lost = int((reach & ~reached[:, 0]).sum())
        if lost:
            warn(
                f"{lost} of {len(F)} samples are so far from labelled ones that rounding hides what"
                " reaches them: their scores are the labels' shares. Lower tol, or raise "
                "n_neighbors.",
                UserWarning,
            )
        shares = F[:, :-1] / np.where(reached, F[:, -1:], 1.0)
        return 2.0 * np.where(reached, shares, self.label_shares_) - 1.0


def _less(A: Matrix, factor: float) -> Matrix:
    """Return ``I - factor A``."""
    if is_sparse(A):
        return (sp.eye_array(A.shape[0]) - factor * A).tocsr()
    return np.eye(len(A)) - factor * A
