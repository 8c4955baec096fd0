"""One way to show progress: a bar where someone watches, silence elsewhere."""

import numbers
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tqdm import tqdm

_watched: ContextVar[bool] = ContextVar("watched", default=False)
SLOW = 10.0  # seconds between two lines of a bar that is not on a terminal


def progress(total: int | None, title: str, unit: str = "it", shown: bool | None = None) -> tqdm:
    """Return a bar on stderr to advance with ``update(k)``.

    By default it is shown on a terminal only. With ``shown=True`` it is shown in any case; where
    stderr is no terminal, in few lines.
    """
    terminal = sys.stderr.isatty()
    return tqdm(
        total=total,
        desc=title,
        unit=unit,
        unit_scale=(unit == "B"),
        disable=not (terminal if shown is None else shown),
        leave=not terminal,
        mininterval=0.1 if terminal else SLOW,
    )


@contextmanager
def watched() -> Iterator[None]:
    """Show the progress of estimators that tune themselves on a terminal, as commands do."""
    token = _watched.set(True)
    try:
        yield
    finally:
        _watched.reset(token)


def tuning(total: int, verbose: int, unit: str = "step") -> tqdm:
    """Return the bar of an estimator that tunes itself, shown if it is verbose or watched."""
    if not isinstance(verbose, numbers.Integral):  # bool is one
        raise TypeError(f"verbose must be an integer, 0 for silence, got {verbose!r}.")
    if verbose < 0:
        raise ValueError(f"verbose must be 0 for silence or at least 1, got {verbose}.")
    return progress(total, "tuning", unit, True if verbose else None if _watched.get() else False)


def follow(items: Sequence[Any], verbose: int, unit: str) -> Iterator[Any]:
    """Yield the items of a tuning one by one, and advance its bar after each."""
    with tuning(len(items), verbose, unit) as bar:
        for item in items:
            yield item
            bar.update(1)
