"""Values of categorical variables as positions among the values in fit."""

from typing import Any

import numpy as np

from eigenlabel.linalg._types import Bools, Ints

MISSING, UNKNOWN = -1, -2


def is_missing(values: np.ndarray) -> Bools:
    """Return which of the values (n,) are None, NaN, NaT or pandas' NA."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.fromiter((_is_nothing(v) for v in values), dtype=bool, count=len(values))


def _is_nothing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _distinct(values: np.ndarray) -> tuple[list[Any], Ints]:
    """Return the distinct values, sorted if they can be compared, and the position of each."""
    try:
        found, which = np.unique(values, return_inverse=True)
        return found.tolist(), which
    except TypeError:  # values of several types cannot be sorted
        order: dict[Any, int] = {}
        which = np.array([order.setdefault(v, len(order)) for v in values.tolist()], dtype=np.intp)
        return list(order), which


def find_categories(values: np.ndarray, with_missing: bool) -> list[Any]:
    """Return the distinct values; None at the end stands for missing ones, if asked for."""
    lost = is_missing(values)
    found, _ = _distinct(values[~lost])
    return [*found, None] if with_missing and lost.any() else found


def encode(values: np.ndarray, known: list[Any]) -> Ints:
    """Return positions (n,) among known categories, or MISSING or UNKNOWN."""
    place = {category: i for i, category in enumerate(known)}
    lost = is_missing(values)
    codes = np.full(len(values), place.get(None, MISSING))
    found, which = _distinct(values[~lost])
    if found:
        codes[~lost] = np.array([place.get(v, UNKNOWN) for v in found])[which]
    return codes
