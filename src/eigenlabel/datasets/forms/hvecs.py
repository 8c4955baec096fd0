"""Read vectors of 16-bit numbers (hvecs), the form of the image features of Guillaumin et al."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.decompression import read_bytes, stem
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.names import name_array, number_names, read_names
from eigenlabel.datasets.matching import about_labels, match, no_labels, skips_labels
from eigenlabel.datasets.readers import reader
from eigenlabel.inputs.messages import Message, Parameter

SUFFIX, LABELS = ".hvecs", "annot"


def _read(path: Path) -> np.ndarray:
    """Read rows, each of which is its dimension and as many numbers; dimensions are equal."""
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
    """Return a file beside this one whose name starts in the same way, up to an underscore."""
    parts = stem(path).split("_")
    for k in range(len(parts) - 1, 0, -1):
        found = path.parent / f"{'_'.join(parts[:k])}_{ending}"
        if found.is_file():
            return found
    return None


def _names(path: Path | None, count: int) -> np.ndarray | None:
    """Read names, one per line; return None if there are not as many as expected."""
    names = [] if path is None else read_names(path)
    return name_array(path, names) if len(names) == count else None


@reader()
def load_hvecs(
    path: Any, *, labels: Any = None, like: Any = None, labelled: bool = True
) -> Dataset:
    """Read hvecs: rows of little-endian 16-bit numbers, each after its dimension.

    If the file is ``<prefix>_<feature>.hvecs``, the names of the samples are read from
    ``<prefix>_list.txt``, and those of the labels from ``<set>_dictionary.txt``, where the prefix
    is ``<set>_train`` or similar. Both files are optional.

    Parameters
    ----------
    path : str or Path
        The file, compressed or not.
    labels : str or Path, default=None
        The file of the labels, which has the same form and contains 0 and 1. By default it is
        ``<prefix>_annot.hvecs`` in the same folder.
    like : Dataset, default=None
        A data set whose features, categories and labels this one must have. If the file has no
        labels, Y is zero, with a note.
    labelled : bool, default=True
        Whether labels are read. With False, as in prediction, the labels in the file are ignored;
        this needs ``like``.

    Returns
    -------
    data : Dataset
        The content of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from eigenlabel.datasets import load_hvecs
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, rows in (("hue", [[2, 7, 8], [2, 9, 9]]), ("annot", [[1, 0], [1, 1]])):
    ...     _ = (folder / f"set_{name}.hvecs").write_bytes(np.array(rows, "<i2").tobytes())
    >>> load_hvecs(folder / "set_hue.hvecs").X.tolist()
    [[7.0, 8.0], [9.0, 9.0]]
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
        reason = "no labels found: there is no *_annot.hvecs in its folder; pass "
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
