"""Keys of runs: a digest of everything that decides the figures of a run."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets import Dataset
from eigenlabel.experiment.protocol import Data, Method, Protocol, Splits
from eigenlabel.experiment.samples import find_file
from eigenlabel.linalg._types import Matrix


def fingerprint(protocol: Protocol, data: Data, method: Method | None = None) -> str:
    """Return a digest of what decides the samples, the splits and the figures of a method.

    Recorded runs are found by this digest: what it contains, and how, must not change. A method
    of the catalogue contributes its name, an estimator all of its parameters.
    """
    parts: dict[str, Any] = {
        "data": [_digest(data.source, protocol.folder), dict(data.options), data.prepare],
        "drop": [data.min_positives, data.min_documents],
        "splits": [*_describe_splits(protocol.splits), protocol.seed],
        "metrics": list(protocol.metrics),
    }
    if data.max_samples:
        parts["drawn"] = data.max_samples
    if method is not None:
        source = [] if method.method is None else [_describe(method.method)]
        parts["method"] = [_describe(method.name), *source, _describe(dict(method.parameters))]
        parts["grid"] = [_describe(dict(method.grid)), method.searched_by]
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


def _describe(value: Any) -> str:
    """Describe an estimator or a parameter by all of its own parameters."""
    parameters = value.get_params(deep=True) if hasattr(value, "get_params") else None
    if parameters is not None:
        inside = ", ".join(f"{k}={_describe(v)}" for k, v in sorted(parameters.items()))
        return f"{type(value).__name__}({inside})"
    if isinstance(value, np.ndarray):
        return f"array({value.tolist()})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_describe(v)}" for k, v in sorted(value.items())) + "}"
    return repr(value)


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
