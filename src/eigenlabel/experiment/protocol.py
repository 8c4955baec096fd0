"""Protocols: data sets, methods, splits and metrics, from Python or a TOML file."""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from eigenlabel.datasets import DataError
from eigenlabel.experiment.methods import Recipe, configure, known_methods, make
from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.metrics import ALL_METRICS
from eigenlabel.preprocessing.preparation import PREPARATIONS

SPLITS = ("shuffle", "folds", "random", "published")
DEFAULT_METRICS = ("f1_macro", "f1_micro", "auc_macro", "ranking_loss")


@dataclass(frozen=True)
class Data:
    """A data set of a protocol.

    Parameters
    ----------
    name : str
        Name of the data set in the records.
    source : Dataset, str or sequence of two str
        A Dataset, "debtags", the name of a known data set (its first file is read), the path of a
        file, or the paths of a training file and a test file. Paths are searched beside the
        protocol's file and in the folder of data sets.
    options : dict, default={}
        Options of the reader.
    min_positives : int, default=0
        Labels with fewer positive samples are dropped
        (:func:`eigenlabel.preprocessing.drop_rare`). 0 keeps all labels.
    min_documents : int, default=0
        Features that occur in fewer samples are dropped. 0 keeps all features.
    prepare : str, default="auto"
        Kind of :func:`eigenlabel.preprocessing.make_preparation`, fitted on training samples.
    max_samples : int, default=0
        Upper bound on the number of samples. From a larger data set this many samples are drawn
        at random, the same ones each time. 0 keeps all samples.
    precomputed : bool, default=False
        Whether X consists of kernel matrices: one of all samples, or one for each view, side by
        side. Methods see the kernel values of their samples with the training samples. Such data
        are not prepared, and nothing can be dropped from them.

    Examples
    --------
    >>> from eigenlabel.experiment import Data
    >>> Data("music", "emotions", prepare="standard").name
    'music'
    """

    name: str
    source: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    min_positives: int = 0
    min_documents: int = 0
    prepare: str = "auto"
    max_samples: int = 0
    precomputed: bool = False

    def __post_init__(self) -> None:
        check_choice("prepare", self.prepare, PREPARATIONS)
        drops = ("min_positives", "min_documents", "max_samples")
        for name in drops:
            check_number(name, getattr(self, name), 0, integer=True)
        if not self.precomputed:
            return
        dropped = [name for name in drops if getattr(self, name)]
        if dropped or self.prepare not in ("auto", "none"):
            name = dropped[0] if dropped else f"prepare={self.prepare!r}"
            raise ValueError(
                f"{name} cannot be used with precomputed=True, whose columns are samples: prepare "
                "the data before you compute their kernels."
            )


@dataclass(frozen=True)
class Method:
    """A method of a protocol: a named method or an estimator, with parameters and a grid.

    Parameters
    ----------
    name : str
        Name of the method in the records. It is also its name in
        :data:`eigenlabel.catalogue.METHODS` if ``method`` is None.
    method : str, estimator or None, default=None
        Name of the method in the catalogue, or an estimator.
    parameters : dict, default={}
        Parameters to set. A method that is tuned on the first split only is tuned without them.
    grid : dict, default={}
        Maps the names of parameters to the values to try. An empty grid means the grid of the
        catalogue.
    scoring : str or None, default=None
        Name of the metric that selects the parameters. None uses the metric of the catalogue.

    Examples
    --------
    >>> from eigenlabel.experiment import Method
    >>> Method("three folds", "ridge", {"cv": 3}).make().cv
    3
    """

    name: str
    method: Any = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)
    scoring: str | None = None

    def make(self) -> Any:
        """Return a new estimator.

        Returns
        -------
        estimator
            The estimator, or a grid search of it.
        """
        source = self._source
        if self.tuned_once:
            self.remake({})  # raises for an unknown parameter
            return make(source, {}, self.grid or None, self.scoring)
        if isinstance(source, str):
            return make(source, self.parameters, self.grid or None, self.scoring)
        return configure(source, self.parameters, self.grid or None, self.scoring)

    def remake(self, chosen: Mapping[str, Any]) -> Any:
        """Return a new estimator with parameters that were chosen on the first split.

        Parameters
        ----------
        chosen : dict
            Maps the names of parameters to the chosen values.

        Returns
        -------
        estimator
            The estimator of a method that is tuned on the first split only.
        """
        recipe = self.recipe
        if recipe is None or recipe.refit is None:
            raise ValueError(f"{self.name} is tuned on every split; use make().")
        return configure(recipe.refit(**chosen), self.parameters)

    @property
    def _source(self) -> Any:
        return self.name if self.method is None else self.method

    @property
    def recipe(self) -> Recipe | None:
        """The recipe of the catalogue, or None for an estimator or an unknown name."""
        return known_methods().get(self._source) if isinstance(self._source, str) else None

    @property
    def tuned_once(self) -> bool:
        """Whether the parameters are chosen on the first split and kept for all splits."""
        return self.recipe is not None and self.recipe.refit is not None

    @property
    def tuning(self) -> tuple[str, str, str]:
        """What decides the parameters that a method chooses: source, grid and metric."""
        return repr(self._source), repr(sorted(self.grid.items())), self.searched_by

    @property
    def searched_by(self) -> str:
        """Name of the metric that selects the parameters of a grid."""
        return self.scoring or (self.recipe or Recipe).scoring


