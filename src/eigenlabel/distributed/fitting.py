"""Fit from statistics of blocks."""

import copy
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
from eigenlabel.estimators.subspace.streaming import StreamMixin

Part = tuple[int, StreamMixin]  # a model of some blocks, and the number of the first
APART = 2**40  # distance of the positions of blocks whose lengths are not known


def _collect(
    model: StreamMixin, X: Any, y: Any, weight: Any, classes: Any, start: int, number: int
) -> Part | None:
    """Give a model of one block alone, with the number of that block."""
    if not X.shape[0]:
        return None
    part = clone(model)
    part._absorb(X, y, classes, weight, where=f"Partition {number}", offset=start)
    part._stream = part._stream.settle()
    return number, part


def _merge(parts: Sequence[Part | None]) -> Part | None:
    found = [part for part in parts if part is not None]
    if not found:
        return None
    first, model = found[0]
    total = copy.copy(model)  # what a task is given stays as it is
    for number, other in found[1:]:
        with beside_another(number, first):
            total.merge(other)
    return first, total


def _classes(y: Any) -> np.ndarray | None:
    return np.unique(y) if np.ndim(y) == 1 else None


def fit(model: Any, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None) -> Any:
    """Fit a model to samples on a cluster, exactly as its own ``fit`` or ``partial_fit`` would.

    The work goes to the active ``distributed.Client``; without one, to threads of this process.
    A worker that dies costs the time to do its blocks again. If the work fails, the model is as it
    was before.

    Parameters
    ----------
    model : SharedSubspaceClassifier or SharedSubspaceClassifierCV with ``kernel="linear"``; the
        former with ``solver="krylov"`` works by products alone, where d x d statistics would be
        too large. Each partition is then built once and stays in the workers' memory, if all of
        them fit in half of it (judged by the first one); a dead worker's are built again once.
        Larger data are built again in every iteration, with a warning.
    X : Dask array in blocks of rows, dense or scipy-sparse; or a list of delayed partitions; or an
        array, which is sent to the workers
    y : labels or classes in any of these forms; delayed partitions must be those of X
    sample_weight : likewise, or None
    classes : of a vector y; they are looked for in a pass over y if they are not given

    Returns
    -------
    model, fitted; ``partial_fit``, ``merge`` and ``forget`` go on from there, but for "krylov"

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
    module = dask()
    if not isinstance(model, StreamMixin):
        raise TypeError(f"{type(model).__name__} cannot be fitted from statistics of blocks.")
    products = model.solver == "krylov"
    model._check_by_blocks(products)
    blocks, lengths = rows_of(X)
    ys = beside(y, "y", blocks, lengths)
    weights = beside(sample_weight, "sample_weight", blocks, lengths)
    starts = np.arange(len(blocks)) * APART
    if lengths is not None:
        starts = np.cumsum([0, *lengths[:-1]])
    with lost_scheduler(), large_graphs():
        if products:
            blocks, ys, weights, kept = keep_partitions(blocks, ys, weights)
        if classes is None:
            classes = _find_classes(y, ys)
        if products:
            total = fit_by_products(model, [blocks, ys, weights], classes, kept)
        else:
            collect, empty = module.delayed(_collect), module.delayed(clone(model))
            partitions = enumerate(zip(blocks, ys, weights, starts, strict=True), 1)
            parts = [
                collect(empty, *part, classes, int(start), number)
                for number, (*part, start) in partitions
            ]
            merged = module.compute(reduce_tree(_merge, parts))[0]
            total = None if merged is None else merged[1]
    if total is None:
        raise ValueError("No partition of X has samples.")
    model._take_over(total)
    return model


def _find_classes(y: Any, ys: list[Any]) -> np.ndarray | None:
    """Look for the classes of a vector y; one block tells whether it is one."""
    if is_array(y) and y.ndim == 2:
        return None
    module = dask()
    find = module.delayed(_classes)
    if module.compute(find(ys[0]))[0] is None:
        return None
    return np.unique(np.concatenate(module.compute([find(part) for part in ys])[0]))
