"""Saving and loading of models, without running code that a file names.

A model file contains a fitted model and what is known about its columns (:class:`SavedModel`).
"""

import io
import math
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import skops.io
from sklearn.utils.validation import check_is_fitted

from eigenlabel import __version__
from eigenlabel.datasets import DataError, from_frame
from eigenlabel.datasets.files.atomic import writing
from eigenlabel.datasets.files.decompression import check_file
from eigenlabel.labels.label_sets import to_label_sets
from eigenlabel.labels.missing import to_dense
from eigenlabel.linalg.machine import memory_limit
from eigenlabel.model_selection.classifier_scores import probabilities_matrix
from eigenlabel.persistence.archive_checks import (
    Stamp,
    UnsafeNodeError,
    check_objects,
    check_schema,
    read_schema,
    read_stamp,
)
from eigenlabel.persistence.types import refused_types, type_names, types_to_trust, untrusted

MAPS = ("categories", "views", "options", "about", "column_types", "words")
PARTS = ("model", "feature_names", "label_names", *MAPS)


@dataclass(frozen=True)
class SavedModel:
    """A fitted model with the columns that it was fitted to.

    Parameters
    ----------
    model : estimator
        The fitted estimator or pipeline.
    feature_names : ndarray of shape (n_features,)
        The names of the columns of X. The columns of a file to predict are matched by name.
    label_names : ndarray of shape (n_labels,)
        The names of the columns of Y.
    categories : mapping of str to tuple of str
        The values of each feature whose column contains the positions of these values.
    views : mapping of str to slice
        The columns of each kind of features, as in a Dataset.
    options : mapping of str to object
        The options with which the training file was read.
    about : mapping of str to object
        Notes on the model, such as its training file.
    column_types : mapping of str to str
        The type of each feature that is a column of a table, as in a Dataset.
    words : mapping of str to slice
        The columns that count the words of each text, as in a Dataset.

    Examples
    --------
    >>> import pandas as pd
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import from_frame
    >>> from eigenlabel.persistence import SavedModel
    >>> frame = pd.DataFrame({"size": range(20), "weight": [0, 1] * 10})
    >>> labels = pd.DataFrame({"large": frame["size"] > 9, "heavy": frame["weight"] > 0})
    >>> data = from_frame(frame.join(labels), labels=["large", "heavy"])
    >>> model = SharedSubspaceClassifierCV().fit(data.X, data.Y)
    >>> saved = SavedModel(model, data.feature_names, data.label_names)
    >>> saved.predict(pd.DataFrame({"weight": [1, 0], "size": [19, 1]}))
    [('large', 'heavy'), ()]
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

    def predict(self, X: Any) -> list[tuple[str, ...]]:
        """Predict label sets.

        Parameters
        ----------
        X : frame of pandas or polars, or array of shape (n_samples, n_features)
            The samples. The columns of a frame are matched by name and read as those of the
            training file: words are counted, categories and dates become numbers, and other
            columns are ignored. The columns of an array are those of ``feature_names``.

        Returns
        -------
        list of tuple of str
            The names of the labels of each sample.
        """
        decided = self.model.predict(self._read(X))
        if isinstance(decided, list):  # label sets already
            return [tuple(map(str, labels)) for labels in decided]
        matrix = to_dense(decided)
        return to_label_sets(matrix.reshape(len(matrix), -1) > 0, self.label_names.tolist())

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each label.

        Parameters
        ----------
        X : frame of pandas or polars, or array of shape (n_samples, n_features)
            The samples, as for ``predict``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            The probabilities, in the order of ``label_names``.
        """
        found = probabilities_matrix(self.model, self._read(X), len(self.label_names))
        return np.asarray(found)

    def _read(self, X: Any) -> Any:
        """Return a frame as the matrix that the model was fitted to; anything else as it is."""
        by_name = hasattr(self.model, "feature_names_in_")  # the model reads frames itself
        if by_name or not hasattr(X, "columns"):
            return X
        return from_frame(X, like=self, labelled=False).X


def with_names(model: Any) -> SavedModel:
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


