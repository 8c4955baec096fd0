"""Match new samples with those of another data set: the same features, labels and categories."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.errors import DataError, show
from eigenlabel.datasets.files.names import number_names
from eigenlabel.inputs.messages import Count, Message, Parameter
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse

NO_LABELS = "no labels in the file"
LIKE = Parameter("like")


def skips_labels(path: Any, like: Any, labelled: bool, there: bool = True) -> bool:
    """Return True if the labels of a file are not read.

    They are not read if ``labelled`` is False, or if they are not in the file (``there`` is False)
    and ``like`` defines which labels exist.
    """
    if not labelled and like is None:
        raise DataError(path, "labelled=False needs like, which has the labels")
    return not labelled or (like is not None and not there)


def no_labels(n: int, like: Any) -> Matrix:
    """Return the label matrix of n samples without labels."""
    return sp.csr_array((n, len(like.label_names)), dtype=np.int8)


def about_labels(labelled: bool) -> tuple[str, ...]:
    """Return the note on samples without labels; there is none if no labels were asked for."""
    return (NO_LABELS,) if labelled else ()


def unknown_values(name: str, count: int, values: Iterable[str]) -> str:
    """Return the note on values of a category that ``like`` does not have."""
    return Message(
        f"{name!r}: ",
        Count(count, "cell counts", "cells count"),
        f" as missing, because the value is not one of {show(values)}",
    )


def match(path: Any, data: Dataset, like: Any) -> Dataset:
    """Return data with the names and categories of ``like``.

    DataError is raised if the features or labels differ. Names that only number the columns match
    any names. Without ``like`` the data are returned unchanged.
    """
    if like is None:
        return data
    data = replace(
        data,
        feature_names=_match_names(path, "feature", data.feature_names, like.feature_names),
        label_names=_match_names(path, "label", data.label_names, like.label_names),
    )
    return _match_categories(path, data, like)


def _match_names(path: Any, what: str, found: Any, wanted: Any) -> np.ndarray:
    found, wanted = np.asarray(found, dtype=str), np.asarray(wanted, dtype=str)
    if len(found) != len(wanted):
        raise DataError(path, Message(f"{len(found)} {what}s, ", LIKE, f" has {len(wanted)}"))
    different = np.flatnonzero(found != wanted)
    if len(different) and (found != number_names(path, len(found))).any():
        j = different[0]
        mine, theirs = str(found[j]), str(wanted[j])
        raise DataError(path, Message(f"{what} {j} is {mine!r}, in ", LIKE, f" it is {theirs!r}"))
    return np.asarray(wanted)


def _match_categories(path: Any, data: Dataset, like: Any) -> Dataset:
    """Number the values of categories as ``like`` does; values that it does not have are NaN."""
    X, notes = data.X, list(data.notes)
    for name, values in data.categories.items():
        wanted = tuple(like.categories.get(name, ()))
        if tuple(values) == wanted:
            continue
        if not wanted or is_sparse(X):  # entries that a sparse column does not store are 0
            reason = f"{name!r} has the values {show(values)}, in "
            raise DataError(path, Message(reason, LIKE, f" {show(wanted)}"))
        j = data.feature_names.tolist().index(name)
        column, count = _renumber(path, name, X[:, j], values, wanted)
        if count:
            notes.append(unknown_values(name, count, wanted))
        X = X if X is not data.X else X.copy()
        X[:, j] = column
    categories = {name: tuple(like.categories[name]) for name in data.categories}
    return replace(data, X=X, categories=categories, notes=tuple(notes))


def _renumber(
    path: Any, name: str, column: np.ndarray, values: tuple[str, ...], wanted: tuple[str, ...]
) -> tuple[np.ndarray, int]:
    """Turn positions in ``values`` into positions in ``wanted``; count the missing ones."""
    position = {value: float(i) for i, value in enumerate(wanted)}
    new = np.array([*(position.get(value, np.nan) for value in values), np.nan])
    missing = np.isnan(column)
    odd = column[~missing & ~np.isin(column, np.arange(len(values)))]
    if odd.size:
        reason = f"{name!r} holds {odd[0]:g}, which is not a position in its {len(values)} values"
        raise DataError(path, reason)
    found = new[np.where(missing, len(values), column).astype(int)]
    return found, int((np.isnan(found) & ~missing).sum())
