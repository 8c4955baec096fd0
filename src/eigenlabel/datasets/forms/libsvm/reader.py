"""Read LIBSVM multi-label text, whole or in pieces."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.decompression import read_bytes
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import check_room
from eigenlabel.datasets.files.names import name_array, names_beside, number_names
from eigenlabel.datasets.forms.batches import LATIN, batches, byte_lines
from eigenlabel.datasets.forms.libsvm.parsing import (
    WEIGHTS,
    FileSizes,
    Lines,
    is_sample,
    parse_svmlight,
    plain_text,
)
from eigenlabel.datasets.matching import match
from eigenlabel.datasets.readers import reader
from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.linalg._types import Matrix


@reader("zero_based")
def load_svmlight(
    path: Any,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: bool | str = "auto",
    like: Any = None,
    labelled: bool = True,
    max_bytes: int | None = None,
) -> Dataset:
    """Read LIBSVM multi-label text, with ``label,label index:value ...`` in each line.

    Labels are numbers from 0. The files ``<stem>.labels.txt`` and ``<stem>.features.txt`` in the
    same folder, with one name per line, name the columns if there are enough names. Further names
    are columns that never occur.

    Parameters
    ----------
    path : str or Path
        The file, compressed or not.
    n_features : int, default=None
        The number of features. By default it is the largest index that occurs, which may be too
        small for a test file, and which must not exceed both 4 million and the size of the file in
        bytes.
    n_labels : int, default=None
        The number of labels. By default it is the largest label that occurs plus 1, which must not
        exceed both 1 million and the size of the file in bytes.
    zero_based : bool or "auto", default="auto"
        Whether feature indices start at 0. With "auto" it is the setting of ``like``, or True if
        the index 0 occurs.
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
    >>> from eigenlabel.datasets import load_svmlight
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pages.svm"
    >>> _ = path.write_text("0,2 1:0.5 3:1\\n1 2:1\\n")
    >>> load_svmlight(path, n_features=4).X.toarray().tolist()
    [[0.5, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    path = Path(path)
    data = plain_text(read_bytes(path, max_bytes))
    if not data.strip():
        raise DataError(path, "empty")
    check_room(path, data, WEIGHTS, max_bytes)
    sizes = FileSizes(n_features, n_labels, zero_based).or_those_of(like)
    X, Y, found = parse_svmlight(path, Lines(data), sizes, like, labelled)
    beside = names_beside(path, "features"), names_beside(path, "labels")
    return match(path, name_svmlight(path, X, Y, beside, sizes, found), like)


def name_svmlight(
    path: Path,
    X: Matrix,
    Y: Matrix,
    beside: tuple[list[str] | None, list[str] | None],
    sizes: FileSizes,
    zero_based: bool,
) -> Dataset:
    """Return a Dataset; the names of files beside are used if they fit the widths."""
    feature_names = _fit_names(path, X, beside[0], sizes.n_features is not None)
    label_names = _fit_names(path, Y, beside[1], sizes.n_labels is not None)
    if X.shape[1] == 0:
        raise DataError(path, "no feature in any line")
    if Y.shape[1] == 0:
        raise DataError(path, "no sample has a label")
    return Dataset(
        X=X,
        Y=Y,
        feature_names=feature_names,
        label_names=label_names,
        source=path.name,
        options={"zero_based": zero_based},
    )


def _fit_names(path: Path, A: Matrix, names: list[str] | None, fixed: bool) -> np.ndarray:
    """Return the names of the columns of A; A is widened in place for names that never occur."""
    if names is None or len(names) < A.shape[1] or (fixed and len(names) != A.shape[1]):
        return number_names(path, A.shape[1])
    A.resize((A.shape[0], len(names)))
    return name_array(path, names)


def svmlight_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    """Yield Datasets of at most ``rows`` samples, all as wide as the first."""
    beside = names_beside(path, "features"), names_beside(path, "labels")
    given = FileSizes(**{k: v for k, v in options.items() if k in FileSizes._fields}).or_those_of(
        like
    )
    sizes, labelled = given, options.get("labelled", True)
    lines = byte_lines(path, options.get("max_bytes"))
    for batch in batches(path, lines, 1, rows, lambda line: is_sample(line.encode(LATIN))):
        piece = Lines(batch.encode(LATIN), batch.first)
        try:
            X, Y, zero_based = parse_svmlight(path, piece, sizes, like, labelled)
        except DataError as error:
            if None not in given or not batch.before:
                raise
            hint = Message(
                "as in the first piece; pass ",
                Parameter("n_features", ...),
                " and ",
                Parameter("n_labels", ...),
                ", or ",
                Parameter("like", ...),
            )
            raise DataError(path, Message(error.reason, " (", hint, ")"), error.line) from error
        data = name_svmlight(path, X, Y, beside, given, zero_based)
        sizes = FileSizes(data.X.shape[1], data.Y.shape[1], zero_based)  # of all later pieces
        yield match(path, data, like)
