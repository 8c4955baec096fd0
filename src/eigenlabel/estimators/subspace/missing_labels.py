"""What ML-LS does with labels that are not observed: NaN in y."""

from dataclasses import replace
from typing import Any

import numpy as np

from eigenlabel.kernels.factor import Solver, factorise_samples
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg.cells import number_patterns
from eigenlabel.linalg.factors.masked import MaskedFactor
from eigenlabel.linalg.factors.protocol import SampleFactor
from eigenlabel.linalg.memory import ARRAYS

EXACT_WORK = 5e11  # patterns times p^3, p the smaller side of X, up to which solver="auto" is exact


def exact_route(
    kernel: Kernel, solver: Solver, shape: tuple[int, int], observed: np.ndarray
) -> Solver:
    """Give the solver: one factor per pattern, or products if there are too many patterns."""
    if solver.name == "krylov" and not kernel.linear:
        raise ValueError(
            "solver='krylov' with a kernel takes no labels that are not observed (NaN): use "
            "solver='auto', or eigenlabel.MEKA in front of a linear model."
        )
    patterns = int(number_patterns(observed).max()) + 1
    many = patterns > max(1.0, EXACT_WORK / min(shape) ** 3)
    return (
        replace(solver, name="krylov")
        if solver.name == "auto" and kernel.linear and many
        else solver
    )


def factorise(
    kernel: Kernel,
    X: Any,
    weights: np.ndarray | None,
    observed: np.ndarray | None,
    solver: Solver,
    arrays: float = ARRAYS,
) -> SampleFactor:
    """Factor the training data of a model, with regard to what is observed.

    ``arrays`` is the number of square arrays that exist at once, that of a fit by default.
    """
    if observed is None:
        return factorise_samples(kernel, X, weights, solver, arrays=arrays)
    solver = exact_route(kernel, solver, X.shape, observed)
    base = factorise_samples(kernel, X, weights, solver, arrays=arrays)
    return MaskedFactor(base, observed)
