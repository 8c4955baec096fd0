"""One run: a method on one split of a data set, with everything that its record contains."""

import math
import platform
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy
import sklearn

from eigenlabel import metrics
from eigenlabel._version import __version__
from eigenlabel.datasets import Dataset
from eigenlabel.experiment.data_and_splits import (
    Rows,
    draw_splits,
    load_data,
    to_dense,
    training_kernels,
)
from eigenlabel.experiment.protocol import Data, Method, Protocol
from eigenlabel.experiment.records import fingerprint
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.machine import peak_memory, reset_peak_memory
from eigenlabel.linalg.threads import at_most
from eigenlabel.model_selection.classifier_scores import (
    TunedClassifier,
    has_scores,
    probabilities_matrix,
    scores_matrix,
)
from eigenlabel.preprocessing import make_preparation, prepared_views


def with_views(model: Any, views: Mapping[str, slice]) -> Any:
    """Set the views of a model, or of the model inside it, to those of the data.

    Models whose ``views`` are already set, and models without this parameter, are returned
    unchanged. If nested models have the parameter, the outermost one is set.

    Parameters
    ----------
    model : estimator
        The model, which is changed in place.
    views : dict of str to slice
        Maps the name of a view to its columns.

    Returns
    -------
    estimator
        The same model.

    Examples
    --------
    >>> from eigenlabel import KGHA
    >>> from eigenlabel.catalogue import with_views
    >>> list(with_views(KGHA(), {"left": slice(0, 2), "right": slice(2, 5)}).views)
    ['left', 'right']
    """
    parameters = model.get_params()
    unset = [k for k in parameters if k.rpartition("__")[2] == "views" and parameters[k] is None]
    if not views or not unset:
        return model
    return model.set_params(**{min(unset, key=len): dict(views)})  # the outermost one


