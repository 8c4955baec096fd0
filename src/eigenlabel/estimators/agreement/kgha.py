"""KGHA: kernel generalised homogeneity analysis of several views (Xiong, Szedmak, Piater)."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.estimators.base import RuleClassifier
from eigenlabel.estimators.views.hats import ViewHatsMixin
from eigenlabel.estimators.views.weights import TrainingView, find_weights
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.validation import check_choice, check_flag, check_number
from eigenlabel.inputs.warning import warn
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.agreement import HatSum, Term, alternate, top_eigenvectors
from eigenlabel.linalg.hats import Hat, LinearHat
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.thresholds import Rule, get_rule

DECODINGS = ("regression", "pseudo-inverse")
# Directions that the labels hardly reach are not decoded: their inverse would be noise.
DECODING_FLOOR = float(np.sqrt(np.finfo(float).eps))


class KGHA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ViewHatsMixin, RuleClassifier):
    """Classify by scores that all views and the labels agree on, few of them for many labels.

    With T the 0/1 labels, views 1..V and lambda the trade-off (Eqs. 24 to 27; ridge terms c):

        min over X, W, P:  lambda sum_j (|X - Phi_j W_j|^2 + c_j |W_j|^2) + |X - T P|^2 + c_T |P|^2

    subject to ``1'X = 0`` and ``X'X = I`` (Eqs. 11 and 12), each regression with an intercept.
    The minimiser is the top eigenvectors of ``lambda sum_j H_j + H_T``, ``H = K (K + c I)^-1``.
    A new sample's scores are the mean of what its views predict (Eq. 30), and are decoded to
    labels by regression or as in Eq. 31. A sample that a view lacks (a row of NaN) has no part in
    that view's term; the constraints then weigh each sample by the terms it takes part in.

    ``n_components=1.0, trade_off=0, label_ridge=0`` is the mean of the views' (kernel) ridge
    regressions.

    Cost: n^3 and n^2 numbers for a view with a kernel, n d^2 + d^3 for a linear view with d < n
    features; then products with the hat matrices for the eigenvectors. Sparse X is never
    densified.

    Parameters
    ----------
    n_components : int, or float in (0, 1], default=0.5
        Dimension p of the scores: a number up to n_labels, or a share of the labels.
    ridge : float >= 0, list or dict by view, default=0.1
        The c of each view. 0 makes its hat matrix a projection.
    trade_off : float >= 0, default=0.1
        lambda: how much views have to agree.
    label_ridge : float >= 0, default=0.1
        The c of the labels.
    kernel : str, callable, list or dict by view, default="rbf"
        "linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "chi2", "intersection" (of
        histograms) or "precomputed"; a callable takes two matrices and gives the kernel of their
        rows.
    gamma : float, list, dict by view, or None
        None is 1 / (2 sigma^2) with sigma the mean distance of training samples for "rbf" (the
        paper's rule), 1 for "chi2" and 1 / n_features for the others.
    degree, coef0 : of "poly" and "sigmoid"
    views : dict or None
        Name -> columns of one matrix X: a slice, positions, a mask, or names of a frame's columns.
        None if X is several tables (:class:`Views`, dict or list), or one view.
    transformers : transformer, dict by view, or None
        Fitted to each view's own samples before its kernel.
    view_weights : None, list or dict of numbers >= 0, "alignment" or "heldout"
        Weights of the views in the objective and in the mean; equal by default. "alignment" takes
        those of the combined kernel nearest to that of the labels, "heldout" those with which the
        views' own leave-one-out predictions fit the labels best. Scaled to a mean of one.
    approximation : "nystrom", "meka", transformer, list or dict by view, or None
        Maps samples to features whose inner products are near the kernel: :class:`MEKA` in one
        block or ten, or a transformer with a parameter ``kernel``, such as ``MEKA(1000)`` or
        scikit-learn's Nystroem. It is fitted with the view's kernel and gamma, and the view is
        then linear in the features, without an n x n matrix.
    decoding : "regression" or "pseudo-inverse"
        From scores to labels: regression of the labels on the scores, or Eq. 31.
    threshold : str or rule, default="zero"
        Rule of ``eigenlabel.thresholds`` for label sets, such as ``Top(5)``. Rules that need it are
        fitted to training scores, as in the papers; :class:`ThresholdedClassifier` takes held-out
        ones.
    fit_intercept : bool, default=True
        Intercepts in all regressions. False is the paper to the letter: kernels and labels are
        not centred, and scores are.
    repair : bool, default=True
        Whether the negative part of a kernel that is not positive semi-definite is left out, with
        a warning. If False, such a kernel raises a ValueError.
    solver : "eigen" or "als"
        The eigenvectors themselves, or the paper's alternating least squares towards them.
    n_sweeps, tol : of "als"
        It ends when a sweep turns the scores' subspace by less than tol (the sine of the largest
        angle), and warns if ``n_sweeps`` do not get there; ``tol=0`` makes all sweeps.
    random_state : of the start of either solver

    Attributes
    ----------
    object_scores_ : (n_samples, n_components_), X
    eigenvalues_ : (n_components_,), descending; at most trade_off * views + 1
    coverage_ : (n_samples,), what a sample weighs in the constraints; 1 where no view is missing
    label_projection_ : (n_labels, n_components_), P (the paper's Q)
    decoder_ : (n_components_, n_labels)
    views_ : dict of the fitted views, with ``kernel``, ``coef`` and ``intercept``
    view_names_, view_weights_ : of the views, in order
    thresholds_ : (n_labels,), for a label matrix
    objective_ : (sweeps + 1,), solver="als" only
    n_components_ : int, at most n_samples - 1 and without directions of eigenvalue zero
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from eigenlabel import KGHA
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> left, right = data.X[:, :10], data.X[:, 10:]
    >>> model = KGHA().fit({"left": left[:150], "right": right[:150]}, data.Y[:150])
    >>> new = {"left": left[150:], "right": right[150:]}
    >>> model.predict(new).shape, model.transform(new).shape
    ((50, 6), (50, 3))
    """

    def __init__(
        self,
        n_components: float = 0.5,
        *,
        ridge: Any = 0.1,
        trade_off: float = 0.1,
        label_ridge: float = 0.1,
        kernel: Any = "rbf",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        views: Any = None,
        transformers: Any = None,
        view_weights: Any = None,
        approximation: Any = None,
        decoding: str = "regression",
        threshold: str | Rule = "zero",
        fit_intercept: bool = True,
        repair: bool = True,
        solver: str = "eigen",
        n_sweeps: int = 1000,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.trade_off = trade_off
        self.label_ridge = label_ridge
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.views = views
        self.transformers = transformers
        self.view_weights = view_weights
        self.approximation = approximation
        self.decoding = decoding
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.repair = repair
        self.solver = solver
        self.n_sweeps = n_sweeps
        self.tol = tol
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "KGHA":
        """Fit to one matrix X or several views, and labels y.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features), or Views, dict or list of such or of kernels
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        """
        self._check_parameters()
        views = self._read_views(X, reset=True)
        self._codec, Y = LabelCodec.fit(y)
        check_consistent_length(views, Y)
        self.classes_ = self._codec.classes
        n, m = Y.shape
        if n < 2:
            raise ValueError(f"Views agree on 2 samples at least, got n_samples = {n}.")
        p = self._dimension(n, m)
        T = Y.astype(float)
        training = self._fit_views(views)
        self.view_weights_ = find_weights(self.view_weights, self.view_names_, training, T)
        labels = LinearHat(
            CentredOperator(T, centre=self.fit_intercept), self.label_ridge, self.fit_intercept
        )
        terms = [
            Term(view.hat, self.trade_off * w, None if len(view.rows) == n else view.rows)
            for view, w in zip(training, self.view_weights_, strict=True)
        ]
        S = HatSum(n, [*terms, Term(labels, 1.0)])
        self._store(S, self._solve(S, p), training, labels, T)
        self._fit_threshold(X, Y)
        return self

    def _check_parameters(self) -> None:
        check_number("trade_off", self.trade_off, 0)
        check_number("label_ridge", self.label_ridge, 0)
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("repair", self.repair)
        check_choice("decoding", self.decoding, DECODINGS)
        check_choice("solver", self.solver, ("eigen", "als"))
        check_number("n_sweeps", self.n_sweeps, 1, integer=True)
        check_number("tol", self.tol, 0)
        self._check_views()
        self._rule = get_rule(self.threshold)

    def _dimension(self, n: int, m: int) -> int:
        if isinstance(self.n_components, (float, np.floating)):
            check_number("n_components", self.n_components, np.finfo(float).tiny, 1)
            p = max(1, round(float(self.n_components) * m))
        else:
            check_number("n_components", self.n_components, 1, m, integer=True)
            p = int(self.n_components)
        return min(p, n - 1)

    def _solve(self, S: HatSum, p: int) -> tuple[np.ndarray, np.ndarray]:
        """Give the eigenvalues and the scores X."""
        vars(self).pop("objective_", None)  # of an earlier fit by the other solver
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        if self.solver == "eigen":
            values, Z = top_eigenvectors(S, p, rng)
            return values, S.scores(Z)
        sweeps = alternate(S, p, self.n_sweeps, self.tol, rng)
        self.objective_ = sweeps.objective
        if self.tol and sweeps.change >= self.tol:
            warn(
                f"Alternating least squares still turned the scores by {sweeps.change:.1e} (wanted "
                f"{self.tol:.0e}) after {self.n_sweeps} sweeps: use solver='eigen', or more.",
                ConvergenceWarning,
            )
        return sweeps.values, S.scores(sweeps.Z)

    def _store(
        self,
        S: HatSum,
        solution: tuple[np.ndarray, np.ndarray],
        training: list[TrainingView],
        labels: Hat,
        T: np.ndarray,
    ) -> None:
        values, X = solution
        for view, name in zip(training, self.view_names_, strict=True):
            coef, intercept = view.hat.coefficients(X[view.rows])
            self.views_[name].coef, self.views_[name].intercept = coef, intercept
        P, _ = labels.coefficients(X)
        D = S.coverage
        centre, mean = np.zeros(X.shape[1]), np.zeros(T.shape[1])
        if self.decoding == "pseudo-inverse":
            self.decoder_ = np.linalg.pinv(P, rcond=DECODING_FLOOR)
            if self.fit_intercept:
                centre, mean = X.mean(axis=0), T.mean(axis=0)
        else:
            self.decoder_ = X.T @ (D[:, None] * T)  # X'DX = I
            if self.fit_intercept:  # 1'DX = 0
                mean = D @ T / D.sum()
        self.label_intercept_ = mean - centre @ self.decoder_
        self.label_projection_, self.object_scores_, self.eigenvalues_ = P, X, values
        self.coverage_, self.n_components_ = D, X.shape[1]

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _embed(self, X: Any) -> np.ndarray:
        """Average what the views of each sample predict (Eq. 30); zero for a sample without."""
        views = self._read_views(X, reset=False)
        total = np.zeros((len(views), self.n_components_))
        weight = np.zeros((len(views), 1))
        for (name, table, here), w in zip(self._tables(views), self.view_weights_, strict=True):
            if here.any() and w:
                total[here] += w * self.views_[name].embed(table, name)
                weight[here] += w
        return total / np.where(weight > 0, weight, 1.0)

    def _scores(self, X: Any) -> np.ndarray:
        shares = self._embed(X) @ self.decoder_ + self.label_intercept_
        return (2.0 * shares - 1.0).astype(self._dtype, copy=False)

    def transform(self, X: Any) -> np.ndarray:
        """Embed samples: the mean of the scores that their views predict (Eq. 30).

        Returns
        -------
        (n_samples, n_components_); zero for a sample that no view has
        """
        check_is_fitted(self)
        return self._embed(X).astype(self._dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
