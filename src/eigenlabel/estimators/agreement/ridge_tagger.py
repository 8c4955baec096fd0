"""Kernel ridge regression of the labels on each of several views."""

from typing import Any

from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.thresholds import Rule


class KernelRidgeTagger(KGHA):
    """Average the views' (kernel) ridge regressions of the labels: r-KMLR and r-MLR of paper 003.

    With T the 0/1 labels, each view j by itself has an intercept and

        min over W_j, b_j:  |T - Phi_j W_j - 1 b_j'|^2 + ridge_j |W_j|^2

    and a new sample's scores are ``2 p - 1``, p the mean over its views of ``Phi_j W_j + b_j``. It
    is :class:`KGHA` where nothing is reduced and views need not agree
    (``n_components=1.0, trade_off=0, label_ridge=0``), and takes what that takes: views, missing
    samples, approximated kernels. With one view it is kernel ridge regression with an intercept.

    Cost: n^3 and n^2 numbers for a view with a kernel, n d^2 + d^3 for a linear view with d < n
    features. Sparse X is never densified.

    Parameters
    ----------
    ridge : float >= 0, list or dict by view, default=0.1
    kernel : str, callable, list or dict by view, default="rbf"
        "linear" is r-MLR; others as in :class:`KGHA`.
    gamma, degree, coef0, views, transformers, view_weights, approximation
        As in :class:`KGHA`.
    threshold : str or rule, default="zero"
        Rule of ``eigenlabel.thresholds`` for label sets, such as ``Top(5)``, fitted to training
        scores.
    fit_intercept, repair, random_state : as in :class:`KGHA`

    Attributes
    ----------
    views_, view_names_, view_weights_, thresholds_ : as in :class:`KGHA`
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

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

    n_components, trade_off, label_ridge = 1.0, 0.0, 0.0
    decoding, solver, n_sweeps, tol = "regression", "eigen", 1, 0.0

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
