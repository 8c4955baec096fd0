"""Text of the Extreme Classification Repository: reader, pieces and writer."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write, write_text
from eigenlabel.datasets.files.decompression import read_bytes, text_size
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import check_room
from eigenlabel.datasets.files.names import number_names
from eigenlabel.datasets.files.text import decode
from eigenlabel.datasets.forms.batches import LATIN, batches, byte_lines
from eigenlabel.datasets.forms.libsvm.parsing import (
    LARGEST,
    MANY_FEATURES,
    MANY_LABELS,
    MAX_DIGITS,
    WEIGHTS,
    FileSizes,
    Lines,
    is_sample,
    parse_svmlight,
    plain_text,
)
from eigenlabel.datasets.forms.libsvm.writer import sparse_lines
from eigenlabel.datasets.forms.writing import label_matrix
from eigenlabel.datasets.matching import match
from eigenlabel.datasets.readers import reader


def _read_split(path: Any, n: int) -> np.ndarray:
    """Read a split file: one column per split, with rows numbered from 1."""
    lines = decode(path, read_bytes(path)).split("\n")
    table: list[list[int]] = []
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
    """Return the numbers of samples, features and labels in the first line."""
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
    """Return a Dataset of some lines after the first, each of which is a sample."""
    # An empty line is a sample without labels and features; the parser would skip it.
    texts = lines.data.removesuffix(b"\n").split(b"\n")
    texts = [text if is_sample(text) else b" 0:0" for text in texts]
    lines = Lines(b"\n".join(texts), lines.first)
    X, Y, _ = parse_svmlight(path, lines, FileSizes(*sizes, True), like, labelled)
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
    """Read text of the Extreme Classification Repository, with its split files.

    The first line contains the numbers of samples, features and labels. The other lines are those
    of LIBSVM text, with labels and features numbered from 0.

    Parameters
    ----------
    path : str or Path
        The file, compressed or not.
    train_split : str or Path, default=None
        The file with the training rows of the splits, one column per split. By default it is the
        only file ``*trSplit.txt`` in the same folder. Split k becomes ``splits["k"]``.
    test_split : str or Path, default=None
        The file with the test rows of the splits. By default it is the only file ``*tstSplit.txt``
        in the same folder.
    like : Dataset, default=None
        A data set whose features, categories and labels this one must have. If the file has no
        labels, Y is zero, with a note.
    labelled : bool, default=True
        Whether labels are read. With False, as in prediction, the labels in the file are ignored;
        this needs ``like``.
    max_bytes : int, default=None
        The largest decompressed size to read. By default it is a quarter of the memory.

    Returns
    -------
    data : Dataset
        The content of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import load_xmc
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pages.txt"
    >>> _ = path.write_text("2 4 3\\n0,2 0:0.5 2:1\\n1 1:1\\n")
    >>> load_xmc(path)
    Dataset(2 samples, 4 features, 3 labels; pages.txt)
    """
    path = Path(path)
    head, _, body = plain_text(read_bytes(path, max_bytes)).partition(b"\n")
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


def xmc_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    """Yield Datasets of at most ``rows`` samples."""
    lines = byte_lines(path, options.get("max_bytes"))
    n, d, m = read_sizes(path, next(lines).encode(LATIN))
    count, labelled = 0, options.get("labelled", True)
    for batch in batches(path, lines, 2, rows, lambda _: True):
        count += len(batch.lines)
        yield parse_xmc(path, Lines(batch.encode(LATIN), batch.first), (d, m), like, labelled)
    if count != n:
        raise DataError(path, f"the first line promises {n} samples, there are {count}", 1)


def write_xmc(data: Dataset, path: Path) -> dict[Path, Write]:
    """Return the file to write, with the function that writes it."""
    Y = label_matrix(path, data.Y)

    def lines() -> Iterator[str]:
        yield f"{data.X.shape[0]} {data.X.shape[1]} {Y.shape[1]}"
        yield from sparse_lines(data, Y, 0, "")

    return {path: write_text(path, lines())}
