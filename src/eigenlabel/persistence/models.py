"""Models in files that run no code when they are loaded."""

import io
import math
import zipfile
from collections.abc import (
    Iterable,
    Mapping,
)
from dataclasses import (
    dataclass,
    field,
)
from pathlib import Path
from typing import Any

import numpy as np
import skops.io
from sklearn.preprocessing import add_dummy_feature
from sklearn.utils.validation import check_is_fitted

from eigenlabel import metrics, model_selection, thresholds
from eigenlabel.catalogue import AtDimensionOfMDDM, LastFits, OnGaussianKernel
from eigenlabel.datasets import DataError
from eigenlabel.datasets.files import check_file
from eigenlabel.datasets.writing import writing
from eigenlabel.estimators.agreement import fasttag
from eigenlabel.estimators.agreement.homogeneity import HomogeneityAnalysis
from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.estimators.agreement.multiset import MultisetCCA
from eigenlabel.estimators.agreement.ridge_tagger import KernelRidgeTagger
from eigenlabel.estimators.discriminant.mtsda import MtSDA
from eigenlabel.estimators.discriminant.tuned import MtSDACV
from eigenlabel.estimators.graphs import birelation
from eigenlabel.estimators.graphs import random_fields as networks
from eigenlabel.estimators.margin.aso import ASOClassifier
from eigenlabel.estimators.margin.svm_perf import SVMPerfClassifier
from eigenlabel.estimators.meta import projected
from eigenlabel.estimators.meta.per_label import OneVsRestSearchCV
from eigenlabel.estimators.meta.thresholded import ThresholdedClassifier
from eigenlabel.estimators.neighbours import tagging, tagprop
from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.projection import spectral as projection_spectral
from eigenlabel.estimators.projection import supervised as projection
from eigenlabel.estimators.subspace.classifier import SharedSubspaceClassifier
from eigenlabel.estimators.subspace.stream import Sample, Stream
from eigenlabel.estimators.subspace.tuned import SharedSubspaceClassifierCV
from eigenlabel.estimators.views.kernel_sum import KernelSum
from eigenlabel.estimators.views.kernels import FittedView
from eigenlabel.experiment.tuning import ScoreMetric
from eigenlabel.inputs.views import FittedTable
from eigenlabel.kernels.distances import DistanceView
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.kernels.meka import MEKA
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.machine import memory_limit
from eigenlabel.linalg.statistics import Accumulator, Block, Statistics
from eigenlabel.persistence.archive import UnsafeNodeError, check_archive, check_objects
from eigenlabel.preprocessing import ColumnGroups, DocumentFrequencySelector, _to_dense

# All that a file may hold besides what skops knows to be harmless itself.
_OURS = (
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    ThresholdedClassifier,
    MLkNN,
    MEKA,
    MtSDA,
    MtSDACV,
    ASOClassifier,
    SVMPerfClassifier,
    OneVsRestSearchCV,
    projection.MDDM,
    projection.CCA,
    projection.OPLS,
    projection.LDA,
    projection.OrthogonalCentroid,
    projection.HypergraphSpectral,
    projection_spectral.PCA,
    projection_spectral.PLS,
    projection_spectral.MLSI,
    projection_spectral.LPP,
    projection_spectral.DiscriminativeSelector,
    projected.ProjectedClassifierCV,
    projected.DimensionsPath,
    KGHA,
    KernelRidgeTagger,
    KernelSum,
    MultisetCCA,
    birelation.BiRelationGraph,
    networks.GaussianFields,
    tagging.MBRM,
    fasttag.FastTag,
    tagprop.TagProp,
    tagging.JEC,
    HomogeneityAnalysis,
    FittedView,
    FittedTable,
    DistanceView,
    Kernel,
    AtDimensionOfMDDM,
    OnGaussianKernel,
    LastFits,
    ScoreMetric,
    ColumnGroups,
    DocumentFrequencySelector,
    _to_dense,
    LabelCodec,
    Accumulator,
    Statistics,
    Block,
    Sample,
    Stream,
    model_selection.MultilabelStratifiedKFold,
    model_selection.MultilabelStratifiedShuffleSplit,
    *{type(rule) for rule in thresholds.RULES.values()},
    *(m.function for m in metrics.METRICS.values() if m.function.__name__ != "<lambda>"),
    add_dummy_feature,
)
TRUSTED = frozenset(
    {f"{thing.__module__}.{thing.__qualname__}" for thing in _OURS}
    | {"numpy.dtype", "scipy.sparse._csr.csr_array"}
    | {f"sklearn.metrics._scorer.{name}" for name in ("_Scorer", "_PassthroughScorer")}
    # Which metadata a parameter asks for; skops before 0.14 does not know them.
    | {f"sklearn.utils._metadata_requests.{name}MetadataRequest" for name in ("", "Method")}
)
# Splitters of scikit-learn that models keep as parameters: numbers and nothing else.
TRUSTED |= {
    f"sklearn.model_selection._split.{name}"
    for name in (
        "GroupKFold",
        "KFold",
        "LeaveOneOut",
        "PredefinedSplit",
        "ShuffleSplit",
        "StratifiedKFold",
        "StratifiedShuffleSplit",
    )
}
FORM = 1
LATER = ("column_types", "words")  # older files lack them
MAPS = ("categories", "views", "options", "about", *LATER)
PARTS = ("model", "feature_names", "label_names", *MAPS)


