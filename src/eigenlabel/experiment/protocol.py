"""What is run on what: protocols, from Python or a TOML file."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel import catalogue
from eigenlabel.datasets import DataError, Dataset, data_folder, find, known
from eigenlabel.datasets.registry import owner
from eigenlabel.inputs.validation import check_choice, check_number
from eigenlabel.metrics import METRICS
from eigenlabel.preprocessing import PREPARATIONS

SPLITS = ("shuffle", "folds", "random", "published")
DEFAULT_METRICS = ("f1_macro", "f1_micro", "auc_macro", "ranking_loss")


@dataclass(frozen=True)
class Data:
    """A data set of a protocol.

    Attributes
    ----------
    name : in the records
    source : a Dataset, "debtags", the name of a known data set (its first file), the path of a
        file, or two paths for training and test; paths are looked for beside the protocol's file
        and in the folder of data sets
    options : for the reader
    min_positives, min_documents : as in :func:`eigenlabel.preprocessing.drop_rare`; 0 keeps all
    max_samples : of more, so many are drawn at random, the same ones each time; 0 keeps all
    prepare : kind of :func:`eigenlabel.preprocessing.make_preparation`, fitted on training rows
    """

    name: str
    source: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    min_positives: int = 0
    min_documents: int = 0
    prepare: str = "auto"
    max_samples: int = 0

    def __post_init__(self) -> None:
        check_choice("prepare", self.prepare, PREPARATIONS)
        for name in ("min_positives", "min_documents", "max_samples"):
            check_number(name, getattr(self, name), 0, integer=True)


@dataclass(frozen=True)
class Method:
    """A method of a protocol: a name of the catalogue or an estimator, parameters, a grid.

    A grid is searched by the metric ``scoring``; None takes the one of the catalogue.
    """

    name: str
    method: Any = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)
    scoring: str | None = None

    def make(self) -> Any:
        """Make the estimator."""
        make = catalogue.make if isinstance(self._what, str) else catalogue.configure
        return make(self._what, self.parameters, self.grid or None, self.scoring)

    @property
    def _what(self) -> Any:
        return self.name if self.method is None else self.method

    @property
    def searched_by(self) -> str:
        """The metric that a grid is searched by."""
        known = catalogue.METHODS.get(self._what) if isinstance(self._what, str) else None
        return self.scoring or (known or catalogue.Method).scoring


@dataclass(frozen=True)
class Splits:
    """How samples are split.

    Attributes
    ----------
    kind : "shuffle" (stratified by labels), "folds" (stratified), "random" (any training part
        that has every label, as in Ji et al.) or "published" (those of the data set)
    n_splits : how many; of published ones at most so many
    train_size : training samples, a share or a number; not for folds and published splits
    at_most : run only the first so many of them
    """

    kind: str = "shuffle"
    n_splits: int = 5
    train_size: float | int | None = None
    at_most: int | None = None

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, SPLITS)
        check_number("n_splits", self.n_splits, 2 if self.kind == "folds" else 1, integer=True)
        if self.train_size is not None:
            check_number("train_size", self.train_size, 0)
        if self.at_most is not None:
            check_number("at_most", self.at_most, 1, integer=True)


@dataclass(frozen=True)
class Protocol:
    """Data sets, methods, splits, metrics and the seed of an experiment.

    Examples
    --------
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.experiment import Data, Method, Protocol, Splits
    >>> planted = Data("planted", make_shared_subspace(random_state=0))
    >>> methods = [Method("ridge"), Method("shared-subspace")]
    >>> protocol = Protocol([planted], methods, Splits("folds"))
    >>> len(protocol.data) * len(protocol.methods) * protocol.splits.n_splits
    10
    """

    data: list[Data]
    methods: list[Method]
    splits: Splits = field(default_factory=Splits)
    metrics: tuple[str, ...] = DEFAULT_METRICS
    seed: int = 0
    name: str = "experiment"
    folder: Path = field(default_factory=Path)

    def __post_init__(self) -> None:
        for kind in ("data", "methods"):
            names = [item.name for item in getattr(self, kind)]
            if not names or len(set(names)) < len(names):
                raise ValueError(f"A protocol needs {kind}, each with a name of its own.")
        for metric in self.metrics:
            check_choice("metric", metric, tuple(METRICS))
        check_number("seed", self.seed, 0, integer=True)

    @classmethod
    def from_toml(cls, path: Any) -> "Protocol":
        """Read a protocol file; see docs/experiments.md for its form."""
        path = Path(path)
        try:
            return cls.from_dict(tomllib.loads(path.read_text(encoding="utf-8")), path.parent)
        except tomllib.TOMLDecodeError as error:
            raise DataError(path, f"not TOML ({error})") from error
        except (ValueError, TypeError) as error:
            raise DataError(path, str(error)) from error

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], folder: Any = ".") -> "Protocol":
        """Make a protocol from what a TOML file says."""
        _check_keys(cls, given, "the protocol")
        parts = {k: given[k] for k in ("name", "seed") if k in given}
        if "metrics" in given:
            parts["metrics"] = tuple(given["metrics"])
        return cls(
            data=[_make(Data, d, "data") for d in given.get("data", ())],
            methods=[_make(Method, m, "methods") for m in given.get("methods", ())],
            splits=_make(Splits, given.get("splits", {}), "splits"),
            folder=Path(folder),
            **parts,
        )


def find_file(path: str, folder: Path) -> Path:
    """Find a data file in a folder or in that of data sets; a known data set is its first file."""
    places = [folder / path, data_folder() / path]
    for place in places:
        if place.is_file():
            return place
    if path in known():
        return find(path)[0]
    entry = owner(path)
    advice = f", a file of {entry.name}. {entry.advice()}" if entry else ""
    if not entry and (close := get_close_matches(path, known(), n=1)):
        advice = f"; did you mean the data set {close[0]}?"
    raise DataError(path, f"no such file, neither {places[0]} nor {places[1]}{advice}")


def _check_keys(cls: type, given: Mapping[str, Any], where: str) -> None:
    known = [f.name for f in fields(cls) if f.name != "folder"]
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ValueError(f"Unknown {unknown[0]!r} in {where}; known are: {', '.join(known)}.")


def _make(cls: type, given: Any, where: str) -> Any:
    if isinstance(given, str):  # a method by its name alone
        given = {"name": given}
    if not isinstance(given, Mapping):
        raise ValueError(f"Each of {where} must be a table, got {given!r}.")
    _check_keys(cls, given, where)
    needed = [f.name for f in fields(cls) if f.default is f.default_factory is MISSING]
    missing = [name for name in needed if name not in given]
    if missing:
        raise ValueError(f"{missing[0]!r} is missing in {where}: {dict(given)}.")
    return cls(**given)


def fingerprint(protocol: Protocol, data: Data, method: Method | None = None) -> str:
    """Give a digest of all that decides the samples and splits, and a method's figures on them."""
    parts = {
        "data": [_digest(data.source, protocol.folder), dict(data.options), data.prepare],
        "drop": [data.min_positives, data.min_documents],
        "splits": [*_describe_splits(protocol.splits), protocol.seed],
        "metrics": list(protocol.metrics),
    }
    if data.max_samples:
        parts["drawn"] = data.max_samples
    if method is not None:
        what = [] if method.method is None else [_describe(method.method)]
        parts["method"] = [_describe(method.name), *what, _describe(dict(method.parameters))]
        parts["grid"] = [_describe(dict(method.grid)), method.searched_by]
    text = json.dumps(parts, sort_keys=True, default=_describe)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _describe_splits(splits: Splits) -> list[Any]:
    """Leave the number out where more splits begin with the same ones."""
    folds = splits.n_splits if splits.kind == "folds" else None
    return [splits.kind, folds, splits.train_size]