@dataclass(frozen=True)
class Splits:
    """How samples are split into training and test samples.

    Parameters
    ----------
    kind : {"shuffle", "folds", "random", "published"}, default="shuffle"
        "shuffle" draws splits that are stratified by labels, and "folds" makes stratified folds.
        "random" draws any training samples that contain a positive of every label (Ji et al.
        2008). "published" uses the splits of the data set.
    n_splits : int, default=5
        Number of splits. A data set with fewer published splits contributes those it has.
    train_size : float, int or None, default=None
        Share or number of training samples. None is two thirds. Folds and published splits do
        not use it.
    at_most : int or None, default=None
        Only the first ``at_most`` splits are run. None runs all of them.

    Examples
    --------
    >>> from eigenlabel.experiment import Splits
    >>> Splits("random", 30, train_size=1000).kind
    'random'
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

    Parameters
    ----------
    data : list of Data
        The data sets, each with its own name.
    methods : list of Method
        The methods, each with its own name.
    splits : Splits, default=Splits()
        How samples are split.
    metrics : tuple of str, default=("f1_macro", "f1_micro", "auc_macro", "ranking_loss")
        Names of metrics in :data:`eigenlabel.metrics.METRICS`.
    seed : int, default=0
        Seed of the splits.
    name : str, default="experiment"
        Name of the experiment in the records.
    folder : Path, default=Path()
        Folder in which the paths of data files are searched first.

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
            check_choice("metric", metric, tuple(ALL_METRICS))
        check_number("seed", self.seed, 0, integer=True)

    @classmethod
    def from_toml(cls, path: Any) -> "Protocol":
        """Read a protocol file.

        Parameters
        ----------
        path : str or Path
            A TOML file with the keys of :meth:`from_dict`. Data files are searched in its folder
            first.

        Returns
        -------
        Protocol
            The protocol.
        """
        path = Path(path)
        try:
            return cls.from_dict(tomllib.loads(path.read_text(encoding="utf-8")), path.parent)
        except tomllib.TOMLDecodeError as error:
            raise DataError(path, f"not TOML ({error})") from error
        except (ValueError, TypeError) as error:
            raise DataError(path, str(error)) from error

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], folder: Any = ".") -> "Protocol":
        """Make a protocol from plain values, such as those of a TOML file.

        Parameters
        ----------
        given : dict
            The parameters of the protocol except ``folder``. Data sets, methods and splits are
            dicts of their own parameters; a method may also be its name alone.
        folder : str or Path, default="."
            Folder in which data files are searched first.

        Returns
        -------
        Protocol
            The protocol.
        """
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


def _check_keys(cls: Any, given: Mapping[str, Any], where: str) -> None:
    known = [f.name for f in fields(cls) if f.name != "folder"]
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ValueError(f"Unknown {unknown[0]!r} in {where}; known are: {', '.join(known)}.")


def _make(cls: Any, given: Any, where: str) -> Any:
    """Make a part of a protocol from a table of a TOML file."""
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
