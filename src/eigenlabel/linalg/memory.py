"""How much memory a problem needs, compared with how much there is."""

from eigenlabel.linalg.machine import memory_limit

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
