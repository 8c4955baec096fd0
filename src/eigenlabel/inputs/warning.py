"""Warnings that name the line of the caller, and blocks without warnings that threads may share."""

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

INSIDE = ("eigenlabel", "sklearn")


class NoDirectionWarning(UserWarning):
    """A projection found no direction, so that ``transform`` returns no columns."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of the library and of scikit-learn that called it."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def ignored(category: type[Warning], message: str = "") -> Iterator[None]:
    """Ignore warnings of a category whose text begins with a message, while the block runs.

    ``warnings.catch_warnings`` replaces all filters of the process and restores those it found, so
    that overlapping blocks of several threads leave a filter behind. Here each block adds one
    filter and removes the same one. Meanwhile, these warnings are ignored in other threads too.
    """
    entry = ("ignore", re.compile(message, re.IGNORECASE), category, None, 0)
    filters = cast(list[Any], warnings.filters)
    filters.insert(0, entry)
    try:
        yield
    finally:
        _remove(filters, entry)
        _remove(cast(list[Any], warnings.filters), entry)  # possibly a copy with the same entry


def _remove(filters: list[Any], entry: Any) -> None:
    """Remove one object from a list; equal objects belong to other blocks and stay."""
    for place, each in enumerate(filters):
        if each is entry:
            del filters[place]
            return