@dataclass(frozen=True)
class SavedModel:
    """A fitted model with the columns that it was fitted to.

    Attributes
    ----------
    model : fitted estimator or pipeline
    feature_names, label_names : of the columns of X and Y; files to predict are matched by name
    categories : feature -> its values, where a column holds their positions
    views : kind of features -> their columns, as in a Dataset
    column_types, words : which columns are those of a table and which count words, as in a Dataset
    options : how the training file was read
    about : what it is, as the command line noted it
    """

    model: Any
    feature_names: np.ndarray
    label_names: np.ndarray
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    views: Mapping[str, slice] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    column_types: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, slice] = field(default_factory=dict)


def save_model(saved: Any, path: Any, *, trusted: Iterable[Any] = ()) -> None:
    """Write a model with skops, whole or not at all.

    Parameters
    ----------
    saved : SavedModel, or a fitted estimator
        An estimator is saved with the names of its features if it knows them; otherwise features
        and labels are numbered from 0.
    path : str or Path
    trusted : list of classes or of their full names
        Types of your own that the model holds, such as a threshold rule. :func:`load_model` needs
        the same ones.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from eigenlabel import SharedSubspaceClassifier
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.persistence import SavedModel, load_model, save_model
    >>> data = make_shared_subspace(random_state=0)
    >>> model = SharedSubspaceClassifier().fit(data.X, data.Y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.skops"
    >>> save_model(SavedModel(model, data.feature_names, data.label_names), path)
    >>> again = load_model(path)
    >>> bool((again.model.predict(data.X) == model.predict(data.X)).all())
    True
    """
    saved = saved if isinstance(saved, SavedModel) else _with_names(saved)
    content = {
        "eigenlabel": FORM,
        "model": saved.model,
        "feature_names": np.asarray(saved.feature_names, dtype=str),
        "label_names": np.asarray(saved.label_names, dtype=str),
        "categories": {k: list(v) for k, v in saved.categories.items()},
        "views": {k: [int(v.start), int(v.stop)] for k, v in saved.views.items()},
        "options": dict(saved.options),
        "about": dict(saved.about),
        "column_types": dict(saved.column_types),
        "words": {k: [int(v.start), int(v.stop)] for k, v in saved.words.items()},
    }
    _read_content(content)  # what could not be loaded is not written
    data = skops.io.dumps(content)
    try:
        _check(Path(path), io.BytesIO(data), math.inf, _type_names(trusted))
    except UnsafeNodeError as error:
        raise DataError(
            Path(path),
            f"a model with {error.type_name} cannot be saved, because a changed file could make "
            "such an object read memory of other objects or run other code. Use an estimator "
            "without it, for instance a linear model in place of one with trees.",
        ) from error
    with writing(path) as stream:
        stream.write(data)


def _with_names(model: Any) -> SavedModel:
    """Return a fitted estimator with the names of its columns, or with their numbers."""
    check_is_fitted(model)
    if getattr(model, "n_features_in_", None) is None:
        raise ValueError(
            "The number of features of the model is unknown: save a SavedModel with their names."
        )
    features = getattr(model, "feature_names_in_", range(model.n_features_in_))
    return SavedModel(model, np.asarray(features, dtype=str), _label_names(model))


def _label_names(model: Any) -> np.ndarray:
    """Return the labels that a model was fitted to, or their numbers."""
    labels = getattr(model, "classes_", None)
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        return labels.astype(str)
    if isinstance(labels, list):  # the two classes of each label
        return np.arange(len(labels)).astype(str)
    raise ValueError("The labels of the model are unknown: save a SavedModel with their names.")


