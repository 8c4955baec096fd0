"""How many threads BLAS uses: as many as cores are idle, and never more than the user has set.

The threads of BLAS wait for each other thousands of times in one decomposition, and they wait by
spinning. If one of them shares its core with another program, all of them run at the pace of that
core's time slices: on a busy machine two threads are several times slower than one.

A number that the user has set, by an environment variable such as OPENBLAS_NUM_THREADS or by
``threadpoolctl.threadpool_limits``, is never exceeded; an environment variable is left alone.
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
PATIENCE = 0.2  # seconds for which a look at the machine holds
LOOKS = 3


class _Blas:
    """The BLAS libraries of the process and the fit that sets their threads at the moment.

    The number of threads belongs to the process, and threadpoolctl lets one Python thread change
    it. Of several fits at once in different Python threads, the first one does.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owner: int | None = None
        self.depth = 0
        self._libraries: list[Any] | None = None
        self.found: list[tuple[Any, int]] = []
        self.looked = -1.0

    def libraries(self) -> list[Any]:
        """Return the controllers of the BLAS libraries; they are searched for once."""
        if self._libraries is None:
            self._libraries = list(ThreadpoolController().select(user_api="blas").lib_controllers)
        return self._libraries

    def enter(self) -> None:
        """Note the numbers of threads, and set them."""
        with self.lock:
            if self.owner is None:
                self.owner = threading.get_ident()
            if not self.mine:
                return
            self.depth += 1
            if self.depth == 1:
                self.found = [(lib, lib.get_num_threads()) for lib in self.libraries()]
                self._set(looks=1)
                self.looked = -1.0  # a large step looks more closely

    def leave(self, depth: int) -> None:
        """Return to a depth; restore the numbers of threads if it is 0.

        The depth is the one before :meth:`enter`, which an interrupt may have ended half-way.
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
        """Whether this Python thread sets the numbers."""
        return self.owner == threading.get_ident()

    def adapt(self) -> None:
        """Look at the machine again if the last look is old."""
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
    """Return how many of the cores that this process may use are idle, its own included."""
    return max(1, min(n_threads(), (os.cpu_count() or 1) - runnable_elsewhere(looks)))


def user_has_set_threads() -> bool:
    """Return whether an environment variable sets the number of threads."""
    return any(os.environ.get(name) for name in VARIABLES)


@contextmanager
def idle_threads() -> Iterator[None]:
    """Let BLAS use idle cores only, unless an environment variable sets its threads."""
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
    """Look at the machine again before a large step, inside :func:`idle_threads`."""
    _blas.adapt()


def blas_threads() -> int:
    """Return the largest number of threads that a BLAS library is set to, 1 if there is none."""
    return max((int(lib.get_num_threads()) for lib in _blas.libraries()), default=1)


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Lower the number of BLAS threads; smaller numbers that were set stay."""
    found = [(lib, lib.get_num_threads()) for lib in _blas.libraries()]
    try:
        for lib, before in found:
            lib.set_num_threads(min(before, threads))
        yield
    finally:
        for lib, before in found:
            lib.set_num_threads(before)
