"""Multiple-set canonical correlation analysis: what any number of views have in common."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.views.kernels import (
    VIEW_KERNEL_PARAMETERS,
    KernelSettings,
    TrainingView,
    fit_kernels,
    view_kernel_tags,
)
from eigenlabel.estimators.views.ridge import ridge_hats, ridge_views
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    NOT_NEGATIVE,
    ByView,
    CheckedBy,
    Flag,
    Parameters,
    check_parameters,
)
from eigenlabel.inputs.views import read_views
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.hats import Hat
from eigenlabel.linalg.sum_of_hats import HatSum, Matched, Term, match_sets, top_eigenvectors


class MultisetCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Find directions of each view whose scores agree across all views, two or more.

    With ``Z_j = Phi_j W_j`` the centred scores of view j and a penalty c_j per view (Xiong et al.,
    Section 3, Eq. 17; labels can be one of the views):

        max over W:  sum over pairs of views tr(Z_i'Z_j),   W_j'(Phi_j'Phi_j + c_j I)W_j = I

    It differs from :class:`KGHA` in its constraint. There the mean of the scores has unit length,
    and eigenvectors are the solution; here the scores of every view have. The views take turns,
    starting from the solution of KGHA: each is replaced by the best scores for the others. For two
    views without penalty it is canonical correlation analysis; for more the result may be a local
    maximum. For one view it is the principal components, scaled to unit length.

    Cost: that of :class:`KGHA` for the hat matrices, then one product with each of them per sweep.

    Parameters
    ----------
    n_components : int, default=2
        The number of directions, >= 1. There are fewer if a view has fewer.
    ridge : float, list or dict, default=0.1
        The penalty c >= 0 of all views, or one by view. 0 for a view with a kernel makes every
        correlation one.
    kernel : str, callable, list or dict, default="linear"
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
    approximation : "nystrom", "meka", transformer, list, dict or None, default=None
        A map for all views, or one by view, from samples to features whose inner products are near
        the kernel: :class:`MEKA` in one block or ten, or a transformer with a parameter ``kernel``,
        such as ``MEKA(1000)`` or scikit-learn's Nystroem. It is fitted with the kernel and gamma of
        the view, which is then linear in the features, without an n x n matrix.
    repair : bool, default=True
        Whether the negative part of a kernel that is not positive semi-definite is left out, with
        a warning. If False, such a kernel raises a ValueError.
    n_sweeps : int, default=1000
        The largest number of sweeps. A warning is raised if they do not converge.
    tol : float, default=1e-6
        Sweeps end when they change the scores of every view by less than this, relative to their
        length.
    random_state : int, RandomState or None, default=None
        The seed of the start, and of a named approximation.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_views, n_views, n_components_)
        The correlations of the views' scores in training, over samples that both views have.
    object_scores_ : ndarray of shape (n_samples, n_components_)
        The mean of the views' scores of the training samples.
    objective_ : ndarray of shape (n_sweeps + 1,)
        The objective before and after each sweep. It never decreases.
    views_ : dict
        The fitted views by name, with the attributes ``kernel``, ``coef`` and ``intercept``.
    view_names_ : tuple of str
        The names of the views, in order.
    n_components_ : int
        The number of directions.
    n_features_in_ : int
        The number of columns of X, or of all tables together.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X was a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel import MultisetCCA
    >>> rng = np.random.default_rng(0)
    >>> common = rng.standard_normal((200, 1))
    >>> views = {name: np.c_[common, rng.standard_normal((200, 4))] for name in "abc"}
    >>> model = MultisetCCA(1).fit(views)
    >>> model.transform(views).shape, bool(model.correlations_[0, 1, 0] > 0.99)
    ((200, 1), True)
    """

    _parameters: ClassVar[Parameters] = {
        "n_components": COUNT,
        "ridge": ByView(NOT_NEGATIVE),
        **VIEW_KERNEL_PARAMETERS,
        "approximation": CheckedBy("fit_kernels"),
        "repair": Flag(),
        "n_sweeps": COUNT,
        "tol": NOT_NEGATIVE,
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        ridge: Any = 0.1,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        views: Any = None,
        transformers: Any = None,
        approximation: Any = None,
        repair: bool = True,
        n_sweeps: int = 1000,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.views = views
        self.transformers = transformers
        self.approximation = approximation
        self.repair = repair
        self.n_sweeps = n_sweeps
        self.tol = tol
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "MultisetCCA":  # noqa: ARG002
        """Fit to several views.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The training samples (n_samples, n_features), several tables of them, or kernels.
        y : None
            Not used; labels can be one of the views.

        Returns
        -------
        self : MultisetCCA
            The fitted transformer.
        """
        check_parameters(self)
        parts, self._layout = read_views(self, X, self.views, kernel=self.kernel)
        n = self._layout.n_samples
        if n < 2:
            raise ValueError(f"Views agree on 2 samples at least, got n_samples = {n}.")
        kernels, training = fit_kernels(parts, self._kernel_settings())
        hats = ridge_hats(training, self.ridge, centre=True, repair=self.repair)
        here = _check_common(n, training)
        place = np.cumsum(here) - 1  # among samples that some view has
        count = int(here.sum())
        terms = [
            Term(hat, 1.0, None if len(view.rows) == count else place[view.rows])
            for hat, view in zip(hats, training, strict=True)
        ]
        widths = [v.samples.shape[1] if v.linear else len(v.rows) - 1 for v in training]
        p = min(int(self.n_components), count - 1, *widths)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        start = HatSum(count, terms)
        X0 = start.scores(top_eigenvectors(start, p, rng)[1])
        found = match_sets(count, terms, X0, self.n_sweeps, self.tol)
        self._report(found)
        self.views_ = ridge_views(kernels, hats, found.targets)
        self.view_names_ = self._layout.names
        self._store(n, found, training, hats)
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

    def _report(self, found: Matched) -> None:
        if not found.targets[0].shape[1]:
            raise ValueError(
                "There is no direction that all views have: is a view constant, or its ridge too "
                "large for its scale? Rescale the view, or lower its ridge."
            )
        if found.change >= self.tol > 0:
            warn(
                f"The last of {self.n_sweeps} sweeps still changed the scores by "
                f"{found.change:.1e} (wanted {self.tol:.0e}): raise n_sweeps, tol or ridge.",
                ConvergenceWarning,
            )

    def _store(self, n: int, found: Matched, training: list[TrainingView], hats: list[Hat]) -> None:
        self.objective_, self.n_components_ = found.objective, found.targets[0].shape[1]
        Z = np.full((len(training), n, self.n_components_), np.nan)
        for z, view, hat, B in zip(Z, training, hats, found.targets, strict=True):
            z[view.rows] = hat.apply(B)
        self.correlations_ = np.stack([[_correlate(a, b) for b in Z] for a in Z])
        self.object_scores_ = _mean_of_present(Z)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def view_scores(self, X: Any) -> dict[str, Floats]:
        """Compute the scores of each view.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The samples (n_samples, n_features), several tables of them, or kernels with the
            training samples.

        Returns
        -------
        scores : dict of ndarray of shape (n_samples, n_components_)
            The scores by the name of the view. They are NaN for samples that are missing in it.
        """
        check_is_fitted(self)
        out = {}
        for part in self._layout.read(self, X):
            shape = (len(part.here), self.n_components_)
            Z = out[part.name] = np.full(shape, np.nan, dtype=self._layout.dtype)
            if part.here.any():
                Z[part.here] = self.views_[part.name].embed(part)
        return out

    def transform(self, X: Any) -> Floats:
        """Embed samples: the mean of the scores of the views that they have.

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
        return _mean_of_present(np.stack(list(self.view_scores(X).values())))

    def __sklearn_tags__(self) -> Any:
        tags = view_kernel_tags(super().__sklearn_tags__(), self.views, self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_common(n: int, training: list[TrainingView]) -> Bools:
    """Return which samples some view has; raise ValueError if a view shares none with another."""
    has = np.zeros((len(training), n), dtype=bool)
    for row, view in zip(has, training, strict=True):
        row[view.rows] = True
    for row, view in zip(has, training, strict=True):
        if len(has) > 1 and not (row & (has.sum(axis=0) > 1)).any():
            raise ValueError(f"View {view.name!r} has no sample that another view has.")
    return np.asarray(has.any(axis=0))


def _mean_of_present(Z: Floats) -> Floats:
    """Return the mean (n, p) over the views (views, n, p) that are not NaN; zero where all are."""
    here = ~np.isnan(Z[..., :1])
    total = np.where(here, Z, 0).sum(axis=0)
    return np.asarray(total / np.maximum(here.sum(axis=0), 1), dtype=Z.dtype)


def _correlate(A: Floats, B: Floats) -> Floats:
    """Return the correlations of the columns of A and B over the rows that both have, or NaN."""
    rows = ~np.isnan(A[:, 0] + B[:, 0])
    if not rows.any():
        return np.full(A.shape[1], np.nan)
    A, B = (Z[rows] - Z[rows].mean(axis=0) for Z in (A, B))
    lengths = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    products = np.einsum("ij,ij->j", A, B)
    out = np.full(A.shape[1], np.nan)
    return np.asarray(np.divide(products, lengths, out=out, where=lengths > 0))
