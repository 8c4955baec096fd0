"""MULAN and MEKA ARFF, dense and sparse.

The header is read line by line, the data in bulk: numbers go through one call of numpy, and only
a file that does not fit is read again slowly, to say which line is wrong.
"""

import re
import warnings
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets._dataset import Dataset
from eigenlabel.datasets._files import DataError, decode, read_bytes, stem

NUMERIC = ("numeric", "real", "integer")
NAME = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+"""
ATTRIBUTE = re.compile(rf"@attribute\s+({NAME})\s+(.+)", re.IGNORECASE)
VALUE = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*?)\s*,""")
MEKA = re.compile(r"-C\s+(-?\d+)")
MAX_CELLS = 2**31


@dataclass(frozen=True)
class Attribute:
    """A column: its name, and its values if it is nominal."""

    name: str
    values: tuple[str, ...] | None = None


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


def _parse_attribute(path: Any, text: str, line: int) -> Attribute:
    match = ATTRIBUTE.match(text)
    if match is None:
        raise DataError(path, f"cannot read the attribute {text[:60]!r}", line)
    name, kind = _unquote(match.group(1)), match.group(2).strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise DataError(path, f"the value list of {name!r} is not closed", line)
        return Attribute(name, tuple(_split(kind[1:-1])))
    if kind.split()[0].lower() not in NUMERIC:
        raise DataError(
            path, f"attribute {name!r} is of type {kind.split()[0]!r}: only numbers and lists", line
        )
    return Attribute(name)


def _header(path: Any, text: str) -> tuple[str, list[Attribute], int, int]:
    """Give the relation name, the attributes, where the data begin and on which line."""
    relation, attributes = "", []
    at, number = 0, 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].strip()
        at, number = end + 1, number + 1
        word = line[:10].lower()
        if word.startswith("@attribute"):
            attributes.append(_parse_attribute(path, line, number))
        elif word.startswith("@relation"):
            relation = _unquote(line[9:])
        elif word.startswith("@data"):
            if not attributes:
                raise DataError(path, "no @attribute before @data", number)
            return relation, attributes, at, number
        elif line and not line.startswith("%"):
            raise DataError(path, f"expected @attribute or @data, found {line[:60]!r}", number)
    raise DataError(path, "no @data line: the file is cut off or not ARFF")


def _rows(text: str, first: int) -> list[tuple[int, str]]:
    """List the data lines with their numbers."""
    lines = enumerate(map(str.strip, text.split("\n")), first + 1)
    return [(number, line) for number, line in lines if line and not line.startswith("%")]


def _code(path: Any, attribute: Attribute, word: str, line: int) -> float:
    """Turn one written value into a number."""
    if word == "?":
        return np.nan
    if attribute.values is None or _is_numeric(attribute):
        try:
            number = float(word)
        except ValueError:
            raise DataError(path, f"{attribute.name!r} is {word!r}, not a number", line) from None
        if attribute.values is not None and word not in attribute.values:
            raise DataError(path, f"{attribute.name!r} is {word!r}, not in its list", line)
        return number
    if word not in attribute.values:
        raise DataError(path, f"{attribute.name!r} is {word!r}, not in its list", line)
    return attribute.values.index(word)


def _is_numeric(attribute: Attribute) -> bool:
    """Tell numbers, and lists of numbers such as {0,1}, from named values."""
    return attribute.values is None or all(
        re.fullmatch(r"[+-]?\d+(\.\d+)?", v) for v in attribute.values
    )


def _bulk(words: str) -> np.ndarray | None:
    """Read numbers separated by white space, or give None where something else is among them."""
    if not words.strip():
        return np.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # how it says that it stopped early
        try:
            return np.fromstring(words, sep=" ")
        except (DeprecationWarning, ValueError):
            return None


def _dense(path: Any, rows: list[tuple[int, str]], attributes: list[Attribute]) -> np.ndarray:
    n, d = len(rows), len(attributes)
    if all(map(_is_numeric, attributes)):
        numbers = _bulk(",".join(line for _, line in rows).replace(",", " "))
        even = all(line.count(",") == d - 1 for _, line in rows)
        if numbers is not None and even and len(numbers) == n * d:
            return numbers.reshape(n, d)
    out = np.empty((n, d))
    lookup = [
        None if _is_numeric(a) else {v: float(i) for i, v in enumerate(a.values or ())}
        for a in attributes
    ]
    for i, (number, line) in enumerate(rows):
        words = _split(line)
        if len(words) != d:
            raise DataError(path, f"{len(words)} values for {d} attributes", number)
        try:
            out[i] = [
                float(w) if known is None else known[w]
                for w, known in zip(words, lookup, strict=True)
            ]
        except (KeyError, ValueError):
            coded = (_code(path, a, w, number) for a, w in zip(attributes, words, strict=True))
            out[i] = list(coded)
    return out


