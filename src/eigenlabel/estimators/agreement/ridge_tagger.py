"""Kernel ridge regression of the labels on each of several views."""

from typing import Any, ClassVar

from eigenlabel.estimators.agreement.kgha import KGHA, SHARED_PARAMETERS, AgreementProblem
from eigenlabel.inputs.parameters import Parameters
from eigenlabel.thresholds.base import Rule


class KernelRidgeTagger(KGHA):
    """Average the views' (kernel) ridge regressions of the labels.

    It is r-KMLR of Xiong et al., and r-MLR with a linear kernel. With T the 0/1 labels, each view
    j has its own regression with an intercept,

        min over W_j, b_j:  |T - Phi_j W_j - 1 b_j'|^2 + ridge_j |W_j|^2

    and the scores of a new sample are ``2 p - 1``, p the mean over its views of
    ``Phi_j W_j + b_j``. It is :class:`KGHA` without reduction of the labels and without agreement
    of the views (``n_components=1.0, trade_off=0, label_ridge=0``). With one view it is kernel
    ridge regression with an intercept.

    Cost: n^3 operations and n^2 numbers for a view with a kernel, n d^2 + d^3 for a linear view
    with d < n features. Sparse X is never densified.

    Parameters
    ----------
    ridge : float, list or dict, default=0.1
        The penalty c >= 0 of all views, or one by view. 0 makes the hat matrix a projection.
    kernel : str, callable, list or dict, default="rbf"
        The kernel of all views, or one by view: "linear", "poly", "rbf", "sigmoid", "cosine",
        "laplacian", "chi2" or "intersection" (of histograms), or "precomputed". A callable takes
        two matrices and returns the kernel matrix of their rows.
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
        before its kernel.
    view_weights : None, list or dict of float, "alignment" or "heldout", default=None
        The weights of the views, >= 0, in the mean of their predictions. They are equal by default
        and scaled to a mean of one. "alignment" is the weights of the combined kernel that is
        nearest to that of the labels, "heldout" those with which the views' leave-one-out
        predictions fit the labels best.
    approximation : "nystrom", "meka", transformer, list, dict or None, default=None
        A map for all views, or one by view, from samples to features whose inner products are near
        the kernel: :class:`MEKA` in one block or ten, or a transformer with a parameter ``kernel``,
        such as ``MEKA(1000)`` or scikit-learn's Nystroem. It is fitted with the kernel and gamma of
        the view, which is then linear in the features, without an n x n matrix.
    threshold : str or Rule, default="zero"
        The rule of ``eigenlabel.thresholds`` that turns scores into label sets, such as ``Top(5)``.
        Rules with fitted thresholds use training scores.
    fit_intercept : bool, default=True
        Whether the regressions have intercepts.
    repair : bool, default=True
        Whether the negative part of a kernel that is not positive semi-definite is left out, with
        a warning. If False, such a kernel raises a ValueError.
    random_state : int, RandomState or None, default=None
        The seed of a named approximation, and of the start of iterations.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to held-out scores of
        five folds, which costs five more fits. None leaves out ``predict_proba``, and rules on
        probabilities.

    Attributes
    ----------
    views_ : dict
        The fitted views by name, with the attributes ``kernel``, ``coef`` and ``intercept``.
    view_names_ : tuple of str
        The names of the views, in order.
    view_weights_ : ndarray of shape (n_views,)
        The weights of the views.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds of the rule. Only if y is a label matrix.
    object_scores_ : ndarray of shape (n_samples, n_components_)
        An orthonormal basis of the centred labels, which the views predict.
    eigenvalues_ : ndarray of shape (n_components_,)
        The eigenvalues of the labels' hat matrix, all equal to one.
    coverage_ : ndarray of shape (n_samples,)
        The weights of the samples, all equal to one.
    label_projection_ : ndarray of shape (n_labels, n_components_)
        The weights from labels to the basis.
    decoder_ : ndarray of shape (n_components_, n_labels)
        The weights from the basis to labels.
    label_intercept_ : ndarray of shape (n_labels,)
        The intercepts of the decoder.
    n_components_ : int
        The dimension of the basis.
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
    >>> from eigenlabel import KernelRidgeTagger
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> left, right = data.X[:, :10], data.X[:, 10:]
    >>> model = KernelRidgeTagger(ridge=1.0).fit([left[:150], right[:150]], data.Y[:150])
    >>> model.predict([left[150:], right[150:]]).shape
    (50, 6)
    """

    _parameters: ClassVar[Parameters] = SHARED_PARAMETERS

    def __init__(
        self,
        ridge: Any = 0.1,
        *,
        kernel: Any = "rbf",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        views: Any = None,
        transformers: Any = None,
        view_weights: Any = None,
        approximation: Any = None,
        threshold: str | Rule = "zero",
        fit_intercept: bool = True,
        repair: bool = True,
        random_state: Any = None,
        calibration: str | None = None,
    ) -> None:
        self.ridge = ridge
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.views = views
        self.transformers = transformers
        self.view_weights = view_weights
        self.approximation = approximation
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.repair = repair
        self.random_state = random_state
        self.calibration = calibration

    def _problem(self) -> AgreementProblem:
        return AgreementProblem(n_components=1.0, trade_off=0.0, label_ridge=0.0)
