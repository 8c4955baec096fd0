"""Write JSON lines."""

import json
from collections.abc import Iterator
from math import isinf, isnan
from pathlib import Path
from typing import TypeAlias, TypeVar

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write, write_text
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.jsonlines.reader import FEATURES
from eigenlabel.datasets.forms.writing import (
    check_words,
    dense_rows,
    label_matrix,
    names_file,
    sparse_of,
    sparse_rows,
    unique_names,
)
from eigenlabel.datasets.tables.roles import LABEL_NAMES, LABEL_PREFIX, SAMPLE_NAME
from eigenlabel.linalg.operators import is_sparse

JsonObject: TypeAlias = dict[str, object]
Cell = TypeVar("Cell", float, "float | str | None")


def write_jsonl(data: Dataset, path: Path) -> dict[Path, Write]:
    """Return the files to write, each with the function that writes it.

    The names of the labels, and those of sparse features, are in files beside.
    """
    sparse = is_sparse(data.X) and not data.categories
    labels = unique_names(path, data.label_names, "label")
    features = unique_names(path, data.feature_names, "feature", "\n\r\x00" if sparse else "")
    parts = names_file(path, labels, "label")
    if sparse:
        parts |= names_file(path, features, "feature")
    rows = _sparse_objects(path, data) if sparse else _dense_objects(path, data)
    found = sparse_rows(label_matrix(path, data.Y))

    def lines() -> Iterator[str]:
        for i, (row, (columns, _)) in enumerate(zip(rows, found, strict=True)):
            names = {} if data.sample_names is None else {SAMPLE_NAME: str(data.sample_names[i])}
            whole = {**names, **row, LABEL_NAMES[0]: [labels[j] for j in columns]}
            yield json.dumps(whole, ensure_ascii=False)

    return {**parts, path: write_text(path, lines())}


def _check_finite(path: Path, value: Cell) -> Cell:
    if isinstance(value, float) and isinf(value):
        raise DataError(path, "JSON has no infinite numbers; use .npz")
    return value


def _sparse_objects(path: Path, data: Dataset) -> Iterator[JsonObject]:
    """Yield an object for each sample, with its non-zero features in one field."""
    names = [str(name) for name in data.feature_names]
    for columns, values in sparse_rows(sparse_of(data.X)):
        cells = (None if isnan(v) else _check_finite(path, v) for v in values)
        yield {FEATURES: dict(zip((names[j] for j in columns), cells, strict=True))}


def _dense_objects(path: Path, data: Dataset) -> Iterator[JsonObject]:
    """Yield an object for each sample, with a field for each feature."""
    names = [str(name) for name in data.feature_names]
    for name in names:
        if name in (LABEL_NAMES[0], FEATURES, SAMPLE_NAME) or name.startswith(LABEL_PREFIX):
            raise DataError(path, f"the feature {name!r} is named as another field; rename it")
    check_words(path, data, lambda _: None)
    for cells in dense_rows(path, data):
        yield dict(zip(names, (_check_finite(path, cell) for cell in cells), strict=True))
