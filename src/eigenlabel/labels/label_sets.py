"""Label sets: lists of the labels of each sample, as label matrices and back."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from eigenlabel.labels.missing import find_missing, to_dense
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.machine import memory_limit, readable

COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)
SEPARATORS = (";", "|", ",")


class NamedLabels(np.ndarray[Any, Any]):
    """The label matrix of label sets, which knows the names of its labels.

    Attributes
    ----------
    columns : array of shape (n_labels,)
        The names of the labels. Selected rows keep it, a part of the columns has none.
    """

    _names: Any = None

    def __new__(cls, matrix: Floats, names: Any) -> "NamedLabels":
        """Return a view of a matrix with names."""
        found = np.asarray(matrix).view(cls)
        found._names = names
        return found

    def __array_finalize__(self, source: Any) -> None:
        """Keep the names."""
        self._names = getattr(source, "_names", None)

    @property
    def columns(self) -> Any:
        """The names of the labels."""
        if self._names is None or self.ndim != 2 or self.shape[1] != len(self._names):
            raise AttributeError("the columns have no names")
        return self._names


def holds_label_sets(y: Any) -> bool:
    """Return True if y is a list or vector of label sets.

    Each is a collection of words, or a set of anything, or None if the labels of the sample are not
    known. Lists of numbers are the rows of a label matrix.
    """
    cells = _cells(y)
    if cells is None:
        return False
    there = [cell for cell in cells if isinstance(cell, COLLECTIONS)]
    if not there or len(there) + int(find_missing(cells).sum()) < len(cells):
        return False
    if any(isinstance(cell, np.ndarray) and cell.ndim != 1 for cell in there):
        return False
    if all(isinstance(cell, (set, frozenset)) for cell in there):
        return True
    members = [member for cell in there for member in cell]
    words = bool(members) and all(isinstance(member, str) for member in members)
    return words and not set(members) <= {"0", "1"}  # a matrix that was read as text


def are_label_sets(y: Any) -> bool:
    """Return True for label sets where labels are known, so that all of them may be empty."""
    cells = _cells(y)
    empty = cells is not None and all(isinstance(c, COLLECTIONS) and not len(c) for c in cells)
    return empty or holds_label_sets(y)


def _cells(y: Any) -> Any:
    """Return a list, vector or series as a vector of objects; None of anything else."""
    if hasattr(y, "to_list") and not hasattr(y, "columns"):  # a series of pandas or polars
        y = y.to_list()
    if not isinstance(y, (list, tuple, np.ndarray)) or not len(y):
        return None
    if isinstance(y, np.ndarray) and (y.ndim != 1 or y.dtype.kind != "O"):
        return None
    cells = np.empty(len(y), dtype=object)
    cells[:] = list(y)
    return cells


def read_labels(y: Any, names: Any = None) -> Any:
    """Return label sets as a label matrix with names; anything else is returned unchanged.

    All places that accept a label matrix accept label sets by this function.

    Parameters
    ----------
    y : label matrix, frame, vector or label sets
        The labels.
    names : array or None
        The labels in the order of the columns, such as the ``classes_`` of a model; None are those
        that occur, in ascending order.
    """
    return label_matrix(y, names) if holds_label_sets(y) else y


def label_matrix(y: Any, names: Any = None) -> NamedLabels:
    """Return the label matrix of label sets; the rows of samples without known labels are NaN.

    Parameters
    ----------
    y : list, vector or series of collections
        The label sets.
    names : array or None
        The labels in their order; None sorts those that occur.

    Raises
    ------
    ValueError
        If a label is not among the names, or if labels cannot be sorted.
    MemoryError
        If the matrix is too large.
    """
    cells = _cells(y)
    missing = find_missing(cells)
    sets = [() if gone else cell for cell, gone in zip(cells, missing, strict=True)]
    known = _sorted_names(sets) if names is None else np.asarray(names)
    if not len(known):
        raise ValueError("y has no label: at least one sample must have one.")
    needed = 8 * len(sets) * len(known)
    if needed > memory_limit() / 2:
        raise MemoryError(
            f"Label sets of {len(sets)} samples and {len(known)} labels need {readable(needed)} as "
            "a matrix. Pass MultiLabelBinarizer(sparse_output=True).fit_transform(y)."
        )
    position = {label: j for j, label in enumerate(known.tolist())}
    Y = np.zeros((len(sets), len(known)), dtype=float if missing.any() else np.int64)
    for i, labels in enumerate(sets):
        for label in labels:
            if label not in position:
                raise ValueError(
                    f"Sample {i} of y has the label {str(label)[:80]!r}, which is not among the "
                    f"{len(known)} labels that are known."
                )
            Y[i, position[label]] = 1
    Y[missing] = np.nan if missing.any() else 0
    return NamedLabels(Y, known)


def _sorted_names(sets: Iterable[Any]) -> Any:
    sets = list(sets)
    members = {member for labels in sets for member in labels}
    if "" in members:
        first = next(i for i, labels in enumerate(sets) if "" in labels)
        raise ValueError(
            f'Sample {first} of y has the empty string as a label. It is what "".split(";") '
            "returns for a sample without labels: leave it out."
        )
    try:
        ordered = sorted(members)
    except TypeError as error:
        raise ValueError(
            "y has labels of several types, such as words and numbers, that have no order: pass "
            f"labels of one type ({error})."
        ) from error
    names = np.empty(len(ordered), dtype=object)
    names[:] = ordered
    return names


def to_label_sets(decisions: Bools, names: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return decisions (n, m) as label sets, each in the order of the names."""
    found = np.asarray(names).tolist()
    return [tuple(found[j] for j in np.flatnonzero(row)) for row in decisions]


