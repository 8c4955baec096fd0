"""Run the tasks of a protocol that are not yet recorded."""

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

from eigenlabel.experiment.data_and_splits import count_splits
from eigenlabel.experiment.protocol import Protocol
from eigenlabel.experiment.records import appending, fingerprint, read_records
from eigenlabel.experiment.task import Task, execute
from eigenlabel.inputs.parameters import check_number
from eigenlabel.inputs.progress import progress, watched
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.machine import n_threads
from eigenlabel.linalg.threads import blas_threads


@dataclass(frozen=True)
class Plan:
    """The tasks of a protocol, those that are pending, and the time they are expected to take.

    ``str(plan)`` is a summary with one line for each data set and method.

    Parameters
    ----------
    tasks : list of Task
        All tasks.
    pending : list of Task
        The tasks without a record.
    done : list of dict
        The records of the other tasks.
    seconds : ndarray of shape (n_pending,)
        Expected time of each pending task: the mean of recorded runs of the same method on the
        same data or, without such runs, of the same method on other data. NaN if it is unknown.
    """

    tasks: list[Task]
    pending: list[Task]
    done: list[dict[str, Any]]
    seconds: Floats

    def __str__(self) -> str:
        totals = Counter((t.data, t.method) for t in self.tasks)
        todo = Counter((t.data, t.method) for t in self.pending)
        known = dict(zip(((t.data, t.method) for t in self.pending), self.seconds, strict=True))
        width = max(len(f"{data}, {method}") for data, method in totals)
        lines = []
        for (data, method), total in totals.items():
            left = todo[data, method]
            each = known.get((data, method), np.nan)
            time_each = ", time unknown" if np.isnan(each) else f", {each:.1f} s each"
            done = f"{total - left}/{total} done{time_each if left else ''}"
            lines.append(f"{data + ', ' + method:{width}}  {done}")
        lines.append(f"{len(self.pending)} of {len(self.tasks)} runs to do{self._cost()}")
        return "\n".join(lines)

    def _cost(self) -> str:
        unknown = int(np.isnan(self.seconds).sum())
        if not self.pending:
            return ""
        if unknown == len(self.pending):
            return "; how long they take is not known before the first of each"
        rest = f", and {unknown} runs of methods not timed yet" if unknown else ""
        return f", about {_duration(np.nansum(self.seconds))} of work{rest}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def plan(protocol: Protocol, folder: Any = None) -> Plan:
    """List the tasks of a protocol, and those that are not recorded in a folder.

    A failed run is pending. Records that were made with other data, parameters, splits or metrics
    do not count.

    Parameters
    ----------
    protocol : Protocol
        The protocol.
    folder : str, Path or None, default=None
        Folder of the records. None means that nothing is recorded.

    Returns
    -------
    Plan
        The tasks.

    Examples
    --------
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.experiment import Data, Method, Protocol, Splits, plan
    >>> planted = Data("planted", make_shared_subspace(random_state=0))
    >>> len(plan(Protocol([planted], [Method("ridge")], Splits("folds", 3))).tasks)
    3
    """
    tasks = []
    for data in protocol.data:
        count = count_splits(protocol, data)
        for method in protocol.methods:
            method.make()  # raises for an unknown method or parameter before hours of work
            digest = fingerprint(protocol, data, method)
            tasks += [Task(f"{digest}-{k}", data.name, method.name, k) for k in range(count)]
    records = read_records(folder) if folder is not None else []
    done = {r["key"]: r for r in records if "error" not in r}
    pending = [t for t in tasks if t.key not in done]
    seconds = np.array([_expected(t, records) for t in pending])
    return Plan(tasks, pending, [done[t.key] for t in tasks if t.key in done], seconds)


def _expected(task: Task, records: Sequence[dict[str, Any]]) -> float:
    """Return the mean time of similar runs, or NaN if there are none."""
    timed = [r for r in records if "seconds" in r and r["method"] == task.method]
    same = [r for r in timed if r["data"] == task.data] or timed
    return float(np.mean([sum(r["seconds"].values()) for r in same])) if same else float("nan")


def run(protocol: Protocol, folder: Any, *, workers: int = 1) -> list[dict[str, Any]]:
    """Run the tasks of a protocol that are not recorded in a folder, and return all records.

    Each record is written to the disk before the next task counts as started, so a run that was
    stopped in any way continues where it was when it is started again. Failed runs are recorded
    with their ``error`` and are repeated the next time.

    Parameters
    ----------
    protocol : Protocol
        The protocol.
    folder : str or Path
        Folder of the file ``records.jsonl``. It is created if needed.
    workers : int, default=1
        Number of processes. They share the cores that this process may use (OMP_NUM_THREADS of
        them, if that is set). BLAS never uses more threads than it is configured to, for instance
        by OPENBLAS_NUM_THREADS.

    Returns
    -------
    list of dict
        The records in the order of data sets, methods and splits.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.experiment import Data, Method, Protocol, Splits, run
    >>> planted = Data("planted", make_shared_subspace(random_state=0))
    >>> protocol = Protocol([planted], [Method("ridge")], Splits("folds", 2))
    >>> with TemporaryDirectory() as folder:
    ...     records = run(protocol, folder)
    >>> sorted(records[0]["metrics"])
    ['auc_macro', 'f1_macro', 'f1_micro', 'ranking_loss']
    """
    check_number("workers", workers, 1, integer=True)
    threads = max(1, min(blas_threads(), n_threads() // workers))
    with appending(folder) as records:
        todo = plan(protocol, folder)
        found = {r["key"]: r for r in todo.done}
        with progress(len(todo.pending), protocol.name, "run") as bar:
            for record in _results(protocol, todo.pending, workers, threads):
                records.add(record)
                found[record["key"]] = record
                bar.update(1)
    return [found[task.key] for task in todo.tasks]


def _results(
    protocol: Protocol, tasks: Sequence[Task], workers: int, threads: int
) -> Iterator[dict[str, Any]]:
    """Yield records as they are made: in order by this process, in any order by workers."""
    if workers == 1:
        for task in tasks:
            with watched():
                record = execute(protocol, task, threads)
            yield record
        return
    watch = {"initializer": _end_with_parent, "initargs": (os.getpid(),)}
    with parallel_config("loky", inner_max_num_threads=threads, **watch):
        pool = Parallel(
            workers, return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs"
        )
        yield from pool(delayed(execute)(protocol, task, threads) for task in tasks)


def _end_with_parent(parent: int) -> None:
    """End this worker when its parent has ended, so that a killed run leaves no workers behind."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
