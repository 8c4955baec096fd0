"""Messages that carry data: the parameters they name and the numbers they count are fields.

A message reads as Python code by default (``text='title'``). Another interface, such as the
command line, renders the same message with names of its own (``--text title``).
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Parameter(NamedTuple):
    """A parameter that a message names.

    The value is None if the message names the parameter alone, and Ellipsis if it leaves the value
    to the reader.
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        if self.value is None:
            return self.name
        return f"{self.name}={'...' if self.value is ... else repr(self.value)}"


class Count(NamedTuple):
    """A number that a message counts, with the noun that follows it."""

    number: int
    one: str
    many: str

    def __str__(self) -> str:
        return f"{self.number:,} {self.one if self.number == 1 else self.many}"


Part = str | Parameter | Count


class Message(str):
    """A text that keeps its parts.

    Parameters
    ----------
    *parts : str, Parameter, Count or Message
        The parts in the order in which they are read. The parts of a message become parts of the
        new one.

    Examples
    --------
    >>> from eigenlabel.inputs.messages import Message, Parameter
    >>> advice = Message("pass ", Parameter("text", "title"), " to count its words")
    >>> advice
    "pass text='title' to count its words"
    >>> advice.render(lambda parameter: f"--{parameter.name} {parameter.value}")
    'pass --text title to count its words'
    """

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> "Message":
        """Join the parts and keep them."""
        message = super().__new__(cls, "".join(map(str, parts)))
        message.parts = tuple(inner for part in parts for inner in parts_of(part))
        return message

    def __add__(self, other: str) -> "Message":
        return Message(self, other)

    def __radd__(self, other: str) -> "Message":
        return Message(other, self)

    def __repr__(self) -> str:
        return repr(str(self))

    def render(self, name: Callable[[Parameter], str]) -> str:
        """Return the text with each parameter written by ``name``."""
        return "".join(name(p) if isinstance(p, Parameter) else str(p) for p in self.parts)


def parts_of(part: Part) -> tuple[Part, ...]:
    """Return the parts of a message; anything else is one part."""
    return part.parts if isinstance(part, Message) else (part,)


def join(separator: str, messages: Iterable[str]) -> Message:
    """Join texts and messages as ``str.join`` does, and keep the parts."""
    parts: list[Part] = []
    for message in messages:
        parts += [separator, message] if parts else [message]
    return Message(*parts)


def total(messages: Iterable[str]) -> list[Message]:
    """Return each message once, with the sum of what it counts.

    Messages are the same if they differ in the numbers they count only. The result is in the order
    of the first occurrences.
    """
    found: dict[tuple[Part, ...], list[int]] = {}
    for message in messages:
        parts = parts_of(message)
        counts = [part.number for part in parts if isinstance(part, Count)]
        key = tuple(part._replace(number=0) if isinstance(part, Count) else part for part in parts)
        sums = found.get(key, [0] * len(counts))
        found[key] = [a + b for a, b in zip(sums, counts, strict=True)]
    return [_with_numbers(key, counts) for key, counts in found.items()]


def _with_numbers(parts: tuple[Part, ...], numbers: list[int]) -> Message:
    left = iter(numbers)
    return Message(*(p._replace(number=next(left)) if isinstance(p, Count) else p for p in parts))


class Doubt(Message):
    """A note on what may have been read in another way than its author meant it."""
