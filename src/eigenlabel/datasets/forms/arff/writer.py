"""Write ARFF with its XML file of labels."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write, write_text
from eigenlabel.datasets.files.decompression import stem
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.writing import (
    check_characters,
    dense_rows,
    label_matrix,
    short,
    sparse_of,
    sparse_rows,
    unique_names,
)
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse

NAMESPACE = "http://mulan.sourceforge.net/labels"
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
NOT_XML = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF]))


def write_arff(data: Dataset, path: Path) -> dict[Path, Write]:
    """Return the ARFF and the XML file to write, each with the function that writes it.

    The ARFF file is sparse if X is sparse and has no categories.
    """
    _check(path, data)
    both = unique_names(path, [*data.feature_names, *data.label_names], "attribute")
    features, labels = both[: data.X.shape[1]], both[data.X.shape[1] :]
    check_characters(path, labels, "label", NOT_XML)
    Y = label_matrix(path, data.Y)

    def lines() -> Iterator[str]:
        yield from _header(path, data, features, labels)
        sparse = is_sparse(data.X) and not data.categories
        yield from _sparse(data, Y) if sparse else _dense(path, data, Y)

    root = ET.Element("labels", xmlns=NAMESPACE)
    for name in labels:
        ET.SubElement(root, "label", name=name)
    xml = path.parent / f"{stem(path)}.xml"
    return {
        xml: lambda stream: ET.ElementTree(root).write(stream, "utf-8", xml_declaration=True),
        path: write_text(path, lines()),
    }


def _quote(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _number(value: float | None) -> str:
    return "?" if value is None else short(value)


def _header(path: Path, data: Dataset, features: list[str], labels: list[str]) -> Iterator[str]:
    yield f"@relation {_quote(' '.join(stem(path).split()))}"
    for name in features:
        values = data.categories.get(name)
        kind = "numeric" if values is None else f"{{{','.join(map(_quote, values))}}}"
        yield f"@attribute {_quote(name)} {kind}"
    for name in labels:
        yield f"@attribute {_quote(name)} {{0,1}}"
    yield "@data"


def _dense(path: Path, data: Dataset, Y: Matrix) -> Iterator[str]:
    m = Y.shape[1]
    for cells, (found, _) in zip(dense_rows(path, data), sparse_rows(Y), strict=True):
        words = [_quote(c) if isinstance(c, str) else _number(c) for c in cells]
        labels = ["0"] * m
        for j in found:
            labels[j] = "1"
        yield ",".join([*words, *labels])


def _sparse(data: Dataset, Y: Matrix) -> Iterator[str]:
    d = data.X.shape[1]
    for (columns, values), (labels, _) in zip(
        sparse_rows(sparse_of(data.X)), sparse_rows(Y), strict=True
    ):
        pairs = [
            f"{j} {'?' if np.isnan(v) else short(v)}" for j, v in zip(columns, values, strict=True)
        ]
        yield f"{{{','.join([*pairs, *(f'{d + j} 1' for j in labels)])}}}"


def _check(path: Path, data: Dataset) -> None:
    """Raise DataError for categories and numbers that ARFF cannot store."""
    for name, values in data.categories.items():
        check_characters(path, values, f"value of {name!r}", "\n\r\x00")
        if "?" in values:
            raise DataError(path, f"{name!r} has the value '?', which means missing in ARFF")
        if len(set(values)) < len(values):
            raise DataError(path, f"{name!r} has a value twice")
        if all(map(NUMBER.fullmatch, values)):
            raise DataError(path, f"the words of {name!r} would be read as numbers; use .npz")
    found = data.X.data if is_sparse(data.X) else data.X
    if np.isinf(found).any():
        raise DataError(path, "ARFF has no infinite numbers; use .npz")
