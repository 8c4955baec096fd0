"""Write a Dataset in any form that can be read."""

import json
from collections.abc import Callable, Iterator
from math import isinf, isnan
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from scipy.io import savemat

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import DataError, stem
from eigenlabel.datasets.forms.arff.writer import write_arff
from eigenlabel.datasets.forms.jsonlines import FEATURES
from eigenlabel.datasets.forms.npz.reader import write_npz
from eigenlabel.datasets.output import (
    Write,
    check_data,
    check_words,
    dense_rows,
    label_matrix,
    names_of,
    short,
    sparse_of,
    sparse_rows,
    unique_names,
    value_columns,
    word_of,
    write_files,
    write_text,
)
from eigenlabel.datasets.tables.columns import Words, read_numbers
from eigenlabel.datasets.tables.roles import LABEL_NAMES, LABEL_PREFIX, SAMPLE_NAME
from eigenlabel.linalg.machine import memory_limit


def _names_beside(path: Path, names: Any, what: str) -> dict[Path, Write]:
    """Give the file of names, one a line, that readers look for beside a file."""
    names = names_of(path, names, what)
    # The reader takes one byte-order mark away.
    names[0] = "\ufeff" + names[0] if names[0].startswith("\ufeff") else names[0]
    other = path.parent / f"{stem(path)}.{what}s.txt"
    return {other: write_text(other, names)}


def _sparse_lines(data: Dataset, Y: sp.csr_array, first: int, empty: str) -> Iterator[str]:
    rows = zip(sparse_rows(sparse_of(data.X)), sparse_rows(Y), strict=True)
    for (columns, values), (labels, _) in rows:
        pairs = [f"{j + first}:{short(v)}" for j, v in zip(columns, values, strict=True)]
        yield f"{','.join(map(str, labels))} {' '.join(pairs) or empty}".rstrip(" ")


def _write_svmlight(data: Dataset, path: Path) -> dict[Path, Write]:
    # A line without a feature would not be a sample: it names the first one as zero.
    lines = _sparse_lines(data, label_matrix(path, data.Y), 1, "1:0")
    return {
        **_names_beside(path, data.label_names, "label"),
        **_names_beside(path, data.feature_names, "feature"),
        path: write_text(path, lines),
    }


def _write_xmc(data: Dataset, path: Path) -> dict[Path, Write]:
    Y = label_matrix(path, data.Y)

    def lines() -> Iterator[str]:
        yield f"{data.X.shape[0]} {data.X.shape[1]} {Y.shape[1]}"
        yield from _sparse_lines(data, Y, 0, "")

    return {path: write_text(path, lines())}


def _write_mat(data: Dataset, path: Path) -> dict[Path, Write]:
    Y = label_matrix(path, data.Y)
    variables = {
        "X": sp.csc_matrix(data.X) if sp.issparse(data.X) else np.asarray(data.X),
        "Y": sp.csc_matrix(Y),
        "feature_names": np.array([*map(str, data.feature_names), None], dtype=object)[:-1],
        "label_names": np.array([*map(str, data.label_names), None], dtype=object)[:-1],
    }

    def write(stream: BinaryIO) -> None:
        if not stream.seekable():
            raise DataError(path, "MATLAB files cannot be written to a pipe; name a regular file")
        savemat(stream, variables, do_compression=True)

    return {path: write}


def _columns(path: Path, data: Dataset, misread: Callable[[Words], str | None]) -> list[str]:
    """Give the names of the columns of a table: samples, features, labels."""
    features = unique_names(path, data.feature_names, "feature", "\r\x00")
    labels = unique_names(path, data.label_names, "label", "\r\x00")
    for name in features:
        if name.startswith(LABEL_PREFIX) or name == SAMPLE_NAME:
            raise DataError(path, f"the feature {name!r} is named as a label; rename it")
    check_words(path, data, misread)
    samples = [] if data.sample_names is None else [SAMPLE_NAME]
    return [*samples, *features, *(LABEL_PREFIX + name for name in labels)]


