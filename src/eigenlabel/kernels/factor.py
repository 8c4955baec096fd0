"""The factor of training samples: by their shape if the kernel is linear, else by a Gram matrix."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from eigenlabel.inputs.data import check_scale
from eigenlabel.inputs.parameters import (
    COUNT,
    Choice,
    Declaration,
    Flag,
    Maybe,
    Number,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.kernels.gram import gram_matrix
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.base import SampleFactor
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.factors.gram import GramFactor
from eigenlabel.linalg.factors.kernel_krylov import KernelKrylovFactor
from eigenlabel.linalg.factors.solution import Shortfall
from eigenlabel.linalg.machine import ARRAYS, memory_limit
from eigenlabel.linalg.operators import CentredOperator

SOLVER_PARAMETERS: Mapping[str, Declaration] = {
    "fit_intercept": Flag(),
    "solver": Choice("auto", "gram", "covariance", "krylov"),
    "tol": Number(0),
    "max_iter": COUNT,
    "max_memory": Maybe(Number(1, inf=True)),
}


@dataclass(frozen=True)
class Solver:
    """How the equations are solved.

    Attributes
    ----------
    name : str
        "gram" (n x n), "covariance" (d x d), "krylov" (products alone), or "auto".
    tol : float
        Relative residual at which "krylov" stops.
    max_iter : int
        Number of iterations after which "krylov" stops.
    max_memory : float or None
        Upper bound in bytes on the arrays held at once; None is the free memory.
    fit_intercept : bool
        Whether samples and targets are centred.
    """

    name: str = "auto"
    tol: float = 1e-6
    max_iter: int = 1000
    max_memory: float | None = None
    fit_intercept: bool = True

    @property
    def limit(self) -> float:
        """Upper bound on the memory in bytes."""
        return memory_limit() if self.max_memory is None else self.max_memory

    def check_kernel(self, kernel: Kernel) -> None:
        """Raise ValueError if the solver does not work with the kernel."""
        if self.name == "krylov" and kernel.precomputed:
            raise ValueError(
                "solver='krylov' computes kernel values when it needs them, but "
                "kernel='precomputed' passes all of them: use solver='auto'."
            )
        if self.name == "covariance" and not kernel.linear:
            raise ValueError(
                "solver='covariance' works with kernel='linear' only, got "
                f"kernel={kernel.name!r}. Use solver='auto'."
            )


def warn_shortfall(shortfall: Shortfall | None) -> None:
    """Warn if an iterative solver did not reach its tolerance."""
    if shortfall is not None:
        warn(shortfall.message, ConvergenceWarning)


def factorise_samples(
    kernel: Kernel,
    X: Any,
    weights: Floats | None = None,
    solver: Solver | None = None,
    *,
    arrays: float = ARRAYS,
) -> SampleFactor:
    """Factorise training samples: by shape for a linear kernel, by the Gram matrix for others.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with gamma settled.
    X : (n_samples, n_features) array or sparse matrix
        The training samples; for a precomputed kernel its matrix.
    weights : (n_samples,) array or None
        Sample weights.
    solver : Solver or None
        How the equations are solved; None is ``Solver()``.
    arrays : float
        The number of arrays of the smaller side squared that the caller holds at once.
    """
    solver = Solver() if solver is None else solver
    bounds = solver.tol, solver.max_iter, solver.limit
    centre = solver.fit_intercept
    if kernel.linear:
        check_scale(X)
        operator = CentredOperator(X, weights, centre)
        return factorise(operator, centre, solver.name, *bounds, arrays=arrays)
    if solver.name == "krylov":
        return KernelKrylovFactor(kernel.values, X, weights, centre, *bounds)
    gram = gram_matrix(kernel, X, limit=solver.limit, arrays=arrays)
    return GramFactor(
        gram.K, weights, centre, gram.precision, positive=gram.positive, overwrite=True
    )