def _describe(value: Any) -> str:
    """Describe an estimator or a parameter by all of its own parameters."""
    parameters = value.get_params(deep=True) if hasattr(value, "get_params") else None
    if parameters is not None:
        inside = ", ".join(f"{k}={_describe(v)}" for k, v in sorted(parameters.items()))
        return f"{type(value).__name__}({inside})"
    if isinstance(value, np.ndarray):
        return f"array({value.tolist()})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_describe(v)}" for k, v in sorted(value.items())) + "}"
    return repr(value)


def _digest(source: Any, folder: Path) -> Any:
    if isinstance(source, Dataset):
        arrays = [_digest_array(source.X), _digest_array(source.Y)]
        layout = {k: v for k, v in source.layout.items() if len(v)}
        names = layout.pop("feature_names", ())  # without the rest they decide nothing
        return [*arrays, _describe(layout), list(map(str, names))] if layout else arrays
    if source == "debtags":
        return source
    if isinstance(source, (list, tuple)):
        return [_digest(part, folder) for part in source]
    with find_file(source, folder).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest_array(A: Any) -> str:
    A = sp.csr_array(A) if sp.issparse(A) else np.ascontiguousarray(A)
    parts = (A.data, A.indices, A.indptr) if sp.issparse(A) else (A,)
    digest = hashlib.sha256(repr(A.shape).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
