"""What all writers share: whole files or none, and the rows and words of a Dataset."""

import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import pairwise
from math import isnan
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import DataError
from eigenlabel.datasets.tables.columns import Words, factorise, looks_like_dates
from eigenlabel.datasets.tables.roles import TEXT_NAME, show
from eigenlabel.datasets.writing import check_target, writing

ROWS = 256  # written at once
Write = Callable[[BinaryIO], Any]


def write_files(parts: Mapping[Path, Write]) -> None:
    """Write files beside their places and move them there when all are whole."""
    try:
        if len(parts) > 1 and (special := next(filter(check_target, parts), None)):
            raise DataError(
                special,
                f"this form has {len(parts)} files, which cannot be written to a pipe or device; "
                "name a regular file, or use .csv",
            )
        with ExitStack() as whole:
            for path in reversed(parts):  # the file itself takes its place last
                _write_packed(path, parts[path], whole.enter_context(writing(path)))
    except OSError as error:
        raise DataError(error.filename, f"cannot be written ({error.strerror})") from error


def _write_packed(path: Path, write: Write, stream: BinaryIO) -> None:
    if path.suffix != ".gz":
        write(stream)
        return
    # Neither name nor time: the same data give the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
        write(packed)


def write_text(path: Path, lines: Iterable[str]) -> Write:
    """Give what writes lines to a stream."""

    def write(stream: BinaryIO) -> None:
        try:
            for line in lines:
                stream.write(f"{line}\n".encode())
        except UnicodeEncodeError as error:
            raise DataError(path, f"half a character cannot be written ({error})") from error

    return write


def check_data(path: Path, data: Dataset) -> None:
    """Refuse what is no set of data."""
    if data.X.ndim != 2 or data.Y.ndim != 2 or data.X.shape[0] != data.Y.shape[0]:
        raise DataError(path, f"X of shape {data.X.shape} and Y of shape {data.Y.shape} do not fit")
    if 0 in data.X.shape or 0 in data.Y.shape:
        raise DataError(path, "no samples, no features or no labels: nothing to write")
    for what, width in (("feature", data.X.shape[1]), ("label", data.Y.shape[1])):
        if len(getattr(data, f"{what}_names")) != width:
            raise DataError(
                path, f"{len(getattr(data, f'{what}_names'))} names for {width} {what}s"
            )
    if data.X.dtype.kind not in "biuf":
        raise DataError(path, f"features of type {data.X.dtype} are no numbers")


def names_of(path: Path, names: Any, what: str, forbidden: str = "\n\r\x00") -> list[str]:
    """Give names that a form can hold."""
    found = [str(name) for name in names]
    check_characters(path, found, what, forbidden)
    return found


def unique_names(path: Path, names: Any, what: str, forbidden: str = "\n\r\x00") -> list[str]:
    """Give names that differ and that a form can hold."""
    found = names_of(path, names, what, forbidden)
    double = next((name for name, count in Counter(found).items() if count > 1), None)
    if double is not None:
        raise DataError(path, f"two {what}s are called {double!r}; rename one")
    return found


def check_characters(path: Path, words: Iterable[str], what: str, forbidden: str) -> None:
    """Refuse words with characters that a form cannot hold."""
    for word in words:
        odd = next((c for c in forbidden if c in word), None)
        if odd is not None:
            raise DataError(path, f"the {what} {word!r} has {odd!r} in it, which it cannot hold")


def sparse_of(A: Any) -> sp.csr_array:
    """Give a matrix as tidy CSR, a copy."""
    A = sp.csr_array(A, dtype=float, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    return A


def label_matrix(path: Path, Y: Any) -> sp.csr_array:
    """Give the label matrix, if it holds 0 and 1."""
    Y = sparse_of(Y)
    if not (Y.data == 1).all():
        odd = Y.data[Y.data != 1][0]
        hint = "; save labels that were not observed as .npz" if np.isnan(odd) else ""
        raise DataError(path, f"labels must be 0 or 1, found {odd:g}{hint}")
    return Y


def sparse_rows(A: sp.csr_array) -> Iterator[tuple[list[int], list[float]]]:
    """Yield the columns and values of each row."""
    for start in range(0, A.shape[0], ROWS):
        part = A[start : start + ROWS]
        ends = part.indptr.tolist()
        indices, values = part.indices.tolist(), part.data.tolist()
        for a, b in pairwise(ends):
            yield indices[a:b], values[a:b]


def value_columns(data: Dataset) -> dict[int, tuple[str, ...]]:
    """Give the columns whose numbers are positions in a list of values."""
    names = enumerate(map(str, data.feature_names))
    return {j: tuple(data.categories[name]) for j, name in names if name in data.categories}


def dense_rows(path: Path, data: Dataset) -> Iterator[list[Any]]:
    """Yield rows of X: numbers, words for positions in a list of values, None for NaN."""
    lists = value_columns(data)
    for start in range(0, data.X.shape[0], ROWS):
        part = data.X[start : start + ROWS]
        part = part.toarray() if sp.issparse(part) else part
        for row in np.asarray(part, dtype=float).tolist():
            cells = [None if isnan(v) else v for v in row]
            for j, values in lists.items():
                if cells[j] is not None:
                    cells[j] = word_of(path, values, cells[j])
            yield cells


def word_of(path: Path, values: tuple[str, ...], code: float) -> str:
    """Give the word at a position."""
    if not code.is_integer() or not 0 <= code < len(values):
        raise DataError(path, f"{code:g} is no position in the list {show(values)}")
    return values[int(code)]


def check_words(path: Path, data: Dataset, misread: Callable[[Words], str | None]) -> None:
    """Refuse words of a column that would be read as something else."""
    for j, values in value_columns(data).items():
        column = data.X[:, [j]]
        codes = np.unique(column.toarray() if sp.issparse(column) else column).astype(float)
        name = str(data.feature_names[j])
        words = [word_of(path, values, code) for code in codes[~np.isnan(codes)].tolist()]
        if words and name.strip().lower() == TEXT_NAME:
            raise DataError(path, f"the words of {name!r} would be read as a text; rename it")
        found = factorise(words)
        what = "dates" if looks_like_dates(found) else misread(found)
        if what is not None:
            raise DataError(path, f"the words of {name!r} would be read as {what}; use .npz")


def short(value: float) -> str:
    """Write a number exactly and as short as it goes."""
    return repr(value).removesuffix(".0")
