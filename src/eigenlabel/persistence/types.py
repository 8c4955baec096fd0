"""The types and functions that a model file may contain, and the refusal of all others."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import skops.io
from sklearn.base import BaseEstimator
from sklearn.preprocessing import add_dummy_feature

import eigenlabel
from eigenlabel import metrics, model_selection, thresholds
from eigenlabel.catalogue import AtDimensionOfMDDM, LastFits, OnGaussianKernel
from eigenlabel.datasets import DataError
from eigenlabel.estimators.graphs.network import ViewGraphs
from eigenlabel.estimators.meta.blend.each_label import EachLabel
from eigenlabel.estimators.meta.blend.forest import LabelForest, Trees
from eigenlabel.estimators.meta.blend.kernel_subspace import KernelSubspace, Presence
from eigenlabel.estimators.meta.blend.label_sets import LabelSets
from eigenlabel.estimators.meta.blend.leaderboard import Leaderboard
from eigenlabel.estimators.meta.blend.neighbours_and_words import (
    NeighbourShares,
    References,
    WordRatios,
)
from eigenlabel.estimators.subspace.coefficients import Dual, Factored, Full, Linear, Spanned
from eigenlabel.estimators.subspace.solve import SubspaceSolution, Tuning
from eigenlabel.estimators.subspace.stream import Columns, Sample, Stream
from eigenlabel.estimators.views.distances import DistanceView, ViewDistances
from eigenlabel.estimators.views.kernels import KernelView
from eigenlabel.estimators.views.ridge import RidgeView
from eigenlabel.estimators.views.tables import FittedTable
from eigenlabel.experiment.grid_search import ScoreMetric
from eigenlabel.inputs.views import Layout
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.factors.solution import Shortfall
from eigenlabel.linalg.statistics import Accumulator, Block, Statistics
from eigenlabel.preprocessing import ColumnGroups, DocumentFrequencySelector, TablePreparation
from eigenlabel.preprocessing.column_kinds import TableLayout
from eigenlabel.preprocessing.encoders import (
    DateParts,
    OneHotLevels,
    flag_missing,
    name_missing,
    name_years,
    years,
)
from eigenlabel.preprocessing.preparation import to_dense
from eigenlabel.reproduce.hinge_svms import HingeSVMs
from eigenlabel.reproduce.kernel_search import KernelSearchCV
from eigenlabel.reproduce.paper_estimators import LabelLDA, OwnFeature, SeveralKernels
from eigenlabel.reproduce.projection_search import ProjectionSearchCV
from eigenlabel.thresholds.isotonic import IsotonicCurves


def types_to_trust(file: Path | io.BytesIO) -> list[str]:
    """Return the types in a model file that skops loads only if it is told to trust them."""
    if isinstance(file, Path):
        return list(skops.io.get_untrusted_types(file=file))
    return list(skops.io.get_untrusted_types(data=file.getvalue()))


def refused_types(found: Iterable[str], trusted: set[str]) -> list[str]:
    """Return the types that neither the library (``TRUSTED``) nor the user trusts, sorted."""
    return sorted(set(found) - TRUSTED - trusted)


def untrusted(path: Path, refused: list[str]) -> DataError:
    """Return the error of a file with types that are refused."""
    return DataError(
        path,
        f"contains types that are not trusted: {', '.join(refused)}; pass trusted={refused} "
        "if you know their code",
    )


def type_names(things: Iterable[Any]) -> set[str]:
    """Return the full names of classes and functions; names are returned unchanged."""
    if isinstance(things, str):
        raise TypeError(f"trusted must be a list of classes or names, got the string {things!r}.")
    return {t if isinstance(t, str) else f"{t.__module__}.{t.__qualname__}" for t in things}


def _rules() -> list[type]:
    public = [vars(thresholds)[name] for name in thresholds.__all__]
    return [t for t in public if isinstance(t, type) and issubclass(t, thresholds.Rule)]


def _public_estimators() -> list[type]:
    names = (name for name in eigenlabel.__all__ if name[0].isupper())  # others are modules
    public = [getattr(eigenlabel, name) for name in names]
    return [t for t in public if isinstance(t, type) and issubclass(t, BaseEstimator)]


# A function is listed by itself, never by its module: a model calls the functions that it holds,
# and a module may contain some that write files.
_OURS = (
    *_public_estimators(),
    eigenlabel.DimensionsPath,
    AtDimensionOfMDDM,
    OnGaussianKernel,
    HingeSVMs,
    LabelLDA,
    OwnFeature,
    KernelSearchCV,
    ProjectionSearchCV,
    SeveralKernels,
    LastFits,
    ScoreMetric,
    Layout,
    FittedTable,
    KernelView,
    RidgeView,
    DistanceView,
    ViewDistances,
    ViewGraphs,
    EachLabel,
    LabelForest,
    LabelSets,
    Trees,
    KernelSubspace,
    Presence,
    NeighbourShares,
    References,
    WordRatios,
    Leaderboard,
    Kernel,
    LabelCodec,
    Accumulator,
    Statistics,
    Block,
    Sample,
    Stream,
    Columns,
    SubspaceSolution,
    Shortfall,
    Tuning,
    Linear,
    Spanned,
    Dual,
    Full,
    Factored,
    ColumnGroups,
    OneHotLevels,
    DateParts,
    flag_missing,
    name_missing,
    years,
    name_years,
    TablePreparation,
    TableLayout,
    DocumentFrequencySelector,
    to_dense,
    model_selection.MultilabelStratifiedKFold,
    model_selection.MultilabelStratifiedShuffleSplit,
    *_rules(),
    thresholds.Calibration,
    IsotonicCurves,
    *(m.function for m in metrics.METRICS.values() if m.function.__name__ != "<lambda>"),
)
# Splitters of scikit-learn that models keep as parameters. They contain numbers only.
_SPLITTERS = (
    "GroupKFold",
    "KFold",
    "LeaveOneOut",
    "PredefinedSplit",
    "ShuffleSplit",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
)
FORMS = ("array", "matrix")  # of sparse data: scikit-learn's vectorizers return matrices
# All that a file may contain besides the types that skops trusts itself.
TRUSTED = frozenset(
    {
        *type_names((*_OURS, add_dummy_feature)),
        "numpy.dtype",
        *(f"scipy.sparse._{kind}.{kind}_{form}" for kind in ("csr", "csc") for form in FORMS),
        *(f"sklearn.metrics._scorer.{name}" for name in ("_Scorer", "_PassthroughScorer")),
        # The metadata that parameters request; skops before 0.14 does not trust these types.
        *(f"sklearn.utils._metadata_requests.{n}MetadataRequest" for n in ("", "Method")),
        *(f"sklearn.model_selection._split.{name}" for name in _SPLITTERS),
    }
)
