"""Models in files that run no code when they are loaded."""

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import skops.io
from sklearn.preprocessing import add_dummy_feature

from eigenlabel import metrics, model_selection, thresholds
from eigenlabel._catalogue_search import ScoreMetric
from eigenlabel._writing import writing
from eigenlabel.catalogue import AtDimensionOfMDDM, LastFits, OnGaussianKernel
from eigenlabel.core.spectral import memory_limit
from eigenlabel.core.statistics import Accumulator, Block, Statistics
from eigenlabel.datasets import DataError
from eigenlabel.datasets._files import check_file
from eigenlabel.labels import LabelCodec
from eigenlabel.methods import (
    birelation,
    fasttag,
    networks,
    projected,
    projection,
    projection_spectral,
    tagging,
    tagprop,
)
from eigenlabel.methods.distances import DistanceView
from eigenlabel.methods.homogeneity import HomogeneityAnalysis
from eigenlabel.methods.kernel_map import MEKA
from eigenlabel.methods.kernel_sum import KernelSum
from eigenlabel.methods.kernels import Kernel
from eigenlabel.methods.kgha import KGHA
from eigenlabel.methods.margin import ASOClassifier
from eigenlabel.methods.multiset import MultisetCCA
from eigenlabel.methods.multivariate import SVMPerfClassifier
from eigenlabel.methods.neighbours import MLkNN
from eigenlabel.methods.per_label import OneVsRestSearchCV
from eigenlabel.methods.ridge_tagger import KernelRidgeTagger
from eigenlabel.methods.shared_subspace import SharedSubspaceClassifier
from eigenlabel.methods.shared_subspace_cv import SharedSubspaceClassifierCV
from eigenlabel.methods.sparse_discriminant import MtSDA
from eigenlabel.methods.sparse_discriminant_cv import MtSDACV
from eigenlabel.methods.stream import Sample, Stream
from eigenlabel.methods.thresholded import ThresholdedClassifier
from eigenlabel.methods.view_kernels import FittedView
from eigenlabel.methods.views import FittedTable
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


def save_model(saved: SavedModel, path: Any, *, trusted: Iterable[Any] = ()) -> None:
    """Write a model with skops, whole or not at all.

    Parameters
    ----------
    saved : SavedModel
    path : str or Path
    trusted : types of your own that the model holds, such as a threshold rule: classes, or their
        full names. :func:`load_model` needs the same ones

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
    path = Path(path)
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
    data, known = skops.io.dumps(content), _type_names(trusted)
    _refuse(path, skops.io.get_untrusted_types(data=data), known)
    with writing(path) as stream:
        stream.write(data)


def load_model(
    path: Any, *, max_bytes: int | None = None, trusted: Iterable[Any] = ()
) -> SavedModel:
    """Read a model file; a type that is not ours, scikit-learn's or numpy's is refused by name.

    A type is imported only if it is one of these or named in ``trusted``.

    Parameters
    ----------
    path : str or Path
    max_bytes : largest size of its content, a quarter of memory by default
    trusted : types of your own that may be loaded: classes, or full names such as
        "my_rules.Quantile". Loading imports their module, so name only code that you know
    """
    path = Path(path)
    check_file(path)
    limit, known = memory_limit() / 4 if max_bytes is None else max_bytes, _type_names(trusted)
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(item.file_size for item in archive.infolist())
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(path, f"not a model file ({error})") from error
    if size > limit:
        raise DataError(path, f"{size / 2**20:.0f} MiB of content; pass max_bytes")
    try:
        unknown = skops.io.get_untrusted_types(file=path)
        _refuse(path, unknown, known)
        content = skops.io.load(path, trusted=unknown)
    except DataError:
        raise
    except Exception as error:  # damaged files fail in many ways
        raise DataError(path, f"not a model file, or damaged ({error})") from error
    if not isinstance(content, dict) or content.get("eigenlabel") != FORM:
        raise DataError(path, "not a model file of this version of eigenlabel")
    names = {k: content[k] for k in ("feature_names", "label_names", "options", "about")}
    categories = {k: tuple(v) for k, v in content["categories"].items()}
    views = {k: slice(*v) for k, v in content["views"].items()}
    # Older files lack these two.
    types = content.get("column_types", {})
    words = {k: slice(*v) for k, v in content.get("words", {}).items()}
    return SavedModel(
        content["model"],
        categories=categories,
        views=views,
        column_types=types,
        words=words,
        **names,
    )


def _type_names(trusted: Iterable[Any]) -> set[str]:
    if isinstance(trusted, str):
        raise TypeError(f"trusted must be a list of classes or names, got the string {trusted!r}.")
    return {t if isinstance(t, str) else f"{t.__module__}.{t.__qualname__}" for t in trusted}


def _refuse(path: Path, unknown: list[str], trusted: set[str]) -> None:
    """Raise DataError if there are types that neither we nor the caller trust."""
    strange = sorted(set(unknown) - TRUSTED - trusted)
    if strange:
        raise DataError(
            path,
            f"holds types that are not trusted: {', '.join(strange)}; pass trusted={strange} if "
            "you know their code",
        )
