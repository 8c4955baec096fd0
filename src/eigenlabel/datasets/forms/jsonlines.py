"""JSON lines: one object a line, its fields the columns of a table."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import (
    EMPTIEST,
    DataError,
    check_room,
    names_beside,
    read_bytes,
    split_lines,
    to_utf8,
    too_empty,
)
from eigenlabel.datasets.reading import TABLE, reader
from eigenlabel.datasets.tables.assemble import to_dataset
from eigenlabel.datasets.tables.columns import Table, to_column
from eigenlabel.datasets.tables.roles import Options

FEATURES = "features"
LARGEST = sys.float_info.max
# Bytes of memory that lines, values, lists and objects take while they are read.
WEIGHTS = {b"\n": 200, b",": 64, b"[": 64, b"{": 64}


class Names(NamedTuple):
    """Names of labels and sparse features that files beside tell."""

    labels: list[str] | None
    features: list[str] | None


class JsonTable(Table):
    """Some lines of a file of JSON lines; ``features`` of an object are sparse.

    Fields that were ``seen`` in lines before are columns, even if these lines lack them.
    """

    def __init__(
        self,
        path: Path,
        lines: Iterable[tuple[int, str]],
        beside: Names,
        seen: Iterable[str] = (),
    ) -> None:
        self.path, self.lines, self.label_names = path, [], beside.labels
        fields: dict[str, tuple[list[int], list[Any]]] = {name: ([], []) for name in seen}
        features: list[tuple[int, dict[str, Any]]] = []
        for number, line in lines:
            row = len(self.lines)
            self.lines.append(number)
            for name, value in _read_object(path, line, number).items():
                if name == FEATURES and isinstance(value, dict):
                    features.append((row, value))
                    continue
                rows, values = fields.setdefault(name, ([], []))
                rows.append(row)
                values.append(value)
        self.fields, self.names, self.height = fields, list(fields), len(self.lines)
        self.sparse = self._sparse(features, beside.features)

    def column(self, name: str) -> Any:
        """Give a column; an object that lacks the field has no value."""
        rows, values = self.fields[name]
        column = to_column(self, name, values, rows)
        if isinstance(column, np.ndarray) and np.isinf(column).any():
            raise self._too_large(name, int(np.argmax(np.isinf(column))))
        return column

    def line(self, row: int) -> int:
        """Give the line of a row."""
        return self.lines[row]

    def _too_large(self, name: str, row: int) -> DataError:
        return self.fault(f"the number in {name!r} is too large", row)

    def _sparse(
        self, features: Sequence[tuple[int, dict[str, Any]]], known: list[str] | None
    ) -> tuple[list[str], Any]:
        there = {name for _, found in features for name in found}
        names = known if features and known and there <= set(known) else sorted(there)
        position = {name: i for i, name in enumerate(names)}
        rows = np.repeat([row for row, _ in features], [len(found) for _, found in features])
        columns = [position[name] for _, found in features for name in found]
        cells = [value for _, found in features for value in found.values()]
        for odd in set(map(type, cells)) - {int, float, bool, type(None)}:
            at = next(i for i, value in enumerate(cells) if type(value) is odd)
            reason = f"feature {names[columns[at]]!r} is {str(cells[at])[:40]!r}, not a number"
            raise self.fault(reason, int(rows[at]))
        try:
            values = np.array(cells, dtype=float)  # None is NaN
        except OverflowError:
            values = np.array([np.inf if abs(value or 0) > LARGEST else 0.0 for value in cells])
        if np.isinf(values).any():
            at = int(np.argmax(np.isinf(values)))
            raise self._too_large(names[columns[at]], int(rows[at]))
        shape = (self.height, len(names))
        X = sp.csr_array((values, (rows.astype(np.int64), columns)), shape=shape)
        X.eliminate_zeros()
        return names, X


def filled_lines(path: Path, lines: Iterable[str], first: int) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    last = first
    for number, line in enumerate(lines, first):
        if line and not line.isspace():
            last = number
            yield number, line
        elif number - last > EMPTIEST:
            raise too_empty(path, number)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object, which must not have a field twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        ((double, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the field {double!r} stands twice")
    return found


def _read_object(path: Any, line: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line, object_pairs_hook=_unique)
        if "\\ud" in line or "\\uD" in line:  # half a character, which no text file can hold
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        nested = isinstance(error, RecursionError)
        reason = "nested too deeply" if nested else f"not one JSON object on its line ({error})"
        raise DataError(path, reason, number) from None
    if not isinstance(found, dict):
        raise DataError(path, f"not a JSON object but {type(found).__name__}", number)
    return found


def find_names_beside(path: Path) -> Names:
    """Read the names that :func:`save` writes beside: the order of labels, those never used."""
    both = (names_beside(path, kind) for kind in ("labels", "features"))
    return Names(*(n if n is None or len(set(n)) == len(n) else None for n in both))


@reader(*TABLE)
def load_jsonlines(
    path: Any,
    *,
    labels: Any = None,
    separator: str | None = None,
    text: Any = None,
    samples: str | None = None,
    drop: Any = (),
    like: Any = None,
    labelled: bool = True,
    missing_labels: str = "error",
    encoding: str = "utf-8",
    max_bytes: int | None = None,
) -> Dataset:
    """Read JSON lines: one object a line, with labels, text, numbers and words as its fields.

    A field named ``features`` holds sparse features, ``{"name": value, ...}``; what an object
    lacks is zero there, and NaN elsewhere. The options are those of :func:`load_table`: by default
    labels are the list in the field labels, label or tags, and the words of the field text are
    counted. Names in ``<stem>.labels.txt`` and ``<stem>.features.txt`` beside the file, one a
    line, give the order of labels and sparse features if all are there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import load_jsonlines
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "posts.jsonl"
    >>> _ = path.write_text('{"text": "Hot tea", "labels": ["drink"]}\\n{"text": "Tea!"}')
    >>> posts = load_jsonlines(path)
    >>> posts.feature_names.tolist(), posts.X.toarray().tolist()
    (['hot', 'tea'], [[1.0, 1.0], [0.0, 1.0]])
    """
    path = Path(path)
    data = to_utf8(path, read_bytes(path, max_bytes), encoding)
    check_room(path, data, WEIGHTS, max_bytes)
    lines = filled_lines(path, split_lines(data), 1)
    table = JsonTable(path, lines, find_names_beside(path))
    options = Options(labels, separator, text, samples, drop, labelled, missing_labels)
    return to_dataset(table, options, like, path.name)
