"""Run what a protocol asks for and is not yet in the records."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

from eigenlabel.experiment.protocol import Protocol, fingerprint
from eigenlabel.experiment.records import appending, read_records
from eigenlabel.experiment.task import Task, count_splits, execute, leave_with_parent
from eigenlabel.inputs.progress import progress, watched
from eigenlabel.inputs.validation import check_number
from eigenlabel.linalg.machine import n_threads
from eigenlabel.linalg.threads import blas_threads


@dataclass(frozen=True)
class Plan:
    """What a protocol asks for: all tasks, those still to do, and what is known of their time.

    ``seconds`` has a time for each pending task, from records of the same method and data or,
    failing that, of the same method on other data; NaN where nothing is known.
    """

    tasks: list[Task]
    pending: list[Task]
    done: list[dict[str, Any]]
    seconds: np.ndarray

    def __str__(self) -> str:
        rows = list(dict.fromkeys((t.data, t.method) for t in self.tasks))
        known = dict(zip(((t.data, t.method) for t in self.pending), self.seconds, strict=True))
        width = max(len(f"{d}, {m}") for d, m in rows)
        lines = []
        for data, method in rows:
            total, todo = (
                sum((t.data, t.method) == (data, method) for t in part)
                for part in (self.tasks, self.pending)
            )
            each = known.get((data, method), np.nan)
            cost = (
                "" if not todo else ", time unknown" if np.isnan(each) else f", {each:.1f} s each"
            )
            lines.append(f"{data + ', ' + method:{width}}  {total - todo}/{total} done{cost}")
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
    """List a protocol's tasks, and which of them the records of a folder lack.

    A failed run is still to do. Records made with other data, parameters, splits or metrics do
    not count.
    """
    tasks = []
    for data in protocol.data:
        count = count_splits(protocol, data)
        for method in protocol.methods:
            method.make()  # an unknown method or parameter is found before hours of work
            digest = fingerprint(protocol, data, method)
            tasks += [Task(f"{digest}-{k}", data.name, method.name, k) for k in range(count)]
    records = read_records(folder) if folder is not None else []
    done = {r["key"]: r for r in records if "error" not in r}
    pending = [t for t in tasks if t.key not in done]
    seconds = np.array([_expected(t, records) for t in pending])
    return Plan(tasks, pending, [done[t.key] for t in tasks if t.key in done], seconds)


def _expected(task: Task, records: Sequence[dict[str, Any]]) -> float:
    timed = [r for r in records if "seconds" in r and r["method"] == task.method]
    same = [r for r in timed if r["data"] == task.data] or timed
    return float(np.mean([sum(r["seconds"].values()) for r in same])) if same else float("nan")


def run(protocol: Protocol, folder: Any, *, workers: int = 1) -> list[dict[str, Any]]:
    """Run a protocol's tasks that are not in the folder's records, and give all its records.

    Each record is on the disk before the next task counts as begun: a run that was stopped in any
    way goes on where it was when it is started again. Failed runs are recorded with their
    ``error``, and tried again next time.

    Parameters
    ----------
    protocol : Protocol
    folder : where ``records.jsonl`` is or will be
    workers : processes; the cores that this one may use (OMP_NUM_THREADS of them, if that is set)
        are shared out among them. BLAS never gets more threads than it is set to, for instance
        by OPENBLAS_NUM_THREADS
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
    """Give records as they come: in order from this process, in any order from workers."""
    if workers == 1:
        for task in tasks:
            with watched():
                record = execute(protocol, task, threads)
            yield record
        return
    watch = {"initializer": leave_with_parent, "initargs": (os.getpid(),)}
    with parallel_config("loky", inner_max_num_threads=threads, **watch):
        pool = Parallel(
            workers, return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs"
        )
        yield from pool(delayed(execute)(protocol, task, threads) for task in tasks)
