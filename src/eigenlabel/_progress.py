"""One way to show progress: a bar where someone watches, silence elsewhere."""

import sys

from tqdm import tqdm


def progress(total: int | None, title: str, unit: str = "it") -> tqdm:
    """Give a bar to advance with ``update(k)``; it says nothing where stderr is no terminal."""
    return tqdm(
        total=total,
        desc=title,
        unit=unit,
        unit_scale=(unit == "B"),
        disable=not sys.stderr.isatty(),
        leave=False,
    )
