"""Bounds of iterative solvers."""

from dataclasses import dataclass

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.solution import Shortfall
from eigenlabel.linalg.memory import readable


@dataclass(frozen=True)
class Bounds:
    """When a solver stops, and how much memory it may use.

    Attributes
    ----------
    tol : a solve stops at residuals ``|b - (A + s) x| <= tol |b|``
    max_iter : upper bound on the number of iterations
    max_memory : upper bound on the bytes of the arrays of a solve, its result included; targets
        are solved in groups if necessary
    """

    tol: float = 1e-6
    max_iter: int = 1000
    max_memory: float = float("inf")

    def group(self, m: int, answer: float, work: float) -> int:
        """Return how many of m columns fit at once.

        ``answer`` is the number of bytes of the result, ``work`` that of one column in a solve.
        """
        room = self.max_memory - answer
        if room < work:
            raise MemoryError(
                f"A Krylov solve needs {readable(answer + work)}, of which {readable(answer)} for "
                f"the answer; max_memory, by default the machine's, has {readable(self.max_memory)}"
                " for it. Use fewer shifts, targets or features at once."
            )
        return int(min(max(m, 1), room / work))

    def shortfall(self, residuals: Floats, n_iter: int) -> Shortfall | None:
        """Return the shortfall of a solve, or None if all residuals are within ``tol``."""
        worst = float(residuals.max(initial=0.0))
        if worst <= self.tol:
            return None
        limit = "" if n_iter < self.max_iter else f", max_iter = {self.max_iter}"
        advice = "Raise tol" if n_iter < self.max_iter else "Raise max_iter or tol"
        return Shortfall(
            worst,
            self.tol,
            f"Conjugate gradients stopped after {n_iter} iterations{limit} at a relative "
            f"residual of {worst:.2g}, tol = {self.tol:.2g}. {advice}, use larger penalties, "
            "or scale the features.",
        )
