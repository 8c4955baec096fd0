"""Given labels and held-out probabilities, read in blocks of rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.data import check_sparse, unmasked
from eigenlabel.labels.checks import check_observed_labels
from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.operators import row_blocks

ARRAYS = 8  # work arrays of a block that are in memory at once


class GivenLabels:
    """A label matrix of 0, 1 and NaN; a sparse one is never densified as a whole.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, m)
        The labels, NaN where a label is not observed. Cells that a sparse matrix does not store are
        observed zeros.

    Attributes
    ----------
    shape : (n, m)
    positive : (n, m) sparse, 1 where a label is given
    unobserved : (n, m) sparse, 1 where a label is not observed
    frequency : (m,) share of positives among the observed cells, 0 if there are none
    """

    def __init__(self, Y: Any) -> None:
        if sp.issparse(Y):
            self.positive, self.unobserved = _read_sparse(Y)
        else:
            labels, observed = check_observed_labels(Y, "Y")
            self.positive = sp.csr_array(labels, dtype=float)
            hidden = sp.csr_array(labels.shape) if observed is None else sp.csr_array(~observed)
            self.unobserved = hidden.astype(float)
        self.shape: tuple[int, int] = self.positive.shape
        n, m = self.shape
        if n == 0:
            raise ValueError("Y has no rows: at least one sample is needed.")
        self.observed_counts: Floats = n - np.bincount(self.unobserved.indices, minlength=m)
        counts = np.bincount(self.positive.indices, minlength=m)
        self.frequency: Floats = counts / np.maximum(self.observed_counts, 1)

    def filled(self) -> Matrix:
        """Return the labels as a sparse matrix, with the frequency of a label in place of NaN."""
        return sp.csr_array(self.positive + self.unobserved * self.frequency[None, :])

    def rows(self, rows: slice) -> tuple[Bools, Bools]:
        """Return which labels are given, and which are observed, for some rows."""
        given = self.positive[rows].toarray() > 0
        return given, self.unobserved[rows].toarray() == 0


def _read_sparse(Y: Matrix) -> tuple[Matrix, Matrix]:
    """Return the ones and the NaN of a sparse matrix, each as a sparse matrix of ones."""
    check_sparse(Y, "Y")
    cells = sp.csr_array(Y)
    if not cells.has_canonical_format:
        cells = cells.copy()
        cells.sum_duplicates()
    if cells.shape[1] == 0:
        raise ValueError("Y has no columns: at least one label is needed.")
    values, observed = check_observed_labels(cells.data.reshape(-1, 1), "Y")
    hidden = np.zeros(len(values), bool) if observed is None else ~observed[:, 0]
    return _ones(cells, values[:, 0]), _ones(cells, hidden)


def _ones(cells: Matrix, kept: Bools) -> Matrix:
    """Return a sparse matrix with 1 in those stored cells that are kept."""
    parts = (kept.astype(float), cells.indices.copy(), cells.indptr.copy())
    out = sp.csr_array(parts, shape=cells.shape)
    out.eliminate_zeros()
    return out


def probability_blocks(
    probabilities: Any, shape: tuple[int, int]
) -> Iterator[tuple[slice, Floats]]:
    """Yield rows and their probabilities as dense arrays, in blocks of bounded size.

    Parameters
    ----------
    probabilities : array-like, sparse matrix or callable
        The probabilities; a callable returns an iterable of blocks of consecutive rows.
    shape : (n, m)
        The shape of the label matrix.
    """
    start = 0
    for part in _parts(probabilities):
        if part.ndim != 2 or part.shape[1] != shape[1] or start + part.shape[0] > shape[0]:
            raise ValueError(
                f"probabilities has rows {start} to {start + part.shape[0] - 1} of shape "
                f"{part.shape}, the label matrix has shape {shape}: pass one row per sample and "
                "one column per label."
            )
        for rows in row_blocks(part.shape[0], ARRAYS * shape[1]):
            block = _dense(part[rows])
            at = slice(start + rows.start, start + rows.stop)
            _check_range(block, at.start)
            yield at, block
        start += part.shape[0]
    if start != shape[0]:
        raise ValueError(f"probabilities has {start} rows for {shape[0]} samples.")


def _parts(probabilities: Any) -> Iterator[Any]:
    """Yield arrays and sparse matrices whose rows, one after the other, are the probabilities."""
    if hasattr(probabilities, "__next__"):
        raise TypeError(
            "probabilities is an iterator, which can be read only once, but three passes are "
            "needed: pass a function that returns a new iterator of row blocks."
        )
    for part in probabilities() if callable(probabilities) else [probabilities]:
        matrix: Matrix = part
        if sp.issparse(part):
            check_sparse(matrix, "probabilities")
            yield sp.csr_array(matrix)
        else:
            yield np.asarray(unmasked(part))


def _dense(block: Any) -> Floats:
    matrix: Matrix = block
    array = matrix.toarray() if sp.issparse(block) else matrix
    if array.dtype.kind not in "biuf":
        raise ValueError(f"probabilities must be numbers, got dtype {array.dtype}.")
    return np.asarray(array, dtype=float)


def _check_range(block: Floats, first: int) -> None:
    odd = ~((block >= 0) & (block <= 1))
    if odd.any():
        row, column = np.argwhere(odd)[0]
        raise ValueError(
            f"probabilities must be between 0 and 1, found {block[row, column]} at "
            f"[{first + row}, {column}]. Map scores to probabilities first, and leave out samples "
            "without a held-out score."
        )
