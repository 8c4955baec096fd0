"""KGHA: kernel generalised homogeneity analysis of several views (Xiong et al.)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.estimators.agreement.homogeneity import warn_unless_converged
from eigenlabel.estimators.base import CALIBRATION, RuleClassifier
from eigenlabel.estimators.views.kernels import (
    VIEW_KERNEL_PARAMETERS,
    KernelSettings,
    fit_kernels,
    view_kernel_tags,
)
from eigenlabel.estimators.views.ridge import ridge_hats, ridge_views
from eigenlabel.estimators.views.view_weights import VIEW_WEIGHTS, find_weights
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    NOT_NEGATIVE,
    ByView,
    CheckedBy,
    Choice,
    Declaration,
    Flag,
    Number,
    Parameters,
    check_number,
    check_parameters,
)
from eigenlabel.inputs.views import read_views
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.hats import Hat, LinearHat
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.sum_of_hats import HatSum, Term, alternate, top_eigenvectors
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.rules import get_rule

# Directions that the labels hardly reach are not decoded: their inverse would be noise.
DECODING_FLOOR = float(np.sqrt(np.finfo(float).eps))

# What KGHA and its special case declare.
SHARED_PARAMETERS: dict[str, Declaration] = {
    "ridge": ByView(NOT_NEGATIVE),
    **VIEW_KERNEL_PARAMETERS,
    "view_weights": VIEW_WEIGHTS,
    "approximation": CheckedBy("fit_kernels"),
    "threshold": CheckedBy("get_rule"),
    "fit_intercept": Flag(),
    "repair": Flag(),
    "random_state": CheckedBy("sklearn.utils.check_random_state"),
    "calibration": CALIBRATION,
}


@dataclass(frozen=True)
class AgreementProblem:
    """What the scores have to satisfy, how they are found and how they are decoded.

    Attributes
    ----------
    n_components : int or float
        The dimension of the scores, or its share of the number of labels.
    trade_off : float
        The weight of the views beside the labels.
    label_ridge : float
        The penalty of the regression on the labels.
    decoding : str
        "regression" or "pseudo-inverse".
    solver : str
        "eigen" or "als".
    n_sweeps : int
        The largest number of sweeps of "als".
    tol : float
        The change of the subspace at which "als" ends.
    """

    n_components: float
    trade_off: float
    label_ridge: float
    decoding: str = "regression"
    solver: str = "eigen"
    n_sweeps: int = 1
    tol: float = 0.0

    def dimension(self, n: int, m: int) -> int:
        """Return the number of components for n samples and m labels."""
        if isinstance(self.n_components, (float, np.floating)):
            Number(0, 1, above=True).check("n_components", self.n_components)
            p = max(1, round(float(self.n_components) * m))
        else:
            check_number("n_components", self.n_components, 1, m, integer=True)
            p = int(self.n_components)
        return min(p, n - 1)


class KGHA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RuleClassifier):  # type: ignore[misc]
    """Classify by scores that all views and the labels agree on, few of them for many labels.

    With T the 0/1 labels, views 1..V and lambda the trade-off (Xiong et al., Eqs. 24 to 27; the
    ridge terms have penalties c):

        min over X, W, P:  lambda sum_j (|X - Phi_j W_j|^2 + c_j |W_j|^2) + |X - T P|^2 + c_T |P|^2

    subject to ``1'X = 0`` and ``X'X = I`` (Eqs. 11 and 12), each regression with an intercept.
    The minimiser is the top eigenvectors of ``lambda sum_j H_j + H_T``, ``H = K (K + c I)^-1``.
    The scores of a new sample are the mean of what its views predict (Eq. 30). They are decoded to
    labels by regression or as in Eq. 31. A sample that is missing in a view (a row of NaN) does
    not enter the term of that view; the constraints then weigh each sample by its terms.

    With ``n_components=1.0, trade_off=0, label_ridge=0`` it is the mean of the views' (kernel)
    ridge regressions, which :class:`KernelRidgeTagger` computes.

    Cost: n^3 operations and n^2 numbers for a view with a kernel, n d^2 + d^3 for a linear view
    with d < n features; then products with the hat matrices for the eigenvectors. Sparse X is
    never densified.

    Parameters
    ----------
    n_components : int or float, default=0.5
        The dimension p of the scores: an integer from 1 to n_labels, or a share of the labels as a
        float in (0, 1].
    ridge : float, list or dict, default=0.1
        The penalty c >= 0 of all views, or one by view. 0 makes the hat matrix a projection.
    trade_off : float, default=0.1
        The weight lambda >= 0 of the agreement of the views.
    label_ridge : float, default=0.1
        The penalty c >= 0 of the labels.
    kernel : str, callable, list or dict, default="rbf"
        The kernel of all views, or one by view: "linear", "poly", "rbf", "sigmoid", "cosine",
        "laplacian", "chi2" or "intersection" (of histograms), or "precomputed". A callable takes
        two matrices and returns the kernel matrix of their rows.
    gamma : float, list, dict or None, default=None
        The bandwidth of the kernels, or one by view, >= 0. None stands for 1 / (2 sigma^2) with
        sigma the mean distance of training samples for "rbf" (the paper's rule), 1 for "chi2" and
        1 / n_features for the others.
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
        The weights of the views, >= 0, in the objective and in the mean of their predictions. They
        are equal by default and scaled to a mean of one. "alignment" is the weights of the combined
        kernel that is nearest to that of the labels, "heldout" those with which the views'
        leave-one-out predictions fit the labels best.
    approximation : "nystrom", "meka", transformer, list, dict or None, default=None
        A map for all views, or one by view, from samples to features whose inner products are near
        the kernel: :class:`MEKA` in one block or ten, or a transformer with a parameter ``kernel``,
        such as ``MEKA(1000)`` or scikit-learn's Nystroem. It is fitted with the kernel and gamma of
        the view, which is then linear in the features, without an n x n matrix.
    decoding : {"regression", "pseudo-inverse"}, default="regression"
        How scores become labels: by regression of the labels on the scores, or by Eq. 31.
    threshold : str or Rule, default="zero"
        The rule of ``eigenlabel.thresholds`` that turns scores into label sets, such as ``Top(5)``.
        Rules with fitted thresholds use training scores, as in the papers;
        :class:`ThresholdedClassifier` uses held-out ones.
    fit_intercept : bool, default=True
        Whether all regressions have intercepts. False is the paper to the letter: kernels and
        labels are not centred, and scores are.
    repair : bool, default=True
        Whether the negative part of a kernel that is not positive semi-definite is left out, with
        a warning. If False, such a kernel raises a ValueError.
    solver : {"eigen", "als"}, default="eigen"
        Whether the eigenvectors are computed directly, or by the paper's alternating least squares.
    n_sweeps : int, default=1000
        The largest number of sweeps of "als", which warns if it does not converge.
    tol : float, default=1e-6
        "als" ends when a sweep turns the subspace of the scores by less than this (the sine of the
        largest angle). With 0 it does all sweeps.
    random_state : int, RandomState or None, default=None
        The seed of the start of either solver, and of a named approximation.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to held-out scores of
        five folds, which costs five more fits. None leaves out ``predict_proba``, and rules on
        probabilities.

    Attributes
    ----------
    object_scores_ : ndarray of shape (n_samples, n_components_)
        The scores X of the training samples.
    eigenvalues_ : ndarray of shape (n_components_,)
        The eigenvalues, descending. They are at most trade_off * n_views + 1.
    coverage_ : ndarray of shape (n_samples,)
        The weights of the samples in the constraints; 1 where no view is missing.
    label_projection_ : ndarray of shape (n_labels, n_components_)
        The weights P of the labels (Q in the paper).
    decoder_ : ndarray of shape (n_components_, n_labels)
        The weights from scores to labels.
    label_intercept_ : ndarray of shape (n_labels,)
        The intercepts of the decoder.
    views_ : dict
        The fitted views by name, with the attributes ``kernel``, ``coef`` and ``intercept``.
    view_names_ : tuple of str
        The names of the views, in order.
    view_weights_ : ndarray of shape (n_views,)
        The weights of the views.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds of the rule. Only if y is a label matrix.
    objective_ : ndarray of shape (n_sweeps + 1,)
        The objective before and after each sweep. Only with ``solver="als"``.
    n_components_ : int
        The dimension of the scores: at most n_samples - 1, and without directions of eigenvalue
        zero.
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
    >>> from eigenlabel import KGHA
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> left, right = data.X[:, :10], data.X[:, 10:]
    >>> model = KGHA().fit({"left": left[:150], "right": right[:150]}, data.Y[:150])
    >>> new = {"left": left[150:], "right": right[150:]}
    >>> model.predict(new).shape, model.transform(new).shape
    ((50, 6), (50, 3))
    """

    _parameters: ClassVar[Parameters] = {
        "n_components": CheckedBy("AgreementProblem.dimension, which knows the number of labels"),
        "trade_off": NOT_NEGATIVE,
        "label_ridge": NOT_NEGATIVE,
        "decoding": Choice("regression", "pseudo-inverse"),
        "solver": Choice("eigen", "als"),
        "n_sweeps": COUNT,
        "tol": NOT_NEGATIVE,
        **SHARED_PARAMETERS,
    }

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
        calibration: str | None = None,
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
        self.calibration = calibration

    def _problem(self) -> AgreementProblem:
        """Return the problem of the parameters; special cases return one of their own."""
        return AgreementProblem(
            self.n_components,
            self.trade_off,
            self.label_ridge,
            self.decoding,
            self.solver,
            self.n_sweeps,
            self.tol,
        )

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "KGHA":
        """Fit to one matrix X or several views, and labels y.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The training samples (n_samples, n_features), several tables of them, or kernels.
        y : array or sparse matrix
            The 0/1 label matrix (n_samples, n_labels), label sets, or a vector of classes.

        Returns
        -------
        self : KGHA
            The fitted classifier.
        """
        check_parameters(self)
        rule, problem = get_rule(self.threshold), self._problem()
        parts, self._layout = read_views(self, X, self.views, kernel=self.kernel)
        self._codec, Y = LabelCodec.fit(y)
        check_consistent_length(parts[0].here, Y)
        n, m = Y.shape
        if n < 2:
            raise ValueError(f"Views agree on 2 samples at least, got n_samples = {n}.")
        p = problem.dimension(n, m)
        T = Y.astype(float)
        kernels, training = fit_kernels(parts, self._kernel_settings())
        hats = ridge_hats(training, self.ridge, centre=self.fit_intercept, repair=self.repair)
        self.view_weights_ = find_weights(self.view_weights, training, hats, T)
        labels = LinearHat(
            CentredOperator(T, centre=self.fit_intercept), problem.label_ridge, self.fit_intercept
        )
        terms = [
            Term(hat, problem.trade_off * w, None if len(view.rows) == n else view.rows)
            for hat, w, view in zip(hats, self.view_weights_, training, strict=True)
        ]
        S = HatSum(n, [*terms, Term(labels, 1.0)])
        self.eigenvalues_, scores = self._solve(S, p, problem)
        self.views_ = ridge_views(kernels, hats, [scores[view.rows] for view in training])
        self.view_names_ = self._layout.names
        self._store(S, scores, labels, T, problem.decoding)
        self._fit_rule(rule, Y, lambda: self._scores(X), self._calibrate(X, y, Y))
        return self

    def _kernel_settings(self) -> KernelSettings:
        return KernelSettings(
            self.kernel,
            self.gamma,
            self.degree,
            self.coef0,
            self.transformers,
            self.approximation,
            self.random_state,
        )

    def _solve(self, S: HatSum, p: int, problem: AgreementProblem) -> tuple[Floats, Floats]:
        """Return the eigenvalues and the scores X."""
        self.__dict__.pop("objective_", None)  # of an earlier fit by the other solver
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        if problem.solver == "eigen":
            values, Z = top_eigenvectors(S, p, rng)
            return values, S.scores(Z)
        sweeps = alternate(S, p, problem.n_sweeps, problem.tol, rng)
        self.objective_ = sweeps.objective
        warn_unless_converged(sweeps.change, problem.n_sweeps, problem.tol)
        return sweeps.values, S.scores(sweeps.Z)

    def _store(self, S: HatSum, X: Floats, labels: Hat, T: Floats, decoding: str) -> None:
        P, _ = labels.coefficients(X)
        D = S.coverage
        centre, mean = np.zeros(X.shape[1]), np.zeros(T.shape[1])
        if decoding == "pseudo-inverse":
            self.decoder_ = np.linalg.pinv(P, rcond=DECODING_FLOOR)
            if self.fit_intercept:
                centre, mean = X.mean(axis=0), T.mean(axis=0)
        else:
            self.decoder_ = X.T @ (D[:, None] * T)  # X'DX = I
            if self.fit_intercept:  # 1'DX = 0
                mean = D @ T / D.sum()
        self.label_intercept_ = mean - centre @ self.decoder_
        self.label_projection_, self.object_scores_ = P, X
        self.coverage_, self.n_components_ = D, X.shape[1]
        self.classes_ = self._codec.classes

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _embed(self, X: Any) -> Floats:
        """Average what the views of each sample predict (Eq. 30); zero for a sample without."""
        parts = self._layout.read(self, X)
        total = np.zeros((len(parts[0].here), self.n_components_))
        weight = np.zeros((len(total), 1))
        for part, w in zip(parts, self.view_weights_, strict=True):
            if part.here.any() and w:
                total[part.here] += w * self.views_[part.name].embed(part)
                weight[part.here] += w
        return total / np.where(weight > 0, weight, 1.0)

    def _scores(self, X: Any) -> Floats:
        shares = self._embed(X) @ self.decoder_ + self.label_intercept_
        return np.asarray((2.0 * shares - 1.0).astype(self._layout.dtype, copy=False))

    def transform(self, X: Any) -> Floats:
        """Embed samples: the mean of the scores that their views predict (Eq. 30).

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The samples (n_samples, n_features), several tables of them, or kernels with the
            training samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components_)
            The scores. They are zero for a sample that no view has.
        """
        check_is_fitted(self)
        return np.asarray(self._embed(X).astype(self._layout.dtype, copy=False))

    def __sklearn_tags__(self) -> Any:
        tags = view_kernel_tags(super().__sklearn_tags__(), self.views, self.kernel)
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
