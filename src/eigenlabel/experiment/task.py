"""One run: a method on one split of one data set, with all that a record tells of it."""

import math
import os
import platform
import threading
import time
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn

from eigenlabel import datasets
from eigenlabel.catalogue import chosen_parameters, with_views
from eigenlabel.datasets import Dataset
from eigenlabel.experiment.protocol import Data, Protocol, Splits, find_file, fingerprint
from eigenlabel.linalg.threads import at_most
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit
from eigenlabel.model_selection.reading import scores_matrix
from eigenlabel.preprocessing import drop_rare, make_preparation, prepared_views

TRAIN_SHARE = 2 / 3
MAX_DRAWS = 10_000
Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Task:
    """A method on one split of a data set; ``key`` tells all that decides its figures."""

    key: str
    data: str
    method: str
    split: int


def load_data(data: Data, folder: Path = Path()) -> Dataset:
    """Load a data set without what is rare in it, or a part; its files may lie in ``folder``."""
    found = _load(data, folder)
    if data.min_positives or data.min_documents:
        kept = drop_rare(
            found.X, found.Y, min_positives=data.min_positives, min_documents=data.min_documents
        )
        columns = [str(name) in found.column_types for name in found.feature_names]
        features = np.union1d(kept.features, np.flatnonzero(columns))  # only words can be rare
        found = found.subset(samples=kept.samples, features=features, labels=kept.labels)
    if 0 < data.max_samples < found.X.shape[0]:
        drawn = np.random.default_rng(0).permutation(found.X.shape[0])[: data.max_samples]
        found = found.subset(samples=np.sort(drawn))
    if not all((*found.X.shape, found.Y.shape[1])):
        raise ValueError(f"Nothing is left of {data.name}: {found!r}.")
    return found


def _load(data: Data, folder: Path) -> Dataset:
    if isinstance(data.source, Dataset):
        return data.source
    if data.source == "debtags":
        return datasets.load_debtags(**data.options)
    if isinstance(data.source, str):
        return datasets.load(find_file(data.source, folder), **data.options)
    if len(data.source) != 2:
        raise ValueError(f"{data.name}: give one file, or two for training and test.")
    train, test = (find_file(path, folder) for path in data.source)
    first = datasets.load(train, **data.options)
    return _stack(first, datasets.load(test, like=first, **data.options))


def _stack(train: Dataset, test: Dataset) -> Dataset:
    """Put test samples below training samples; the published split tells them apart."""
    n, total = train.X.shape[0], train.X.shape[0] + test.X.shape[0]
    both = (train.X, test.X)
    return replace(
        train,
        X=sp.csr_array(sp.vstack(both)) if sp.issparse(train.X) else np.vstack(both),
        Y=sp.csr_array(sp.vstack([train.Y, test.Y])),
        sample_names=None,
        splits={"published": (np.arange(n), np.arange(n, total))},
    )


def draw_splits(data: Dataset, spec: Splits, seed: int) -> list[Rows]:
    """List the (training rows, test rows) of a data set."""
    if spec.kind == "published":
        if not data.splits:
            raise ValueError(f"No published splits in {data.source}; use another kind.")
        return list(data.splits.values())[: spec.n_splits]
    Y = _dense(data.Y)
    rows = np.zeros((len(Y), 1))
    if spec.kind == "folds":
        folds = MultilabelStratifiedKFold(spec.n_splits, shuffle=True, random_state=seed)
        return list(folds.split(rows, Y))
    size = TRAIN_SHARE if spec.train_size is None else spec.train_size
    if spec.kind == "shuffle":
        draws = MultilabelStratifiedShuffleSplit(spec.n_splits, train_size=size, random_state=seed)
        return list(draws.split(rows, Y))
    count = round(size * len(Y)) if size < 1 else int(size)
    if not 0 < count < len(Y):
        raise ValueError(f"train_size {size} of {len(Y)} samples leaves one side empty.")
    return [_draw_with_every_label(Y, count, seed + k) for k in range(spec.n_splits)]


def count_splits(protocol: Protocol, data: Data) -> int:
    """Tell how many splits will be run; a data set may have fewer published ones."""
    spec, count = protocol.splits, protocol.splits.n_splits
    if spec.kind == "published":
        count = len(draw_splits(_load(data, protocol.folder), spec, protocol.seed))
    return count if spec.at_most is None else min(count, spec.at_most)


def _draw_with_every_label(Y: np.ndarray, count: int, seed: int) -> Rows:
    """Draw training samples until every label has a positive among them."""
    rng = np.random.default_rng(seed)
    for _ in range(MAX_DRAWS):
        order = rng.permutation(len(Y))
        if Y[order[:count]].any(axis=0).all():
            return order[:count], order[count:]
    raise ValueError(
        f"In {MAX_DRAWS} draws of {count} samples some label never had a positive: drop rare "
        "labels (min_positives) or use stratified splits (kind = 'shuffle')."
    )


class State:
    """A protocol's data set as a key of the cache: equal if the samples and splits are."""

    def __init__(self, protocol: Protocol, name: str) -> None:
        self.protocol = protocol
        self.data = next(d for d in protocol.data if d.name == name)
        self.key = (fingerprint(protocol, self.data), protocol.splits)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and other.key == self.key