def to_content(saved: SavedModel) -> dict[str, Any]:
    """Return the content of a file as a dictionary of simple types, besides the model."""
    return {
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


def from_content(content: dict[str, Any]) -> SavedModel:
    """Return the saved model; raise ValueError if a part is missing or inconsistent."""
    missing = [name for name in PARTS if name not in content]
    if missing:
        raise ValueError(f"it lacks {', '.join(missing)}")
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
    """Raise ValueError if the notes on columns and options do not have the saved form."""
    for name in MAPS:
        found = content[name]
        if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
            raise ValueError(f"{name} must be a dict with strings as keys")
    for name, values in content["categories"].items():
        if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
            raise ValueError(f"the categories of {name!r} must be a list of strings")
    if not all(isinstance(kind, str) for kind in content["column_types"].values()):
        raise ValueError("column_types must be strings")
    for name, ends in (*content["views"].items(), *content["words"].items()):
        if not isinstance(ends, list) or [type(end) for end in ends] != [int, int]:
            raise ValueError(f"view {name!r} must have a first and a last column, found {ends!r}")
        if not 0 <= ends[0] <= ends[1] <= width:
            raise ValueError(f"view {name!r} has columns {ends}, but there are {width}")


def _read_names(content: dict[str, Any], name: str) -> np.ndarray:
    names = content[name]
    if not isinstance(names, np.ndarray) or names.ndim != 1 or names.dtype.kind != "U":
        raise ValueError(f"{name} must be a vector of strings")
    return names


# The form of model files. It grows whenever a class in them moves or changes its attributes, so
# that files of other versions are recognised.
FORM = 5


def save_model(saved: Any, path: Any, *, trusted: Iterable[Any] = ()) -> None:
    """Write a model to a file with skops. A failure leaves no partial file.

    Parameters
    ----------
    saved : SavedModel or estimator
        The model. A fitted estimator is saved with the names of its features if it knows them;
        otherwise features and labels are numbered from 0.
    path : str or Path
        The file to write.
    trusted : list of classes or str, default=()
        Types of your own that the model holds, such as a threshold rule, or their full names.
        :func:`load_model` needs the same list.

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
    saved = saved if isinstance(saved, SavedModel) else with_names(saved)
    content = {"eigenlabel": FORM, "version": __version__, **to_content(saved)}
    from_content(content)  # a model that cannot be loaded is not written
    data = skops.io.dumps(content)
    try:
        _check(Path(path), io.BytesIO(data), math.inf, type_names(trusted))
    except UnsafeNodeError as error:
        raise DataError(
            Path(path),
            f"a model with {error.type_name} cannot be saved, because a changed file could make "
            "such an object read the memory of other objects or run other code. Use an estimator "
            "without it, for instance a linear model instead of one with trees.",
        ) from error
    with writing(path) as stream:
        stream.write(data)


def load_model(
    path: Any, *, max_bytes: int | None = None, trusted: Iterable[Any] = ()
) -> SavedModel:
    """Read a model from a file.

    Everything in the file is checked before it is used: the version that wrote it, the types of its
    objects, the sparse matrices among them, and the names of features and labels. A file that fails
    a check, is damaged or is too large raises DataError. A type is imported only if it belongs to
    eigenlabel, scikit-learn or numpy and is known to be harmless, or if ``trusted`` names it.

    Parameters
    ----------
    path : str or Path
        The model file.
    max_bytes : int, default=None
        Upper bound on the decompressed size of the content. It is a quarter of the memory of the
        machine by default.
    trusted : list of classes or str, default=()
        Types of your own that may be loaded: classes, or full names such as "my_rules.Quantile".
        Loading imports their modules, so name only code that you know.

    Returns
    -------
    SavedModel
        The model and the names of its columns.
    """
    path = Path(path)
    check_file(path)
    limit = memory_limit() / 4 if max_bytes is None else max_bytes
    names = type_names(trusted)
    try:
        types = _check(path, path, limit, names)
        content = skops.io.load(path, trusted=types)
        check_objects(content)
        return from_content(content)
    except DataError:
        raise
    except Exception as error:  # damaged files fail in many ways
        raise DataError(path, f"not a model file, or damaged ({error})") from error


def _check(path: Path, file: Path | io.BytesIO, max_bytes: float, trusted: set[str]) -> list[str]:
    """Check a file as far as possible without loading it; return the types to trust."""
    try:
        with zipfile.ZipFile(file) as archive:
            schema = read_schema(archive, max_bytes)
            stamp = _check_stamp(path, read_stamp(schema))
            check_schema(schema, archive, max_bytes)
        unknown = types_to_trust(file)
    except (DataError, UnsafeNodeError):
        raise
    except Exception as error:
        raise DataError(path, f"not a model file, or damaged ({error})") from error
    refused = refused_types(unknown, trusted)
    if stamp.version != __version__ and any(n.startswith("eigenlabel.") for n in refused):
        raise _other_version(path, stamp)
    if refused:
        raise untrusted(path, refused)
    return unknown


def _check_stamp(path: Path, stamp: Stamp | None) -> Stamp:
    """Raise DataError unless the file is a model file of the form that this version writes."""
    if stamp is None:
        raise DataError(path, "not a model file of eigenlabel")
    if stamp.form != FORM:
        raise _other_version(path, stamp)
    return stamp


def _other_version(path: Path, stamp: Stamp) -> DataError:
    writer = f"eigenlabel {stamp.version}" if stamp.version else "another version of eigenlabel"
    return DataError(
        path,
        f"was saved by {writer}, and eigenlabel {__version__} cannot read it; fit the model "
        f"again, or install {writer if stamp.version else 'the version that saved it'}",
    )
