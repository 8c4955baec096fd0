"""Vectors of 16-bit numbers, the form of Guillaumin's image features."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import (
    DataError,
    name_array,
    number_names,
    plain_name,
    read_bytes,
    read_names,
    stem,
)
from eigenlabel.datasets.like import about_labels, match, no_labels, skips_labels
from eigenlabel.datasets.reading import reader
from eigenlabel.inputs.messages import Message, Parameter

SUFFIX, LABELS = ".hvecs", "annot"


def is_hvecs(path: Path) -> bool:
    """Tell by its name whether a file has this form: nothing in it tells."""
    return plain_name(path).endswith(SUFFIX)


def _read(path: Path) -> np.ndarray:
    """Read rows of a dimension and so many numbers; all have to have the same dimension."""
    data = read_bytes(path)
    if len(data) < 2 or len(data) % 2:
        raise DataError(path, f"{len(data)} bytes are not rows of 16-bit numbers")
    values = np.frombuffer(data, dtype="<i2")
    d = int(values[0])
    if d < 1:
        raise DataError(path, f"the first row says it has {d} values")
    if len(values) % (d + 1):
        raise DataError(path, f"cut off: {len(values)} numbers are not rows of 1 + {d}")
    rows = values.reshape(-1, d + 1)
    odd = rows[:, 0] != d
    if odd.any():
        row = int(np.argmax(odd))
        raise DataError(path, f"row {row} says it has {rows[row, 0]} values, the first has {d}")
    return rows[:, 1:]


def _beside(path: Path, ending: str) -> Path | None:
    """Find a file beside this one whose name begins as its name does, up to an underscore."""
    parts = stem(path).split("_")
    for k in range(len(parts) - 1, 0, -1):
        found = path.parent / f"{'_'.join(parts[:k])}_{ending}"
        if found.is_file():
            return found
    return None


def _names(path: Path | None, count: int) -> np.ndarray | None:
    """Read names, one a line, unless they are those of another file."""
    names = [] if path is None else read_names(path)
    return name_array(path, names) if len(names) == count else None


@reader()
def load_hvecs(
    path: Any, *, labels: Any = None, like: Any = None, labelled: bool = True
) -> Dataset:
    """Read hvecs: rows of little-endian 16-bit numbers, each with its dimension before it.

    Labels are another such file of 0 and 1, by default ``<prefix>_annot.hvecs`` beside it, where
    ``<prefix>_<feature>.hvecs`` is the file. Names of the samples are taken from
    ``<prefix>_list.txt`` and those of the labels from ``<set>_dictionary.txt``, where the prefix
    is ``<set>_train`` or the like, if they are there. ``like`` and ``labelled`` are those of
    :func:`load`.
    """
    path = Path(path)
    X = _read(path).astype(float)
    samples = _names(_beside(path, "list.txt"), len(X))
    features = number_names(path, X.shape[1])
    labels = _beside(path, f"{LABELS}{SUFFIX}") if labels is None else Path(labels)
    if skips_labels(path, like, labelled, there=labels is not None):
        data = Dataset(
            X=X,
            Y=no_labels(len(X), like),
            feature_names=features,
            label_names=like.label_names,
            sample_names=samples,
            source=path.name,
            notes=about_labels(labelled),
        )
        return match(path, data, like)
    if labels is None:
        reason = "where are the labels? There is no *_annot.hvecs beside; pass "
        raise DataError(path, Message(reason, Parameter("labels", ...)))
    Y = _read(labels)
    if len(Y) != len(X):
        raise DataError(labels, f"labels of {len(Y)} samples, features of {len(X)}")
    if not np.isin(Y, (0, 1)).all():
        raise DataError(labels, f"labels must be 0 or 1, found {Y[~np.isin(Y, (0, 1))][0]}")
    names = _names(_beside(path, "dictionary.txt"), Y.shape[1])
    data = Dataset(
        X=X,
        Y=sp.csr_array(Y.astype(np.int8)),
        feature_names=features,
        label_names=number_names(path, Y.shape[1]) if names is None else names,
        sample_names=samples,
        source=path.name,
    )
    return match(path, data, like)
