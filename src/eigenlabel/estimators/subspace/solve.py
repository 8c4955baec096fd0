"""The closed form of ML-LS: two ridge regressions and one small eigenproblem."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from eigenlabel.estimators.base import Training
from eigenlabel.estimators.subspace.coefficients import Domain, Full, Weights
from eigenlabel.inputs.parameters import check_number
from eigenlabel.kernels.factor import Solver, factorise_samples
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.factors.base import Factor, SampleFactor
from eigenlabel.linalg.factors.covariance import StatisticsFactor
from eigenlabel.linalg.factors.masked import MaskedFactor
from eigenlabel.linalg.factors.solution import Shortfall, Solution
from eigenlabel.linalg.heldout import Fold, tuning_arrays
from eigenlabel.linalg.machine import ARRAYS
from eigenlabel.linalg.numerics import descending_eigh, fix_signs, positive_count
from eigenlabel.linalg.observed_cells import number_patterns
from eigenlabel.linalg.statistics import Statistics
from eigenlabel.model_selection.search import SearchResult
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.calibration import Calibration
from eigenlabel.thresholds.rules import Zero

EXACT_WORK = 5e11  # patterns times p^3, p the smaller side of X, up to which "auto" solves exactly


def choose_solver(
    kernel: Kernel, solver: Solver, shape: tuple[int, int], observed: Bools
) -> Solver:
    """Return the solver: one factor for each pattern, or products if there are too many patterns.

    A pattern is a set of samples on which the same labels are observed.
    """
    if solver.name == "krylov" and not kernel.linear:
        raise ValueError(
            "solver='krylov' with a kernel does not work with labels that are not observed (NaN): "
            "use solver='auto', or eigenlabel.MEKA in front of a linear model."
        )
    if solver.name != "auto" or not kernel.linear:
        return solver
    patterns = int(number_patterns(observed).max()) + 1
    many = patterns > max(1.0, EXACT_WORK / min(shape) ** 3)
    return replace(solver, name="krylov") if many else solver


def factorise(
    kernel: Kernel,
    X: Any,
    weights: Floats | None,
    observed: Bools | None,
    solver: Solver,
    arrays: float = ARRAYS,
) -> SampleFactor:
    """Factorise training samples.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with its bandwidth settled.
    X : (n, d) array or sparse matrix
        The samples, or their kernel matrix.
    weights : (n,) array or None
        The weights of the samples.
    observed : (n, m) array of bool, or None
        The labels that are observed; None if all of them are.
    solver : Solver
        How the equations are solved.
    arrays : float
        The number of square arrays that exist at once, by default that of one fit.
    """
    if observed is None:
        return factorise_samples(kernel, X, weights, solver, arrays=arrays)
    solver = choose_solver(kernel, solver, X.shape, observed)
    base = factorise_samples(kernel, X, weights, solver, arrays=arrays)
    return MaskedFactor(base, observed)


def factorise_folds(
    kernel: Kernel, data: Training, folds: Sequence[Fold], solver: Solver
) -> tuple[SampleFactor, SampleFactor]:
    """Factorise all samples, and those with positive weight, which are held out in turn."""
    n, d = data.X.shape
    arrays = tuning_arrays(n, d if kernel.linear else n, folds)
    cells, used = data.observed, data.used
    factor = factorise(kernel, data.X, data.weights, cells, solver, arrays)
    if data.weights is None or len(used) == n:
        return factor, factor
    X = data.X[used][:, used] if kernel.precomputed else data.X[used]
    part = None if cells is None else cells[used]
    return factor, factorise(kernel, X, data.weights[used], part, solver, arrays)


THIN = 2000  # from this number of labels on, a QR decomposition of A' pays off before S is formed

Point = tuple[float, float, int]  # alpha, beta and the dimension r of the shared subspace


def default_rank(n_labels: int) -> int:
    """Return the dimension of the shared subspace in Ji et al. 2010, 5 floor((m - 1) / 5).

    It is at least 1.
    """
    return max(1, 5 * ((n_labels - 1) // 5))


def choose_rank(n_components: int | None, n_labels: int) -> int:
    """Return the dimension of the shared subspace; None is that of Ji et al. 2010."""
    if n_components is None:
        return default_rank(n_labels)
    check_number("n_components", n_components, 0, n_labels, integer=True)
    return int(n_components)


class Arranged(Protocol):
    """A grid whose values can be arranged by its parameters."""

    def arrange(self, values: Floats) -> Floats:
        """Return values of the points in the order of the lists of parameters."""
        ...


@dataclass(frozen=True)
class Tuning:
    """The results of all grid points, and the best one.

    Attributes
    ----------
    cv_results : dict
        The results of all grid points.
    best_index : int
        The position of the best grid point.
    best_score : float
        Its score.
    best_params : dict
        Its values of alpha, beta and n_components, and of gamma if several were compared.
    score_grid : (n_alphas, n_betas, n_dimensions) or (..., n_gammas) array
        The scores in the order of the lists of parameters.
    oof_scores : (n_samples, n_labels) array
        The held-out scores of the best grid point, NaN for samples that were never held out.
    """

    cv_results: dict[str, Any]
    best_index: int
    best_score: float
    best_params: dict[str, Any]
    score_grid: Floats
    oof_scores: Floats

    @classmethod
    def of(cls, result: SearchResult, grid: Arranged, rows: Ints, n_samples: int) -> "Tuning":
        """Return the outcome of a search on some rows of ``n_samples`` samples."""
        assert result.oof_scores is not None
        best = int(result.best)
        oof_scores = np.full((n_samples, result.oof_scores.shape[1]), np.nan)
        oof_scores[rows] = result.oof_scores
        return cls(
            result.table,
            best,
            float(result.score),
            dict(result.table["params"][best]),
            grid.arrange(result.table["pooled_test_score"]),
            oof_scores,
        )

    @property
    def point(self) -> tuple[float, float, int]:
        """The best alpha, beta and dimension of the shared subspace."""
        best = self.best_params
        return best["alpha"], best["beta"], best["n_components"]


@dataclass(frozen=True)
class SharedSubspace:
    """The minimiser in the coefficients of a factor: dual (n, m) or primal (d, m).

    Attributes
    ----------
    coefficients : (p, m) array
        The weights U.
    W : (m, k) array
        The eigenvectors of S, k <= r.
    eigenvalues : (m,) array
        The eigenvalues of S, descending.
    ridge : Solution
        The ridge regressions A and B.
    """

    coefficients: Floats
    W: Floats
    eigenvalues: Floats
    ridge: Solution

    @property
    def directions(self) -> Floats:
        """A W (p, k), which spans the shared subspace Theta; computed each time it is read."""
        return np.asarray(self.ridge.coefficients[0] @ self.W)


@dataclass(frozen=True)
class SubspaceSolution:
    """A solved model: its weights, and what the fitted attributes show.

    Attributes
    ----------
    weights : Weights
        How samples become scores, and points of the shared subspace.
    eigenlabels : (m, k) array
        The combinations W of labels that share the subspace.
    eigenvalues : (m,) or (k,) array
        The eigenvalues of S, descending.
    n_iter : int
        The number of iterations, 1 for direct solvers.
    residuals : (shifts, m) array or None
        The residuals of an iterative solver.
    shortfall : Shortfall or None
        The accuracy that an iterative solver missed.
    rule : Rule
        The rule by which scores become label sets, by default the sign of a score.
    thresholds : (m,) array or float
        The thresholds of the rule.
    tuning : Tuning or None
        The search that chose the parameters.
    calibration : Calibration or None
        The maps from scores to probabilities.
    """

    weights: Weights
    eigenlabels: Floats
    eigenvalues: Floats
    n_iter: int = 1
    residuals: Floats | None = None
    shortfall: Shortfall | None = None
    rule: Rule = field(default_factory=Zero)
    thresholds: Floats | float = 0.0
    tuning: Tuning | None = None
    calibration: Calibration | None = None


def solve(factor: Factor, T: Floats, point: Point, domain: Domain) -> SubspaceSolution:
    """Solve Eq. 5 for one (alpha, beta, r) and return the solved model.

    Parameters
    ----------
    factor : Factor
        The training samples.
    T : (n, m) array
        The targets.
    point : tuple
        The values of alpha, beta and r.
    domain : Domain
        What the weights apply to.
    """
    found = solve_shared_subspace(factor, T, *point)
    U = factor.export(found.coefficients)
    intercept = factor.intercept(T, found.coefficients, U)
    # A W = U W, because the light shift applies to all of W.
    basis = domain.lazy_basis(U, found.W)
    if basis is None:
        basis = domain.map(factor.orthonormalise(found.directions)[0])
    weights = Full(intercept.astype(domain.dtype), basis, factor.origin, domain.map(U))
    ridge = found.ridge
    return SubspaceSolution(
        weights, found.W, found.eigenvalues, ridge.n_iter, ridge.residuals, ridge.shortfall
    )


def solve_statistics(statistics: Statistics, point: Point, *, centre: bool) -> SubspaceSolution:
    """Solve Eq. 5 from the statistics of samples with a linear kernel.

    Equivalent to :func:`solve` with the samples themselves.
    """
    factor = StatisticsFactor(statistics, centre)
    domain = Domain(Kernel("linear"), statistics.dtype)
    return solve(factor, np.eye(len(statistics.t)), point, domain)


def solve_shared_subspace(
    factor: Factor, T: Floats, alpha: float, beta: float, r: int
) -> SharedSubspace:
    """Return the minimiser of Eq. 5 for one (alpha, beta, r).

    Infinite alpha is the reduced-rank limit: B = 0, and S is scaled by alpha to stay finite.
    Directions whose eigenvalue is zero up to rounding, or below the accuracy of an iterative
    factor, are missing from W and the directions, but their part of the weights is kept.
    """
    if np.isinf(alpha):
        ridge = factor.solve(T, [beta])
        A = ridge.coefficients[0]
        B, scaled = np.zeros_like(A), factor.gradient(T)
    else:
        ridge = factor.solve(T, [beta, alpha + beta])
        A, B = ridge.coefficients
        scaled = B
    eigenvalues, W = _eigenvectors_of_s(factor, A, scaled)
    shown = W[:, : min(r, _rank_of_s(factor, eigenvalues), len(A))]
    return SharedSubspace(_mix(A, B, W, r), shown, eigenvalues, ridge)


def _mix(A: Floats, B: Floats, W: Floats, r: int) -> Floats:
    """Return the weights that are A on the first r eigenvectors of S and B on all others.

    ``B + (A - B) W_r W_r'``, or the same through the eigenvectors that are left out if they are
    all there and fewer: the dimension of Ji et al. 2010 leaves out five at most.
    """
    m, k = W.shape
    if k == m and 2 * r > m:
        rest = W[:, r:]
        return np.asarray(A - (A - B) @ rest @ rest.T)
    shared = W[:, :r]
    return np.asarray(B + (A - B) @ shared @ shared.T)


def _eigenvectors_of_s(factor: Factor, A: Floats, B: Floats) -> tuple[Floats, Floats]:
    """Return all eigenvalues of A'B, and the eigenvectors that are not orthogonal to A's rows.

    S is zero on all that is orthogonal to these rows. If there are far fewer rows than labels,
    the eigenproblem is solved in their span, which is small.
    """
    p, m = A.shape
    if m < THIN or m <= 2 * p or not factor.symmetric:
        return descending_eigh(factor.inner(A, B))
    basis, _ = np.linalg.qr(A.T)
    values, E = descending_eigh(factor.inner(A @ basis, B @ basis))
    return np.sort(np.r_[values, np.zeros(m - p)])[::-1], fix_signs(basis @ E)


def _rank_of_s(factor: Factor, eigenvalues: Floats) -> int:
    tol = factor.accuracy
    if tol > 0 and factor.symmetric and eigenvalues[0] > 0:
        # S has no negative eigenvalues: negative ones show how inexact all of them are.
        tol = max(tol, -2 * eigenvalues[-1] / eigenvalues[0])
    return positive_count(eigenvalues, tol=tol)
