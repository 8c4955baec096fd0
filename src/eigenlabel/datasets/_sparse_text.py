"""LIBSVM multi-label text and the Extreme Classification Repository's form of it.

scikit-learn's compiled parser reads the numbers; a file that it refuses is read again slowly, to
say which line is wrong.
"""

import codecs
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from eigenlabel.datasets._dataset import Dataset
from eigenlabel.datasets._files import DataError, decode, name_array, names_beside, read_bytes

MAX_LABELS = 2**24
MAX_DIGITS = 18


@dataclass(frozen=True)
class Lines:
    """Lines of LIBSVM text: the number of the first, and of the samples before them."""

    data: bytes
    first: int = 1
    before: int = 0

    def line_of(self, row: int) -> int:
        """Give the line of a sample, counted from 1."""
        lines = enumerate(self.data.split(b"\n"), self.first)
        numbers = [number for number, line in lines if is_sample(line)]
        return numbers[row - 1]


def _label_matrix(
    path: Any, lines: Lines, rows: list[tuple[float, ...]], n_labels: int | None
) -> sp.csr_array:
    """Give the label matrix; labels are columns by their number, from 0."""
    ends = np.concatenate([[0], np.cumsum([len(r) for r in rows], dtype=np.int64)])
    ids = np.array([label for row in rows for label in row], dtype=float)
    odd = ~((ids >= 0) & (ids < (MAX_LABELS if n_labels is None else n_labels)))
    odd |= ids != np.floor(ids)
    if odd.any():
        row = int(np.searchsorted(ends, np.flatnonzero(odd)[0], side="right"))
        bound = "a number from 0" if n_labels is None else f"between 0 and {n_labels - 1}"
        reason = f"sample {lines.before + row}: label {ids[odd][0]:g} is not {bound}"
        raise DataError(path, reason, lines.line_of(row))
    whole = ids.astype(np.int64)
    m = int(n_labels if n_labels is not None else whole.max(initial=-1) + 1)
    Y = sp.csr_array((np.ones(len(ids), dtype=np.int8), whole, ends), shape=(len(rows), m))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


def is_sample(line: bytes) -> bool:
    """Tell whether a line of LIBSVM text holds a sample."""
    return bool(line.partition(b"#")[0].strip())


def _parse(
    path: Any, data: bytes, first: int, n_features: int | None, zero_based: bool | str
) -> tuple[sp.csr_array, list[tuple[float, ...]]]:
    try:
        X, labels = load_svmlight_file(
            io.BytesIO(data), n_features=n_features, multilabel=True, zero_based=zero_based
        )
    except (ValueError, OverflowError) as error:
        _find_fault(path, data, first, n_features, zero_based)
        raise DataError(path, str(error)) from error
    return sp.csr_array(X), labels


def _find_fault(
    path: Any, data: bytes, first: int, n_features: int | None, zero_based: bool | str
) -> None:
    """Read line by line and raise for the first one that is wrong."""
    for number, line in enumerate(decode(path, data).split("\n"), first):
        words = line.partition("#")[0].split()
        if words and ":" not in words[0]:
            for label in words.pop(0).split(","):
                _number(path, label, "label", number)
        last = -1
        for word in words:
            index, colon, value = word.partition(":")
            if not colon or not index.isdigit():
                raise DataError(path, f"expected 'index:value', found {word[:40]!r}", number)
            _number(path, value, "value", number)
            at = int(index) - (0 if zero_based is True or zero_based == "auto" else 1)
            if at < 0:
                raise DataError(path, "feature 0, but they count from 1; pass zero_based", number)
            if n_features is not None and at >= n_features + (zero_based == "auto"):
                raise DataError(path, f"feature {index} beyond the {n_features} features", number)
            if int(index) <= last:
                raise DataError(path, f"feature {index} after {last}: must rise", number)
            last = int(index)


def _number(path: Any, word: str, what: str, line: int) -> None:
    try:
        float(word)
    except ValueError:
        raise DataError(path, f"{what} {word[:40]!r} is not a number", line) from None


def _fit_names(path: Path, A: sp.csr_array, names: list[str] | None, fixed: bool) -> np.ndarray:
    """Give the names of A's columns, widening A, in place, to those that never occur in it."""
    if names is None or len(names) < A.shape[1] or (fixed and len(names) != A.shape[1]):
        return np.arange(A.shape[1]).astype(str)
    A.resize((A.shape[0], len(names)))
    return name_array(path, names)


