"""Write comma-separated text."""

from collections.abc import Iterator
from pathlib import Path

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write, write_text
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.writing import dense_rows, label_matrix, sparse_rows, table_columns
from eigenlabel.datasets.tables.columns import Words, is_empty, read_numbers


def write_csv(data: Dataset, path: Path, delimiter: str = ",") -> dict[Path, Write]:
    """Return the file to write, with the function that writes it."""
    names, Y = table_columns(path, data, _misread), label_matrix(path, data.Y)
    samples = None if data.sample_names is None else [str(s) for s in data.sample_names]
    if samples is not None and any("\r" in s or "\x00" in s for s in samples):
        raise DataError(path, "a sample name contains a carriage return or NUL")

    def lines() -> Iterator[str]:
        yield delimiter.join(map(_quote, names))
        rows = zip(dense_rows(path, data), sparse_rows(Y), strict=True)
        for i, (cells, (found, _)) in enumerate(rows):
            words = [] if samples is None else [_quote(samples[i])]
            words += map(_cell, cells)
            labels = ["0"] * Y.shape[1]
            for j in found:
                labels[j] = "1"
            yield delimiter.join([*words, *labels])

    return {path: write_text(path, lines())}


def write_tsv(data: Dataset, path: Path) -> dict[Path, Write]:
    """Return the tab-separated file to write, with the function that writes it."""
    return write_csv(data, path, "\t")


def _misread(words: Words) -> str | None:
    """Return what a column of text would be read as instead of words, or None."""
    if "" in words.values or any(map(is_empty, words.values)):
        return "missing"
    if any("\r" in value or "\x00" in value for value in words.values):
        return "other words (carriage return, NUL)"
    return "numbers" if words.values and read_numbers(words, comma=True) is not None else None


def _cell(cell: float | str | None) -> str:
    if cell is None:
        return ""
    return _quote(cell) if isinstance(cell, str) else repr(cell)


def _quote(word: str) -> str:
    doubled = word.replace('"', '""')
    return f'"{doubled}"'
