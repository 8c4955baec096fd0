"""ML-LS with many labels: the m x m matrix S is never formed, and targets stay sparse.

For ``alpha=inf`` the weights are ``Theta'V`` with Theta (r x d) and V (r x m) of Ji et al. 2010,
and no array of d x m or m x m numbers exists. For finite alpha the weights are full, and only S is
avoided. Predictions of such models are computed in pieces of rows.
"""

import numbers
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.subspace.coefficients import Domain, Factored, Full, Weights
from eigenlabel.estimators.subspace.solve import Point, SubspaceSolution
from eigenlabel.inputs.data import check_data, unmasked
from eigenlabel.inputs.sample_weights import check_weights
from eigenlabel.kernels.factor import Solver, factorise_samples
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.labels.codec import LabelCodec, sparse_targets
from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.linalg.factors.base import SampleFactor
from eigenlabel.linalg.machine import readable
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.linalg.top_subspace import dense_memory, factored_memory

MANY = 10_000  # from this number of labels on, S is never formed
EXACT = 4096  # up to this smaller side of X, "auto" computes its eigenvectors


@dataclass(frozen=True)
class Sizes:
    """The sizes of a problem.

    Attributes
    ----------
    n : int
        The number of samples.
    d : int
        The number of features; for kernels, the number of samples.
    m : int
        The number of labels.
    linear : bool
        Whether the kernel is linear.
    """

    n: int
    d: int
    m: int
    linear: bool

    @classmethod
    def read(cls, X: Any, y: Any, linear: bool) -> "Sizes | None":
        """Return the sizes of unvalidated input, or None if they are unknown."""
        try:
            (n, d), shape = np.shape(X), np.shape(y)
            m = len(np.unique(np.asarray(y))) if len(shape) == 1 else shape[1]
        except (ValueError, TypeError, IndexError):
            return None  # the checks of fit report what is wrong
        return cls(n, d if linear else n, m, linear)


@dataclass(frozen=True)
class SparseTraining:
    """Checked training data with many labels.

    Attributes
    ----------
    X : (n, d) array or sparse matrix
        The samples, or their kernel matrix.
    Y : (n, m) sparse matrix
        The label matrix.
    codec : LabelCodec
        How label matrices become what the user passed, and back.
    weights : (n,) array or None
        The weights of the samples.
    """

    X: Matrix
    Y: Matrix
    codec: LabelCodec
    weights: Floats | None


def is_needed(sizes: Sizes | None, solver: Solver, alpha: float, n_components: Any) -> bool:
    """Return True if S is too large to form, or the fit with S does not fit in memory."""
    if sizes is None:
        return False
    many = sizes.m >= MANY
    full = dense_memory(sizes.n, sizes.d, sizes.m) > solver.limit
    r = n_components if isinstance(n_components, numbers.Integral) else sizes.m
    fits = _memory(sizes, solver, alpha, min(int(r), sizes.m))[0] <= solver.limit
    return (many or full) if fits else (many and full)


def check_tunable(sizes: Sizes | None) -> None:
    """Raise ValueError if a grid of m x m eigenproblems takes too long."""
    if sizes is not None and sizes.m >= MANY:
        raise ValueError(
            f"Exact tuning solves an m x m eigenproblem for each fold and grid point, which takes "
            f"too long for m = {sizes.m} labels (the limit is {MANY}). Use "
            "SharedSubspaceClassifier(alpha=inf) in sklearn.model_selection.GridSearchCV, with "
            "a scoring on predict_top."
        )


def check_sparse_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, square: bool = False
) -> SparseTraining:
    """Check the data passed to ``fit``; label matrices become sparse.

    See :func:`eigenlabel.estimators.base.check_training` for the parameters.
    """
    X = check_data(estimator, X, reset=True, square=square)
    _check_all_observed(y)
    codec, Y = LabelCodec.fit_sparse(y)
    check_consistent_length(X, Y)
    return SparseTraining(X, Y, codec, check_weights(sample_weight, X))


def _check_all_observed(y: Any) -> None:
    values = y.data if is_sparse(y) else np.asarray(unmasked(y))
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(
            "y contains NaN, labels that are not observed. This is possible for fewer than "
            f"{MANY} labels whose targets fit in max_memory. Here every label of every sample "
            "must be 0 or 1."
        )


def _choose_solver(sizes: Sizes, solver: Solver) -> str:
    """Return the solver: "auto" is the smaller side if it is small, else products."""
    if solver.name != "auto":
        return solver.name
    p = min(sizes.n, sizes.d)
    small = p <= EXACT and p <= sizes.m
    if not small and sizes.linear:
        return "krylov"
    return "gram" if sizes.n <= sizes.d else "covariance"


def _memory(sizes: Sizes, solver: Solver, alpha: float, r: int) -> tuple[float, float]:
    """Return the bytes of the fit without S, and those that its solves need."""
    full, exact = not np.isinf(alpha), _choose_solver(sizes, solver) != "krylov"
    return factored_memory(sizes.n, sizes.d, sizes.m, r, full=full, exact=exact)


def factorise_many(
    kernel: Kernel, data: SparseTraining, solver: Solver, alpha: float, r: int
) -> SampleFactor:
    """Factorise training samples; raise MemoryError if the fit does not fit in memory."""
    n, d = data.X.shape
    m = data.Y.shape[1]
    sizes = Sizes(n, d if kernel.linear else n, m, kernel.linear)
    needed, solves = _memory(sizes, solver, alpha, r)
    limit = solver.limit
    if needed > limit:
        advice = "" if np.isinf(alpha) else "alpha=inf, which needs no d x m weights, or "
        raise MemoryError(
            f"{m} labels with n_components = {r} and alpha = {alpha} need about "
            f"{readable(needed)}, max_memory is {readable(limit)}. Use {advice}"
            "a smaller n_components (some hundreds suffice for many labels), or fewer features."
        )
    if kernel.linear:
        room = limit - needed + solves
        solver = replace(solver, name=_choose_solver(sizes, solver), max_memory=room)
    return factorise_samples(kernel, data.X, data.weights, solver)


def solve_many(
    factor: SampleFactor, data: SparseTraining, point: Point, domain: Domain
) -> SubspaceSolution:
    """Solve Eq. 5 of Ji et al. 2010 without S, and without full weights if alpha is infinite.

    Equivalent to :func:`eigenlabel.estimators.subspace.solve.solve`.
    """
    alpha, beta, r = point
    T = sparse_targets(data.Y, data.weights, factor.centre)
    mean = T.mean - 1.0 if factor.centre else np.zeros(T.shape[1])
    side = factor.side(T, beta)
    found = side.top(alpha, beta, r)
    basis, R = factor.orthonormalise(found.directions)
    origin, dtype = factor.origin, domain.dtype
    weights: Weights
    if np.isinf(alpha):
        V = R @ found.W.T  # Theta U
        intercept = (mean - (origin @ basis) @ V).astype(dtype)
        weights = Factored(intercept, domain.map(basis), origin, V.astype(dtype))
    else:
        P = found.directions - side.ridge(found.W, alpha + beta)
        U = side.weights(alpha + beta, P, found.W)
        intercept = (mean - origin @ U).astype(dtype)
        weights = Full(intercept, domain.map(basis), origin, domain.map(U))
    return SubspaceSolution(
        weights, found.W, found.eigenvalues, n_iter=side.n_iter, shortfall=side.shortfall
    )
