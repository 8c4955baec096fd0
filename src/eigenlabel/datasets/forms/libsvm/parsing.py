"""Parse lines of LIBSVM multi-label text.

scikit-learn's compiled parser reads the numbers. Text that it rejects is read again line by line,
to find the line that is wrong.
"""

import codecs
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from eigenlabel.datasets.files.decompression import text_size
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.text import decode
from eigenlabel.datasets.matching import no_labels, skips_labels
from eigenlabel.datasets.tables.columns import is_too_large
from eigenlabel.inputs.messages import Count, Message, Parameter
from eigenlabel.linalg._types import Matrix

MAX_DIGITS = 18
LARGEST = 2**31  # the compiled parser accepts smaller indices only
# Bytes of memory that each line, label and feature takes while the file is read.
WEIGHTS = {b"\n": 160, b",": 56, b":": 32}
# Columns that a file of any size may have. More are allowed if the file has as many bytes, or if
# the caller says so: a wrong index in a small file must not take the memory of a large one.
MANY_FEATURES = 2**22
MANY_LABELS = 2**20


@dataclass(frozen=True)
class Lines:
    """Some lines of LIBSVM text.

    Attributes
    ----------
    data : bytes
        The lines.
    first : int
        The number of the first line in the file.
    """

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
        """Return the error for the value at a position; samples lie between the ``ends``."""
        row = int(np.searchsorted(ends, at, side="right"))
        return DataError(path, reason, self.line_of(row))


class FileSizes(NamedTuple):
    """What is known about the columns of a file before it is read.

    Attributes
    ----------
    n_features : int or None
        The number of features, or None if it is unknown.
    n_labels : int or None
        The number of labels, or None if it is unknown.
    zero_based : bool or "auto"
        Whether features are numbered from 0, or "auto" if that is unknown.
    """

    n_features: int | None = None
    n_labels: int | None = None
    zero_based: bool | str = "auto"

    def or_those_of(self, like: Any) -> "FileSizes":
        """Return the sizes, with those of ``like`` for the unknown ones."""
        if like is None:
            return self
        n_features, n_labels, zero_based = self
        if zero_based == "auto":
            zero_based = like.options.get("zero_based", "auto")
        return FileSizes(
            len(like.feature_names) if n_features is None else n_features,
            len(like.label_names) if n_labels is None else n_labels,
            zero_based,
        )


def _label_matrix(
    path: Any, lines: Lines, rows: list[tuple[float, ...]], n_labels: int | None
) -> Matrix:
    """Return the label matrix; label j, from 0, is column j."""
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
    columns = ids.astype(np.int64)
    m = int(n_labels if n_labels is not None else columns.max(initial=-1) + 1)
    Y = sp.csr_array((np.ones(len(ids), dtype=np.int8), columns, ends), shape=(len(rows), m))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


def _feature_matrix(path: Any, lines: Lines, X: Matrix, sizes: FileSizes) -> tuple[Matrix, bool]:
    """Return the feature matrix, and whether the features of the file are numbered from 0."""
    n_features, _, zero_based = sizes
    indices = X.indices
    lowest = int(indices.min(initial=1))
    if zero_based == "auto":
        zero_based = lowest == 0
    first = 0 if zero_based else 1
    if lowest < first:
        reason = Message(
            "feature 0, but features are numbered from 1; pass ",
            Parameter("zero_based", True),
            " if they are not",
        )
        raise lines.fault(path, reason, X.indptr, int(indices.argmin()))
    width = int(indices.max(initial=first - 1)) + 1 - first
    most = max(MANY_FEATURES, text_size(path)) if n_features is None else n_features
    if width > most:
        at = int(indices.argmax())
        reason = Message(
            f"feature {indices[at]} beyond the ", Count(n_features or 0, "feature", "features")
        )
        if n_features is None:
            small = f"feature {indices[at]} in a small file; pass "
            reason = Message(small, Parameter("n_features", ...), " if it is right")
        raise lines.fault(path, reason, X.indptr, at)
    shape = (X.shape[0], width if n_features is None else n_features)
    return sp.csr_array((X.data, indices - first, X.indptr), shape=shape), bool(zero_based)


def is_sample(line: bytes) -> bool:
    """Return True if a line of LIBSVM text is a sample, not blank and not a comment."""
    return bool(line.partition(b"#")[0].strip())


def _parse(path: Any, lines: Lines) -> tuple[Matrix, list[tuple[float, ...]]]:
    try:
        X, rows = load_svmlight_file(io.BytesIO(lines.data), multilabel=True, zero_based=True)
        return X, rows
    except (ValueError, OverflowError) as error:
        _find_fault(path, lines)
        raise DataError(path, str(error)) from error


def _find_fault(path: Any, lines: Lines) -> None:
    """Read line by line and raise DataError for the first line that is wrong."""
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
                reason = f"feature {index[:40]} is too large, the largest is {LARGEST - 1}"
                raise DataError(path, reason, number)
            if int(index) <= last:
                raise DataError(path, f"feature {index} after {last}: must increase", number)
            last = int(index)


def _number(path: Any, word: str, what: str, line: int) -> None:
    try:
        float(word)
    except ValueError:
        raise DataError(path, f"{what} {word[:40]!r} is not a number", line) from None


def _check_infinite(path: Any, lines: Lines, X: Matrix) -> None:
    """Raise DataError for a value that is infinite because it is too large for a float."""
    odd = np.flatnonzero(np.isinf(X.data))
    rows = np.unique(np.searchsorted(X.indptr, odd, side="right")).tolist()
    for number, line in lines.samples(rows):
        for word in line.partition(b"#")[0].decode("latin-1").split():
            index, _, value = word.partition(":")
            try:
                large = math.isinf(float(value)) and is_too_large(value)
            except ValueError:  # only the compiled parser can read it
                continue
            if large:
                reason = f"the value {value[:40]!r} of feature {index} is too large"
                raise DataError(path, reason, number)


def plain_text(data: bytes) -> bytes:
    """Return text without a byte-order mark and with plain line ends."""
    data = data.removeprefix(codecs.BOM_UTF8)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def parse_svmlight(
    path: Any, lines: Lines, sizes: FileSizes, like: Any = None, labelled: bool = True
) -> tuple[Matrix, Matrix, bool]:
    """Return X and Y of some lines, and whether features are numbered from 0."""
    X, rows = _parse(path, lines)
    if np.isinf(X.data).any():
        _check_infinite(path, lines, X)
    X, zero_based = _feature_matrix(path, lines, X, sizes)
    if skips_labels(path, like, labelled):
        return X, no_labels(len(rows), like), zero_based
    return X, _label_matrix(path, lines, rows, sizes.n_labels), zero_based
