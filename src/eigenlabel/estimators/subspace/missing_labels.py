"""What ML-LS does with labels that are not observed: NaN in y."""

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenlabel.linalg.factors.exact import Factor
from eigenlabel.linalg.factors.kernel_krylov import KernelKrylovFactor
from eigenlabel.linalg.factors.masked import (
    MaskedFactor,
    MaskedFold,
    masked_heldout,
    number_patterns,
)
from eigenlabel.linalg.heldout import Fold, FoldBlock, heldout

EXACT_WORK = 5e11  # patterns times p^3, p the smaller side of X, up to which solver="auto" is exact


def exact_route(model: Any, shape: tuple[int, int], observed: np.ndarray) -> str:
    """Give the solver: one factor per pattern, or products if there are too many patterns."""
    if model.solver == "krylov" and not model._linear:
        raise ValueError(
            "solver='krylov' with a kernel takes no labels that are not observed (NaN): use "
            "solver='auto', or eigenlabel.MEKA in front of a linear model."
        )
    patterns = int(number_patterns(observed).max()) + 1
    many = patterns > max(1.0, EXACT_WORK / min(shape) ** 3)
    return "krylov" if model.solver == "auto" and model._linear and many else model.solver


def factorise(
    model: Any,
    X: Any,
    weights: np.ndarray | None,
    observed: np.ndarray | None,
    arrays: float | None = None,
) -> Factor | MaskedFactor:
    """Factor the training data of a model, with regard to what is observed.

    ``arrays`` is the number of square arrays that exist at once, that of a fit by default.
    """
    if observed is None:
        return model._factorise(X, weights, arrays=arrays)
    solver = exact_route(model, X.shape, observed)
    base = model._factorise(X, weights, solver, arrays=arrays)
    assert not isinstance(base, KernelKrylovFactor)
    return MaskedFactor(base, observed)


def heldout_blocks(
    factor: Factor | MaskedFactor,
    T: np.ndarray,
    folds: list[Fold],
    shifts: list[float],
    pairs: list[tuple[int, int]],
    max_memory: float,
    advance: Callable[[int], Any],
) -> list[FoldBlock | MaskedFold]:
    """Prepare the held-out scores of every shift and fold."""
    if isinstance(factor, MaskedFactor):
        found = list(masked_heldout(factor, T, folds, shifts, pairs))
        advance(len(folds))
        return found
    return heldout(factor, T, folds, shifts, pairs, max_memory, advance)
