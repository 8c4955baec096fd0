"""Gaussian random fields: labels that are smooth on a graph of samples."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from eigenlabel.estimators.graphs.network import NETWORK_PARAMETERS, NetworkClassifier
from eigenlabel.estimators.graphs.similarity import add_graphs, degrees
from eigenlabel.inputs.parameters import POSITIVE, Parameters
from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.thresholds.base import Rule


class GaussianFields(NetworkClassifier):
    """Spread labels over a weighted sum of the views' graphs: Gaussian random fields.

    The scores f of each label minimise, with t = +-1 on labelled samples and the label's mean b of
    t on the others,

        sum_i s_i (f_i - t_i)^2 + smoothness / 2 sum_ij W_ij (f_i - f_j)^2

    where s is 1 on labelled samples and ``prior`` on others, that is ``(S + smoothness L) f = S t``
    with L = D - W the Laplacian of ``W = sum_v w_v D_v^-1/2 W_v D_v^-1/2`` (Zhu et al. 2003; label
    bias of Mostafavi et al. 2008). The score of a new sample is the minimiser with the scores of
    training samples held fixed.

    ``view_weights="simultaneous"`` is SW in Table 7 of Xiong et al. (Mostafavi and Morris 2010),
    equal weights are GRF-MK.

    Cost: n^2 kernel values, in strips, to build graphs of features; then the stored weights for
    each step of conjugate gradients and label. Sparse graphs stay sparse; dense ones need n^3 / 3
    operations.

    Parameters
    ----------
    smoothness : float, default=1.0
        The weight > 0 of the differences between neighbours.
    prior : float, default=1.0
        The weight > 0 of the labels' means for samples without known labels. Near 0 their scores
        depend on their neighbours alone.
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

    _parameters: ClassVar[Parameters] = {
        "smoothness": POSITIVE,
        "prior": POSITIVE,
        **NETWORK_PARAMETERS,
    }

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
        self.smoothness = smoothness
        self.prior = prior

    def _spread(self, graphs: list[Matrix], T: Floats, known: Bools) -> None:
        W = add_graphs(graphs, self.view_weights_)
        s = np.where(known, 1.0, float(self.prior))
        bias = 2.0 * self.label_shares_ - 1.0
        targets = np.where(known[:, None], 2.0 * T - 1.0, bias)
        diagonal = s + self.smoothness * degrees(W)
        A: Matrix
        if is_sparse(W):
            A = (sp.diags_array(diagonal) - self.smoothness * W).tocsr()
        else:
            A = np.diag(diagonal) - self.smoothness * W
        # Solve for deviations from the mean: the constant is in the null space of the graph.
        self.transduction_ = self._solve(A, s[:, None] * (targets - bias)) + bias

    def _extend(self, graphs: list[Matrix]) -> Floats:
        W = self.smoothness * add_graphs(graphs, self.view_weights_)
        bias = 2.0 * self.label_shares_ - 1.0
        found = W @ (self.transduction_ - bias)
        return np.asarray(found / (self.prior + degrees(W))[:, None]) + bias
