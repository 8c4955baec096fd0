"""Predict block by block."""

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.distributed.cluster import dask, rows_of
from eigenlabel.estimators.subspace.streaming import StreamMixin


def _call(model: Any, method: str, X: Any, empty: np.ndarray) -> np.ndarray:
    if not X.shape[0]:
        return empty
    found = getattr(model, method)(X)
    return found.toarray() if sp.issparse(found) else found


def _by_blocks(model: Any, method: str, X: Any) -> Any:
    module = dask()
    one = np.zeros((1, model.n_features_in_))
    empty = _call(model, method, one, one)[:0]
    light = copy.copy(model)
    if isinstance(light, StreamMixin):
        light._drop_stream()  # predictions need no statistics
    light = module.delayed(light)
    call = module.delayed(_call)
    blocks, lengths = rows_of(X)
    parts = [
        module.array.from_delayed(
            call(light, method, block, empty), shape=(n, *empty.shape[1:]), meta=empty
        )
        for block, n in zip(blocks, lengths or [np.nan] * len(blocks), strict=True)
    ]
    return module.array.concatenate(parts, allow_unknown_chunksizes=True)


def predict(model: Any, X: Any) -> Any:
    """Predict block by block: a Dask array of label sets (dense 0/1), or of classes.

    ``model`` is any fitted classifier of the library, X as in :func:`fit`.
    """
    return _by_blocks(model, "predict", X)


def decision_function(model: Any, X: Any) -> Any:
    """Give the scores of every label block by block, as a Dask array."""
    return _by_blocks(model, "decision_function", X)


def transform(model: Any, X: Any) -> Any:
    """Embed samples block by block, as a Dask array."""
    return _by_blocks(model, "transform", X)
