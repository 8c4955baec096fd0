"""The error of every data file, and how names are quoted in messages."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from eigenlabel.inputs.messages import Message

SHOWN = 20  # names that a message lists
LONG = 80  # characters of a name that a message quotes


class DataError(ValueError):
    """Error for a data file that cannot be read or written.

    Parameters
    ----------
    path : str or Path
        The file.
    reason : str
        What is wrong, and what to do about it.
    line : int, default=None
        The number of the line with the problem, from 1, if the file consists of lines.

    Attributes
    ----------
    path : str or Path
        The file.
    reason : str
        What is wrong, without the file and the line.
    line : int or None
        The number of the line.

    Examples
    --------
    >>> from eigenlabel.datasets import DataError
    >>> print(DataError("films.csv", "no rows"))
    films.csv: no rows
    """

    def __init__(self, path: Any, reason: str, line: int | None = None) -> None:
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(Message(f"{place}: ", reason))
        self.path, self.reason, self.line = path, reason, line

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.reason, self.line)


def show(names: Iterable[str]) -> str:
    """Return a list of names for a message, cut off after the first ones."""
    names = list(names)
    more = f", ... ({len(names)} in all)" if len(names) > SHOWN else ""
    return ", ".join(map(shorten, names[:SHOWN])) + more


def shorten(name: str) -> str:
    """Return a name in quotes for a message, or the beginning of a long one."""
    return repr(name if len(name) <= LONG else name[:LONG] + "...")


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return the message that a name is not a known one, with the most similar names."""
    near = [other for other in known if len(other) <= LONG]  # the search is slow for long ones
    close = difflib.get_close_matches(name, near, n=3) if len(name) <= LONG else []
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {show(known)}"
    return f"no {what} {shorten(name)}; {hint}"
