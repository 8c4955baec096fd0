"""Progress bars: shown on a terminal or on request, and never in a pipe."""

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
    """Return a progress bar on stderr, which ``update(k)`` advances.

    Parameters
    ----------
    total : int or None
        The number of steps; None if it is unknown.
    title : str
        The text before the bar.
    unit : str
        The name of a step; "B" stands for bytes, with prefixes.
    shown : bool or None
        Whether the bar is shown. None shows it on a terminal only. If it is shown and stderr is
        not a terminal, it prints few lines.
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
    """Show the tuning of estimators on a terminal while the block runs, as the commands do."""
    token = _watched.set(True)
    try:
        yield
    finally:
        _watched.reset(token)


def tuning(total: int, verbose: int, unit: str = "step") -> tqdm:
    """Return the bar of a tuning; it is shown if ``verbose`` is positive, or in ``watched``."""
    if not isinstance(verbose, numbers.Integral):  # which includes bool
        raise TypeError(f"verbose must be an integer, 0 for silence, got {verbose!r}.")
    if verbose < 0:
        raise ValueError(f"verbose must be 0 for silence or at least 1, got {verbose}.")
    return progress(total, "tuning", unit, True if verbose else None if _watched.get() else False)


def follow(items: Sequence[Any], verbose: int, unit: str) -> Iterator[Any]:
    """Yield the items of a tuning one by one, and advance its bar after each of them."""
    with tuning(len(items), verbose, unit) as bar:
        for item in items:
            yield item
            bar.update(1)
