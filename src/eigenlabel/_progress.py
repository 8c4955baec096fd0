"""One progress bar for whatever takes long, seen only by someone who watches."""

import sys

from tqdm import tqdm


def progress(total: int | None, title: str, unit: str = "it") -> tqdm:
    """Open a bar on stderr, a context manager with ``update(k)``; silent unless on a terminal."""
    return tqdm(
        total=total,
        desc=title,
        unit=unit,
        unit_scale=unit == "B",
        disable=not sys.stderr.isatty(),
        leave=False,
    )
