"""What factors with a square matrix share: direct solves, and all shifts from one factorisation."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.protocol import Factor, SampleFactor
from eigenlabel.linalg.factors.solution import Solution
from eigenlabel.linalg.heldout import Fold, FoldBlock, Pairs, is_partition
from eigenlabel.linalg.heldout_small_folds import prefers_one_factorisation, small_folds
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.solvers.shifted import ShiftedSystem, diagonalise


class ExactFactor(Factor):
    """Ridge regressions through one p x p matrix M: ``c = finish((M + n s I)^-1 right_side(T))``.

    Attributes
    ----------
    tolerance : relative rank tolerance, see :func:`eigenlabel.linalg.numerics.rank_tolerance`
    """

    tolerance: float
    _system: ShiftedSystem | None = None

    @abstractmethod
    def matrix(self) -> Floats:
        """Return M (p, p)."""

    @abstractmethod
    def right_side(self, T: Floats) -> Floats:
        """Return the right sides (p, m) of targets T."""

    def finish(self, Y: Floats) -> Floats:
        """Turn solutions (..., p, m) of the equations into coefficients."""
        return Y

    def solve(self, T: Floats, shifts: Sequence[float]) -> Solution:
        """Solve exactly: one Cholesky factor (p^3 / 3) for each of a few shifts.

        More shifts share one tridiagonal reduction (4 p^3 / 3). Solutions of singular equations
        have minimum norm.
        """
        if self._system is None:
            self._system = ShiftedSystem(self.matrix(), self.tolerance)
        found = self._system.solve(self.right_side(T), [self.total * s for s in shifts])
        return Solution(self.finish(found))


class ExactSampleFactor(ExactFactor, SampleFactor):
    """An exact factor that keeps its samples."""

    @abstractmethod
    def project(self, T: CentredOperator, E: Floats) -> Floats:
        """Return ``right_side(T)'Q`` (m, t) for sparse targets T and ``E = finish(Q)``."""

    @abstractmethod
    def gain(self, lam: Floats) -> Floats:
        """Return the diagonal (t,) of the metric in the eigenvectors of M, ``finish`` included."""

    def eigenvectors(self, shift: float) -> tuple[Floats, Floats]:
        """Return eigenvectors (p, t) and eigenvalues (t,) of M that count beside a shift."""
        return diagonalise(self.matrix(), self.tolerance, self.total * shift, overwrite=True)

    @abstractmethod
    def spectral_basis(self, shift: float) -> tuple[Floats, Floats]:
        """Return eigenvectors (n, t) and eigenvalues (t,) of the scaled, centred Gram matrix."""

    @abstractmethod
    def heldout_by_fold(
        self,
        T: Floats,
        folds: Sequence[Fold],
        shifts: Sequence[float],
        pairs: Pairs,
        max_memory: float,
        advance: Callable[[int], Any],
    ) -> list[FoldBlock]:
        """Prepare the held-out scores by one reduction for each fold."""

    def heldout(
        self,
        T: Floats,
        folds: Sequence[Fold],
        shifts: Sequence[float],
        pairs: Pairs = (),
        max_memory: float = float("inf"),
        advance: Callable[[int], Any] = int,
    ) -> list[FoldBlock]:
        """Prepare the held-out scores by the cheaper way.

        Either one reduction for each fold, or one factorisation of all samples, which is cheaper
        for many small folds. See :meth:`SampleFactor.heldout`.
        """
        n = T.shape[0]
        if not is_partition(n, folds) or not prefers_one_factorisation(
            self.size, n, folds, len(shifts)
        ):
            return self.heldout_by_fold(T, folds, shifts, pairs, max_memory, advance)
        basis = self.spectral_basis(self.total * min(shifts))
        found = small_folds(basis, self.weights, T, folds, shifts, self.centre)
        advance(len(folds))
        return list(found)
