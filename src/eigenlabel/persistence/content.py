"""What a model file contains: a fitted model, and what is known about its columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

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
