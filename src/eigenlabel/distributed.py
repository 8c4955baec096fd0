"""Fit and predict on a Dask cluster: statistics of blocks, added up in a tree.

Every worker collects the statistics of its own blocks of rows; what travels is one d x d and one
d x m matrix per block and merge (five of each where parameters are tuned), never the samples. The
equations are solved where the model is. Needs the extra ``dask``.
"""

import copy
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from eigenlabel.methods.streaming import StreamMixin, unchanged_on_error

MERGED = 4  # statistics that one task adds up
APART = 2**40  # distance of the positions of blocks whose lengths are not known
LOCAL_ROWS = 8192


def _dask() -> Any:
    try:
        import dask  # noqa: PLC0415  an extra
        import dask.array  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "eigenlabel.distributed needs Dask: pip install 'eigenlabel[dask]'."
        ) from error
    return dask


def connect(address: str, timeout: float = 10.0) -> Any:
    """Give a client of the scheduler at an address, or say that there is none."""
    _dask()
    from distributed import Client  # noqa: PLC0415

    try:
        return Client(address, timeout=timeout)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address!r} ({error}). Is it running (dask scheduler), "
            "and can this machine reach it?"
        ) from error


@contextmanager
def _lost_scheduler() -> Iterator[None]:
    """Turn the many ways in which a scheduler can go away into one clear error."""
    try:
        from distributed import CancelledError, get_client  # noqa: PLC0415
        from distributed.comm import CommClosedError  # noqa: PLC0415
    except ImportError:  # threads or processes of this machine alone
        yield
        return
    try:
        address = get_client().scheduler.address
    except (ValueError, AttributeError):
        yield
        return
    try:
        yield
    except (CancelledError, CommClosedError, TimeoutError) as error:
        raise ConnectionError(
            f"The Dask scheduler at {address} went away before the work was done; the model is as "
            "it was. Start it again and connect anew."
        ) from error


def _is_array(A: Any) -> bool:
    return isinstance(A, _dask().array.Array)


def _is_partitions(A: Any) -> bool:
    """Tell a list (or array of objects) of delayed partitions from data."""
    if isinstance(A, np.ndarray):
        return A.dtype == object and A.size > 0 and _dask().is_dask_collection(A.flat[0])
    return isinstance(A, (list, tuple)) and (not A or _dask().is_dask_collection(A[0]))


def _rows_of(X: Any) -> tuple[list[Any], list[int] | None]:
    """Give the blocks of rows of X, and their lengths if they are known."""
    if _is_array(X):
        X = X.rechunk({1: X.shape[1]}) if X.ndim == 2 and X.numblocks[1] > 1 else X
        lengths = [int(n) for n in X.chunks[0]] if np.isfinite(X.chunks[0]).all() else None
        return X.to_delayed().ravel().tolist(), lengths
    if not _is_partitions(X):
        X = X if sp.issparse(X) else np.asarray(X)
        cuts = range(0, X.shape[0], LOCAL_ROWS)
        blocks = [X[start : start + LOCAL_ROWS] for start in cuts]
        return [_dask().delayed(block) for block in blocks], [block.shape[0] for block in blocks]
    blocks = list(X)
    if not blocks:
        raise ValueError("X has no partitions.")
    return blocks, None


def _beside(A: Any, name: str, blocks: list[Any], lengths: list[int] | None) -> list[Any]:
    """Cut y or weights as X is cut."""
    if A is None:
        return [None] * len(blocks)
    if _is_array(A):
        if lengths is not None and np.isfinite(A.chunks[0]).all():
            if A.shape[0] != sum(lengths):
                raise ValueError(f"X has {sum(lengths)} samples, {name} has {A.shape[0]}.")
            A = A.rechunk({0: tuple(lengths), **dict.fromkeys(range(1, A.ndim), -1)})
        parts = A.to_delayed().ravel().tolist()
    elif not _is_partitions(A):
        A = A if sp.issparse(A) else np.asarray(A)
        if lengths is None:
            raise ValueError(
                f"{name} is one array, but the lengths of the partitions of X are not known: call "
                f"X.compute_chunk_sizes(), or give {name} in partitions too."
            )
        if A.shape[0] != sum(lengths):
            raise ValueError(f"X has {sum(lengths)} samples, {name} has {A.shape[0]}.")
        starts = np.cumsum([0, *lengths])
        parts = [_dask().delayed(A[a:b]) for a, b in itertools.pairwise(starts)]
    else:
        parts = list(A)
    if len(parts) != len(blocks):
        raise ValueError(f"X has {len(blocks)} partitions, {name} has {len(parts)}.")
    return parts