def chosen_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters that a fitted model chose for itself.

    Searches inside pipelines and meta-estimators are found as well. A search that chooses
    parameters for each label contributes a list, one value for each label.

    Parameters
    ----------
    model : estimator
        A fitted model.

    Returns
    -------
    dict
        Maps the names of parameters to the chosen values.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.catalogue import chosen_parameters
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(random_state=0)
    >>> sorted(chosen_parameters(SharedSubspaceClassifierCV().fit(data.X, data.Y)))
    ['alpha', 'beta', 'n_components']
    """
    found: dict[str, Any] = {}
    parts = [getattr(model, name, None) for name in ("estimator_", "best_estimator_")]
    parts += [step for _, step in getattr(model, "steps", ())]
    for part in parts:
        if part is not None and not isinstance(part, str):
            found |= chosen_parameters(part)
    if not hasattr(model, "best_params_"):
        return found
    tuned: TunedClassifier = model
    best = tuned.best_params_
    if isinstance(best, list):  # one dict for each label
        names = dict.fromkeys(name for one in best for name in one)
        best = {name: [one.get(name) for one in best] for name in names}
    return found | dict(best)


def scores_of(model: Any, X: Any, n_labels: int | None = None) -> Floats | None:
    """Return the scores of a fitted model, or None if it has none.

    Probabilities are used if the model has no ``decision_function``.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples.
    n_labels : int or None, default=None
        Number of labels. It is needed for classifiers that treat a single label as two classes
        and return two columns of probabilities.

    Returns
    -------
    ndarray of shape (n_samples, n_labels) or None
        The scores.

    Examples
    --------
    >>> from eigenlabel import MLkNN
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.experiment import scores_of
    >>> data = make_shared_subspace(40, n_labels=3, random_state=0)
    >>> scores_of(MLkNN().fit(data.X, data.Y), data.X).shape
    (40, 3)
    """
    if not has_scores(model):
        return None
    scores = scores_matrix(model, X, n_labels or 0)
    return scores.reshape(len(scores), -1)


def probabilities_of(model: Any, X: Any, n_labels: int) -> Floats | None:
    """Return the probabilities (n_samples, n_labels) of a fitted model, or None if it has none."""
    if not hasattr(model, "predict_proba"):
        return None
    return probabilities_matrix(model, X, n_labels)


@dataclass(frozen=True)
class Task:
    """A method on one split of a data set.

    Parameters
    ----------
    key : str
        Digest of everything that decides the figures of the run, and the number of the split.
    data : str
        Name of the data set.
    method : str
        Name of the method.
    split : int
        Number of the split.
    """

    key: str
    data: str
    method: str
    split: int


class State:
    """A data set of a protocol as a key of the cache: equal if the samples and splits are equal."""

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
    """Load and split a data set, once in a process."""
    found = load_data(state.data, state.protocol.folder)
    return found, draw_splits(found, state.protocol.splits, state.protocol.seed)


def execute(protocol: Protocol, task: Task, threads: int) -> dict[str, Any]:
    """Run a task and return its record. A failed run is recorded with its ``error``."""
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
        except Exception as error:  # a method may raise anything
            record["error"] = f"{type(error).__name__}: {error}"
    record["warnings"] = sorted({f"{w.category.__name__}: {w.message}" for w in caught})[:10]
    return record


class Fitted(NamedTuple):
    """A method fitted to one split: the model, its predictions for the test samples, its cost.

    Parameters
    ----------
    model : estimator
        The fitted model.
    data : Dataset
        The data set before preparation.
    train : ndarray of shape (n_train,)
        Rows of the training samples.
    test : ndarray of shape (n_test,)
        Rows of the test samples.
    scores : ndarray of shape (n_test, n_labels) or None
        Scores of the test samples, or None if the model has no scores.
    decided : array or sparse matrix of shape (n_test, n_labels)
        Predicted label sets of the test samples.
    n_features : int
        Number of features after preparation.
    seconds : dict
        Time that the steps "prepare", "fit" and "predict" took.
    peak_mib : float or None
        Largest memory of the process during the run in MiB, or None if it is unknown.
    probabilities : ndarray of shape (n_test, n_labels) or None, default=None
        Probabilities of the test samples, or None if the model has none or no metric of the
        protocol reads them. Their time is not counted.
    parameters : dict or None, default=None
        Parameters that the method chose, on this split or on the first one.
    cpu_seconds : float or None, default=None
        Processor time of the fit in this process, all threads together. Other programs on the
        machine hardly change it.
    """

    model: Any
    data: Dataset
    train: Ints
    test: Ints
    scores: Floats | None
    decided: Any
    n_features: int
    seconds: dict[str, float]
    peak_mib: float | None
    probabilities: Floats | None = None
    parameters: dict[str, Any] | None = None
    cpu_seconds: float | None = None


class FirstChoice:
    """A method on the first split as a key of the cache: equal if the choice is the same."""

    def __init__(self, state: State, method: Method) -> None:
        self.state, self.method = state, method
        self.key = (state.key, method.tuning)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FirstChoice) and other.key == self.key


@lru_cache(maxsize=64)
def _chosen_on_first(choice: FirstChoice) -> dict[str, Any]:
    """Tune a method on the training samples of the first split, once in a process."""
    state = choice.state
    found, splits = _prepared(state)
    X, _, views = _features(state.data, found, *splits[0])
    model = _fit_to_data(choice.method.make(), state.data, views)
    return chosen_parameters(model.fit(X, to_dense(found.Y[splits[0][0]])))


def _features(
    data: Data, found: Dataset, train: Ints, test: Ints
) -> tuple[Any, Any, Mapping[str, slice]]:
    """Return the features of training and test samples, and the columns of the views."""
    if data.precomputed:
        return training_kernels(found, train, test)
    prepare = make_preparation(data.prepare, found.X, **found.layout)
    views = prepared_views(prepare, found.views, found.X.shape[1])
    return prepare.fit_transform(found.X[train]), prepare.transform(found.X[test]), views


def _fit_to_data(model: Any, data: Data, views: Mapping[str, slice]) -> Any:
    """Set what a model has to know about the data: the views, and that X is a kernel."""
    if data.precomputed:
        names = [n for n in model.get_params() if n.rpartition("__")[2] == "kernels"]
        model = model.set_params(**dict.fromkeys(names, ("precomputed",)))
    return with_views(model, views)


def _make_model(state: State, name: str) -> tuple[Any, dict[str, Any]]:
    """Return a new model, and the parameters that were chosen for it on the first split."""
    method = next(m for m in state.protocol.methods if m.name == name)
    if not method.tuned_once:
        return method.make(), {}
    chosen = _chosen_on_first(FirstChoice(state, method))
    return method.remake(chosen), chosen


def fit_split(protocol: Protocol, data: str, method: str, split: int) -> Fitted:
    """Prepare, fit and predict one split of a data set, as a run does.

    Parameters
    ----------
    protocol : Protocol
        The protocol.
    data : str
        Name of a data set of the protocol.
    method : str
        Name of a method of the protocol.
    split : int
        Number of the split.

    Returns
    -------
    Fitted
        The fitted model with its predictions for the test samples.

    Examples
    --------
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.experiment import Data, Method, Protocol, Splits, fit_split
    >>> planted = Data("planted", make_shared_subspace(90, random_state=0))
    >>> protocol = Protocol([planted], [Method("ridge")], Splits("shuffle", 1))
    >>> fit_split(protocol, "planted", "ridge", 0).decided.shape[0]
    30
    """
    state = State(protocol, data)
    found, splits = _prepared(state)
    train, test = splits[split]
    model, chosen = _make_model(state, method)
    Y = to_dense(found.Y)
    reset_peak_memory()
    times = [time.perf_counter()]
    X, X_test, views = _features(state.data, found, train, test)
    times.append(time.perf_counter())
    cpu = time.process_time()
    model = _fit_to_data(model, state.data, views).fit(X, Y[train])
    cpu = time.process_time() - cpu
    times.append(time.perf_counter())
    scores, decided = scores_of(model, X_test, Y.shape[1]), model.predict(X_test)
    times.append(time.perf_counter())
    steps = zip(("prepare", "fit", "predict"), np.diff(times).tolist(), strict=True)
    seconds = {step: round(t, 4) for step, t in steps}
    peak, probabilities = peak_memory(), None
    if any(metrics.ALL_METRICS[name].reads == "probabilities" for name in protocol.metrics):
        probabilities = probabilities_of(model, X_test, Y.shape[1])
    cost = int(X.shape[1]), seconds, peak
    chosen = chosen | chosen_parameters(model)
    return Fitted(model, found, train, test, scores, decided, *cost, probabilities, chosen, cpu)


def _figures(protocol: Protocol, task: Task) -> dict[str, Any]:
    """Return what a record contains of a run that succeeded."""
    run = fit_split(protocol, task.data, task.method, task.split)
    truth = to_dense(run.data.Y[run.test])
    inputs = {"scores": run.scores, "labels": run.decided, "probabilities": run.probabilities}
    found = {}
    for name in protocol.metrics:
        metric, options = metrics.ALL_METRICS[name], {}
        if inputs[metric.reads] is None:
            continue
        if metric.propensities:  # of the training labels, as in published figures
            options["propensities"] = metrics.label_propensities(run.data.Y[run.train])
        found[name] = float(metric.function(truth, inputs[metric.reads], **options))
    return {
        "metrics": {k: None if math.isnan(v) else v for k, v in found.items()},
        "parameters": {k: _plain(v) for k, v in (run.parameters or {}).items()},
        "seconds": run.seconds,
        "cpu_seconds": None if run.cpu_seconds is None else round(run.cpu_seconds, 4),
        "peak_mib": run.peak_mib,
        "train_size": len(run.train),
        "test_size": len(run.test),
        "n_features": run.n_features,
        "n_labels": truth.shape[1],
    }


def _plain(value: Any) -> Any:
    """Return a parameter as a JSON value; infinity and NaN become strings."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (bool, int, float, str, type(None))) else repr(value)


def _versions() -> dict[str, str]:
    own = {"eigenlabel": __version__, "python": platform.python_version()}
    return own | {m.__name__: m.__version__ for m in (np, scipy, sklearn)}


def _machine(threads: int) -> dict[str, Any]:
    return {"system": platform.system(), "cpu": platform.machine(), "threads": threads}