def _sparse(path: Any, rows: list[tuple[int, str]], attributes: list[Attribute]) -> sp.csr_array:
    """Read ``{index value, ...}`` rows; what is left out is zero, or a list's first value."""
    n, d = len(rows), len(attributes)
    counts = np.array([line.count(",") + (len(line) > 2) for _, line in rows])
    body = " ".join(line[1:-1] for _, line in rows).replace(",", " ")
    numbers = _bulk(body) if all(map(_is_numeric, attributes)) else None
    closed = all(line[0] == "{" and line[-1] == "}" for _, line in rows)
    if numbers is None or not closed or len(numbers) != 2 * counts.sum():
        return _sparse_slowly(path, rows, attributes)
    index = numbers[::2].astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)])
    rising = np.ones(len(index), dtype=bool)
    rising[1:] = index[1:] > index[:-1]
    rising[ends[:-1][counts > 0]] = True
    if not rising.all() or (len(index) and (index.min() < 0 or index.max() >= d)):
        return _sparse_slowly(path, rows, attributes)
    return sp.csr_array((numbers[1::2], index, ends), shape=(n, d))


def _sparse_slowly(
    path: Any, rows: list[tuple[int, str]], attributes: list[Attribute]
) -> sp.csr_array:
    """Read sparse rows one by one, which allows named values and finds the line that is wrong."""
    data, indices, ends = [], [], [0]
    for number, line in rows:
        if not (line.startswith("{") and line.endswith("}")):
            raise DataError(path, "a sparse row must stand in braces", number)
        seen: dict[int, float] = {}
        for pair in filter(None, _split(line[1:-1])):
            index, _, word = pair.partition(" ")
            if not index.isdigit() or not word:
                raise DataError(path, f"expected 'index value', found {pair[:40]!r}", number)
            if int(index) >= len(attributes):
                raise DataError(
                    path, f"index {index} beyond the {len(attributes)} attributes", number
                )
            if int(index) in seen:
                raise DataError(path, f"index {index} stands twice", number)
            seen[int(index)] = _code(path, attributes[int(index)], _unquote(word), number)
        indices += sorted(seen)
        data += [seen[i] for i in sorted(seen)]
        ends.append(len(indices))
    return sp.csr_array(
        (np.array(data, dtype=float), np.array(indices, dtype=np.int64), ends),
        shape=(len(rows), len(attributes)),
    )


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
    path: Path, xml: Any, relation: str, names: list[str]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Find which attributes are labels: by the XML, else by MEKA's ``-C n``."""
    xml = _find_xml(path) if xml is None else Path(xml)
    if xml is not None:
        if not xml.is_file():
            raise DataError(xml, "no such file")
        wanted, notes = read_label_names(xml)
        missing = sorted(set(wanted) - set(names))
        if missing:
            raise DataError(xml, f"label {missing[0]!r} is no attribute of {path.name}")
        return np.isin(names, wanted), notes
    match = MEKA.search(relation)
    if match is None:
        raise DataError(
            path,
            "which attributes are labels? There is no XML file beside it and no '-C n' in its "
            "relation name; pass xml=",
        )
    count, is_label = int(match.group(1)), np.zeros(len(names), dtype=bool)
    if not 0 < abs(count) < len(names):
        raise DataError(path, f"-C {count} with {len(names)} attributes")
    is_label[: max(count, 0)] = True
    is_label[len(names) + min(count, 0) :] = True
    return is_label, ()


def load_mulan(
    path: Any, *, xml: Any = None, encoding: str = "utf-8", max_bytes: int | None = None
) -> Dataset:
    """Read a MULAN or MEKA ARFF file, dense or sparse, compressed or not.

    Labels are the attributes that the MULAN XML file names (``xml``, or one found beside the
    file), else those that MEKA's ``-C n`` in the relation name counts: the first n, or the last
    for negative n. They keep the order of the ARFF file. Named values become their positions in
    the attribute's list (``categories`` tells them), numbers in lists stay numbers. A missing
    value ``?`` is NaN. Label hierarchies are ignored, with a note.

    Parameters
    ----------
    path : str or Path
    xml : path of the label file, or None to look for it
    encoding : of the text
    max_bytes : largest decompressed size to read, a quarter of memory by default
    """
    path = Path(path)
    text = decode(path, read_bytes(path, max_bytes), encoding)
    relation, attributes, at, first = _header(path, text)
    names = [a.name for a in attributes]
    double = next((name for name, count in Counter(names).items() if count > 1), None)
    if double is not None:
        raise DataError(path, f"attribute {double!r} stands twice")
    is_label, notes = _label_columns(path, xml, relation, names)
    rows = _rows(text[at:], first)
    if not rows:
        raise DataError(path, "no data after @data")
    sparse = rows[0][1].startswith("{")
    if not sparse and len(rows) * len(attributes) > MAX_CELLS:
        raise DataError(path, f"{len(rows)} x {len(attributes)} values are too many")
    values = (_sparse if sparse else _dense)(path, rows, attributes)
    Y = sp.csr_array(values[:, is_label])
    Y.eliminate_zeros()
    if not np.isin(Y.data, (1.0,)).all():
        raise DataError(path, f"labels must be 0 or 1, found {Y.data[Y.data != 1][0]:g}")
    features = [a for a, label in zip(attributes, is_label, strict=True) if not label]
    return Dataset(
        X=values[:, ~is_label],
        Y=Y.astype(np.int8),
        feature_names=np.array([a.name for a in features]),
        label_names=np.array(names)[is_label],
        categories={a.name: a.values for a in features if not _is_numeric(a)},
        source=path.name,
        notes=notes,
    )
