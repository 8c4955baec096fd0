"""Numbers and names as a report keeps them: JSON types, small and clean."""

import numbers
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # HTML cannot hold them


# Letters and marks that turn the direction of what stands beside them.
TURNING = re.compile(
    "[\u0590-\u08ff\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefe"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
FIRST, OPENING, CLOSING = "\u2068", "\u2066\u2067\u2068", "\u2069"  # isolates
LONGEST, LONGEST_NAME = 10_000, 300  # characters of a text, and of the name of a label


def clean(text: Any, longest: int = LONGEST) -> str:
    """Return text that a page can hold: bounded, isolated, and without control characters.

    Control characters and lone surrogates are replaced. Text with letters or marks that are written
    from right to left is isolated, so that what stands beside it keeps its order.
    """
    text = str(text)
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text):,} characters)"
    return isolate(UNPRINTABLE.sub("\ufffd", text))


def isolate(text: str) -> str:
    """Return text between marks of isolation if a part of it may turn the direction."""
    if not TURNING.search(text):
        return text
    kept, depth = [], 0
    for letter in text:
        if letter == CLOSING and not depth:
            continue  # it would end our own isolation
        depth += (letter in OPENING) - (letter == CLOSING)
        kept.append(letter)
    return FIRST + "".join(kept) + CLOSING * (depth + 1)


def shorten(text: str, length: int) -> str:
    """Return the beginning of a text that is longer than a length, isolated again."""
    inner = text.removeprefix(FIRST).removesuffix(CLOSING) if text.startswith(FIRST) else text
    return text if len(inner) <= length else isolate(inner[: length - 1] + "…")


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
    """Return the names of m labels as clean strings; those that were cut stay different."""
    names = [str(name) for name in label_names]
    if len(names) != m:
        raise ValueError(f"{len(names)} label_names for {m} labels: give one name per label.")
    return [
        clean(name, LONGEST_NAME)
        if len(name) <= LONGEST_NAME
        else clean(f"{name[:LONGEST_NAME]}… ({len(name):,} characters, label {j})")
        for j, name in enumerate(names)
    ]
