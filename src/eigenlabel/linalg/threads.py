"""The number of BLAS threads: one, or as many as there are idle cores for large matrices.

BLAS threads wait for each other thousands of times in one decomposition, and they wait by spinning.
If one of them shares its core with another program, all of them run at the pace of that core: on a
busy machine, two threads are several times slower than one. On an idle machine they pay off for
matrices of some thousand rows alone: between large steps they go on spinning, and each array that
is freed interrupts them (``benchmarks/bench_threads.py``).

A number that the user has set by ``threadpoolctl.threadpool_limits`` is never exceeded. A number
that is set by an environment variable such as OPENBLAS_NUM_THREADS is not changed.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

from eigenlabel.linalg.machine import n_threads, runnable_elsewhere

VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
PATIENCE = 0.2  # seconds for which a count of idle cores is valid
LARGE = 2000  # rows of a matrix from which on several threads are faster than one
LOOKS = 3  # counts of which the smallest number of idle cores is used


class _Blas:
    """The BLAS libraries of the process, and the fit that currently sets their threads.

    The number of threads belongs to the process. If several fits run at once in different Python
    threads, only the first one changes it.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owner: int | None = None
        self.depth = 0
        self._libraries: list[Any] | None = None
        self.found: list[tuple[Any, int]] = []
        self.looked = -1.0

    def libraries(self) -> list[Any]:
        """Return the controllers of the BLAS libraries, which are searched once."""
        if self._libraries is None:
            self._libraries = list(ThreadpoolController().select(user_api="blas").lib_controllers)
        return self._libraries

    def enter(self) -> None:
        """Store the current numbers of threads, and use one."""
        with self.lock:
            if self.owner is None:
                self.owner = threading.get_ident()
            if not self.mine:
                return
            self.depth += 1
            if self.depth == 1:
                self.found = [(lib, lib.get_num_threads()) for lib in self.libraries()]
                self._set(1)
                self.looked = -1.0  # the first large step counts idle cores

    def leave(self, depth: int) -> None:
        """Return to the depth before :meth:`enter`; restore the numbers of threads if it is 0.

        The depth is passed because an interrupt may have stopped :meth:`enter` half-way.
        """
        if not self.mine:
            return
        with self.lock:
            self.depth = depth
            if depth == 0:
                try:
                    for lib, threads in self.found:
                        lib.set_num_threads(threads)
                finally:
                    self.found, self.owner = [], None

    @property
    def mine(self) -> bool:
        """Whether this Python thread sets the numbers of threads."""
        return self.owner == threading.get_ident()

    def adapt(self, side: int) -> None:
        """Use one thread for a small matrix, and for a large one as many as cores are idle.

        The idle cores are counted again if the last count is old.
        """
        if not self.mine:
            return
        if side < LARGE:
            self._set(1)
            self.looked = -1.0
        elif time.monotonic() - self.looked > PATIENCE:
            with self.lock:
                several = any(threads > 1 for _, threads in self.found)
                self._set(idle_cores(LOOKS) if several else 1)
                self.looked = time.monotonic()

    def _set(self, most: int) -> None:
        for lib, threads in self.found:
            lib.set_num_threads(min(threads, most))


_blas = _Blas()


def idle_cores(looks: int = 1) -> int:
    """Return how many of the cores that this process may use are idle or used by itself."""
    return max(1, min(n_threads(), (os.cpu_count() or 1) - runnable_elsewhere(looks)))


def user_has_set_threads() -> bool:
    """Return whether an environment variable sets the number of threads."""
    return any(os.environ.get(name) for name in VARIABLES)


@contextmanager
def idle_threads() -> Iterator[None]:
    """Restrict BLAS to one thread, or to idle cores in large steps.

    Nothing is changed if an environment variable sets the number of threads.
    """
    if user_has_set_threads():
        yield
        return
    depth = _blas.depth if _blas.mine else 0
    try:
        _blas.enter()
        yield
    finally:
        _blas.leave(depth)


def adapt_threads(side: int) -> None:
    """Choose the threads of a step with a matrix of this many rows, inside :func:`idle_threads`."""
    _blas.adapt(side)


def blas_threads() -> int:
    """Return the largest number of threads of a BLAS library, 1 if there is no library."""
    return max((int(lib.get_num_threads()) for lib in _blas.libraries()), default=1)


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Limit the number of BLAS threads; smaller numbers that were set before are kept."""
    found = [(lib, lib.get_num_threads()) for lib in _blas.libraries()]
    try:
        for lib, before in found:
            lib.set_num_threads(min(before, threads))
        yield
    finally:
        for lib, before in found:
            lib.set_num_threads(before)