def _plain(data: bytes) -> bytes:
    """Take away the byte-order mark and carriage returns."""
    data = data.removeprefix(codecs.BOM_UTF8)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def parse_svmlight(
    path: Any,
    lines: Lines,
    n_features: int | None,
    n_labels: int | None,
    zero_based: bool | str,
) -> tuple[sp.csr_array, sp.csr_array]:
    """Give X and Y of some lines."""
    X, rows = _parse(path, lines.data, lines.first, n_features, zero_based)
    return X, _label_matrix(path, lines, rows, n_labels)


def load_svmlight(
    path: Any,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: bool | str = "auto",
    max_bytes: int | None = None,
) -> Dataset:
    """Read LIBSVM multi-label text: ``label,label index:value ...`` a line, compressed or not.

    Labels are numbers from 0. Names are taken from ``<stem>.labels.txt`` and
    ``<stem>.features.txt`` beside the file, one a line, if they name every column; names beyond
    the last column are columns that never occur.

    Parameters
    ----------
    path : str or Path
    n_features, n_labels : counts where the file does not show them; a test file may lack the last
    zero_based : whether feature indices begin at 0; "auto" takes 1 if no 0 occurs
    max_bytes : largest decompressed size to read, a quarter of memory by default
    """
    path = Path(path)
    data = _plain(read_bytes(path, max_bytes))
    if not data.strip():
        raise DataError(path, "empty")
    X, Y = parse_svmlight(path, Lines(data), n_features, n_labels, zero_based)
    beside = names_beside(path, "features"), names_beside(path, "labels")
    return name_svmlight(path, X, Y, beside, (n_features is not None, n_labels is not None))


def name_svmlight(
    path: Path,
    X: sp.csr_array,
    Y: sp.csr_array,
    beside: tuple[list[str] | None, list[str] | None],
    fixed: tuple[bool, bool],
) -> Dataset:
    """Make a Dataset, with the names of files beside if they fit widths that may be fixed."""
    feature_names = _fit_names(path, X, beside[0], fixed[0])
    label_names = _fit_names(path, Y, beside[1], fixed[1])
    if X.shape[1] == 0:
        raise DataError(path, "no feature in any line")
    if Y.shape[1] == 0:
        raise DataError(path, "no sample has a label")
    return Dataset(X=X, Y=Y, feature_names=feature_names, label_names=label_names, source=path.name)


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
    if max(d, m) >= 2**31:
        raise DataError(path, f"{d} features and {m} labels are too many", 1)
    return n, d, m


def parse_xmc(
    path: Any, lines: Lines, n_features: int, n_labels: int
) -> tuple[sp.csr_array, sp.csr_array]:
    """Give X and Y of some lines after the first, of which every one is a sample."""
    # An empty line is a sample without anything; the parser would drop it.
    texts = lines.data.removesuffix(b"\n").split(b"\n")
    texts = [text if is_sample(text) else b" 0:0" for text in texts]
    lines = Lines(b"\n".join(texts), lines.first, lines.before)
    X, Y = parse_svmlight(path, lines, n_features, n_labels, True)
    X.eliminate_zeros()
    return X, Y


def load_xmc(
    path: Any, *, train_split: Any = None, test_split: Any = None, max_bytes: int | None = None
) -> Dataset:
    """Read Extreme Classification Repository text, with its split files.

    The first line has the numbers of samples, features and labels; then come lines as in LIBSVM
    text with labels and features numbered from 0. Split files (``*trSplit.txt``,
    ``*tstSplit.txt``) are found beside the file unless given; split k is ``splits["k"]``.
    """
    path = Path(path)
    head, _, body = _plain(read_bytes(path, max_bytes)).partition(b"\n")
    n, d, m = read_sizes(path, head)
    lines = body.count(b"\n") + (not body.endswith(b"\n") and bool(body))
    if n != lines:
        raise DataError(path, f"the first line promises {n} samples, there are {lines}", 1)
    X, Y = parse_xmc(path, Lines(body, 2), d, m)
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
    return replace(number_columns(path, X, Y), splits=splits)


def number_columns(path: Path, X: sp.csr_array, Y: sp.csr_array) -> Dataset:
    """Make a Dataset whose features and labels are known by their numbers."""
    return Dataset(
        X=X,
        Y=Y,
        feature_names=np.arange(X.shape[1]).astype(str),
        label_names=np.arange(Y.shape[1]).astype(str),
        source=path.name,
    )
