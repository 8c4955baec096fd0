"""Read data files piece by piece, as blocks of a stream."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets import DataError, iterate
from eigenlabel.inputs.messages import Count, Message, parts_of


@dataclass(frozen=True)
class Piece:
    """Some rows of a data file.

    Attributes
    ----------
    X : sparse matrix
        The samples.
    Y : sparse matrix
        The labels.
    label_names : array of str
        The names of the labels.
    where : str
        The file and the samples, for error messages.
    """

    X: Any
    Y: Any
    label_names: Any
    where: str


def read_pieces(paths: Any, rows: int, like: Any, options: Mapping[str, Any]) -> Iterator[Piece]:
    """Yield the rows of one or several files, ``rows`` samples at a time.

    The columns are those of ``like``, or of the first piece if it is None.
    """
    several = [paths] if isinstance(paths, (str, Path)) else list(paths)
    if not several:
        raise ValueError("fit_files got no paths.")
    known = like
    for number, path in enumerate(map(Path, several)):
        before = 0
        with _hint_for_later_files(path, active=like is None and number > 0):
            for found in iterate(path, rows=rows, like=known, **options):
                known = found if known is None else known
                n = found.X.shape[0]
                where = f"{path.name}, samples {before} to {before + n - 1}"
                yield Piece(found.X, found.Y, np.asarray(found.label_names), where)
                before += n


@contextmanager
def _hint_for_later_files(path: Path, active: bool) -> Iterator[None]:
    """Add to an error about unknown columns of a later file that the first one defines them."""
    try:
        yield
    except DataError as error:
        counted = {part.one for part in parts_of(error.reason) if isinstance(part, Count)}
        if not active or "feature" not in counted:
            raise
        hint = " (as in the first file; pass n_features and n_labels, or like)"
        raise DataError(path, Message(error.reason, hint), error.line) from error
