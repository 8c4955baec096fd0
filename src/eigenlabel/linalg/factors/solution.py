"""What a solve returns."""

from dataclasses import dataclass

from eigenlabel.linalg._types import Floats


@dataclass(frozen=True)
class Shortfall:
    """Accuracy that an iterative solver did not reach.

    Attributes
    ----------
    residual : the largest relative residual
    wanted : the relative residual that was asked for
    message : complete sentences for the user, with advice
    """

    residual: float
    wanted: float
    message: str


@dataclass(frozen=True)
class Solution:
    """The ridge regressions of some targets, for some shifts.

    Attributes
    ----------
    coefficients : (shifts, p, m) in the coefficients of the factor: one row for each sample (dual)
        or for each feature (primal)
    residuals : (shifts, m) relative to the right side, rounding included; None for direct solvers
    n_iter : number of iterations, 1 for direct solvers
    shortfall : accuracy that was missed, or None
    """

    coefficients: Floats
    residuals: Floats | None = None
    n_iter: int = 1
    shortfall: Shortfall | None = None


def worst(shortfalls: "list[Shortfall | None]") -> Shortfall | None:
    """Return the shortfall with the largest residual, or None if there is none."""
    found = [each for each in shortfalls if each is not None]
    return max(found, key=lambda each: each.residual, default=None)
