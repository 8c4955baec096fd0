"""Write LIBSVM multi-label text."""

from collections.abc import Iterator
from pathlib import Path

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write, write_text
from eigenlabel.datasets.forms.writing import (
    label_matrix,
    names_file,
    short,
    sparse_of,
    sparse_rows,
)
from eigenlabel.linalg._types import Matrix


def write_svmlight(data: Dataset, path: Path) -> dict[Path, Write]:
    """Return the files to write, each with the function that writes it.

    The names of labels and features are in files beside.
    """
    # A line without features is not a sample, so the first feature is written as zero.
    lines = sparse_lines(data, label_matrix(path, data.Y), 1, "1:0")
    return {
        **names_file(path, data.label_names, "label"),
        **names_file(path, data.feature_names, "feature"),
        path: write_text(path, lines),
    }


def sparse_lines(data: Dataset, Y: Matrix, first: int, empty: str) -> Iterator[str]:
    """Yield a line for each sample; features are numbered from ``first``.

    A sample without features has ``empty`` in their place.
    """
    rows = zip(sparse_rows(sparse_of(data.X)), sparse_rows(Y), strict=True)
    for (columns, values), (labels, _) in rows:
        pairs = [f"{j + first}:{short(v)}" for j, v in zip(columns, values, strict=True)]
        yield f"{','.join(map(str, labels))} {' '.join(pairs) or empty}".rstrip(" ")