def _collect(
    model: StreamMixin, X: Any, y: Any, weight: Any, classes: Any, start: int, number: int
) -> StreamMixin | None:
    """Give a model of one block alone."""
    if not X.shape[0]:
        return None
    part = clone(model)
    part._absorb(X, y, classes, weight, where=f"Partition {number}", offset=start)
    part._stream = part._stream.settle()
    return part


def _merge(models: Sequence[StreamMixin | None]) -> StreamMixin | None:
    found = [model for model in models if model is not None]
    if not found:
        return None
    total = copy.copy(found[0])  # what a task is given stays as it is
    for other in found[1:]:
        total.merge(other)
    return total


def _classes(y: Any) -> np.ndarray | None:
    return np.unique(y) if np.ndim(y) == 1 else None


def fit(model: Any, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None) -> Any:
    """Fit a model to samples on a cluster, exactly as its own ``fit`` or ``partial_fit`` would.

    The work goes to the active ``distributed.Client``; without one, to threads of this process.
    A worker that dies costs the time to do its blocks again. If the work fails, the model is as it
    was before.

    Parameters
    ----------
    model : SharedSubspaceClassifier or SharedSubspaceClassifierCV with ``kernel="linear"``
    X : Dask array in blocks of rows, dense or scipy-sparse; or a list of delayed partitions; or an
        array, which is sent to the workers
    y : labels or classes in any of these forms; delayed partitions must be those of X
    sample_weight : likewise, or None
    classes : of a vector y; they are looked for in a pass over y if they are not given

    Returns
    -------
    model, fitted; ``partial_fit``, ``merge`` and ``forget`` go on from there

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
    dask = _dask()
    if not isinstance(model, StreamMixin):
        raise TypeError(f"{type(model).__name__} cannot be fitted from statistics of blocks.")
    model._check_by_blocks()
    blocks, lengths = _rows_of(X)
    ys = _beside(y, "y", blocks, lengths)
    weights = _beside(sample_weight, "sample_weight", blocks, lengths)
    starts = np.arange(len(blocks)) * APART
    if lengths is not None:
        starts = np.cumsum([0, *lengths[:-1]])
    with _lost_scheduler(), _large_graphs():
        if classes is None:
            classes = _find_classes(y, ys)
        collect, merge = dask.delayed(_collect), dask.delayed(_merge)
        empty = dask.delayed(clone(model))
        parts = [
            collect(empty, *block, classes, int(start), number)
            for number, (block, start) in enumerate(
                zip(zip(blocks, ys, weights, strict=True), starts, strict=True)
            )
        ]
        while len(parts) > 1:
            parts = [merge(parts[i : i + MERGED]) for i in range(0, len(parts), MERGED)]
        total = dask.compute(parts[0])[0]
    if total is None:
        raise ValueError("No partition of X has samples.")
    with unchanged_on_error(model):
        model._begin_anew()
        vars(model).update({k: v for k, v in vars(total).items() if k not in model.get_params()})
    return model


def _find_classes(y: Any, ys: list[Any]) -> np.ndarray | None:
    """Look for the classes of a vector y; one block tells whether it is one."""
    if _is_array(y) and y.ndim == 2:
        return None
    dask = _dask()
    find = dask.delayed(_classes)
    if dask.compute(find(ys[0]))[0] is None:
        return None
    return np.unique(np.concatenate(dask.compute([find(part) for part in ys])[0]))


@contextmanager
def _large_graphs() -> Iterator[None]:
    """Arrays of this process travel with the tasks, so that a lost worker's can be sent again."""
    with _dask().config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        yield


def _call(model: Any, method: str, X: Any, empty: np.ndarray) -> np.ndarray:
    if not X.shape[0]:
        return empty
    found = getattr(model, method)(X)
    return found.toarray() if sp.issparse(found) else found


def _by_blocks(model: Any, method: str, X: Any) -> Any:
    dask = _dask()
    one = np.zeros((1, model.n_features_in_))
    empty = _call(model, method, one, one)[:0]
    light = copy.copy(model)
    if isinstance(light, StreamMixin):
        light._drop_stream()  # predictions need no statistics
    light = dask.delayed(light)
    call = dask.delayed(_call)
    blocks, lengths = _rows_of(X)
    parts = [
        dask.array.from_delayed(
            call(light, method, block, empty), shape=(n, *empty.shape[1:]), meta=empty
        )
        for block, n in zip(blocks, lengths or [np.nan] * len(blocks), strict=True)
    ]
    return dask.array.concatenate(parts, allow_unknown_chunksizes=True)


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
