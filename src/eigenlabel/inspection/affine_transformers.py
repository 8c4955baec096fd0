"""Transformers that are affine maps, ``x -> M x + c``, found by public attributes and checked.

A map is believed only if it reproduces what the transformer returns for trial samples. A
transformer with ``components_`` that is not linear, such as non-negative matrix factorisation,
fails the trial.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.warning import ignored
from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.linalg.operators import is_sparse

TRIALS = 3  # samples on which a map is checked


class Affine(NamedTuple):
    """The map ``x -> M x + c``.

    Attributes
    ----------
    M : (k, d) array or sparse matrix
        The linear part.
    c : (k,) array
        The image of zero.
    """

    M: Matrix
    c: Floats


def as_matrix(X: Any) -> Matrix:
    """Return samples as a float array or a CSR matrix; raise ValueError if they are not numbers."""
    if is_sparse(X):
        return sp.csr_array(X).astype(float)
    found = np.asarray(X, dtype=float)
    if found.ndim != 2:
        raise ValueError(f"Samples must be a matrix, got shape {found.shape}.")
    return found


def find_projection(step: Any) -> Affine | None:
    """Return the affine map of a projection, or None if the transformer is none.

    A projection mixes its input features: its public attribute ``components_`` or ``scalings_``
    holds the weights.
    """
    width = getattr(step, "n_features_in_", None)
    with np.errstate(all="ignore"):
        found = (_checked(step, M) for M in _weights(step) if width in (None, M.shape[1]))
        return next((affine for affine in found if affine is not None), None)


def _weights(step: Any) -> Iterator[Matrix]:
    """Yield the matrices (k, d) that may be the linear part of a projection."""
    nothing = np.zeros(0)
    for one in (step, getattr(step, "projection_", None)):
        components: Matrix = getattr(one, "components_", nothing)
        if len(np.shape(components)) == 2:
            yield components
            variance: Floats = getattr(one, "explained_variance_", nothing)
            if not is_sparse(components) and np.shape(variance) == components.shape[:1]:
                yield components / np.sqrt(variance)[:, None]  # whitened
        scalings: Floats = getattr(one, "scalings_", nothing)
        if np.ndim(scalings) == 2:
            yield scalings.T


def _checked(step: Any, M: Matrix) -> Affine | None:
    """Return the map with linear part M if the transformer is that map, else None."""
    X = trials(M.shape[1])
    found = _transform(step, X)
    if found is None or found.shape[1] > M.shape[0]:
        return None
    M = M[: found.shape[1]]
    c = found[0]
    expected = X @ M.T + c
    size = np.abs(X) @ abs(M).T + np.abs(c)
    same = np.abs(found - expected) <= _tolerance(M.dtype) * size
    return Affine(M, c) if same.all() else None


def trials(width: int) -> Floats:
    """Return zero and some other samples. They are not negative, which some methods need."""
    rng = np.random.default_rng(0)
    return np.concatenate([np.zeros((1, width)), rng.random((TRIALS, width))])


def _transform(step: Any, X: Floats) -> Floats | None:
    """Return what a transformer makes of samples; None if it does not accept them."""
    try:
        with ignored(UserWarning):  # the samples have no names
            found = as_matrix(step.transform(X))
    except (ValueError, TypeError, AttributeError):
        return None
    return np.asarray(found.toarray() if is_sparse(found) else found)


def _tolerance(dtype: Any) -> float:
    return float(np.sqrt(np.finfo(dtype if np.dtype(dtype).kind == "f" else float).eps))


def find_scaling(step: Any, width: int) -> Affine | None:
    """Return the map of a transformer that selects columns or scales each of them, or None."""
    if hasattr(step, "get_support"):
        kept = step.get_support(indices=True)
        if getattr(step, "n_features_in_", None) != width:
            return None
        M = sp.csr_array((np.ones(len(kept)), (np.arange(len(kept)), kept)), (len(kept), width))
        return _checked(step, M)
    ends = _transform(step, np.stack([np.zeros(width), np.ones(width)]))
    if ends is None or ends.shape[1] != width:
        return None
    return _checked(step, sp.csr_array(sp.diags_array(ends[1] - ends[0])))


def scales_rows(step: Any, width: int) -> bool:
    """Return True if a transformer multiplies each sample by a positive number of its own."""
    X = trials(width) + 0.1
    found = _transform(step, X)
    if found is None or found.shape != X.shape:
        return False
    return row_factors(X, found) is not None


def row_factors(X: Floats, scaled: Floats) -> Floats | None:
    """Return the factors (n,) of ``scaled = factors * X``, or None if there are none."""
    squares = (X * X).sum(axis=1)
    factors = np.divide((X * scaled).sum(axis=1), squares, where=squares > 0, out=np.ones(len(X)))
    error = np.abs(scaled - factors[:, None] * X).max(axis=1, initial=0.0)
    tolerance = _tolerance(float) * np.abs(scaled).max(axis=1, initial=0.0)
    return factors if (error <= tolerance).all() and (factors > 0).all() else None
