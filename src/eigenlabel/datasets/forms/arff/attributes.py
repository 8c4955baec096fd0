"""The header of an ARFF file: its attributes and their values."""

import math
import re
from typing import Any

import numpy as np

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.arff.tokens import TokenLists, Tokens, read_numbers
from eigenlabel.datasets.tables.columns import is_too_large

NUMERIC = ("numeric", "real", "integer")
NUMBER = re.compile(r"[+-]?\d{1,300}(\.\d+)?")  # which floats hold
GAP = r"[^\S\n]"
NAME = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[^\s{]+"""
LINE = re.compile(
    rf"{GAP}*(?:@attribute{GAP}+({NAME}){GAP}+(\S.*)|@relation(.*)|(@data).*|%.*|)(?:\n|\Z)",
    re.IGNORECASE,
)
VALUE = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*)\s*,""")


class ValueType:
    """The values that an attribute may have: any number, or the words of a list.

    Attributes
    ----------
    values : tuple of str or None
        The words of the list, or None if the attribute is numeric.
    named : bool
        Whether the list contains words that are not numbers.
    numbers : frozenset of float
        The numbers of a list that contains numbers only.
    codes : dict of str to float
        The number of each word: its position in a named list, else its value.
    """

    def __init__(self, values: tuple[str, ...] | None = None) -> None:
        self.values = values
        self.named = values is not None and not all(map(NUMBER.fullmatch, values))
        words = reversed(list(enumerate(values or ())))  # the first of two equal words counts
        codes = {word: float(i if self.named else word) for i, word in words}
        self.numbers = frozenset(() if self.named else codes.values())
        for number in self.numbers:  # they are most often written as 1 or 1.0
            codes |= dict.fromkeys((repr(number), repr(number).removesuffix(".0")), number)
        self.codes = codes | {"?": np.nan}

    def code(self, word: str) -> float:
        """Return a word as a number; a number of the list may be written in other ways."""
        if word in self.codes:
            return self.codes[word]
        if not self.named:
            try:
                number = float(word)
            except ValueError:
                raise ValueError("not a number") from None
            if math.isinf(number) and is_too_large(word):
                raise ValueError("too large for a number")
            if self.values is None or number in self.numbers:
                return number
        raise ValueError("not in its list")


class Attributes:
    """The attributes of an ARFF file.

    Attributes
    ----------
    names : list of str
        Their names.
    types : list of ValueType
        The values that they may have.
    list_of : int array
        The number of the list of values of each attribute, or -1 if it is numeric.
    lists : TokenLists
        The lists, in which many words are looked up at once.
    """

    def __init__(self, names: list[str], types: list[ValueType]) -> None:
        self.names, self.types = names, types
        listed = [kind for kind in dict.fromkeys(types) if kind.values is not None]
        places = {kind: i for i, kind in enumerate(listed)}
        self.list_of = np.array([places.get(kind, -1) for kind in types])
        self.lists = TokenLists([kind.codes for kind in listed])

    def __len__(self) -> int:
        return len(self.names)

    def read(self, words: Tokens, columns: np.ndarray | None = None) -> np.ndarray:
        """Return words as numbers.

        The words belong to the given columns, or to rows of all columns.
        """
        d = len(self)
        lists = np.tile(self.list_of, len(words) // d) if columns is None else self.list_of[columns]
        listed = np.flatnonzero(lists >= 0)
        if (
            len(listed) < len(words) / 2
        ):  # the more frequent kind is tried on all words, without a copy
            values, odd = read_numbers(words)
            values[listed], odd[listed] = self.lists.look_up(words[listed], lists[listed])
        else:
            values, odd = self.lists.look_up(words, lists)
            free = np.flatnonzero(lists < 0)
            values[free], odd[free] = read_numbers(words[free])
        other = np.flatnonzero(odd)
        places = other % d if columns is None else columns[other]
        for i, j, word in zip(other, places, words[other].to_list(), strict=True):
            bare = unquote(word)
            if "'" in bare or '"' in bare:
                raise ValueError("perhaps a part of a quoted value with a comma")
            values[i] = self.types[j].code(bare)
        return values


def unquote(word: str) -> str:
    """Return a word without the quotes around it, and without escapes."""
    word = word.strip()
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    return word


def split_values(line: str) -> list[str]:
    """Split a line at commas outside quotes."""
    if "'" not in line and '"' not in line:
        return [word.strip() for word in line.split(",")]
    words: list[str] = []
    at = 0
    line += ","  # so that every value ends with a comma, and every match advances
    while at < len(line):
        match = VALUE.match(line, at)
        if match is None:  # a quote that is never closed
            return [*words, line[at:-1]]
        words.append(unquote(match.group(1)))
        at = match.end()
    return words


def _parse_type(path: Any, name: str, text: str, line: int) -> ValueType:
    """Return the values that an attribute may have."""
    if text.startswith("{"):
        if not text.endswith("}"):
            raise DataError(path, f"the list of values of {name!r} is not closed", line)
        return ValueType(tuple(split_values(text[1:-1])))
    word = text.split(maxsplit=1)[0]
    if word.lower() not in NUMERIC:
        raise DataError(
            path,
            f"attribute {name!r} is of type {word!r}; only numbers and lists of values are read",
            line,
        )
    return ValueType()


def read_header(path: Any, text: str) -> tuple[str, Attributes, int]:
    """Return the name of the relation, the attributes, and the number of the ``@data`` line."""
    relation, names, kinds = "", [], []
    known: dict[str, ValueType] = {}  # attributes with the same values share it
    at, number = 0, 0
    while at < len(text):
        number += 1
        match = LINE.match(text, at)
        if match is None:
            line = text[at:].partition("\n")[0].strip()[:60]
            reason = "expected @attribute or @data, found"
            if line.lower().startswith("@attribute"):
                reason = "cannot read the attribute"
            raise DataError(path, f"{reason} {line!r}", number)
        at = match.end()
        name, kind, title, data = match.groups()
        if name is not None:
            name = unquote(name)
            if kind not in known:
                known[kind] = _parse_type(path, name, kind.strip(), number)
            names.append(name)
            kinds.append(known[kind])
        elif title is not None:
            relation = unquote(title)
        elif data is not None:
            if not names:
                raise DataError(path, "no @attribute before @data", number)
            return relation, Attributes(names, kinds), number
    raise DataError(path, "no @data line: the file is cut off or not ARFF")