def load_model(
    path: Any, *, max_bytes: int | None = None, trusted: Iterable[Any] = ()
) -> SavedModel:
    """Read a model file; a type that is not ours, scikit-learn's or numpy's is refused by name.

    Everything in the file is checked before it is used: the objects that are built, the sparse
    matrices among them, and the names of features and labels. A file that fails a check, is damaged
    or is too large raises DataError. A type is imported only if it is one of these or named in
    ``trusted``.

    Parameters
    ----------
    path : str or Path
    max_bytes : largest size of its content, a quarter of memory by default
    trusted : types of your own that may be loaded: classes, or full names such as
        "my_rules.Quantile". Loading imports their module, so name only code that you know
    """
    path = Path(path)
    check_file(path)
    limit = memory_limit() / 4 if max_bytes is None else max_bytes
    known_types = _type_names(trusted)
    try:
        types = _check(path, path, limit, known_types)
        content = skops.io.load(path, trusted=types)
        known = isinstance(content, dict) and content.get("eigenlabel") == FORM
        if known:
            check_objects(content)
            return _read_content(content)
    except DataError:
        raise
    except Exception as error:  # damaged files fail in many ways
        raise DataError(path, f"not a model file, or damaged ({error})") from error
    raise DataError(path, "not a model file of this version of eigenlabel")


def _type_names(trusted: Iterable[Any]) -> set[str]:
    if isinstance(trusted, str):
        raise TypeError(f"trusted must be a list of classes or names, got the string {trusted!r}.")
    return {t if isinstance(t, str) else f"{t.__module__}.{t.__qualname__}" for t in trusted}


def _check(path: Path, file: Any, max_bytes: float, trusted: set[str]) -> list[str]:
    """Check all that can be known of a file before it is loaded; return the types to trust."""
    try:
        with zipfile.ZipFile(file) as archive:
            check_archive(archive, max_bytes)
        file = {"data": file.getvalue()} if isinstance(file, io.BytesIO) else {"file": file}
        unknown = skops.io.get_untrusted_types(**file)
    except UnsafeNodeError:
        raise
    except Exception as error:
        raise DataError(path, f"not a model file, or damaged ({error})") from error
    strange = sorted(set(unknown) - TRUSTED - trusted)
    if strange:
        raise DataError(
            path,
            f"holds types that are not trusted: {', '.join(strange)}; pass trusted={strange} if "
            "you know their code",
        )
    return unknown


def _read_content(content: dict[str, Any]) -> SavedModel:
    """Return what a file holds; raise ValueError if a part is missing or does not fit."""
    content = {name: {} for name in LATER} | content
    missing = [name for name in PARTS if name not in content]
    if missing:
        raise ValueError(f"no {', '.join(missing)} in it")
    features, labels = (_read_names(content, name) for name in ("feature_names", "label_names"))
    width = getattr(content["model"], "n_features_in_", None)
    if width is not None and width != len(features):
        raise ValueError(f"{len(features)} feature_names for a model of {width} features")
    _check_maps(content, len(features))
    return SavedModel(
        content["model"],
        features,
        labels,
        categories={k: tuple(v) for k, v in content["categories"].items()},
        views={k: slice(*v) for k, v in content["views"].items()},
        options=content["options"],
        about=content["about"],
        column_types=content["column_types"],
        words={k: slice(*v) for k, v in content["words"].items()},
    )


def _check_maps(content: dict[str, Any], width: int) -> None:
    """Raise ValueError if what is known of columns or of the reader is not of the saved form."""
    for name in MAPS:
        found = content[name]
        if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
            raise ValueError(f"{name} must be a dict with words as keys")
    for name, values in content["categories"].items():
        if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
            raise ValueError(f"the categories of {name!r} must be a list of words")
    if not all(isinstance(kind, str) for kind in content["column_types"].values()):
        raise ValueError("column_types must be words")
    for name, ends in (*content["views"].items(), *content["words"].items()):
        if not isinstance(ends, list) or [type(end) for end in ends] != [int, int]:
            raise ValueError(f"view {name!r} must have a first and a last column, found {ends!r}")
        if not 0 <= ends[0] <= ends[1] <= width:
            raise ValueError(f"view {name!r} has columns {ends}, there are {width}")


def _read_names(content: dict[str, Any], name: str) -> np.ndarray:
    names = content[name]
    if not isinstance(names, np.ndarray) or names.ndim != 1 or names.dtype.kind != "U":
        raise ValueError(f"{name} must be a vector of words")
    return names
