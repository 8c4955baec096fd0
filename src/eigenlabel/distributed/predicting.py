"""Predict block by block on a Dask cluster."""

import copy
from typing import Any

import numpy as np

from eigenlabel.distributed.cluster import dask, rows_of
from eigenlabel.estimators.subspace.base import BaseSharedSubspace
from eigenlabel.linalg.operators import is_sparse


def _call(model: Any, method: str, X: Any, empty: Any) -> Any:
    """Return what a method of a model returns for a block, dense; ``empty`` for no samples."""
    if not X.shape[0]:
        return empty
    found = getattr(model, method)(X)
    return found.toarray() if is_sparse(found) else found


def _by_blocks(model: Any, method: str, X: Any) -> Any:
    """Return a Dask array of what a method of a model returns for each block."""
    module = dask()
    one = np.zeros((1, model.n_features_in_))
    empty = _call(model, method, one, one)[:0]
    light = copy.copy(model)
    if isinstance(light, BaseSharedSubspace) and hasattr(light, "n_samples_seen_"):
        light.finish()  # predictions need no statistics
    light = module.delayed(light)
    call = module.delayed(_call)
    blocks, known = rows_of(X)
    lengths: list[Any] = [np.nan] * len(blocks) if known is None else list(known)
    parts = [
        module.array.from_delayed(
            call(light, method, block, empty), shape=(n, *empty.shape[1:]), meta=empty
        )
        for block, n in zip(blocks, lengths, strict=True)
    ]
    return module.array.concatenate(parts, allow_unknown_chunksizes=True)


def predict(model: Any, X: Any) -> Any:
    """Predict label sets or classes block by block.

    Parameters
    ----------
    model : object
        A fitted classifier of the library.
    X : dask array, list of delayed partitions, {array-like, sparse matrix}
        The samples (n_samples, n_features), as in :func:`fit`.

    Returns
    -------
    labels : dask array
        The label sets as a dense 0/1 matrix, or the classes.
    """
    return _by_blocks(model, "predict", X)


def decision_function(model: Any, X: Any) -> Any:
    """Compute the scores of every label block by block.

    Parameters
    ----------
    model : object
        A fitted classifier of the library.
    X : dask array, list of delayed partitions, {array-like, sparse matrix}
        The samples (n_samples, n_features), as in :func:`fit`.

    Returns
    -------
    scores : dask array
        The scores of every label, before any threshold.
    """
    return _by_blocks(model, "decision_function", X)


def predict_proba(model: Any, X: Any) -> Any:
    """Compute the probability of every label or class block by block.

    Parameters
    ----------
    model : object
        A fitted classifier of the library that has ``predict_proba``.
    X : dask array, list of delayed partitions, {array-like, sparse matrix}
        The samples (n_samples, n_features), as in :func:`fit`.

    Returns
    -------
    probabilities : dask array
        The probabilities of every label, or of every class if y was a vector.
    """
    return _by_blocks(model, "predict_proba", X)


def transform(model: Any, X: Any) -> Any:
    """Embed samples in the shared subspace block by block.

    Parameters
    ----------
    model : object
        A fitted transformer of the library.
    X : dask array, list of delayed partitions, {array-like, sparse matrix}
        The samples (n_samples, n_features), as in :func:`fit`.

    Returns
    -------
    embedded : dask array
        The embedded samples.
    """
    return _by_blocks(model, "transform", X)
