"""Write MATLAB v5 files."""

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from scipy.io import savemat

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.writing import label_matrix
from eigenlabel.linalg.operators import is_sparse


def write_mat(data: Dataset, path: Path) -> dict[Path, Write]:
    """Return the file to write, with the function that writes it."""
    Y = label_matrix(path, data.Y)
    variables = {
        "X": sp.csc_matrix(data.X) if is_sparse(data.X) else np.asarray(data.X),
        "Y": sp.csc_matrix(Y),
        "feature_names": _cells(data.feature_names),
        "label_names": _cells(data.label_names),
    }

    def write(stream: BinaryIO) -> None:
        if not stream.seekable():
            raise DataError(path, "MATLAB files cannot be written to a pipe; name a regular file")
        target: Any = stream  # the stubs of scipy allow paths only
        savemat(target, variables, do_compression=True)

    return {path: write}


def _cells(names: np.ndarray) -> np.ndarray:
    """Return names as an array of objects, which MATLAB reads as a cell array."""
    return np.array([*map(str, names), None], dtype=object)[:-1]
