"""Sparse predictions: a model's best labels of each sample, with their scores.

The stored cells of the matrix are the labels that are predicted, also those with a stored zero. A
label that is not stored is ranked below all others, and its probability is 0. Nothing here is as
large as the whole matrix: time and memory are proportional to the number of stored cells of the
predictions and of the true labels.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.data import canonical, check_sparse
from eigenlabel.labels.checks import check_observed_labels
from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix

ROOM = 2**18  # cells that are looked at together, so that temporary arrays stay small


@dataclass(frozen=True)
class Stored:
    """Sparse predictions beside the truth.

    Attributes
    ----------
    starts : ndarray of shape (n_samples + 1,)
        The positions at which the stored cells of each sample begin.
    row : ndarray of shape (n_stored,)
        The sample of each stored cell.
    label : ndarray of shape (n_stored,)
        The label of each stored cell, ascending within a sample.
    value : ndarray of shape (n_stored,)
        The score or the probability of each stored cell.
    true : ndarray of shape (n_stored,), bool
        Whether the sample has the label.
    known : ndarray of shape (n_stored,), bool
        Whether the cell is observed.
    missed : tuple of two ndarrays
        The samples and the labels of the true cells that are not stored.
    positives : csr_array of shape (n_samples, n_labels), bool
        The true cells.
    hidden : csr_array of shape (n_samples, n_labels), bool, or None
        The cells that are not observed, None if all cells are.
    """

    starts: Ints
    row: Ints
    label: Ints
    value: Floats
    true: Bools
    known: Bools
    missed: tuple[Ints, Ints]
    positives: Matrix
    hidden: Matrix | None


def read_stored(y_true: Any, predictions: Any, name: str) -> Stored:
    """Check sparse predictions and the true labels, which may be sparse or dense."""
    positives, hidden = read_true_cells(y_true)
    check_sparse(predictions, name)
    if predictions.shape != positives.shape:
        raise ValueError(
            f"{name} has shape {predictions.shape}, the label matrix {positives.shape}."
        )
    found = canonical(sp.csr_array(predictions))
    row, value = rows_of(found), found.data
    if value.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got dtype {value.dtype}.")
    odd = np.flatnonzero(~np.isfinite(value))
    if len(odd):
        at = odd[0]
        cell = f"[{row[at]}, {found.indices[at]}]"
        raise ValueError(f"{name} must be finite, found {value[at]} at {cell}.")
    places, true_places = _places(found), _places(positives)
    hidden_places = None if hidden is None else _places(hidden)
    lost = ~_among(true_places, places)
    return Stored(
        starts=found.indptr,
        row=row,
        label=found.indices,
        value=value,
        true=_among(places, true_places),
        known=np.ones(len(row), bool) if hidden_places is None else ~_among(places, hidden_places),
        missed=(rows_of(positives)[lost], positives.indices[lost]),
        positives=positives,
        hidden=hidden,
    )


def read_true_cells(y_true: Any, name: str = "y_true") -> tuple[Matrix, Matrix | None]:
    """Return the true cells and the cells that are not observed as boolean CSR arrays.

    The second array is None if all cells are observed. A sparse ``y_true`` is never densified; its
    cells that are not stored are observed zeros, and a stored NaN is not observed.
    """
    if not sp.issparse(y_true):
        Y, observed = check_observed_labels(y_true, name)
        hidden = None if observed is None else sp.csr_array(~observed)
        return sp.csr_array(Y), hidden
    matrix: Matrix = y_true
    check_sparse(matrix, name)
    found = canonical(sp.csr_array(matrix))
    # The stored values as one column: the checks and their messages are those of dense labels.
    column = found.data[:, None] if found.shape[1] else np.zeros((0, 0))
    values, observed = check_observed_labels(column, name)
    missing = None if observed is None else _select(found, ~observed[:, 0])
    return _select(found, values[:, 0]), missing


def _select(matrix: Matrix, chosen: Bools) -> Matrix:
    """Return some stored cells of a CSR array as a boolean CSR array, with arrays of its own."""
    counts = np.bincount(rows_of(matrix)[chosen], minlength=matrix.shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    data = np.ones(indptr[-1], dtype=bool)
    return sp.csr_array((data, matrix.indices[chosen], indptr), shape=matrix.shape)


def rows_of(matrix: Matrix) -> Ints:
    """Return the row of each stored cell of a CSR array."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _places(matrix: Matrix) -> Ints:
    """Return one number for each stored cell of a canonical CSR array, ascending."""
    return np.asarray(rows_of(matrix) * matrix.shape[1] + matrix.indices)


def _among(places: Ints, others: Ints) -> Bools:
    """Return which places are among others, which ascend."""
    if not len(others):
        return np.zeros(len(places), dtype=bool)
    at = np.minimum(np.searchsorted(others, places), len(others) - 1)
    return np.asarray(others[at] == places)


def rows_by_length(starts: Any, room: int = ROOM) -> Iterator[tuple[Ints, Ints]]:
    """Yield rows with equal numbers of stored cells, and the positions (rows, cells) of these.

    Rows without stored cells are left out. At most ``room`` cells are yielded at once, if a single
    row has no more than that.
    """
    lengths = np.diff(starts)
    order = np.argsort(lengths, kind="stable")
    cuts = np.flatnonzero(np.diff(lengths[order])) + 1
    for rows in np.split(order, cuts):
        length = int(lengths[rows[0]]) if len(rows) else 0
        step = max(1, room // max(length, 1))
        for start in range(0, len(rows) if length else 0, step):
            some = rows[start : start + step]
            yield some, starts[some][:, None] + np.arange(length)
