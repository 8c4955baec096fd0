"""The factor of training samples on which some labels are not observed (NaN in y)."""

from dataclasses import replace
from typing import Any

from eigenlabel.kernels.factor import Solver, factorise_samples
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.cells import number_patterns
from eigenlabel.linalg.factors.masked import MaskedFactor
from eigenlabel.linalg.factors.protocol import SampleFactor
from eigenlabel.linalg.memory import ARRAYS

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
