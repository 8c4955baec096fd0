"""Numbers and names as a report keeps them: JSON types, small and clean."""

import numbers
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # HTML cannot hold them


def clean(text: Any) -> str:
    """Give text without control characters and lone surrogates."""
    return UNPRINTABLE.sub("\ufffd", str(text))


def plain(value: Any) -> Any:
    """Turn numbers, text and nestings of them into JSON types; NaN becomes None.

    JSON has no infinities: they become "inf" and "-inf".
    """
    if isinstance(value, Mapping):
        return {clean(k): plain(v) for k, v in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, bool):
        return value
    return _number(value) if isinstance(value, numbers.Real) else clean(value)


def _number(value: numbers.Real) -> int | float | str | None:
    if isinstance(value, numbers.Integral):
        return int(value)
    value = float(value)
    if np.isnan(value):
        return None
    return value if np.isfinite(value) else str(value)


def significant(values: Any, digits: int = 4) -> Any:
    """Round an array to significant digits, as (nested) lists of JSON types."""
    array = np.asarray(values, dtype=float)
    rounded = [float(f"{v:.{digits}g}") for v in array.ravel()]
    return plain(np.array(rounded).reshape(array.shape))


def check_names(label_names: Any, m: int) -> list[str]:
    """Give the names of m labels as clean strings."""
    names = [clean(name) for name in label_names]
    if len(names) != m:
        raise ValueError(f"{len(names)} label_names for {m} labels: give one name per label.")
    return names
