"""Read a data file in pieces, so that it need not fit into memory."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.pipes import pipe_pieces
from eigenlabel.datasets.forms.detection import find_form
from eigenlabel.datasets.forms.index import PIECES
from eigenlabel.datasets.loading import check_options, load
from eigenlabel.datasets.readers import all_options, remember
from eigenlabel.inputs.parameters import check_number


def _whole_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    """Read a whole file and split it, for forms that cannot be read in pieces."""
    data = load(path, like=like, **options)
    n = data.X.shape[0]
    for start in range(0, n, rows):
        part = data.subset(samples=np.arange(start, min(start + rows, n)))
        yield replace(part, splits={})


def _at_least_one(path: Path, pieces: Iterator[Dataset]) -> Iterator[Dataset]:
    """Yield all pieces; raise DataError if there is none."""
    found = False
    for piece in pieces:
        found = True
        yield piece
    if not found:
        raise DataError(path, "no samples")


def iterate(path: Any, *, rows: int = 4096, like: Any = None, **options: Any) -> Iterator[Dataset]:
    """Read a data file in pieces, each a Dataset of at most ``rows`` samples.

    LIBSVM and repository text, ARFF, tables and JSON lines, compressed or not, are never in memory
    as a whole. Other forms are read first and then split. All pieces have the same features and
    labels: those of ``like``, or those of the first piece. In the second case, a feature or label
    that first occurs in a later piece is an error, which names the line. Files with the names of
    labels and features are read as in :func:`load`.

    Parameters
    ----------
    path : str or Path
        The file, or a pipe.
    rows : int, default=4096
        The largest number of samples in a piece.
    like : Dataset, default=None
        A data set whose features, categories and labels the pieces must have.
    **options : dict
        Options of the reader of the form, see :func:`load`.

    Returns
    -------
    pieces : iterator of Dataset
        The pieces in the order of the file, without ``splits``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import iterate
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pages.txt"
    >>> _ = path.write_text("0,2 1:0.5 3:1\\n1 2:1\\n2 3:1\\n")
    >>> [piece.X.shape for piece in iterate(path, rows=2)]
    [(2, 3), (1, 3)]
    """
    path = Path(path)
    check_number("rows", rows, 1, integer=True)
    if path.is_fifo():
        limit = options.get("max_bytes")
        return pipe_pieces(path, limit, lambda file: iterate(file, rows=rows, like=like, **options))
    form = find_form(path)
    reader = check_options(path, form, options)
    options = all_options(reader, like, options)
    pieces = PIECES.get(form, _whole_pieces)(path, rows, like, options)
    return (remember(reader, piece, options) for piece in _at_least_one(path, pieces))
