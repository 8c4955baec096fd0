"""MULAN and MEKA ARFF, dense and sparse.

The header is read line by line, the data in blocks of rows, all words of a block at once. A block
that does not fit is read again row by row, to say which line is wrong.
"""

import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import DataError, check_room, decode, read_bytes, stem
from eigenlabel.datasets.forms.words import (
    DIGITS,
    NEWLINE,
    SPACE,
    Lists,
    Words,
    cut,
    read_indices,
    read_numbers,
)
from eigenlabel.datasets.like import about_labels, match, no_labels, skips_labels
from eigenlabel.datasets.reading import reader
from eigenlabel.datasets.tables.columns import is_too_large
from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.inputs.validation import check_choice

NUMERIC = ("numeric", "real", "integer")
NUMBER = re.compile(r"[+-]?\d{1,300}(\.\d+)?")  # which floats hold
GAP = r"[^\S\n]"
NAME = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[^\s{]+"""
LINE = re.compile(
    rf"{GAP}*(?:@attribute{GAP}+({NAME}){GAP}+(\S.*)|@relation(.*)|(@data).*|%.*|)(?:\n|\Z)",
    re.IGNORECASE,
)
VALUE = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*)\s*,""")
PADDED = re.compile(r"\s\s|[^\S ]|\s,")  # more white space than one after a comma
MEKA = re.compile(r"-C\s+(-?\d+)")
WEIGHTS = {b"\n": 200, b",": 24}  # bytes of memory that lines and values take while they are read
MAX_CELLS = 2**31
BLOCK = 2**18  # characters read at once: enough to be fast, few enough to need little memory


class Kind:
    """What the values of an attribute are: any number, or the words of a list."""

    def __init__(self, values: tuple[str, ...] | None = None) -> None:
        self.values = values
        self.named = values is not None and not all(map(NUMBER.fullmatch, values))
        words = reversed(list(enumerate(values or ())))  # of a word that stands twice, the first
        codes = {word: float(i if self.named else word) for i, word in words}
        self.numbers = frozenset(() if self.named else codes.values())
        for number in self.numbers:  # how else they are written most often: 1 or 1.0
            codes |= dict.fromkeys((repr(number), repr(number).removesuffix(".0")), number)
        self.codes = codes | {"?": np.nan}

    def code(self, word: str) -> float:
        """Turn a written value into a number; a listed number may be written in other ways."""
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


