"""What fits and predictions have in common: Dask, blocks of rows, errors of a cluster."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.linalg.machine import memory_limit

MERGED = 4  # results that one task combines
LOCAL_ROWS = 8192  # rows of the blocks of an array of this process


def dask() -> Any:
    """Return the module Dask; raise ImportError with advice if the extra is not installed."""
    try:
        import dask  # noqa: PLC0415
        import dask.array  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "eigenlabel.distributed needs Dask: pip install 'eigenlabel[dask]'."
        ) from error
    return dask


def connect(address: str, timeout: float = 10.0) -> Any:
    """Connect to the scheduler at an address.

    Parameters
    ----------
    address : str
        The address of the scheduler, such as "tcp://127.0.0.1:8786".
    timeout : float, default=10.0
        The number of seconds after which ConnectionError is raised.

    Returns
    -------
    client : distributed.Client
        The client, which is the active one from then on.
    """
    dask()
    module: Any = import_module("distributed")
    try:
        return module.Client(address, timeout=timeout)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address!r} ({error}). Is it running (dask scheduler), "
            "and can this machine reach it?"
        ) from error


def wait_for_workers(client: Any, timeout: float = 30.0) -> None:
    """Wait until the scheduler has a worker.

    Parameters
    ----------
    client : distributed.Client
        The client of the scheduler.
    timeout : float, default=30.0
        The number of seconds after which ConnectionError is raised.
    """
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError as error:
        raise ConnectionError(
            f"The Dask scheduler at {client.scheduler.address} has no workers after {timeout:g} s. "
            f"Start some: dask worker {client.scheduler.address}"
        ) from error


def workers_memory() -> float:
    """Return the memory of all workers in bytes, or this machine's if there is no cluster."""
    try:
        module: Any = import_module("distributed")
        client = module.get_client()
    except (ImportError, ValueError):
        return memory_limit()
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:  # older versions list all workers without being asked
        workers = client.scheduler_info()["workers"]
    limits = [float(worker["memory_limit"] or np.inf) for worker in workers.values()]
    return sum(limits) if limits else memory_limit()


@contextmanager
def beside_another(number: int, first: int) -> Iterator[None]:
    """Add the numbers of two partitions to an error about their differences."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Partition {number} beside partition {first}: {error}") from error


@contextmanager
def lost_scheduler() -> Iterator[None]:
    """Raise one clear error for the different errors of a scheduler that is lost."""
    try:
        module: Any = import_module("distributed")
        comm: Any = import_module("distributed.comm")
    except ImportError:  # threads or processes of this machine alone
        yield
        return
    try:
        address = module.get_client().scheduler.address
    except (ValueError, AttributeError):
        yield
        return
    try:
        yield
    except (module.CancelledError, comm.CommClosedError, TimeoutError) as error:
        raise ConnectionError(
            f"The Dask scheduler at {address} went away before the work was done; the model is "
            "unchanged. Start it again and connect again."
        ) from error


def is_array(A: Any) -> bool:
    """Return True for Dask arrays."""
    return isinstance(A, dask().array.Array)


def is_partitions(A: Any) -> bool:
    """Return True for a list (or array of objects) of delayed partitions."""
    if isinstance(A, np.ndarray):
        return A.dtype == object and A.size > 0 and dask().is_dask_collection(A.flat[0])
    return isinstance(A, (list, tuple)) and (not A or dask().is_dask_collection(A[0]))


def rows_of(X: Any) -> tuple[list[Any], list[int] | None]:
    """Return the blocks of rows of X, and their lengths if they are known."""
    if is_array(X):
        X = X.rechunk({1: X.shape[1]}) if X.ndim == 2 and X.numblocks[1] > 1 else X
        lengths = [int(n) for n in X.chunks[0]] if np.isfinite(X.chunks[0]).all() else None
        return X.to_delayed().ravel().tolist(), lengths
    if not is_partitions(X):
        X = X if sp.issparse(X) else np.asarray(X)
        cuts = range(0, X.shape[0], LOCAL_ROWS)
        blocks = [X[start : start + LOCAL_ROWS] for start in cuts]
        return [dask().delayed(block) for block in blocks], [block.shape[0] for block in blocks]
    blocks = list(X)
    if not blocks:
        raise ValueError("X has no partitions.")
    return blocks, None


def beside(A: Any, name: str, blocks: list[Any], lengths: list[int] | None) -> list[Any]:
    """Cut y or weights into blocks of the same rows as X."""
    if A is None:
        return [None] * len(blocks)
    if is_array(A):
        if lengths is not None and np.isfinite(A.chunks[0]).all():
            if A.shape[0] != sum(lengths):
                raise ValueError(f"X has {sum(lengths)} samples, {name} has {A.shape[0]}.")
            A = A.rechunk({0: tuple(lengths), **dict.fromkeys(range(1, A.ndim), -1)})
        parts: list[Any] = A.to_delayed().ravel().tolist()
    elif not is_partitions(A):
        A = A if sp.issparse(A) else np.asarray(A)
        if lengths is None:
            raise ValueError(
                f"{name} is one array, but the lengths of the partitions of X are not known: call "
                f"X.compute_chunk_sizes(), or pass {name} in partitions too."
            )
        if A.shape[0] != sum(lengths):
            raise ValueError(f"X has {sum(lengths)} samples, {name} has {A.shape[0]}.")
        starts = np.cumsum([0, *lengths])
        parts = [dask().delayed(A[a:b]) for a, b in pairwise(starts)]
    else:
        parts = list(A)
    if len(parts) != len(blocks):
        raise ValueError(f"X has {len(blocks)} partitions, {name} has {len(parts)}.")
    return parts


def reduce_tree(combine: Callable[[list[Any]], Any], parts: list[Any]) -> Any:
    """Combine delayed parts in a tree, a few at a time."""
    task = dask().delayed(combine)
    while len(parts) > 1:
        parts = [task(parts[i : i + MERGED]) for i in range(0, len(parts), MERGED)]
    return parts[0]


@contextmanager
def large_graphs() -> Iterator[None]:
    """Allow large tasks: they contain arrays of this process, which can so be sent again."""
    with dask().config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        yield
