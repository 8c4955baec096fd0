"""What the writers of all forms share: checked names, rows, words of categories."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from math import isnan
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write, write_text
from eigenlabel.datasets.files.decompression import stem
from eigenlabel.datasets.files.errors import DataError, show
from eigenlabel.datasets.tables.columns import Words, factorise, looks_like_dates
from eigenlabel.datasets.tables.mixed_columns import signed_numbers
from eigenlabel.datasets.tables.roles import LABEL_PREFIX, SAMPLE_NAME, TEXT_NAME
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse

ROWS = 256  # rows that are converted at once


def check_data(path: Path, data: Dataset) -> None:
    """Raise DataError if the shapes, names or types of a Dataset do not fit together."""
    if data.X.ndim != 2 or data.Y.ndim != 2 or data.X.shape[0] != data.Y.shape[0]:
        raise DataError(path, f"X of shape {data.X.shape} and Y of shape {data.Y.shape} do not fit")
    if 0 in data.X.shape or 0 in data.Y.shape:
        raise DataError(path, "no samples, no features or no labels: nothing to write")
    for what, width in (("feature", data.X.shape[1]), ("label", data.Y.shape[1])):
        count = len(getattr(data, f"{what}_names"))
        if count != width:
            raise DataError(path, f"{count} names for {width} {what}s")
    if data.X.dtype.kind not in "biuf":
        raise DataError(path, f"features of type {data.X.dtype} are not numbers")


def names_of(
    path: Path, names: Iterable[object], what: str, forbidden: str = "\n\r\x00"
) -> list[str]:
    """Return names as a list; raise DataError for one with a forbidden character."""
    found = [str(name) for name in names]
    check_characters(path, found, what, forbidden)
    return found


def unique_names(
    path: Path, names: Iterable[object], what: str, forbidden: str = "\n\r\x00"
) -> list[str]:
    """Return names as a list; raise DataError for duplicates and for forbidden characters."""
    found = names_of(path, names, what, forbidden)
    double = next((name for name, count in Counter(found).items() if count > 1), None)
    if double is not None:
        raise DataError(path, f"two {what}s are called {double!r}; rename one")
    return found


def check_characters(path: Path, words: Iterable[str], what: str, forbidden: str) -> None:
    """Raise DataError for a word with a character that the form cannot store."""
    for word in words:
        odd = next((c for c in forbidden if c in word), None)
        if odd is not None:
            reason = f"the {what} {word!r} contains {odd!r}, which this form cannot store"
            raise DataError(path, reason)


def sparse_of(A: Matrix) -> Matrix:
    """Return a copy of a matrix as CSR, with sorted indices and without stored zeros."""
    A = sp.csr_array(A, dtype=float, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    return A


def label_matrix(path: Path, Y: Matrix) -> Matrix:
    """Return the label matrix as CSR; raise DataError for values other than 0 and 1."""
    Y = sparse_of(Y)
    if not (Y.data == 1).all():
        odd = Y.data[Y.data != 1][0]
        hint = "; save labels that were not observed as .npz" if np.isnan(odd) else ""
        raise DataError(path, f"labels must be 0 or 1, found {odd:g}{hint}")
    return Y


def sparse_rows(A: Matrix) -> Iterator[tuple[list[int], list[float]]]:
    """Yield the columns and values of each row of a CSR matrix."""
    for start in range(0, A.shape[0], ROWS):
        part = A[start : start + ROWS]
        ends = part.indptr.tolist()
        indices, values = part.indices.tolist(), part.data.tolist()
        for a, b in pairwise(ends):
            yield indices[a:b], values[a:b]


def value_columns(data: Dataset) -> dict[int, tuple[str, ...]]:
    """Return the lists of values of the columns of X that contain positions in such a list."""
    names = enumerate(map(str, data.feature_names))
    return {j: tuple(data.categories[name]) for j, name in names if name in data.categories}


def dense_rows(path: Path, data: Dataset) -> Iterator[list[float | str | None]]:
    """Yield the rows of X, with words for categories and None for NaN."""
    lists = value_columns(data)
    for start in range(0, data.X.shape[0], ROWS):
        part = data.X[start : start + ROWS]
        part = part.toarray() if is_sparse(part) else part
        for row in np.asarray(part, dtype=float).tolist():
            cells: list[float | str | None] = [None if isnan(v) else v for v in row]
            for j, values in lists.items():
                if not isnan(row[j]):
                    cells[j] = word_of(path, values, row[j])
            yield cells


def word_of(path: Path, values: tuple[str, ...], code: float) -> str:
    """Return the word at a position; raise DataError if there is none."""
    if not code.is_integer() or not 0 <= code < len(values):
        raise DataError(path, f"{code:g} is not a position in the list {show(values)}")
    return values[int(code)]


def check_words(path: Path, data: Dataset, misread: Callable[[Words], str | None]) -> None:
    """Raise DataError if the words of a category would be read back as something else.

    ``misread`` returns what a form would read instead of the words, or None.
    """
    for j, values in value_columns(data).items():
        column = data.X[:, [j]]
        codes = np.unique(column.toarray() if is_sparse(column) else column).astype(float)
        name = str(data.feature_names[j])
        words = [word_of(path, values, code) for code in codes[~np.isnan(codes)].tolist()]
        if words and name.strip().lower() == TEXT_NAME:
            raise DataError(path, f"the words of {name!r} would be read as a text; rename it")
        found = factorise(words)
        what = "numbers" if signed_numbers(found, comma=False) is not None else misread(found)
        what = "dates" if looks_like_dates(found) else what
        if what is not None:
            raise DataError(path, f"the words of {name!r} would be read as {what}; use .npz")


def short(value: float) -> str:
    """Return the shortest text that is read back as the same number."""
    return repr(value).removesuffix(".0")


def names_file(path: Path, names: Iterable[object], what: str) -> dict[Path, Write]:
    """Return the file of names, one per line, that readers look for beside a file."""
    found = names_of(path, names, what)
    # The reader removes one byte-order mark.
    found[0] = "\ufeff" + found[0] if found[0].startswith("\ufeff") else found[0]
    other = path.parent / f"{stem(path)}.{what}s.txt"
    return {other: write_text(other, found)}


def table_columns(path: Path, data: Dataset, misread: Callable[[Words], str | None]) -> list[str]:
    """Return the names of the columns of a table: samples, features, labels."""
    features = unique_names(path, data.feature_names, "feature", "\r\x00")
    labels = unique_names(path, data.label_names, "label", "\r\x00")
    for name in features:
        if name.startswith(LABEL_PREFIX) or name == SAMPLE_NAME:
            raise DataError(path, f"the feature {name!r} is named as a label; rename it")
    check_words(path, data, misread)
    samples = [] if data.sample_names is None else [SAMPLE_NAME]
    return [*samples, *features, *(LABEL_PREFIX + name for name in labels)]
