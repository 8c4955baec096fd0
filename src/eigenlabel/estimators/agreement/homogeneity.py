"""Homogeneity analysis of categorical tables, and the warning of alternating least squares."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenlabel.drawing.axes import axes_for, style_of
from eigenlabel.drawing.names import LITERAL, OUTSIDE, add_legend, place_names, readable
from eigenlabel.inputs.data import check_table
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import (
    COUNT,
    NOT_NEGATIVE,
    CheckedBy,
    Choice,
    Parameters,
    check_number,
    check_parameters,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.labels.missing import find_missing
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.hats import IndicatorHat
from eigenlabel.linalg.numerics import descending_eigh, fix_signs
from eigenlabel.linalg.sum_of_hats import HatSum, Term, alternate

MISSING, UNKNOWN = -1, -2


def _distinct(values: np.ndarray) -> tuple[list[Any], Ints]:
    """Return the distinct values, sorted if they can be compared, and the position of each."""
    try:
        found, which = np.unique(values, return_inverse=True)
        return found.tolist(), which
    except TypeError:  # values of several types cannot be sorted
        order: dict[Any, int] = {}
        which = np.array([order.setdefault(v, len(order)) for v in values.tolist()], dtype=np.intp)
        return list(order), which


def find_categories(values: np.ndarray, with_missing: bool) -> list[Any]:
    """Return the distinct values; None at the end stands for missing ones, if asked for."""
    lost = find_missing(values)
    found, _ = _distinct(values[~lost])
    return [*found, None] if with_missing and lost.any() else found


def encode(values: np.ndarray, known: list[Any]) -> Ints:
    """Return positions (n,) among known categories, or MISSING or UNKNOWN."""
    place = {category: i for i, category in enumerate(known)}
    lost = find_missing(values)
    codes = np.full(len(values), place.get(None, MISSING))
    found, which = _distinct(values[~lost])
    if found:
        codes[~lost] = np.array([place.get(v, UNKNOWN) for v in found])[which]
    return codes


def warn_unless_converged(change: float, n_sweeps: int, tol: float) -> None:
    """Warn if the last sweep of alternating least squares turned the scores by tol or more."""
    if tol and change >= tol:
        warn(
            f"Alternating least squares still turned the scores by {change:.1e} (wanted {tol:.0e}) "
            f"after {n_sweeps} sweeps: use solver='eigen', or more sweeps.",
            ConvergenceWarning,
        )


MOST_NAMES = 100  # of categories in a biplot
DENSE = 2000  # up to this number of categories all eigenvectors are computed


class HomogeneityAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Place samples and categories in one space, samples near the categories they have.

    With G_j the indicator matrix of variable j of J (Xiong et al., Eqs. 9 to 12; Michailidis and de
    Leeuw 1998):

        min over X, Y_j:  1/J sum_j |X - G_j Y_j|^2   subject to   1'X = 0,  X'X = I

    The scores X are the left singular vectors of the scaled indicator matrix next to the constant
    one; Y_j contains the means of the scores in each category. It is multiple correspondence
    analysis with scores of unit length.

    Cost: one sparse product and an eigenproblem of the size of the number of categories; the
    indicator matrix is never densified.

    Parameters
    ----------
    n_components : int, default=2
        The number of dimensions, >= 1. There are fewer if the categories have fewer.
    missing : {"error", "category", "passive"}, default="error"
        What happens to missing values (None, NaN, null): they raise a ValueError, are a category of
        their own, or are left out. A sample then counts in the constraints by the share of
        variables that it has.
    unknown : {"error", "passive"}, default="error"
        What happens to categories of new samples that did not occur in fit: they raise a
        ValueError, or are left out.
    solver : {"eigen", "als"}, default="eigen"
        Whether the singular vectors are computed directly, or by alternating least squares (Eqs. 13
        to 15).
    n_sweeps : int, default=1000
        The largest number of sweeps of "als", which warns if it does not converge.
    tol : float, default=1e-6
        "als" ends when a sweep turns the subspace of the scores by less than this (the sine of the
        largest angle). With 0 it does all sweeps.
    random_state : int, RandomState or None, default=None
        The seed of the start of the solver.

    Attributes
    ----------
    object_scores_ : ndarray of shape (n_samples, n_components_)
        The scores X of the training samples. They are zero for a sample without any value.
    quantifications_ : list of ndarray of shape (n_categories, n_components_)
        The scores Y_j of the categories of each variable.
    categories_ : list of list
        The categories of each variable. None stands for missing values.
    discrimination_ : ndarray of shape (n_variables, n_components_)
        The variance between the categories of each variable.
    eigenvalues_ : ndarray of shape (n_components_,)
        The means of the columns of ``discrimination_``, descending.
    inertia_ : float
        The sum of all eigenvalues: n_categories / n_variables - 1 if nothing is missing.
    explained_inertia_ratio_ : ndarray of shape (n_components_,)
        The share of each eigenvalue in the inertia.
    coverage_ : ndarray of shape (n_samples,)
        The share of variables that a sample has.
    objective_ : ndarray of shape (n_sweeps + 1,)
        The objective before and after each sweep. Only with ``solver="als"``.
    n_components_ : int
        The number of dimensions.
    n_features_in_ : int
        The number of variables.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the variables, if X was a frame.

    Examples
    --------
    >>> from eigenlabel import HomogeneityAnalysis
    >>> table = [["red", "round"], ["red", "round"], ["blue", "round"], ["blue", "long"]]
    >>> model = HomogeneityAnalysis(1).fit(table)
    >>> model.categories_
    [['blue', 'red'], ['long', 'round']]
    >>> model.quantifications_[0].round(3).ravel().tolist()
    [0.444, -0.444]
    """

    _parameters: ClassVar[Parameters] = {
        "n_components": COUNT,
        "missing": Choice("error", "category", "passive"),
        "unknown": Choice("error", "passive"),
        "solver": Choice("eigen", "als"),
        "n_sweeps": COUNT,
        "tol": NOT_NEGATIVE,
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        missing: str = "error",
        unknown: str = "error",
        solver: str = "eigen",
        n_sweeps: int = 1000,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.missing = missing
        self.unknown = unknown
        self.solver = solver
        self.n_sweeps = n_sweeps
        self.tol = tol
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "HomogeneityAnalysis":  # noqa: ARG002
        """Fit to a table of categories.

        Parameters
        ----------
        X : array, list or frame of shape (n_samples, n_variables)
            The table: strings, numbers or any values that can be compared.
        y : None
            Not used.

        Returns
        -------
        self : HomogeneityAnalysis
            The fitted transformer.
        """
        check_parameters(self)
        columns = check_table(self, X, reset=True)
        self.categories_ = [find_categories(c, self.missing == "category") for c in columns]
        empty = [j for j, found in enumerate(self.categories_) if not found]
        if empty:
            raise ValueError(
                f"Variable {self._name(empty[0])} is missing for every sample: leave it out."
            )
        codes = self._encode(columns)
        self.coverage_ = np.mean([code >= 0 for code in codes], axis=0)
        if np.count_nonzero(self.coverage_) < 2:
            raise ValueError("Fewer than 2 samples have any value: nothing can be compared.")
        G = [_indicator(c, len(k)) for c, k in zip(codes, self.categories_, strict=True)]
        self._solve(G)
        return self

    def _name(self, j: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return str(j) if names is None else repr(str(names[j]))

    def _encode(self, columns: Sequence[np.ndarray]) -> list[Ints]:
        """Return the positions of values among the categories; negative if they are left out."""
        codes = [encode(c, known) for c, known in zip(columns, self.categories_, strict=True)]
        for j, (column, code) in enumerate(zip(columns, codes, strict=True)):
            lost, strange = code == MISSING, code == UNKNOWN
            if self.missing == "error" and lost.any():
                raise ValueError(
                    f"Variable {self._name(j)} is missing (NaN or None) in row "
                    f"{int(lost.argmax())}: use missing='category' or missing='passive'."
                )
            if self.unknown == "error" and strange.any():
                raise ValueError(
                    f"Variable {self._name(j)} has the category {column[strange][0]!r}, which was "
                    "not there in fit: use unknown='passive' to leave it out."
                )
        return codes

    def _solve(self, G: Sequence[Any]) -> None:
        self.__dict__.pop("objective_", None)  # of an earlier fit by the other solver
        here = self.coverage_ > 0
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        whole = sp.hstack(G, format="csr")[here]
        sizes = np.asarray(whole.sum(axis=0), dtype=float).ravel()
        root = np.sqrt(self.coverage_[here] * len(G))
        # The singular values of B are the roots of the eigenvalues, the first of them trivial.
        B = (sp.diags_array(1 / root) @ whole @ sp.diags_array(1 / np.sqrt(sizes))).tocsr()
        self.inertia_ = float((B.data**2).sum()) - 1.0
        p = min(self.n_components, B.shape[0] - 1, B.shape[1] - 1)
        if self.solver == "eigen":
            values, Z = _singular(B, sizes, p, rng)
        else:
            values, Z = self._alternate([g[here] for g in G], p, rng)
        X = np.zeros((len(here), len(values)))
        X[here] = fix_signs(Z) / np.sqrt(self.coverage_[here])[:, None]
        self._store(G, X, values)

    def _alternate(
        self, G: Sequence[Any], p: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        rows = [np.flatnonzero(np.diff(g.indptr)) for g in G]
        n = G[0].shape[0]
        terms = [
            Term(IndicatorHat(g[r]), 1 / len(G), None if len(r) == n else r)
            for g, r in zip(G, rows, strict=True)
        ]
        sweeps = alternate(HatSum(n, terms), p, self.n_sweeps, self.tol, rng)
        self.objective_ = sweeps.objective
        warn_unless_converged(sweeps.change, self.n_sweeps, self.tol)
        return sweeps.values, sweeps.Z

    def _store(self, G: Sequence[Any], X: Floats, values: Floats) -> None:
        self.object_scores_, self.eigenvalues_ = X, values
        self.quantifications_, between = [], []
        for g in G:
            sizes = np.asarray(g.sum(axis=0), dtype=float).ravel()[:, None]
            Y = np.asarray(g.T @ X) / sizes  # Eq. 13
            self.quantifications_.append(Y)
            between.append((sizes * Y**2).sum(axis=0))
        self.discrimination_ = np.array(between)
        scale = self.inertia_ if self.inertia_ > 0 else 1.0
        self.explained_inertia_ratio_ = values / scale
        self.n_components_ = len(values)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def transform(self, X: Any) -> Floats:
        """Compute the mean quantification of the categories of samples, over the eigenvalues.

        The result for training samples is their object scores.

        Parameters
        ----------
        X : array, list or frame of shape (n_samples, n_variables)
            The table.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components_)
            The scores. They are zero for a sample without any known value.
        """
        check_is_fitted(self)
        codes = self._encode(check_table(self, X, reset=False))
        total, count = np.zeros((len(codes[0]), self.n_components_)), np.zeros(len(codes[0]))
        for code, Y in zip(codes, self.quantifications_, strict=True):
            known = code >= 0
            total[known] += Y[code[known]]
            count += known
        return np.asarray(total / (np.maximum(count, 1)[:, None] * self.eigenvalues_))

    def biplot(
        self, ax: Any = None, *, dimensions: tuple[int, int] = (0, 1), samples: bool = True
    ) -> Any:
        """Draw samples as dots and categories by name, a colour for each variable.

        Names do not overlap; those without a free place beside their point are left out.

        Needs matplotlib: ``pip install eigenlabel[plot]``.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.
        dimensions : tuple of int, default=(0, 1)
            The two dimensions to draw.
        samples : bool, default=True
            Whether samples are drawn, or categories alone.

        Returns
        -------
        ax : matplotlib axes
            The axes.
        """
        check_is_fitted(self)
        if self.n_components_ < 2:
            raise ValueError(
                "A biplot needs two dimensions; the model has one. Raise n_components."
            )
        for d in dimensions:
            check_number("dimensions", d, 0, self.n_components_ - 1, integer=True)
        ax = axes_for("HomogeneityAnalysis.biplot", ax)
        a, b = dimensions
        if samples:
            ax.plot(*self.object_scores_[:, [a, b]].T, ".", color="0.8", zorder=0)
        drawn = []
        for j, Y in enumerate(self.quantifications_):
            drawn += ax.plot(Y[:, a], Y[:, b], "^", color=style_of(j)["color"])
        for d, label in ((a, ax.set_xlabel), (b, ax.set_ylabel)):
            label(f"dimension {d} ({self.explained_inertia_ratio_[d]:.1%} of inertia)", **LITERAL)
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        shown = [readable(name) for name in names]
        add_legend(ax, drawn, shown, title="variable", **OUTSIDE)
        self._name_categories(ax, a, b)
        return ax

    def _name_categories(self, ax: Any, a: int, b: int) -> None:
        """Write the names of categories without overlap, those far from the origin first."""
        points = np.concatenate([Y[:, [a, b]] for Y in self.quantifications_])
        names = [
            "missing" if category is None else readable(category)
            for known in self.categories_
            for category in known
        ]
        ax.margins(0.1)
        ax.get_figure(root=True).draw_without_rendering()  # settles the place of the axes
        place_names(
            ax,
            points,
            names,
            radii=np.full(len(points), 4.0),
            order=np.argsort(-np.hypot(*points.T), kind="stable"),
            most=MOST_NAMES,
            fontsize="small",
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _indicator(codes: Ints, n_categories: int) -> sp.csr_array:
    """Return the 0/1 matrix (n, categories) of codes; a row without a category is empty."""
    here = codes >= 0
    indptr = np.concatenate([[0], np.cumsum(here)]).astype(np.int32)
    parts = (np.ones(int(here.sum())), codes[here].astype(np.int32), indptr)
    return sp.csr_array(parts, shape=(len(codes), n_categories))


def _singular(B: Any, sizes: Floats, p: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the p largest squared singular values of B after the trivial one, and left vectors."""
    k = B.shape[1]
    v = np.sqrt(sizes / sizes.sum())  # B'B v = v
    if k <= DENSE or 5 * p > k:
        M = (B.T @ B).toarray() - 2 * np.outer(v, v)  # moves the trivial one to the other end
        values, V = descending_eigh(M)
        values, V = values[:p], V[:, :p]
    else:

        def product(x: Floats) -> Floats:
            x = x.ravel()
            return np.asarray(B.T @ (B @ x) - 2 * v * (v @ x))

        operator = LinearOperator((k, k), matvec=product, dtype=np.float64)
        start = rng.standard_normal(k)
        values, V = eigsh(operator, p, which="LA", v0=start, ncv=min(k, 2 * p + 20))
        values, V = values[::-1], V[:, ::-1]
    keep = values > k * np.finfo(float).eps
    left = np.asarray(B @ V[:, keep]) / np.sqrt(values[keep])
    return values[keep], left
