"""Multiple-set canonical correlation analysis: what any number of views have in common."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.views.hats import ViewHatsMixin
from eigenlabel.estimators.views.weights import TrainingView
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.validation import check_flag, check_number
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg.agreement import HatSum, Matched, Term, match_sets, top_eigenvectors


class MultisetCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ViewHatsMixin, BaseEstimator):
    """Find directions of each view whose scores agree across all views, two or more.

    With ``Z_j = Phi_j W_j`` the scores of view j, centred, and a ridge c_j per view (Eq. 17 of
    paper 003, Section 3; labels can be one of the views):

        max over W:  sum over pairs of views tr(Z_i'Z_j),   W_j'(Phi_j'Phi_j + c_j I)W_j = I

    It is the constrained twin of :class:`KGHA`: there the mean of the scores is of unit length,
    which eigenvectors solve; here those of every view are, and views take turns, from KGHA's
    solution on, each taking the best scores for the others as they are. Two views without ridge
    are canonical correlation analysis; for more it may be a local maximum. One view alone gives
    its principal components, scaled to unit length.

    Cost: as :class:`KGHA` for the hat matrices; then one product with each of them a sweep.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Directions; fewer where a view has not so many.
    ridge : float >= 0, list or dict by view, default=0.1
        The c of each view; 0 for a kernel view makes every correlation one.
    kernel : str, callable, list or dict by view, default="linear"
    gamma, degree, coef0, views, transformers, approximation, repair
        As in :class:`KGHA`.
    n_sweeps, tol : int >= 1, float >= 0
        Sweeps end when they change the scores of every view by less than tol, relative to their
        length; warns if ``n_sweeps`` do not get there.
    random_state : of the start

    Attributes
    ----------
    correlations_ : (n_views, n_views, n_components_), of the views' scores in training, over
        samples that both have
    object_scores_ : (n_samples, n_components_), the mean of the views' scores
    objective_ : (sweeps + 1,), never falling
    views_ : dict of the fitted views, with ``kernel``, ``coef`` and ``intercept``
    view_names_ : of the views, in order
    n_components_ : int
    n_features_in_, feature_names_in_ : as in scikit-learn

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

    fit_intercept = True

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
        """Fit to several views; y is not used (labels can be a view).

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features), or Views, dict or list of such or of kernels
        """
        check_number("n_components", self.n_components, 1, integer=True)
        check_number("n_sweeps", self.n_sweeps, 1, integer=True)
        check_number("tol", self.tol, 0)
        check_flag("repair", self.repair)
        self._check_views()
        views = self._read_views(X, reset=True)
        n = len(views)
        if n < 2:
            raise ValueError(f"Views agree on 2 samples at least, got n_samples = {n}.")
        training = self._fit_views(views)
        here = self._check_common(n, training)
        place = np.cumsum(here) - 1  # among samples that some view has
        count = int(here.sum())
        terms = [
            Term(v.hat, 1.0, None if len(v.rows) == count else place[v.rows]) for v in training
        ]
        widths = [v.samples.shape[1] if v.kernel.linear else len(v.rows) - 1 for v in training]
        p = min(int(self.n_components), count - 1, *widths)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        start = HatSum(count, terms)
        X0 = start.scores(top_eigenvectors(start, p, rng)[1])
        found = match_sets(count, terms, X0, self.n_sweeps, self.tol)
        self._report(found)
        self._store(n, found, training)
        return self

    def _check_common(self, n: int, training: list[TrainingView]) -> np.ndarray:
        """Give which samples some view has; each view must share some with another."""
        has = np.zeros((len(training), n), dtype=bool)
        for row, view in zip(has, training, strict=True):
            row[view.rows] = True
        for name, row in zip(self.view_names_, has, strict=True):
            if len(has) > 1 and not (row & (has.sum(axis=0) > 1)).any():
                raise ValueError(f"View {name!r} has no sample that another view has.")
        return np.asarray(has.any(axis=0))

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

    def _store(self, n: int, found: Matched, training: list[TrainingView]) -> None:
        self.objective_, self.n_components_ = found.objective, found.targets[0].shape[1]
        Z = np.full((len(training), n, self.n_components_), np.nan)
        for z, name, view, B in zip(Z, self.view_names_, training, found.targets, strict=True):
            fitted = self.views_[name]
            fitted.coef, fitted.intercept = view.hat.coefficients(B)
            z[view.rows] = view.hat.apply(B)
        self.correlations_ = np.stack([[_correlate(a, b) for b in Z] for a in Z])
        self.object_scores_ = _mean_of_present(Z)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def view_scores(self, X: Any) -> dict[str, np.ndarray]:
        """Give the scores of each view by name.

        Returns
        -------
        dict of (n_samples, n_components_); NaN for samples that a view lacks
        """
        check_is_fitted(self)
        views = self._read_views(X, reset=False)
        out = {}
        for name, table, here in self._tables(views):
            out[name] = np.full((len(views), self.n_components_), np.nan, dtype=self._dtype)
            if here.any():
                out[name][here] = self.views_[name].embed(table, name)
        return out

    def transform(self, X: Any) -> np.ndarray:
        """Embed samples: the mean of the scores of the views that they have.

        Returns
        -------
        (n_samples, n_components_); zero for a sample that no view has
        """
        return _mean_of_present(np.stack(list(self.view_scores(X).values())))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _mean_of_present(Z: np.ndarray) -> np.ndarray:
    """Average (views, n, p) over the views that are not NaN; zero where all are."""
    here = ~np.isnan(Z[..., :1])
    total = np.where(here, Z, 0).sum(axis=0)
    return np.asarray(total / np.maximum(here.sum(axis=0), 1), dtype=Z.dtype)


def _correlate(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Correlate the columns of A with those of B over rows that both have; NaN for none."""
    rows = ~np.isnan(A[:, 0] + B[:, 0])
    if not rows.any():
        return np.full(A.shape[1], np.nan)
    A, B = (Z[rows] - Z[rows].mean(axis=0) for Z in (A, B))
    lengths = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    products = np.einsum("ij,ij->j", A, B)
    return np.divide(products, lengths, out=np.full(A.shape[1], np.nan), where=lengths > 0)
