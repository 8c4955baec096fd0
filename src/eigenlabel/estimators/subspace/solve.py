"""The closed form of ML-LS, shared-subspace least squares (Ji et al. 2010).

    min_{U,V,Theta}  1/n |Xc U - T|^2 + alpha |U - Theta'V|^2 + beta |U|^2,   Theta Theta' = I

(Eq. 5 of Ji et al. 2010) has a closed form in two ridge regressions, with shifts beta and
alpha + beta, and one m x m eigenproblem::

    A = ridge(beta),  B = ridge(alpha + beta),  S = A'B,  W = top-r eigenvectors of S
    U = B + (A - B) W W',    Theta' = orth(A W)
"""

from dataclasses import dataclass, field

import numpy as np

from eigenlabel.estimators.subspace.tuning import Tuning
from eigenlabel.estimators.subspace.weights import Domain, Full, Weights
from eigenlabel.inputs.parameters import check_number
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.protocol import Factor
from eigenlabel.linalg.factors.solution import Shortfall, Solution
from eigenlabel.linalg.factors.statistics import StatisticsFactor
from eigenlabel.linalg.numerics import descending_eigh, fix_signs, positive_count
from eigenlabel.linalg.statistics import Statistics
from eigenlabel.thresholds.rule import Rule
from eigenlabel.thresholds.rules import Zero

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


@dataclass(frozen=True)
class SharedSubspace:
    """The minimiser in the coefficients of a factor: dual (n, m) or primal (d, m).

    Attributes
    ----------
    coefficients : (p, m) array
        The weights U.
    directions : (p, k) array
        A W, which spans the shared subspace Theta.
    W : (m, k) array
        The eigenvectors of S, k <= r.
    eigenvalues : (m,) array
        The eigenvalues of S, descending.
    ridge : Solution
        The ridge regressions A and B.
    """

    coefficients: Floats
    directions: Floats
    W: Floats
    eigenvalues: Floats
    ridge: Solution


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
    basis, _ = factor.orthonormalise(found.directions)
    U = factor.export(found.coefficients)
    intercept = factor.intercept(T, found.coefficients, U)
    weights = Full(
        intercept.astype(domain.dtype),
        domain.map(basis),
        (factor.origin @ basis).astype(domain.dtype),
        domain.map(U),
    )
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
    shared = W[:, :r]
    shown = W[:, : min(r, _rank_of_s(factor, eigenvalues), len(A))]
    return SharedSubspace(B + (A - B) @ shared @ shared.T, A @ shown, shown, eigenvalues, ridge)


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