@lru_cache(maxsize=2)
def _prepared(state: State) -> tuple[Dataset, list[Rows]]:
    """Load and split a data set once in a process."""
    found = load_data(state.data, state.protocol.folder)
    return found, draw_splits(found, state.protocol.splits, state.protocol.seed)


def execute(protocol: Protocol, task: Task, threads: int) -> dict[str, Any]:
    """Run a task and give its record; a failure is a record too."""
    record: dict[str, Any] = {
        "key": task.key,
        "data": task.data,
        "method": task.method,
        "split": task.split,
        "seed": protocol.seed,
        "protocol": protocol.name,
        "versions": _versions(),
        "machine": _machine(threads),
    }
    with warnings.catch_warnings(record=True) as caught, at_most(threads):
        warnings.simplefilter("always")
        try:
            record |= _figures(protocol, task)
        except Exception as error:  # whatever a method raises is what is told of it
            record["error"] = f"{type(error).__name__}: {error}"
    record["warnings"] = sorted({f"{w.category.__name__}: {w.message}" for w in caught})[:10]
    return record


class Fitted(NamedTuple):
    """A method fitted to one split: the model, what it made of the test part, and its cost."""

    model: Any
    data: Dataset
    train: np.ndarray
    test: np.ndarray
    scores: np.ndarray | None
    decided: Any
    n_features: int
    seconds: dict[str, float]
    peak_mib: float | None


def fit_split(protocol: Protocol, data: str, method: str, split: int) -> Fitted:
    """Prepare, fit and predict one split of a protocol's data set, as a run does."""
    spec = next(d for d in protocol.data if d.name == data)
    found, splits = _prepared(State(protocol, data))
    train, test = splits[split]
    Y = _dense(found.Y)
    _reset_peak()
    times = [time.perf_counter()]
    prepare = make_preparation(spec.prepare, found.X, **found.layout)
    views = prepared_views(prepare, found.views, found.X.shape[1])
    X, X_test = prepare.fit_transform(found.X[train]), prepare.transform(found.X[test])
    times.append(time.perf_counter())
    model = next(m for m in protocol.methods if m.name == method).make()
    model = with_views(model, views).fit(X, Y[train])
    times.append(time.perf_counter())
    scores, decided = scores_of(model, X_test, Y.shape[1]), model.predict(X_test)
    times.append(time.perf_counter())
    steps = zip(("prepare", "fit", "predict"), np.diff(times).tolist(), strict=True)
    seconds = {step: round(t, 4) for step, t in steps}
    return Fitted(model, found, train, test, scores, decided, int(X.shape[1]), seconds, _peak())


def _figures(protocol: Protocol, task: Task) -> dict[str, Any]:
    run = fit_split(protocol, task.data, task.method, task.split)
    truth = _dense(run.data.Y[run.test])
    inputs = {"scores": run.scores, "labels": run.decided}
    found = {
        name: float(METRICS[name].function(truth, inputs[METRICS[name].reads]))
        for name in protocol.metrics
        if inputs[METRICS[name].reads] is not None
    }
    return {
        "metrics": {k: None if math.isnan(v) else v for k, v in found.items()},
        "parameters": {k: _plain(v) for k, v in chosen_parameters(run.model).items()},
        "seconds": run.seconds,
        "peak_mib": run.peak_mib,
        "train_size": len(run.train),
        "test_size": len(run.test),
        "n_features": run.n_features,
        "n_labels": truth.shape[1],
    }


def _dense(Y: Any) -> np.ndarray:
    return Y.toarray() if sp.issparse(Y) else np.asarray(Y)


def scores_of(model: Any, X: Any, n_labels: int | None = None) -> np.ndarray | None:
    """Return a model's scores (n, m), or None if it has none.

    Probabilities count as scores if there are no others. ``n_labels`` is needed for classifiers
    that take a single label for classes: they return two columns of probabilities.
    """
    if not any(hasattr(model, name) for name in ("decision_function", "predict_proba")):
        return None
    scores = scores_matrix(model, X, n_labels or 0)
    return scores.reshape(len(scores), -1)


def _plain(value: Any) -> Any:
    """Give a parameter as JSON has it; infinity is a word there."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (bool, int, float, str, type(None))) else repr(value)


def _versions() -> dict[str, str]:
    from eigenlabel import __version__  # noqa: PLC0415  the package imports this module

    own = {"eigenlabel": __version__, "python": platform.python_version()}
    return own | {m.__name__: m.__version__ for m in (np, scipy, sklearn)}


def _machine(threads: int) -> dict[str, Any]:
    return {"system": platform.system(), "cpu": platform.machine(), "threads": threads}


def _reset_peak() -> None:
    """Let the kernel's count of peak memory begin anew, where it can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def _peak() -> float | None:
    """Give the most memory the process had at once since the reset, in MiB, where it is known."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    line = next((x for x in status.splitlines() if x.startswith("VmHWM:")), None)
    return None if line is None else round(int(line.split()[1]) / 1024, 1)


def leave_with_parent(parent: int) -> None:
    """End this worker when its parent is gone: a killed run must not leave workers behind."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
