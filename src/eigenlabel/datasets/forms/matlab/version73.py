"""The MATLAB v7.3 format, which is HDF5; nothing outside the file itself is read."""

import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import Limit
from eigenlabel.datasets.forms.stored_arrays import build_sparse

HDF5 = b"\x89HDF\r\n\x1a\n"
SPARSE_PARTS = ("data", "ir", "jc")


def read_v73(path: Path, wanted: Collection[str], limit: Limit) -> dict[str, Any]:
    """Return the wanted variables of a v7.3 file by name, and None for all others.

    Matrices are stored transposed, sparse ones as compressed columns.
    """
    try:
        import h5py  # noqa: PLC0415  an extra
    except ImportError as error:
        raise DataError(
            path, "a MATLAB v7.3 file, which needs h5py: pip install 'eigenlabel[data]'"
        ) from error
    try:
        with h5py.File(path, "r") as file:
            return {
                name: _read_variable(path, file, name, limit) if name in wanted else None
                for name in file
            }
    except DataError:
        raise
    except Exception as error:  # h5py raises errors of many classes on damaged files
        raise DataError(path, f"not a MATLAB file, or damaged ({error})") from error


def _read_variable(path: Path, file: Any, name: str, limit: Limit) -> Any:
    import h5py  # noqa: PLC0415  an extra

    item = _inside(path, file, name)
    if isinstance(item, h5py.Dataset):
        return _read_array(item, limit).T if item.dtype.kind in "biuf" else None
    if not isinstance(item, h5py.Group) or not set(SPARSE_PARTS) <= set(item):
        return None
    values, indices, indptr = (
        _read_array(_inside(path, item, part), limit) for part in SPARSE_PARTS
    )
    shape = (int(item.attrs["MATLAB_sparse"]), len(indptr) - 1)
    size = path.stat().st_size
    return build_sparse(
        path, name, (values, indices, indptr), shape, by_columns=True, file_size=size
    )


def _inside(path: Path, group: Any, name: str) -> Any:
    """Return a member of a group; raise DataError if it is stored in another file."""
    import h5py  # noqa: PLC0415  an extra

    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise DataError(path, f"{name} is a link to another place; links are not followed")
    item = group[name]
    if isinstance(item, h5py.Dataset) and (item.is_virtual or item.external):
        raise DataError(path, f"{name} is stored in other files; only what is in the file is read")
    return item


def _read_array(item: Any, limit: Limit) -> np.ndarray:
    """Read an array within the limit; it may be much larger than its file."""
    chunk = item.dtype.itemsize * math.prod(item.chunks or ())  # decompressed at once
    limit.take(max(item.nbytes, chunk), f"an array of shape {item.shape}")
    limit.check_ratio(item.nbytes, item.id.get_storage_size())
    return np.asarray(item[()])