def _misread(words: Words) -> str | None:
    """Tell as what a column of text would be read instead of words."""
    if "" in words.values:
        return "missing"
    if any("\r" in value or "\x00" in value for value in words.values):
        return "other words (carriage return, NUL)"
    return "numbers" if words.values and read_numbers(words, comma=True) is not None else None


def _quote(word: str) -> str:
    doubled = word.replace('"', '""')
    return f'"{doubled}"'


def _write_csv(data: Dataset, path: Path, delimiter: str = ",") -> dict[Path, Write]:
    names, Y = _columns(path, data, _misread), label_matrix(path, data.Y)
    samples = None if data.sample_names is None else [str(s) for s in data.sample_names]
    if samples is not None and any("\r" in s or "\x00" in s for s in samples):
        raise DataError(path, "a sample name has a carriage return or NUL in it")

    def lines() -> Iterator[str]:
        yield delimiter.join(map(_quote, names))
        rows = zip(dense_rows(path, data), sparse_rows(Y), strict=True)
        for i, (cells, (found, _)) in enumerate(rows):
            words = [] if samples is None else [_quote(samples[i])]
            for cell in cells:
                words.append(
                    "" if cell is None else _quote(cell) if isinstance(cell, str) else repr(cell)
                )
            labels = ["0"] * Y.shape[1]
            for j in found:
                labels[j] = "1"
            yield delimiter.join([*words, *labels])

    return {path: write_text(path, lines())}


def _write_tsv(data: Dataset, path: Path) -> dict[Path, Write]:
    return _write_csv(data, path, "\t")


def _write_parquet(data: Dataset, path: Path) -> dict[Path, Write]:
    try:
        import pyarrow as pa  # noqa: PLC0415  an extra
        import pyarrow.parquet as pq  # noqa: PLC0415  an extra
    except ImportError as error:
        raise DataError(path, "Parquet needs pyarrow: pip install 'eigenlabel[data]'") from error
    names = _columns(path, data, lambda _: None)
    n, d = data.X.shape
    if 8 * n * d > memory_limit() / 2:
        raise DataError(path, f"{n:,} x {d:,} values do not fit into memory; use .npz")
    X = data.X.toarray() if sp.issparse(data.X) else np.asarray(data.X)
    columns = [] if data.sample_names is None else [[str(s) for s in data.sample_names]]
    lists = value_columns(data)
    for j in range(d):
        column = X[:, j].astype(float)
        columns.append(_spelled(path, column, lists[j]) if j in lists else column)
    columns += list(label_matrix(path, data.Y).toarray().astype(np.int8).T)
    try:
        table = pa.table([pa.array(c, from_pandas=True) for c in columns], names=names)
    except UnicodeEncodeError as error:
        raise DataError(path, f"half a character cannot be written ({error})") from error
    return {path: lambda stream: pq.write_table(table, stream)}


def _spelled(path: Path, column: np.ndarray, values: tuple[str, ...]) -> list[str | None]:
    return [None if isnan(v) else word_of(path, values, v) for v in column.tolist()]


def _write_jsonl(data: Dataset, path: Path) -> dict[Path, Write]:
    sparse = sp.issparse(data.X) and not data.categories
    labels = unique_names(path, data.label_names, "label")
    features = unique_names(path, data.feature_names, "feature", "\n\r\x00" if sparse else "")
    parts = _names_beside(path, labels, "label")
    if sparse:
        parts |= _names_beside(path, features, "feature")
    rows = _json_sparse(path, data) if sparse else _json_dense(path, data)
    found = sparse_rows(label_matrix(path, data.Y))

    def lines() -> Iterator[str]:
        for i, (row, (columns, _)) in enumerate(zip(rows, found, strict=True)):
            names = {} if data.sample_names is None else {SAMPLE_NAME: str(data.sample_names[i])}
            whole = {**names, **row, LABEL_NAMES[0]: [labels[j] for j in columns]}
            yield json.dumps(whole, ensure_ascii=False)

    return {**parts, path: write_text(path, lines())}


