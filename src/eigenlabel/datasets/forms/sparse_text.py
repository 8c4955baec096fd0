"""LIBSVM multi-label text and the Extreme Classification Repository's form of it.

scikit-learn's compiled parser reads the numbers; a file that it refuses is read again slowly, to
say which line is wrong.
"""

import codecs
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import (
    DataError,
    check_room,
    decode,
    name_array,
    names_beside,
    number_names,
    read_bytes,
    text_size,
)
from eigenlabel.datasets.like import match, no_labels, skips_labels
from eigenlabel.datasets.reading import reader
from eigenlabel.datasets.tables.columns import is_too_large
from eigenlabel.inputs.messages import Message, Parameter

MAX_DIGITS = 18
LARGEST = 2**31  # of what the compiled parser takes as an index
# Columns that a file of any size may have; more only if it is as many bytes long, or if its reader
# says so: a wrong index in a small file must not take the memory of a large one.
# Bytes of memory that lines, labels and features take while they are read.
WEIGHTS = {b"\n": 160, b",": 56, b":": 32}
MANY_FEATURES, MANY_LABELS = 2**22, 2**20


@dataclass(frozen=True)
class Lines:
    """Lines of LIBSVM text, and the number of the first."""

    data: bytes
    first: int = 1

    def samples(self, rows: list[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of some samples with their numbers; both are counted from 1."""
        wanted, row = set(rows), 0
        for number, line in enumerate(self.data.split(b"\n"), self.first):
            row += is_sample(line)
            if row in wanted and is_sample(line):
                yield number, line

    def line_of(self, row: int) -> int:
        """Return the line of a sample; both are counted from 1."""
        return next(self.samples([row]))[0]

    def fault(self, path: Any, reason: str, ends: np.ndarray, at: int) -> DataError:
        """Make the error for the value at a place, of samples that end at the given ones."""
        row = int(np.searchsorted(ends, at, side="right"))
        return DataError(path, reason, self.line_of(row))


class Sizes(NamedTuple):
    """What is known of a file's columns before it is read; None, or "auto", is not known."""

    n_features: int | None = None
    n_labels: int | None = None
    zero_based: bool | str = "auto"

    def of(self, like: Any) -> "Sizes":
        """Take from like what is not known."""
        if like is None:
            return self
        n_features, n_labels, zero_based = self
        if zero_based == "auto":
            zero_based = like.options.get("zero_based", "auto")
        return Sizes(
            len(like.feature_names) if n_features is None else n_features,
            len(like.label_names) if n_labels is None else n_labels,
            zero_based,
        )


def _label_matrix(
    path: Any, lines: Lines, rows: list[tuple[float, ...]], n_labels: int | None
) -> sp.csr_array:
    """Give the label matrix; labels are columns by their number, from 0."""
    ends = np.concatenate([[0], np.cumsum([len(r) for r in rows], dtype=np.int64)])
    ids = np.array([label for row in rows for label in row], dtype=float)
    whole = (ids >= 0) & (ids == np.floor(ids))
    most = max(MANY_LABELS, text_size(path)) if n_labels is None else n_labels
    odd = np.flatnonzero(~(whole & (ids < most)))
    if len(odd):
        at = odd[0]
        reason = Message("not a number from 0")
        if n_labels is not None:
            reason = Message(f"not between 0 and {most - 1}")
        elif whole[at]:
            given = Parameter("n_labels", ...)
            reason = Message("too many for a file of this size; pass ", given, " if it is right")
        raise lines.fault(path, Message(f"label {ids[at]:.15g} is ", reason), ends, at)
    whole = ids.astype(np.int64)
    m = int(n_labels if n_labels is not None else whole.max(initial=-1) + 1)
    Y = sp.csr_array((np.ones(len(ids), dtype=np.int8), whole, ends), shape=(len(rows), m))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


def _feature_matrix(path: Any, lines: Lines, X: Any, sizes: Sizes) -> tuple[sp.csr_array, bool]:
    """Give the feature matrix, with columns from 0, and whether they are in the file too."""
    n_features, _, zero_based = sizes
    indices = X.indices
    lowest = int(indices.min(initial=1))
    if zero_based == "auto":
        zero_based = lowest == 0
    first = 0 if zero_based else 1
    if lowest < first:
        reason = Message(
            "feature 0, but they count from 1; pass ",
            Parameter("zero_based", True),
            " if they do not",
        )
        raise lines.fault(path, reason, X.indptr, int(indices.argmin()))
    width = int(indices.max(initial=first - 1)) + 1 - first
    most = max(MANY_FEATURES, text_size(path)) if n_features is None else n_features
    if width > most:
        at = int(indices.argmax())
        reason = Message(f"feature {indices[at]} beyond the {n_features} features")
        if n_features is None:
            given = Parameter("n_features", ...)
            small = f"feature {indices[at]} in a small file; pass "
            reason = Message(small, given, " if it is right")
        raise lines.fault(path, reason, X.indptr, at)
    shape = (X.shape[0], width if n_features is None else n_features)
    return sp.csr_array((X.data, indices - first, X.indptr), shape=shape), bool(zero_based)


def is_sample(line: bytes) -> bool:
    """Tell whether a line of LIBSVM text holds a sample."""
    return bool(line.partition(b"#")[0].strip())


def _parse(path: Any, lines: Lines) -> tuple[Any, list[tuple[float, ...]]]:
    try:
        return load_svmlight_file(io.BytesIO(lines.data), multilabel=True, zero_based=True)
    except (ValueError, OverflowError) as error:
        _find_fault(path, lines)
        raise DataError(path, str(error)) from error


def _find_fault(path: Any, lines: Lines) -> None:
    """Read line by line and raise for the first one that is wrong."""
    for number, line in enumerate(decode(path, lines.data).split("\n"), lines.first):
        words = line.partition("#")[0].split()
        if words and ":" not in words[0]:
            for label in words.pop(0).split(","):
                _number(path, label, "label", number)
        last = -1
        for word in words:
            index, colon, value = word.partition(":")
            if not colon or not (index.isascii() and index.isdigit()):
                raise DataError(path, f"expected 'index:value', found {word[:40]!r}", number)
            _number(path, value, "value", number)
            if len(index) > MAX_DIGITS or int(index) >= LARGEST:
                reason = f"feature {index[:40]} is too large, the most is {LARGEST - 1}"
                raise DataError(path, reason, number)
            if int(index) <= last:
                raise DataError(path, f"feature {index} after {last}: must rise", number)
            last = int(index)


def _number(path: Any, word: str, what: str, line: int) -> None:
    try:
        float(word)
    except ValueError:
        raise DataError(path, f"{what} {word[:40]!r} is not a number", line) from None


def _check_infinite(path: Any, lines: Lines, X: Any) -> None:
    """Raise DataError for a value that is infinite only because it is too large."""
    odd = np.flatnonzero(np.isinf(X.data))
    rows = np.unique(np.searchsorted(X.indptr, odd, side="right")).tolist()
    for number, line in lines.samples(rows):
        for word in line.partition(b"#")[0].decode("latin-1").split():
            index, _, value = word.partition(":")
            try:
                large = math.isinf(float(value)) and is_too_large(value)
            except ValueError:  # which the compiled parser reads in its own way
                continue
            if large:
                reason = f"the value {value[:40]!r} of feature {index} is too large"
                raise DataError(path, reason, number)


def _fit_names(path: Path, A: sp.csr_array, names: list[str] | None, fixed: bool) -> np.ndarray:
    """Give the names of A's columns, widening A, in place, to those that never occur in it."""
    if names is None or len(names) < A.shape[1] or (fixed and len(names) != A.shape[1]):
        return number_names(path, A.shape[1])
    A.resize((A.shape[0], len(names)))
    return name_array(path, names)


def _plain(data: bytes) -> bytes:
    """Take away the byte-order mark and carriage returns."""
    data = data.removeprefix(codecs.BOM_UTF8)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def parse_svmlight(
    path: Any, lines: Lines, sizes: Sizes, like: Any = None, labelled: bool = True
) -> tuple[sp.csr_array, sp.csr_array, bool]:
    """Give X and Y of some lines, and whether their features count from 0."""
    X, rows = _parse(path, lines)
    if np.isinf(X.data).any():
        _check_infinite(path, lines, X)
    X, zero_based = _feature_matrix(path, lines, X, sizes)
    if skips_labels(path, like, labelled):
        return X, no_labels(len(rows), like), zero_based
    return X, _label_matrix(path, lines, rows, sizes.n_labels), zero_based


@reader("zero_based")
def load_svmlight(
    path: Any,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: bool | str = "auto",
    like: Any = None,
    labelled: bool = True,
    max_bytes: int | None = None,
) -> Dataset:
    """Read LIBSVM multi-label text: ``label,label index:value ...`` a line, compressed or not.

    Labels are numbers from 0. Names are taken from ``<stem>.labels.txt`` and
    ``<stem>.features.txt`` beside the file, one a line, if they name every column; names beyond
    the last column are columns that never occur.

    Parameters
    ----------
    path : str or Path
    n_features, n_labels : counts where the file does not show them; a test file may lack the last.
        Without them, more than 4 million features or 1 million labels need a file of as many bytes
    zero_based : whether feature indices begin at 0; "auto" takes 1 if no 0 occurs, or what was
        found in ``like``
    like, labelled : as for :func:`load`
    max_bytes : largest decompressed size to read, a quarter of memory by default
    """
    path = Path(path)
    data = _plain(read_bytes(path, max_bytes))
    if not data.strip():
        raise DataError(path, "empty")
    check_room(path, data, WEIGHTS, max_bytes)
    sizes = Sizes(n_features, n_labels, zero_based).of(like)
    X, Y, zero_based = parse_svmlight(path, Lines(data), sizes, like, labelled)
    beside = names_beside(path, "features"), names_beside(path, "labels")
    return match(path, name_svmlight(path, X, Y, beside, sizes, zero_based), like)


def name_svmlight(
    path: Path,
    X: sp.csr_array,
    Y: sp.csr_array,
    beside: tuple[list[str] | None, list[str] | None],
    sizes: Sizes,
    zero_based: bool,
) -> Dataset:
    """Make a Dataset, with the names of files beside if they fit widths that may be fixed."""
    feature_names = _fit_names(path, X, beside[0], sizes.n_features is not None)
    label_names = _fit_names(path, Y, beside[1], sizes.n_labels is not None)
    if X.shape[1] == 0:
        raise DataError(path, "no feature in any line")
    if Y.shape[1] == 0:
        raise DataError(path, "no sample has a label")
    return Dataset(
        X=X,
        Y=Y,
        feature_names=feature_names,
        label_names=label_names,
        source=path.name,
        options={"zero_based": zero_based},
    )


def _read_split(path: Any, n: int) -> np.ndarray:
    """Read a split file: one column a split, rows numbered from 1."""
    lines = decode(path, read_bytes(path)).split("\n")
    table = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        if not all(w.isdigit() and 1 <= int(w) <= n for w in words):
            raise DataError(path, f"row numbers must lie between 1 and {n}", number)
        if table and len(words) != len(table[0]):
            raise DataError(path, f"{len(words)} columns, {len(table[0])} before", number)
        table.append([int(w) - 1 for w in words])
    if not table:
        raise DataError(path, "empty")
    return np.array(table)


def _only_one(folder: Path, pattern: str) -> Path | None:
    found = sorted(folder.glob(pattern))
    return found[0] if len(found) == 1 else None


def read_sizes(path: Any, head: bytes) -> tuple[int, int, int]:
    """Read the first line: the numbers of samples, features and labels."""
    sizes = head.split()
    if len(sizes) != 3 or not all(s.isdigit() for s in sizes):
        raise DataError(path, "the first line must be: samples features labels", 1)
    if max(map(len, sizes)) > MAX_DIGITS:
        raise DataError(path, "the first line has a number of too many digits", 1)
    n, d, m = map(int, sizes)
    size = text_size(path)
    if max(d, m) >= LARGEST or d > max(MANY_FEATURES, size) or m > max(MANY_LABELS, size):
        raise DataError(path, f"{d} features and {m} labels are too many for this file", 1)
    return n, d, m


def parse_xmc(
    path: Path, lines: Lines, sizes: tuple[int, int], like: Any, labelled: bool
) -> Dataset:
    """Read some lines after the first, of which every one is a sample."""
    # An empty line is a sample without anything; the parser would drop it.
    texts = lines.data.removesuffix(b"\n").split(b"\n")
    texts = [text if is_sample(text) else b" 0:0" for text in texts]
    lines = Lines(b"\n".join(texts), lines.first)
    X, Y, _ = parse_svmlight(path, lines, Sizes(*sizes, True), like, labelled)
    X.eliminate_zeros()
    data = Dataset(
        X=X,
        Y=Y,
        feature_names=number_names(path, X.shape[1]),
        label_names=number_names(path, Y.shape[1]),
        source=path.name,
    )
    return match(path, data, like)


@reader()
def load_xmc(
    path: Any,
    *,
    train_split: Any = None,
    test_split: Any = None,
    like: Any = None,
    labelled: bool = True,
    max_bytes: int | None = None,
) -> Dataset:
    """Read Extreme Classification Repository text, with its split files.

    The first line has the numbers of samples, features and labels; then come lines as in LIBSVM
    text with labels and features numbered from 0. Split files (``*trSplit.txt``,
    ``*tstSplit.txt``) are found beside the file unless given; split k is ``splits["k"]``.
    ``like`` and ``labelled`` are those of :func:`load`.
    """
    path = Path(path)
    head, _, body = _plain(read_bytes(path, max_bytes)).partition(b"\n")
    check_room(path, body, WEIGHTS, max_bytes)
    n, d, m = read_sizes(path, head)
    lines = body.count(b"\n") + (not body.endswith(b"\n") and bool(body))
    if n != lines:
        raise DataError(path, f"the first line promises {n} samples, there are {lines}", 1)
    data = parse_xmc(path, Lines(body, 2), (d, m), like, labelled)
    train_split, test_split = (
        given or _only_one(path.parent, pattern)
        for given, pattern in ((train_split, "*trSplit.txt"), (test_split, "*tstSplit.txt"))
    )
    splits = {}
    if train_split and test_split:
        train, test = _read_split(train_split, n), _read_split(test_split, n)
        if train.shape[1] != test.shape[1]:
            raise DataError(test_split, f"{test.shape[1]} splits, {train.shape[1]} for training")
        splits = {str(k): (train[:, k], test[:, k]) for k in range(train.shape[1])}
    return replace(data, splits=splits)
