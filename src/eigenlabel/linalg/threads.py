"""The number of BLAS threads: as many as there are idle cores, at most what the user has set.

BLAS threads wait for each other thousands of times in one decomposition, and they wait by spinning.
If one of them shares its core with another program, all of them run at the pace of that core: on a
busy machine, two threads are several times slower than one.

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
        """Store the current numbers of threads, and set new ones."""
        with self.lock:
            if self.owner is None:
                self.owner = threading.get_ident()
            if not self.mine:
                return
            self.depth += 1
            if self.depth == 1:
                self.found = [(lib, lib.get_num_threads()) for lib in self.libraries()]
                self._set(looks=1)
                self.looked = -1.0  # the first large step counts more carefully

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

    def adapt(self) -> None:
        """Count the idle cores again if the last count is old."""
        if self.mine and time.monotonic() - self.looked > PATIENCE:
            with self.lock:
                self._set(LOOKS)

    def _set(self, looks: int) -> None:
        if any(threads > 1 for _, threads in self.found):
            idle = idle_cores(looks)
            for lib, threads in self.found:
                lib.set_num_threads(min(threads, idle))
        self.looked = time.monotonic()


_blas = _Blas()


def idle_cores(looks: int = 1) -> int:
    """Return how many of the cores that this process may use are idle or used by itself."""
    return max(1, min(n_threads(), (os.cpu_count() or 1) - runnable_elsewhere(looks)))


def user_has_set_threads() -> bool:
    """Return whether an environment variable sets the number of threads."""
    return any(os.environ.get(name) for name in VARIABLES)


@contextmanager
def idle_threads() -> Iterator[None]:
    """Restrict BLAS to idle cores, unless an environment variable sets its threads."""
    if user_has_set_threads():
        yield
        return
    depth = _blas.depth if _blas.mine else 0
    try:
        _blas.enter()
        yield
    finally:
        _blas.leave(depth)


def adapt_threads() -> None:
    """Count the idle cores again before a large step, inside :func:`idle_threads`."""
    _blas.adapt()


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