def _finite(path: Path, value: Any) -> Any:
    if isinstance(value, float) and isinf(value):
        raise DataError(path, "JSON has no infinite numbers; use .npz")
    return value


def _json_sparse(path: Path, data: Dataset) -> Iterator[dict[str, Any]]:
    names = [str(name) for name in data.feature_names]
    for columns, values in sparse_rows(sparse_of(data.X)):
        cells = (None if isnan(v) else _finite(path, v) for v in values)
        yield {FEATURES: dict(zip((names[j] for j in columns), cells, strict=True))}


def _json_dense(path: Path, data: Dataset) -> Iterator[dict[str, Any]]:
    names = [str(name) for name in data.feature_names]
    for name in names:
        if name in (LABEL_NAMES[0], FEATURES, SAMPLE_NAME) or name.startswith(LABEL_PREFIX):
            raise DataError(path, f"the feature {name!r} is named as another field; rename it")
    check_words(path, data, lambda _: None)
    for cells in dense_rows(path, data):
        yield dict(zip(names, (_finite(path, cell) for cell in cells), strict=True))


WRITERS = {
    "npz": lambda data, path: {path: lambda stream: write_npz(data, stream)},
    "arff": write_arff,
    "svmlight": _write_svmlight,
    "xmc": _write_xmc,
    "mat": _write_mat,
    "csv": _write_csv,
    "tsv": _write_tsv,
    "parquet": _write_parquet,
    "jsonl": _write_jsonl,
}
SUFFIXES = {f".{form}": form for form in WRITERS if form not in ("svmlight", "xmc")}
SUFFIXES |= {".svm": "svmlight", ".libsvm": "svmlight", ".ndjson": "jsonl"}
BINARY = ("npz", "mat", "parquet")


def save(data: Dataset, path: Any, form: str | None = None) -> None:
    """Write a Dataset, in the form that the suffix tells; text is compressed if ``.gz`` follows.

    ===============================  ==============================================================
    ``.npz``                         everything a Dataset has
    ``.arff``                        and ``<stem>.xml``, which names the labels
    ``.svm``, ``.libsvm``            and ``<stem>.labels.txt``, ``<stem>.features.txt``
    ``.mat``                         X, Y and their names
    ``.csv``, ``.tsv``,              labels as columns ``label:...``, names of samples as
    ``.parquet``                     ``sample:name``
    ``.jsonl``                       and ``<stem>.labels.txt``, ``<stem>.features.txt``
    ``form="xmc"``                   Extreme Classification Repository text, without names
    ===============================  ==============================================================

    :func:`load` reads the same numbers, labels and names back. Tables and JSON lines hold the
    words of a column of categories, not the order of their list: read with ``like=data`` for
    that. What a form cannot hold is refused. Files appear whole or not at all.

    Parameters
    ----------
    data : Dataset
    path : str or Path
    form : name of the form, "npz", "arff", "svmlight", "xmc", "mat", "csv", "tsv", "parquet" or
        "jsonl", where the suffix does not tell

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import load, make_shared_subspace, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "planted.csv.gz"
    >>> save(make_shared_subspace(30, 4, 3, 2, random_state=0), path)
    >>> load(path)
    Dataset(30 samples, 4 features, 3 labels; planted.csv.gz)
    """
    path = Path(path)
    packed = path.suffix == ".gz"
    suffix = (path.with_suffix("") if packed else path).suffix.lower()
    form = SUFFIXES.get(suffix) if form is None else form
    if form not in WRITERS:
        known = ", ".join(SUFFIXES)
        raise DataError(
            path,
            f"which form? Known suffixes are {known} (.gz may follow those of text); or pass "
            f"form=, one of {', '.join(WRITERS)}",
        )
    if packed and form in BINARY:
        raise DataError(path, f"{form} files are compressed by themselves: leave .gz away")
    check_data(path, data)
    write_files(WRITERS[form](data, path))
