"""Records of runs: their keys, and files that survive a kill."""

import contextlib
import errno
import hashlib
import inspect
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets import DataError, Dataset
from eigenlabel.experiment.data_and_splits import find_file
from eigenlabel.experiment.protocol import Data, Method, Protocol, Splits
from eigenlabel.linalg._types import Matrix


def fingerprint(protocol: Protocol, data: Data, method: Method | None = None) -> str:
    """Return a digest of what decides the samples, the splits and the figures of a method.

    Recorded runs are found by this digest: what it contains, and how, must not change. A method
    of the catalogue contributes its name and its revision, an estimator all of its parameters.
    """
    parts: dict[str, Any] = {
        "data": [_digest(data.source, protocol.folder), dict(data.options), data.prepare],
        "drop": [data.min_positives, data.min_documents],
        "splits": [*_describe_splits(protocol.splits), protocol.seed],
        "metrics": list(protocol.metrics),
    }
    if data.max_samples:
        parts["drawn"] = data.max_samples
    if data.precomputed:
        parts["precomputed"] = True
    if method is not None:
        source = [] if method.method is None else [_describe(method.method)]
        parts["method"] = [_describe(method.name), *source, _describe(dict(method.parameters))]
        parts["grid"] = [_describe(dict(method.grid)), method.searched_by]
        if method.recipe is not None and method.recipe.revision > 1:
            parts["revision"] = method.recipe.revision
        if _settles_bandwidth(method.make()):
            parts["bandwidth"] = "mean distance"  # 1 / features in records of version 0.1
    text = json.dumps(parts, sort_keys=True, default=_describe)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _settles_bandwidth(estimator: Any) -> bool:
    """Return True if an estimator, or a part of it, uses the default bandwidth of "rbf".

    Methods with views have used the same rule since version 0.1.
    """
    params = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    for name, value in params.items():
        if isinstance(value, str) and value == "rbf" and name.split("__")[-1] == "kernel":
            prefix = name.removesuffix("kernel")
            owner = params.get(prefix.removesuffix("__"), estimator)
            ours = type(owner).__module__.startswith("eigenlabel.")
            default = params.get(f"{prefix}gamma", 0) is None
            if ours and default and f"{prefix}views" not in params:
                return True
    return False


def _describe_splits(splits: Splits) -> list[Any]:
    """Describe splits without their number if more splits begin with the same ones."""
    folds = splits.n_splits if splits.kind == "folds" else None
    return [splits.kind, folds, splits.train_size]


ADDRESS = " at 0x"  # in what repr returns for a function, another one in each process
# Parameters of a class that came after its first records.
LATER = {"ASOClassifier": ("kernel", "gamma", "degree", "coef0", "kernel_params")}


def _came_later(estimator: Any, name: str, parameters: Mapping[str, Any]) -> bool:
    """Return True for a default value of a parameter that recorded runs do not contain."""
    prefix, _, last = name.rpartition("__")
    owner = parameters.get(prefix, estimator)
    later = ("calibration", *LATER.get(type(owner).__name__, ()))
    if last not in later or not type(owner).__module__.startswith("eigenlabel."):
        return False
    default = inspect.signature(type(owner)).parameters[last].default
    return bool(parameters[name] == default)


def _describe(value: Any) -> str:
    """Describe an estimator or a parameter by all of its own parameters."""
    parameters = value.get_params(deep=True) if hasattr(value, "get_params") else None
    if parameters is not None:
        shown = {k: v for k, v in parameters.items() if not _came_later(value, k, parameters)}
        inside = ", ".join(f"{k}={_describe(v)}" for k, v in sorted(shown.items()))
        return f"{type(value).__name__}({inside})"
    if isinstance(value, np.ndarray):
        return f"array({value.tolist()})"
    if inspect.isroutine(value) and ADDRESS in repr(value):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_describe(v)}" for k, v in sorted(value.items())) + "}"
    text = repr(value)
    if isinstance(value, (list, tuple)) and ADDRESS in text:  # such as the steps of a pipeline
        return f"[{', '.join(map(_describe, value))}]"
    return text


