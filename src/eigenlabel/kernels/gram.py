"""Gram matrices: kernel matrices of training samples, symmetric and positive semi-definite."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.inputs.warning import warn
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.gram_matrices import nearest_psd, symmetric_part
from eigenlabel.linalg.machine import ARRAYS, check_memory
from eigenlabel.linalg.numerics import rank_tolerance


@dataclass(frozen=True)
class Gram:
    """The kernel matrix of the training samples.

    Attributes
    ----------
    K : (n_samples, n_samples) array
        Symmetric and positive semi-definite up to rounding, in float64.
    precision : numpy dtype
        The precision of the values, by which ranks are judged.
    positive : (n_samples, t) array or None
        The eigenvectors that were kept of a matrix with negative eigenvalues. Dual coefficients
        must be projected on them.
    """

    K: Floats
    precision: "np.dtype[Any]"
    positive: Floats | None = None


def gram_matrix(
    kernel: Kernel,
    X: Any,
    what: str = "kernel matrix",
    where: str = "the training data",
    *,
    repair: bool = True,
    limit: float | None = None,
    arrays: float = ARRAYS,
) -> Gram:
    """Compute the kernel matrix of training samples.

    A kernel matrix with negative eigenvalues, beyond rounding, belongs to no feature space. The
    rule is the same for all methods: its negative part is left out, with a warning, or a
    ValueError is raised if ``repair`` is False. Kernels that are positive semi-definite by
    construction are not tested.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with gamma settled.
    X : (n_samples, n_features) array or sparse matrix
        The training samples; for a precomputed kernel its matrix.
    what : str
        What messages call the matrix.
    where : str
        What messages call the samples.
    repair : bool
        Whether to leave out the negative part of an indefinite matrix.
    limit : float or None
        Upper bound on the memory in bytes; None is the free memory.
    arrays : float
        The number of n x n arrays that the caller holds at once.
    """
    check_memory(X.shape[0], what, limit=limit, arrays=arrays)
    K = kernel.values(X, X, where)
    precision = np.dtype(K.dtype)
    K = _symmetric(np.asarray(K, dtype=float), precision, what)
    if kernel.positive_definite:
        return Gram(K, precision)
    K, positive, negative = nearest_psd(K, rank_tolerance(len(K), precision))
    if positive is not None and not positive.shape[1]:
        raise ValueError(
            f"The {what} has no positive eigenvalue: is its sign or scale wrong? A kernel is a "
            "similarity, not a distance."
        )
    if negative < -np.sqrt(np.finfo(precision).eps):  # more than rounding
        found = (
            f"The {what} is not positive semi-definite (smallest eigenvalue {negative:.2g} of the "
            "largest)"
        )
        if not repair:
            raise ValueError(f"{found}. Pass repair=True to leave its negative part out.")
        warn(f"{found}; its negative part is left out.", UserWarning)
    return Gram(K, precision, positive)


def _symmetric(K: Floats, precision: "np.dtype[Any]", what: str) -> Floats:
    """Return the symmetric part of K; raise ValueError if it differs from K beyond rounding."""
    S, (i, j) = symmetric_part(K)
    largest = max(K.max(), -K.min())
    if abs(K[i, j] - K[j, i]) > largest * np.sqrt(np.finfo(precision).eps):
        raise ValueError(
            f"The {what} is not symmetric: K[{i}, {j}] = {K[i, j]:.6g} but "
            f"K[{j}, {i}] = {K[j, i]:.6g}. Pass (K + K.T) / 2 if that is what you mean."
        )
    return S