class Columns:
    """The attributes: names, kinds, and the lists of values to look words up in."""

    def __init__(self, names: list[str], kinds: list[Kind]) -> None:
        self.names, self.kinds = names, kinds
        listed = [kind for kind in dict.fromkeys(kinds) if kind.values is not None]
        places = {kind: i for i, kind in enumerate(listed)}
        self.list_of = np.array([places.get(kind, -1) for kind in kinds])
        self.lists = Lists([kind.codes for kind in listed])

    def __len__(self) -> int:
        return len(self.names)

    def read(self, words: Words, columns: np.ndarray | None = None) -> np.ndarray:
        """Turn words into numbers; they are of the given columns, or of all, row by row."""
        d = len(self)
        lists = np.tile(self.list_of, len(words) // d) if columns is None else self.list_of[columns]
        listed = np.flatnonzero(lists >= 0)
        if len(listed) < len(words) / 2:  # what most words are is tried on all: a copy less
            values, odd = read_numbers(words)
            values[listed], odd[listed] = self.lists.look_up(words[listed], lists[listed])
        else:
            values, odd = self.lists.look_up(words, lists)
            free = np.flatnonzero(lists < 0)
            values[free], odd[free] = read_numbers(words[free])
        other = np.flatnonzero(odd)
        places = other % d if columns is None else columns[other]
        for i, j, word in zip(other, places, words[other].to_list(), strict=True):
            bare = _unquote(word)
            if "'" in bare or '"' in bare:
                raise ValueError("perhaps a part of a quoted value with a comma")
            values[i] = self.kinds[j].code(bare)
        return values


def _unquote(word: str) -> str:
    word = word.strip()
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    return word


def _split(line: str) -> list[str]:
    """Split at commas outside quotes."""
    if "'" not in line and '"' not in line:
        return [word.strip() for word in line.split(",")]
    words, at = [], 0
    line += ","  # every value then ends with a comma, and every match moves on
    while at < len(line):
        match = VALUE.match(line, at)
        if match is None:  # a quote that is never closed
            return [*words, line[at:-1]]
        words.append(_unquote(match.group(1)))
        at = match.end()
    return words


def _parse_kind(path: Any, name: str, text: str, line: int) -> Kind:
    if text.startswith("{"):
        if not text.endswith("}"):
            raise DataError(path, f"the value list of {name!r} is not closed", line)
        return Kind(tuple(_split(text[1:-1])))
    word = text.split(maxsplit=1)[0]
    if word.lower() not in NUMERIC:
        raise DataError(
            path, f"attribute {name!r} is of type {word!r}: only numbers and lists", line
        )
    return Kind()


def _header(path: Any, text: str) -> tuple[str, Columns, int]:
    """Give the relation name, the attributes, and after which line the data begin."""
    relation, names, kinds = "", [], []
    known: dict[str, Kind] = {}  # attributes of the same kind share it
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
            name = _unquote(name)
            if kind not in known:
                known[kind] = _parse_kind(path, name, kind.strip(), number)
            names.append(name)
            kinds.append(known[kind])
        elif title is not None:
            relation = _unquote(title)
        elif data is not None:
            if not names:
                raise DataError(path, "no @attribute before @data", number)
            return relation, Columns(names, kinds), number
    raise DataError(path, "no @data line: the file is cut off or not ARFF")


def list_rows(text: str, first: int) -> tuple[list[str], list[int]]:
    """List the rows that follow the line of the given number, and the numbers of their lines."""
    lines = [line.strip() for line in text.split("\n")[first:]]
    kept = [i for i, line in enumerate(lines) if line and line[0] != "%"]
    return [lines[i] for i in kept], [first + 1 + i for i in kept]


def _blocks(rows: list[str], numbers: list[int]) -> Iterator[tuple[list[str], list[int]]]:
    """Give rows of about BLOCK characters at a time, and their numbers."""
    block = np.cumsum([len(row) for row in rows]) // BLOCK
    bounds = [0, *(np.flatnonzero(np.diff(block)) + 1), len(rows)]
    for start, end in pairwise(bounds):
        yield rows[start:end], numbers[start:end]


def _code(path: Any, columns: Columns, j: int, word: str, line: int) -> float:
    try:
        return columns.kinds[j].code(word)
    except ValueError as error:
        raise DataError(path, f"{columns.names[j]!r} is {word!r}, {error}", line) from None


def _dense(path: Any, columns: Columns, rows: list[str], numbers: list[int]) -> np.ndarray:
    """Read rows of one value for each attribute."""
    out, at = np.empty((len(rows), len(columns))), 0
    for block, lines in _blocks(rows, numbers):
        try:
            values = _dense_block(columns, block)
        except ValueError:
            values = _dense_slowly(path, columns, block, lines)
        out[at : at + len(block)] = values
        at += len(block)
    return out


def _dense_block(columns: Columns, rows: list[str]) -> np.ndarray:
    n, d = len(rows), len(columns)
    if any(row.count(",") >= d for row in rows if len(row) > BLOCK):
        raise ValueError("a row that would need much memory, and is too long anyway")
    if PADDED.search(rows[0]):
        rows = [",".join(map(str.strip, row.split(","))) for row in rows]
    words = cut("\n".join([*rows, ""]), NEWLINE)
    if words.bytes_at(words.ends).tobytes() != (b"," * (d - 1) + b"\n") * n:
        raise ValueError("rows of another length, or quoted commas")
    return columns.read(words).reshape(n, d)


def _dense_slowly(path: Any, columns: Columns, rows: list[str], numbers: list[int]) -> np.ndarray:
    """Read rows one by one, which allows quoted commas and finds the line that is wrong."""
    out = np.empty((len(rows), len(columns)))
    for i, (row, number) in enumerate(zip(rows, numbers, strict=True)):
        words = _split(row)
        if len(words) != len(columns):
            raise DataError(path, f"{len(words)} values for {len(columns)} attributes", number)
        out[i] = [_code(path, columns, j, word, number) for j, word in enumerate(words)]
    return out


def _sparse(path: Any, columns: Columns, rows: list[str], numbers: list[int]) -> sp.csr_array:
    """Read ``{index value, ...}`` rows; what is left out is zero, or a list's first value."""
    parts = []
    for block, lines in _blocks(rows, numbers):
        try:
            parts.append(_sparse_block(columns, block))
        except ValueError:
            parts.append(_sparse_slowly(path, columns, block, lines))
    values, indices, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    ends = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((values, indices, ends), shape=(len(rows), len(columns)))


def _sparse_block(columns: Columns, rows: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the values, their columns, and how many each row has."""
    text = "\n".join(rows)
    inside = text[1:-1].split("}\n{")
    if text[0] != "{" or text[-1] != "}" or len(inside) != len(rows):
        raise ValueError("a row without braces")
    counts = np.array([row.count(",") + bool(row) for row in inside])
    if counts.max() > len(columns):
        raise ValueError("more values than attributes")
    if PADDED.search(inside[0]):
        inside = [" ".join(row.split()).replace(" ,", ",") for row in inside]
    words = cut(",".join([*filter(None, inside), ""]), SPACE)
    if words.bytes_at(words.ends).tobytes() != b" ," * counts.sum():
        raise ValueError("not an index, a space, a value and a comma in turn")
    indices, odd = read_indices(words[::2])
    ends = np.cumsum(counts)
    rises = np.diff(indices) > 0
    rises[ends[:-1][(counts[1:] > 0) & (ends[:-1] > 0)] - 1] = True  # where a row begins
    if odd.any() or not rises.all() or indices.max(initial=0) >= len(columns):
        raise ValueError("indices that do not rise or are too large")
    return columns.read(words[1::2], indices), indices, counts


def _sparse_slowly(
    path: Any, columns: Columns, rows: list[str], numbers: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read rows one by one, which allows any order and finds the line that is wrong."""
    values, indices, counts = [], [], []
    for row, number in zip(rows, numbers, strict=True):
        if not (row.startswith("{") and row.endswith("}")):
            raise DataError(path, "a sparse row must stand in braces", number)
        seen: dict[int, float] = {}
        for pair in filter(None, _split(row[1:-1])):
            index, _, word = " ".join(pair.split(maxsplit=1)).partition(" ")
            if not (index.isascii() and index.isdigit() and word):
                raise DataError(path, f"expected 'index value', found {pair[:40]!r}", number)
            if len(index) > DIGITS or int(index) >= len(columns):
                raise DataError(path, f"index {index} beyond the {len(columns)} attributes", number)
            j = int(index)
            if j in seen:
                raise DataError(path, f"index {index} stands twice", number)
            seen[j] = _code(path, columns, j, _unquote(word), number)
        indices += sorted(seen)
        values += [seen[j] for j in sorted(seen)]
        counts.append(len(seen))
    return np.array(values), np.array(indices, dtype=np.int64), np.array(counts)


def read_label_names(path: Any) -> tuple[list[str], tuple[str, ...]]:
    """Give the label names of a MULAN XML file, and a note if it has a hierarchy."""
    text = decode(path, read_bytes(path))
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise DataError(path, "document types and entities are not read")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise DataError(path, f"not XML ({error})", error.position[0]) from error
    labels = [e for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    names = [e.get("name") for e in labels]
    if not names or None in names:
        raise DataError(path, "no <label name=...> elements")
    nested = any(child in labels for e in labels for child in e)
    return names, ("the label hierarchy is ignored",) if nested else ()


def _find_xml(path: Path) -> Path | None:
    """Find the XML of an ARFF: of the same name, of its stem before a dash, or the only one."""
    name = stem(path)
    for candidate in (name, name.split("-")[0]):
        if (path.parent / f"{candidate}.xml").is_file():
            return path.parent / f"{candidate}.xml"
    found = sorted(path.parent.glob("*.xml"))
    return found[0] if len(found) == 1 else None


def _label_columns(
    path: Path, xml: Any, relation: str, names: list[str], like: Any
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Find which attributes are labels: by the XML, else by MEKA's ``-C n``.

    With like its own labels, of which there may be none.
    """
    if like is not None and xml is None:
        wanted = set(map(str, like.label_names)) - set(map(str, like.feature_names))
        return np.array([name in wanted for name in names]), ()
    xml = _find_xml(path) if xml is None else Path(xml)
    if xml is not None:
        if not xml.is_file():
            raise DataError(xml, "no such file")
        found, notes = read_label_names(xml)
        wanted = set(found)
        missing = sorted(wanted - set(names))
        if missing:
            raise DataError(xml, f"label {missing[0]!r} is no attribute of {path.name}")
        return np.array([name in wanted for name in names]), notes
    match = MEKA.search(relation)
    if match is None:
        raise DataError(
            path,
            Message(
                "which attributes are labels? There is no XML file beside it and no '-C n' in its "
                "relation name; pass ",
                Parameter("xml", ...),
            ),
        )
    count, is_label = int(match.group(1)), np.zeros(len(names), dtype=bool)
    if not 0 < abs(count) < len(names):
        raise DataError(path, f"-C {count} with {len(names)} attributes")
    is_label[: max(count, 0)] = True
    is_label[len(names) + min(count, 0) :] = True
    return is_label, ()


class ArffReader:
    """The columns of an ARFF file, which turn rows of its data into a Dataset.

    ``head`` is the text up to the line that says that the data begin, or all of it; ``first`` is
    the number of that line.
    """

    def __init__(
        self,
        path: Path,
        head: str,
        xml: Any,
        like: Any = None,
        labelled: bool = True,
        missing_labels: str = "error",
    ) -> None:
        check_choice("missing_labels", missing_labels, ("error", "nan"))
        self.path, self.like, self.labelled, self.sparse = path, like, labelled, None
        self.missing = missing_labels == "nan"
        relation, self.columns, self.first = _header(path, head)
        self.names = np.array(self.columns.names)
        ((double, count),) = Counter(self.columns.names).most_common(1)
        if count > 1:
            raise DataError(path, f"attribute {double!r} stands twice")
        self.is_label, self.notes = _label_columns(path, xml, relation, self.columns.names, like)
        self.skips = skips_labels(path, like, labelled, there=bool(self.is_label.any()))

    def read(self, rows: list[str], numbers: list[int]) -> Dataset:
        """Read rows, given with the numbers of their lines."""
        if self.sparse is None:  # the first row decides for all
            self.sparse = rows[0].startswith("{")
        if not self.sparse and len(rows) * len(self.columns) > MAX_CELLS:
            raise DataError(self.path, f"{len(rows)} x {len(self.columns)} values are too many")
        values = (_sparse if self.sparse else _dense)(self.path, self.columns, rows, numbers)
        Y, label_names, notes = self._labels(values)
        kinds = dict(zip(self.names.tolist(), self.columns.kinds, strict=True))
        features = self.names[~self.is_label]
        data = Dataset(
            X=values[:, ~self.is_label],
            Y=Y,
            feature_names=features,
            label_names=label_names,
            categories={n: kinds[n].values for n in features.tolist() if kinds[n].named},
            source=self.path.name,
            notes=(*self.notes, *notes),
        )
        return match(self.path, data, self.like)

    def _labels(self, values: Any) -> tuple[sp.csr_array, np.ndarray, tuple[str, ...]]:
        """Give the labels of rows, their names, and what is to be said of them."""
        if self.skips:
            Y = no_labels(values.shape[0], self.like)
            return Y, self.like.label_names, about_labels(self.labelled)
        Y = sp.csr_array(values[:, self.is_label])
        Y.eliminate_zeros()
        odd = Y.data[(Y.data != 1) & ~(np.isnan(Y.data) & self.missing)]
        if odd.size:
            reason = Message(f"labels must be 0 or 1, found {odd[0]:g}")
            if np.isnan(odd[0]):
                observe = Parameter("missing_labels", "nan")
                reason += Message("; pass ", observe, " if '?' means not observed")
            raise DataError(self.path, reason)
        return Y, self.names[self.is_label], ()


@reader("missing_labels", "encoding")
def load_mulan(
    path: Any,
    *,
    xml: Any = None,
    like: Any = None,
    labelled: bool = True,
    missing_labels: str = "error",
    encoding: str = "utf-8",
    max_bytes: int | None = None,
) -> Dataset:
    """Read a MULAN or MEKA ARFF file, dense or sparse, compressed or not.

    Labels are the attributes that the MULAN XML file names (``xml``, or one found beside the
    file), else those that MEKA's ``-C n`` in the relation name counts: the first n, or the last
    for negative n. They keep the order of the ARFF file. Named values become their positions in
    the attribute's list (``categories`` tells them), numbers in lists stay numbers; what is not in
    the list is refused. A missing value ``?`` is NaN. Label hierarchies are ignored, with a note.

    Parameters
    ----------
    path : str or Path
    xml : path of the label file, or None to look for it
    like, labelled : as for :func:`load`; labels are then the attributes that like has as labels
    missing_labels : "error", or "nan": a ``?`` is a label that was not observed, NaN in Y
    encoding : of the text
    max_bytes : largest decompressed size to read, a quarter of memory by default
    """
    path = Path(path)
    content = read_bytes(path, max_bytes)
    check_room(path, content, WEIGHTS, max_bytes)
    text = decode(path, content, encoding)
    del content
    reader = ArffReader(path, text, xml, like, labelled, missing_labels)
    rows, numbers = list_rows(text, reader.first)
    if not rows:
        raise DataError(path, "no data after @data")
    return reader.read(rows, numbers)