def predicted_matrix(found: Any, names: Any) -> Any:
    """Return what ``predict`` of a classifier returned as a dense array.

    Label sets become a label matrix with a column for each of the names.
    """
    if isinstance(found, list) and are_label_sets(found):
        return np.asarray(label_matrix(found, names))
    return to_dense(found)


def compare_sets(y: Any, predicted: Any, names: Any) -> tuple[Any, Any]:
    """Return label sets, or a label matrix, and predictions as matrices with the same columns.

    Labels of y that are not among the names have one column together, the last one.
    """
    T, P = (_with_others(labels, names) for labels in (y, predicted))
    return T, P


def _with_others(labels: Any, names: Any) -> Any:
    if not are_label_sets(labels):
        Y = labels.toarray() if hasattr(labels, "toarray") else np.asarray(labels)
        return np.column_stack([Y, np.zeros(len(Y))])
    cells = _cells(labels)
    missing, known = find_missing(cells), set(np.asarray(names).tolist())
    sets = [None if g else set(c) for c, g in zip(cells, missing, strict=True)]
    Y = label_matrix([g and g & known for g in sets], names)
    others = [np.nan if g is None else float(bool(g - known)) for g in sets]
    return np.column_stack([np.asarray(Y), others])


def common_matrices(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Return true and predicted label sets as matrices with the same columns.

    Anything else is returned unchanged.
    """
    if not holds_label_sets(y_true) and not holds_label_sets(y_pred):
        return y_true, y_pred
    both = [_cells(y_true), _cells(y_pred)]
    if any(cells is None for cells in both) or len(both[0]) != len(both[1]):
        raise ValueError(
            "y_true and y_pred must both be label sets of the same samples, or both be label "
            "matrices."
        )
    names = label_matrix(np.concatenate(both)).columns
    return label_matrix(both[0], names), label_matrix(both[1], names)


def find_separator(classes: Any) -> str:
    """Return the separator if classes look like several labels in one string, or nothing.

    They do if splitting yields fewer different labels than there are classes, or if a part is a
    class as well. A comma is also part of names, such as ``Smith, Ann``, and counts if both hold.

    Parameters
    ----------
    classes : sequence
        The different values of a vector y.
    """
    words = {str(value).strip() for value in classes if isinstance(value, str)}
    for separator in SEPARATORS:
        joined = [word for word in words if separator in word]
        parts = {part.strip() for word in joined for part in word.split(separator)} - {""}
        labels = parts | words.difference(joined)
        fewer, alone = len(labels) < len(words), bool(parts & words)
        if joined and (fewer or alone) and (separator != "," or (fewer and alone)):
            return separator
    return ""
