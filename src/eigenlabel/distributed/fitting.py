"""Fit a model to samples on a Dask cluster."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from eigenlabel.distributed.cluster import (
    beside,
    beside_another,
    dask,
    is_array,
    large_graphs,
    lost_scheduler,
    reduce_tree,
    rows_of,
)
from eigenlabel.distributed.krylov import fit_by_products, keep_partitions
from eigenlabel.estimators.subspace.base import BaseSharedSubspace
from eigenlabel.estimators.subspace.classifier import SharedSubspaceClassifier
from eigenlabel.estimators.subspace.stream import Stream, check_linear, extend

Part = tuple[int, Stream]  # the stream of some partitions, and the number of the first one
APART = 2**40  # distance of the positions of partitions whose lengths are unknown


def fit(model: Any, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None) -> Any:
    """Fit a model to samples on a cluster.

    Equivalent to the ``fit`` of the model, or to its ``partial_fit`` if it tunes itself. The work
    is done by the active ``distributed.Client``; without one, by threads of this process. If a
    worker dies, its blocks are computed again. If the work fails, the model is unchanged.

    Parameters
    ----------
    model : SharedSubspaceClassifier or SharedSubspaceClassifierCV
        The model, with ``kernel="linear"``. A SharedSubspaceClassifier with ``solver="krylov"``
        is fitted by products alone, for data whose d x d statistics are too large. Each partition
        is then built once and stays in the memory of the workers if all partitions fit in half of
        it, estimated by the first one; those of a dead worker are built again once. Larger data
        are built again in every iteration, with a warning.
    X : dask array, list of delayed partitions, {array-like, sparse matrix}
        The samples (n_samples, n_features). A Dask array has blocks of rows, dense or
        scipy-sparse. Other arrays are sent to the workers.
    y : dask array, list of delayed partitions, {array-like, sparse matrix}
        The labels (n_samples, n_labels) or classes (n_samples,). Delayed partitions must be those
        of X.
    sample_weight : dask array, list of delayed partitions, array-like, default=None
        The weights (n_samples,) of the samples.
    classes : array-like of shape (n_classes,), default=None
        The classes of a vector y. None is the classes that are found in a pass over y.

    Returns
    -------
    model : object
        The same model, fitted. ``partial_fit``, ``merge`` and ``forget`` continue from there,
        except for ``solver="krylov"``.

    Examples
    --------
    >>> import dask.array as da
    >>> from eigenlabel import SharedSubspaceClassifier, distributed
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> X, Y = (da.from_array(A, chunks=(50, -1)) for A in (data.X, data.Y))
    >>> model = distributed.fit(SharedSubspaceClassifier(n_components=2), X, Y)
    >>> distributed.predict(model, X).compute().shape
    (200, 6)
    """
    dask()  # report a missing extra first
    if not isinstance(model, BaseSharedSubspace):
        raise TypeError(f"{type(model).__name__} cannot be fitted from statistics of blocks.")
    check_linear(model)
    products = model.solver == "krylov"
    if products and not isinstance(model, SharedSubspaceClassifier):
        raise ValueError(
            "Tuning on blocks works on their statistics: use solver='auto', got 'krylov'."
        )
    if products and model.calibration is not None:
        raise ValueError(
            "Calibration on blocks works on their statistics: use solver='auto', or "
            f"calibration=None, got solver='krylov' and calibration={model.calibration!r}."
        )
    n_folds = 1 if products else model._check_stream()
    blocks, lengths = rows_of(X)
    ys = beside(y, "y", blocks, lengths)
    weights = beside(sample_weight, "sample_weight", blocks, lengths)
    with lost_scheduler(), large_graphs():
        if not products:
            classes = _find_classes(y, ys) if classes is None else classes
            starts = _positions(len(blocks), lengths)
            partitions = list(zip(blocks, ys, weights, starts, strict=True))
            return model._follow(_collect_all(model, partitions, classes, n_folds))
        blocks, ys, weights, kept = keep_partitions(blocks, ys, weights)
        classes = _find_classes(y, ys) if classes is None else classes
        columns, solution = fit_by_products(model, [blocks, ys, weights], classes, kept)
        return model._store(columns.codec, solution, columns)


def _positions(count: int, lengths: list[int] | None) -> list[int]:
    """Return the position of the first sample of each partition."""
    if lengths is None:
        return [number * APART for number in range(count)]
    return [int(start) for start in np.cumsum([0, *lengths[:-1]])]


def _collect_all(
    model: BaseSharedSubspace, partitions: list[Any], classes: Any, n_folds: int
) -> Stream:
    """Return the stream of all partitions (X, y, weights, position)."""
    module = dask()
    collect, empty = module.delayed(_collect), module.delayed(clone(model))
    parts = [
        collect(empty, *part, classes, number, n_folds) for number, part in enumerate(partitions, 1)
    ]
    found: Part | None = module.compute(reduce_tree(_merge, parts))[0]
    if found is None:
        raise ValueError("No partition of X has samples.")
    return found[1]


def _collect(
    model: BaseSharedSubspace,
    X: Any,
    y: Any,
    weight: Any,
    start: int,
    classes: Any,
    number: int,
    n_folds: int,
) -> Part | None:
    """Return the stream of one partition, with the number of the partition."""
    if not X.shape[0]:
        return None
    stream = extend(
        clone(model),
        None,
        X,
        y,
        classes,
        weight,
        n_folds=n_folds,
        max_memory=model._limit,
        where=f"Partition {number}",
        offset=start,
    )
    return number, stream.settle()


def _merge(parts: Sequence[Part | None]) -> Part | None:
    """Return the stream of the samples of all parts."""
    found = [part for part in parts if part is not None]
    if not found:
        return None
    first, total = found[0]
    for number, other in found[1:]:
        with beside_another(number, first):
            total = total.merge(other)
    return first, total


def _classes(y: Any) -> Any:
    """Return the classes of a vector y, or None for a label matrix."""
    return np.unique(y) if np.ndim(y) == 1 else None


def _find_classes(y: Any, ys: list[Any]) -> Any:
    """Return the classes of a vector y, or None for a label matrix, as the first block shows."""
    if is_array(y) and y.ndim == 2:
        return None
    module = dask()
    find = module.delayed(_classes)
    if module.compute(find(ys[0]))[0] is None:
        return None
    return np.unique(np.concatenate(module.compute([find(part) for part in ys])[0]))
