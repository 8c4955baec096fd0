"""What the machine has left for a process: memory, cores, and checks that arrays fit."""

import importlib
import importlib.util
import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path("/")  # of the file system with proc and sys
PAUSE = 3e-4  # seconds between two counts of the running programs
LARGE = 2.0**60  # control groups of version 1 write "no limit" as a number above this


def memory_limit() -> float:
    """Return the bytes of memory that this process can still use, infinity if unknown.

    This is the smallest of the free memory of the machine, the memory that the control groups of
    the process have left, and the address space that ``ulimit -v`` leaves.
    """
    return max(0.0, min(_free_memory(), _address_space(), *_group_memory()))


def _free_memory() -> float:
    """Return the memory that is available without swapping, or all memory if that is unknown."""
    for line in _lines(ROOT / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return 1024 * _number(line.split()[1])
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return math.inf


def _address_space() -> float:
    """Return the bytes of address space that the soft limit leaves."""
    try:
        import resource  # noqa: PLC0415  Windows has no such module

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return math.inf
    except (ImportError, OSError, ValueError):
        return math.inf
    used = next(iter(_lines(ROOT / "proc/self/statm")), "0").split()[0]
    return float(limit) - _number(used, 0.0) * os.sysconf("SC_PAGE_SIZE")


def _group_memory() -> Iterator[float]:
    """Yield the bytes that each control group of the process has left, with all parent groups."""
    for version, folder in _groups("memory"):
        names = ("memory.max", "memory.current", "inactive_file")
        if version == 1:
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        limit = _read_number(folder / names[0], math.inf)
        if limit < LARGE:
            statistics = _lines(folder / "memory.stat")
            cached = (x.split()[1] for x in statistics if x.startswith(f"{names[2]} "))
            used = _read_number(folder / names[1], 0.0) - _number(next(cached, "0"), 0.0)
            yield limit - max(0.0, used)  # cached files are evicted when needed


def _groups(controller: str) -> Iterator[tuple[int, Path]]:
    """Yield the version and folder of each control group of the process, innermost first.

    In a container, the path may be that of the host: groups that do not exist here are skipped,
    and the last one is the group of the container.
    """
    for line in _lines(ROOT / "proc/self/cgroup"):
        number, names, path = (*line.split(":", 2), "", "")[:3]
        mount = ROOT / "sys/fs/cgroup"
        if number == "0" and not names:
            version, places = 2, [mount, mount / "unified"]
        elif controller in names.split(","):
            version, places = 1, [mount / controller, mount / names]
        else:
            continue
        parts = [p for p in path.strip("/").split("/") if p not in ("", ".", "..")]
        for top in dict.fromkeys(places):
            for depth in range(len(parts), -1, -1):
                yield version, top.joinpath(*parts[:depth])


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []


def _read_number(path: Path, default: float) -> float:
    return _number(next(iter(_lines(path)), ""), default)


def _number(text: str, default: float = math.inf) -> float:
    """Return the number that a text stands for, or the default if it is "max" or no number."""
    try:
        return float(text)
    except ValueError:
        return default


def n_threads() -> int:
    """Return the number of threads to use: OMP_NUM_THREADS, or the cores this process may use."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given):
        return int(given)
    return usable_cores()


def usable_cores() -> int:
    """Return the number of cores that affinity and the quotas of control groups allow."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        cores = os.cpu_count() or 1
    return max(1, int(min(cores, *_group_cores(), math.inf)))


def _group_cores() -> Iterator[float]:
    """Yield the number of cores that the quota of each control group of the process allows."""
    for version, folder in _groups("cpu"):
        if version == 2:
            quota, period = (*" ".join(_lines(folder / "cpu.max")).split(), "", "")[:2]
        else:
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            quota, period = (" ".join(_lines(folder / name)) for name in names)
        if 0 < _number(quota) < math.inf and 0 < _number(period) < math.inf:
            yield _number(quota) / _number(period)


def runnable_elsewhere(looks: int = 1) -> int:
    """Return the number of threads of other processes that run or wait for a core, 0 if unknown.

    One count may miss a program that pauses; the largest of several counts is returned.
    """
    most = 0
    for k in range(looks):
        if k:
            time.sleep(PAUSE)
        words = " ".join(_lines(ROOT / "proc/loadavg")).split()
        running = words[3].split("/")[0] if len(words) > 3 else "0"
        most = max(most, int(_number(running, 0.0)) - _own_running())
    return most


def _own_running() -> int:
    """Return the number of running threads of this process, with BLAS threads that still spin."""
    own = 0
    try:
        tasks = list((ROOT / "proc/self/task").iterdir())
    except OSError:
        return 1
    for task in tasks:
        text = "".join(_lines(task / "stat"))
        own += text.rpartition(")")[2].split()[:1] == ["R"]  # the name may contain any character
    return max(1, own)


# Square arrays of one exact fit: the Gram matrix, a scaled one and its Cholesky factor; if that is
# singular, its eigenvectors and LAPACK's workspace. Measured by benchmarks/bench_memory.py.
ARRAYS = 5

ADVICE = (
    "Use solver='krylov', eigenlabel.MEKA in front of a linear method for kernels, fewer samples, "
    "or fewer features (feature hashing, feature selection)."
)


def readable(size: float) -> str:
    """Format a number of bytes in the largest suitable unit, such as 640 KiB or 1.5 GiB."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB")
    for power, unit in enumerate(units):
        if size < 1000 * 1024**power or unit == units[-1]:
            break
    return f"{size / 1024**power:.3g} {unit}"


def exact_memory(p: int, arrays: float = ARRAYS) -> float:
    """Return the bytes of ``arrays`` p x p arrays of float64, by default those of one exact fit."""
    return arrays * 8.0 * p * p


def check_memory(
    p: int,
    what: str,
    advice: str = ADVICE,
    limit: float | None = None,
    arrays: float = ARRAYS,
) -> None:
    """Raise MemoryError if ``arrays`` p x p arrays do not fit in ``limit`` bytes.

    The default limit is the memory that the process can still use.
    """
    limit, needed = memory_limit() if limit is None else limit, exact_memory(p, arrays)
    if needed > limit:
        raise MemoryError(
            f"The {what} needs about {readable(needed)} for its {p} x {p} matrices, but the limit "
            f"is {readable(limit)} (max_memory, or the free memory by default). {advice}"
        )


def reset_peak_memory() -> None:
    """Start counting the peak memory of the process again, if the operating system allows it."""
    try:
        (ROOT / "proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_memory() -> float | None:
    """Return the peak memory of the process in MiB, or None if it is unknown.

    On Linux the count starts at the last :func:`reset_peak_memory`.
    """
    lines = (line.split() for line in _lines(ROOT / "proc/self/status"))
    found = next((words[1] for words in lines if words[:1] == ["VmHWM:"]), None)
    if found is not None:
        return round(int(found) / 2**10, 1)
    if importlib.util.find_spec("resource") is None:  # on Windows
        return None
    resource: Any = importlib.import_module("resource")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (2**20 if sys.platform == "darwin" else 2**10)
