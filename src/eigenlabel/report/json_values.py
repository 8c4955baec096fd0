"""Numbers and texts as a page stores them: JSON types, of bounded size, without hazards."""

import math
import numbers
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # not allowed in HTML
# Letters and marks that change the direction of the text next to them.
TURNING = re.compile(
    "[\u0590-\u08ff\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefe"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
FIRST, OPENING, CLOSING = "\u2068", "\u2066\u2067\u2068", "\u2069"  # isolates
LONGEST, LONGEST_NAME = 10_000, 300  # characters of a text, and of the name of a label


def clean(text: Any, longest: int = LONGEST) -> str:
    """Return a text that is safe on a page: bounded, isolated and without control characters.

    Control characters and lone surrogates are replaced. Text with letters or marks that are written
    from right to left is isolated, so that the text next to it keeps its order.
    """
    text = str(text)
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text):,} characters)"
    return isolate(UNPRINTABLE.sub("\ufffd", text))


def isolate(text: str) -> str:
    """Return a text between isolation marks if a part of it may change the direction."""
    if not TURNING.search(text):
        return text
    kept, depth = [], 0
    for letter in text:
        if letter == CLOSING and not depth:
            continue  # it would end our isolation
        depth += (letter in OPENING) - (letter == CLOSING)
        kept.append(letter)
    return FIRST + "".join(kept) + CLOSING * (depth + 1)


def shorten(text: str, length: int) -> str:
    """Return the first characters of a text that is too long, isolated again."""
    inner = text.removeprefix(FIRST).removesuffix(CLOSING) if text.startswith(FIRST) else text
    return text if len(inner) <= length else isolate(inner[: length - 1] + "…")


def plain(value: Any) -> Any:
    """Return numbers, texts and nested containers of them as JSON types.

    NaN becomes None. JSON has no infinity, which becomes "inf" or "-inf".
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
    number = float(value)
    if math.isnan(number):
        return None
    return number if math.isfinite(number) else str(number)


def significant(values: Any, digits: int = 4) -> Any:
    """Return an array rounded to significant digits, as nested lists of JSON types."""
    array = np.asarray(values, dtype=float)
    rounded = [float(f"{v:.{digits}g}") for v in array.ravel()]
    return plain(np.array(rounded).reshape(array.shape))


def check_names(label_names: Any, m: int) -> list[str]:
    """Return the names of m labels as clean strings; names that are shortened stay different."""
    names = [str(name) for name in label_names]
    if len(names) != m:
        raise ValueError(f"{len(names)} label_names for {m} labels: pass one name per label.")
    return [
        clean(name, LONGEST_NAME)
        if len(name) <= LONGEST_NAME
        else clean(f"{name[:LONGEST_NAME]}… ({len(name):,} characters, label {j})")
        for j, name in enumerate(names)
    ]