def _digest(source: Any, folder: Path) -> Any:
    """Describe the content of a data source; the names of its files do not matter."""
    if isinstance(source, Dataset):
        arrays = [_digest_array(source.X), _digest_array(source.Y)]
        layout = {k: v for k, v in source.layout.items() if len(v)}
        names = layout.pop("feature_names", ())  # names alone do not decide anything
        return [*arrays, _describe(layout), list(map(str, names))] if layout else arrays
    if source == "debtags":
        return source
    if isinstance(source, (list, tuple)):
        return [_digest(part, folder) for part in source]
    with find_file(source, folder).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest_array(A: Matrix) -> str:
    sparse: bool = sp.issparse(A)
    A = sp.csr_array(A) if sparse else np.ascontiguousarray(A)
    parts = (A.data, A.indices, A.indptr) if sparse else (A,)
    digest = hashlib.sha256(repr(A.shape).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows has no such locks: do not run twice in one folder there
    fcntl = None

NAME = "records.jsonl"


def read_records(folder: Any) -> list[dict[str, Any]]:
    """Read the records of a folder. A last line that a crash cut off is ignored.

    Parameters
    ----------
    folder : str or Path
        Folder of the file ``records.jsonl``.

    Returns
    -------
    list of dict
        The records in the order they were written. The list is empty if there is no file.

    Examples
    --------
    >>> from eigenlabel.experiment import read_records
    >>> read_records("a folder that does not exist")
    []
    """
    path = Path(folder) / NAME
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise DataError(path, f"not a record ({error})", number) from error
        if not isinstance(record, dict) or not {"key", "data", "method", "split"} <= set(record):
            raise DataError(path, "not a record", number)
        records.append(record)
    return records


class Appender:
    """A file of records that is open to append to, and locked for other processes."""

    def __init__(self, stream: int, path: Path) -> None:
        self.stream, self.path = stream, path

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record, and return when it is on the disk."""
        line = json.dumps(record, allow_nan=False, sort_keys=True).encode() + b"\n"
        try:
            written = os.write(self.stream, line)
            if written != len(line):  # a full disk: remove the part that was written
                os.ftruncate(self.stream, os.fstat(self.stream).st_size - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self.stream)
        except OSError as error:  # os.write does not know the name of the file
            why = f"{error.strerror}; the records so far are kept"
            raise OSError(error.errno, why, str(self.path)) from error


@contextlib.contextmanager
def appending(folder: Any) -> Iterator[Appender]:
    """Open the records of a folder to append to, and remove a last line that a crash cut off."""
    path = _check_records(folder)
    new = [place for place in (path.parent, *path.parent.parents) if not place.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    failed = True
    try:
        if fcntl is not None:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise DataError(path, "another run is writing to it") from None
            if not os.fstat(stream).st_nlink:  # that run has just removed the file
                raise DataError(path, "another run is writing to it")
        os.ftruncate(stream, path.read_bytes().rfind(b"\n") + 1)
        yield Appender(stream, path)
        failed = False
    finally:
        if failed and not os.fstat(stream).st_size:
            _remove_empty([path, *new])
        os.close(stream)


def _check_records(folder: Any) -> Path:
    """Return the path of a folder's records; raise DataError if it is not a regular file."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise DataError(place, "not a folder; records need a folder of their own")
    path = place / NAME
    if path.exists() and not path.is_file():
        raise DataError(path, "not a regular file; records cannot be appended to it")
    return Path(os.path.realpath(path))  # a symbolic link stays


def _remove_empty(places: list[Path]) -> None:
    """Remove the file and the folders that a run made before it failed."""
    with contextlib.suppress(OSError):  # another process has written something there
        places[0].unlink()
        for folder in places[1:]:
            folder.rmdir()
