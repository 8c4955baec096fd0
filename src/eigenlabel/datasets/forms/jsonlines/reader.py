"""Read JSON lines, whole or in pieces: the fields of their objects are columns of a table."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.decompression import read_bytes
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import EMPTIEST, check_room, too_empty
from eigenlabel.datasets.files.names import names_beside
from eigenlabel.datasets.files.text import read_lines, split_lines, to_utf8
from eigenlabel.datasets.forms.batches import batches
from eigenlabel.datasets.readers import TABLE_OPTIONS, reader
from eigenlabel.datasets.tables.assemble import to_dataset
from eigenlabel.datasets.tables.columns import Column, RawTable, to_column
from eigenlabel.datasets.tables.pieces import assemble_pieces, split_options
from eigenlabel.datasets.tables.roles import ColumnOptions
from eigenlabel.linalg._types import Matrix

FEATURES = "features"
LARGEST = sys.float_info.max
# Bytes of memory that each line, value, list and object takes while the file is read.
WEIGHTS = {b"\n": 200, b",": 64, b"[": 64, b"{": 64}


class Names(NamedTuple):
    """Names of labels and sparse features from the files beside, or None."""

    labels: list[str] | None
    features: list[str] | None


class JsonTable(RawTable):
    """Some lines of a file of JSON lines, whose fields are columns.

    Parameters
    ----------
    path : Path
        The file, for errors.
    lines : iterable of (int, str)
        The numbers and the text of lines that are not blank.
    beside : Names
        The names from the files beside.
    seen : iterable of str, default=()
        Fields of earlier lines, which are columns even if they do not occur in these lines.
    """

    def __init__(
        self,
        path: Path,
        lines: Iterable[tuple[int, str]],
        beside: Names,
        seen: Iterable[str] = (),
    ) -> None:
        self.path, self.label_names = path, beside.labels
        self.lines: list[int] = []
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

    def column(self, name: str) -> Column:
        """Return a column; an object that does not have the field has no value."""
        rows, values = self.fields[name]
        column = to_column(self, name, values, rows)
        if isinstance(column, np.ndarray) and np.isinf(column).any():
            raise self._too_large(name, int(np.argmax(np.isinf(column))))
        return column

    def line(self, row: int) -> int:
        """Return the line of a row."""
        return self.lines[row]

    def _too_large(self, name: str, row: int) -> DataError:
        return self.fault(f"the number in {name!r} is too large", row)

    def _sparse(
        self, features: Sequence[tuple[int, dict[str, Any]]], known: list[str] | None
    ) -> tuple[list[str], Matrix]:
        """Return the names and values of sparse features, in the known order if it has them all."""
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
    """Return an object; raise ValueError if it has a field twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        ((double, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the field {double!r} occurs twice")
    return found


def _read_object(path: Path, line: str, number: int) -> dict[str, Any]:
    """Parse a line; raise DataError unless it is one JSON object."""
    try:
        found = json.loads(line, object_pairs_hook=_unique)
        if "\\ud" in line or "\\uD" in line:  # half a character, which no text file can contain
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        nested = isinstance(error, RecursionError)
        reason = "nested too deeply" if nested else f"not one JSON object on its line ({error})"
        raise DataError(path, reason, number) from None
    if not isinstance(found, dict):
        raise DataError(path, f"not a JSON object but {type(found).__name__}", number)
    return found


def find_names_beside(path: Path) -> Names:
    """Read the names that :func:`save` writes beside a file, unless a name occurs twice."""
    both = (names_beside(path, kind) for kind in ("labels", "features"))
    return Names(*(n if n is None or len(set(n)) == len(n) else None for n in both))


@reader(*TABLE_OPTIONS)
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
    """Read JSON lines: one object per line, with labels, text, numbers and words as its fields.

    The fields are the columns of a table, which become features and labels as in
    :func:`load_table`; a field that an object does not have is NaN. The field ``features`` contains
    sparse features, ``{"name": value, ...}``, which are zero if an object does not have them. The
    files ``<stem>.labels.txt`` and ``<stem>.features.txt`` in the same folder, with one name per
    line, define the order of labels and sparse features if they list all of them.

    Parameters
    ----------
    path : str or Path
        The file, compressed or not.
    labels : str or list of str, default=None
        Where the labels are: the name of a field that contains labels (lists, or words with
        a separator between them), or the names of fields of 0 and 1, in which ``*`` matches any
        text. By default they are the fields named ``label:...``, as :func:`save` writes them, or
        the content of a field named labels, label or tags.
    separator : str, default=None
        The text between labels in a string. By default it is the first of ``|``, ``;`` and ``,``
        that occurs in the field, and lists such as ``['a', 'b']`` are understood. With "" each
        string is one label.
    text : str or list of str, default=None
        The fields whose words of at least two letters are counted, in lower case. By default it is
        a field named text that contains words; with () no words are counted. The words of several
        fields are counted separately, and their features are named after the field, such as
        title=red.
    samples : str, default=None
        The field with the names of the samples.
    drop : str or list of str, default=()
        The fields to leave out.
    like : Dataset, default=None
        A data set whose features, categories and labels this one must have. Words of a text that it
        does not have are left out. A value of a category that it does not have counts as missing,
        with a note. If there are no labels, Y is zero, with a note.
    labelled : bool, default=True
        Whether labels are read. With False, as in prediction, labels may be missing or unknown;
        this needs ``like``.
    missing_labels : {"error", "nan"}, default="error"
        The meaning of null in a field of labels, and of an object without the field. "nan": the
        labels were not observed, and are NaN in Y. "error": in a field of 0 and 1 it is an error;
        in a field that contains labels, the sample has none.
    encoding : str, default="utf-8"
        The encoding of the text. A byte-order mark of UTF-16 overrides UTF-8.
    max_bytes : int, default=None
        The largest decompressed size to read. By default it is a quarter of the memory.

    Returns
    -------
    data : Dataset
        The content of the file.

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
    options = ColumnOptions(labels, separator, text, samples, drop, labelled, missing_labels)
    return to_dataset(table, options, like, path.name)


def json_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    """Yield Datasets of at most ``rows`` samples."""
    tables, columns = raw_objects(path, rows, options)
    return assemble_pieces(tables, columns, like, path.name)


def raw_objects(
    path: Path, rows: int, options: dict[str, Any]
) -> tuple[Iterator[RawTable], ColumnOptions]:
    """Return tables of at most ``rows`` objects as they are in the file, and the column options."""
    columns, reading = split_options(options)
    return _json_tables(path, rows, reading), columns


def _json_tables(path: Path, rows: int, reading: dict[str, Any]) -> Iterator[JsonTable]:
    """Yield tables of at most ``rows`` objects; fields of earlier tables are columns of all."""
    beside, lines = find_names_beside(path), read_lines(path, **reading)
    seen: list[str] = []
    for batch in batches(path, lines, 1, rows, lambda line: bool(line.strip())):
        table = JsonTable(path, filled_lines(path, batch.lines, batch.first), beside, seen)
        seen = table.names
        yield table
