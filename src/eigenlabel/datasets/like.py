"""Samples like those of another data set: its features, its labels where they are asked for."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import DataError, number_names
from eigenlabel.datasets.tables.roles import show
from eigenlabel.inputs.messages import Count, Message, Parameter

NO_LABELS = "no labels in the file"
LIKE = Parameter("like")


def skips_labels(path: Any, like: Any, labelled: bool, there: bool = True) -> bool:
    """Tell whether samples have no labels: they are not asked for, or not there and like is."""
    if not labelled and like is None:
        raise DataError(path, "labelled=False needs like, which has the labels")
    return not labelled or (like is not None and not there)


def no_labels(n: int, like: Any) -> sp.csr_array:
    """Give the label matrix of samples without labels."""
    return sp.csr_array((n, len(like.label_names)), dtype=np.int8)


def about_labels(labelled: bool) -> tuple[str, ...]:
    """Give the note on samples without labels; none if nobody asked for labels."""
    return (NO_LABELS,) if labelled else ()


def unknown_values(name: str, count: int, values: Any) -> str:
    """Give the note on values of a category that like does not have."""
    return Message(
        f"{name!r}: ",
        Count(count, "cell counts", "cells count"),
        f" as missing, because the value is not one of {show(values)}",
    )


def match(path: Any, data: Dataset, like: Any) -> Dataset:
    """Check that data have the features and labels of like; give them its names if they have none.

    Names that only count the columns are none. Nothing is checked without like.
    """
    if like is None:
        return data
    names = {}
    for what in ("feature", "label"):
        found = np.asarray(getattr(data, f"{what}_names"), dtype=str)
        wanted = np.asarray(getattr(like, f"{what}_names"), dtype=str)
        if len(found) != len(wanted):
            reason = Message(f"{len(found)} {what}s, ", LIKE, f" has {len(wanted)}")
            raise DataError(path, reason)
        different = np.flatnonzero(found != wanted)
        if len(different) and (found != number_names(path, len(found))).any():
            j = different[0]
            mine, theirs = str(found[j]), str(wanted[j])
            reason = Message(f"{what} {j} is {mine!r}, in ", LIKE, f" it is {theirs!r}")
            raise DataError(path, reason)
        names[f"{what}_names"] = wanted
    return _match_categories(path, replace(data, **names), like)


def _match_categories(path: Any, data: Dataset, like: Any) -> Dataset:
    """Number the values of categories as like does; values that it does not have are missing."""
    X, notes = data.X, list(data.notes)
    for name, values in data.categories.items():
        wanted = tuple(like.categories.get(name, ()))
        if tuple(values) == wanted:
            continue
        if not wanted or sp.issparse(X):  # what is not stored of a sparse column is its first value
            reason = f"{name!r} has the values {show(values)}, in "
            raise DataError(path, Message(reason, LIKE, f" {show(wanted)}"))
        position = {value: float(i) for i, value in enumerate(wanted)}
        new = np.array([*(position.get(value, np.nan) for value in values), np.nan])
        j = data.feature_names.tolist().index(name)
        missing = np.isnan(X[:, j])
        odd = X[~missing & ~np.isin(X[:, j], np.arange(len(values))), j]
        if odd.size:
            reason = f"{name!r} holds {odd[0]:g}, which is no position in its {len(values)} values"
            raise DataError(path, reason)
        column = new[np.where(missing, len(values), X[:, j]).astype(int)]
        count = int((np.isnan(column) & ~missing).sum())
        if count:
            notes.append(unknown_values(name, count, wanted))
        X = X if X is not data.X else X.copy()
        X[:, j] = column
    categories = {name: tuple(like.categories[name]) for name in data.categories}
    return replace(data, X=X, categories=categories, notes=tuple(notes))
