"""Scores as sums: what each feature or training sample adds to the score of each label."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit

from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.operators import is_sparse

FEATURE, TRAINING = "feature", "training sample"


@dataclass(frozen=True)
class Scale:
    """The scale on which contributions add up.

    Attributes
    ----------
    name : str
        The name of the scale.
    of_score : callable
        Returns the values on this scale of scores of the model.
    to_score : callable
        Returns the scores of the model.
    """

    name: str
    of_score: Callable[[Floats], Floats]
    to_score: Callable[[Floats], Floats]


def _same(scores: Floats) -> Floats:
    return scores


def _logit_of_signed(scores: Floats) -> Floats:
    return np.asarray(logit((1.0 + scores) / 2.0))


def _signed_of_logit(values: Floats) -> Floats:
    return np.asarray(2.0 * expit(values) - 1.0)


SCORE = Scale("score", _same, _same)
LOG_ODDS = Scale("log-odds", logit, expit)  # of models whose scores are probabilities p
SIGNED_LOG_ODDS = Scale("log-odds", _logit_of_signed, _signed_of_logit)  # scores are 2 p - 1


@dataclass(frozen=True)
class SampleTerms:
    """The terms of one sample and some labels.

    Attributes
    ----------
    columns : (c,) array of int
        The terms that are not zero for all labels, as positions among all terms.
    values : (c,) array
        The values of the features, or of the kernel.
    contributions : (q, c) array
        What each term adds to the score of each label.
    shared : (q, c) array or None
        The part of it that comes through the shared subspace.
    """

    columns: Ints
    values: Floats
    contributions: Floats
    shared: Floats | None


@dataclass(frozen=True)
class Terms:
    """The scores of q labels as sums: ``intercept_il + gain_il sum_c values_ic weights_lc``.

    Attributes
    ----------
    kind : str
        What the terms are, "feature" or "training sample".
    names : (c,) array of str
        The names of the terms.
    values : (n, c) array or CSR matrix
        The features of the samples, or their kernel values with training samples.
    weights : (q, c) array
        The coefficients of the labels.
    intercept : (n, q) array
        The scores of samples without terms.
    gain : (n, q) array or None
        Factors that belong to a sample and a label.
    shared : (q, c) array or None
        The part of the weights that lies in the shared subspace.
    scale : Scale
        The scale of the scores.
    """

    kind: str
    names: np.ndarray
    values: Matrix
    weights: Floats
    intercept: Floats
    gain: Floats | None = None
    shared: Floats | None = None
    scale: Scale = SCORE

    def row(self, i: int, labels: slice = slice(None)) -> SampleTerms:
        """Return the terms of sample i and some of the labels."""
        columns, values = row_of(self.values, i)
        factor = 1.0 if self.gain is None else self.gain[i, labels, None]
        contributions = factor * values * self.weights[labels][:, columns]
        shared = None if self.shared is None else values * self.shared[labels][:, columns]
        return SampleTerms(columns, values, contributions, shared)

    def total(self) -> Floats:
        """Return the scores (n, q): the sum of the intercept and all terms."""
        sums = np.asarray(self.values @ self.weights.T)
        return np.asarray(self.intercept + (sums if self.gain is None else self.gain * sums))

    def size(self) -> Floats:
        """Return the sum of the absolute values of all terms (n, q), which bounds rounding."""
        sums = np.asarray(abs(self.values) @ np.abs(self.weights).T)
        gained = sums if self.gain is None else np.abs(self.gain) * sums
        return np.asarray(np.abs(self.intercept) + gained)

    def count(self, i: int) -> int:
        """Return the number of terms of sample i that are not zero for all labels, at most."""
        return len(row_of(self.values, i)[0])


def row_of(values: Matrix, i: int) -> tuple[Ints, Floats]:
    """Return the columns and values of row i that are not zero."""
    if is_sparse(values):
        part = slice(values.indptr[i], values.indptr[i + 1])
        return values.indices[part], values.data[part]
    columns = np.flatnonzero(values[i])
    return columns, values[i, columns]


def used_columns(values: Matrix) -> Ints:
    """Return the columns of a matrix that are not zero in all rows."""
    if is_sparse(values):
        return np.unique(values.indices[values.data != 0])
    return np.flatnonzero(values.any(axis=0))


def select(values: Matrix, columns: Ints) -> Matrix:
    """Return some columns of a matrix, as CSR without stored zeros if it is sparse."""
    if not is_sparse(values):
        return values[:, columns]
    part = sp.csr_array(values[:, columns])
    part.sum_duplicates()
    part.eliminate_zeros()
    return part


def dense(A: Any) -> Floats:
    """Return a matrix as a float array."""
    return np.asarray(A.toarray() if is_sparse(A) else A, dtype=float)


def training_names(names: Any, n: int) -> np.ndarray:
    """Return the names of n training samples: those passed, or their numbers from 0."""
    if names is None:
        return np.array([f"training sample {i}" for i in range(n)], dtype=object)
    found = np.array([str(name) for name in names], dtype=object)
    if len(found) != n:
        raise ValueError(f"{len(found)} training_names for {n} training samples.")
    return found
