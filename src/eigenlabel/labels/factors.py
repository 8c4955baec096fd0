"""Label matrices as factors T of a similarity ``L = T T'`` between samples.

What a projection keeps of X is decided by T alone: counts of common labels, whitened labels,
hypergraph Laplacians. Columns are centred by the solvers. A label without positives and a sample
without labels have no part in any of them: their entries are zero.
"""

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from eigenlabel.linalg.numerics import descending_eigh

CORRELATIONS = ("linear", "rbf", "cosine", "conditional", "shrunk")
LAPLACIANS = ("clique", "star", "zhou")


def _over_root(A: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Divide by the roots of sizes that are not zero."""
    return A / np.sqrt(np.where(sizes > 0, sizes, 1.0))


def square_root(B: np.ndarray, name: str = "B") -> np.ndarray:
    """Give R with ``R R' = B`` for symmetric B; its negative part, if any, is left out."""
    if B.ndim != 2 or B.shape[0] != B.shape[1] or not np.isfinite(B).all():
        raise ValueError(f"{name} must be a square matrix of finite numbers, got {B.shape}.")
    if np.abs(B - B.T).max(initial=0) > 1e-8 * np.abs(B).max(initial=0):
        raise ValueError(f"{name} must be symmetric.")
    values, V = descending_eigh(B)
    keep = values > max(values[0], 0.0) * len(B) * np.finfo(float).eps
    if not keep.any():
        raise ValueError(f"{name} has no positive eigenvalue: it must be a similarity.")
    return V[:, keep] * np.sqrt(values[keep])


def label_correlation(Y: np.ndarray, kind: str, gamma: float = 1.0) -> np.ndarray:
    """Give the matrix B (m, m) of how much labels have to do with each other.

    "rbf" is ``exp(-gamma d^2)`` with d the distance of label columns of unit length; "cosine" the
    cosine of label columns; "conditional" the mean of P(s|t) and P(t|s); "shrunk" the correlation
    matrix, shrunk to the identity by as much as its sampling noise (Schaefer and Strimmer, 2005).
    """
    A = Y.astype(float)
    sizes = A.sum(axis=0)
    unit = _over_root(A, sizes)
    if kind == "linear":
        return np.eye(A.shape[1])
    if kind == "rbf":
        return np.exp(-gamma * squareform(pdist(unit.T, "sqeuclidean")))
    if kind == "cosine":
        return _with_unit_diagonal(unit.T @ unit)
    if kind == "conditional":
        given = (A.T @ A) / np.where(sizes > 0, sizes, 1.0)
        return _with_unit_diagonal((given + given.T) / 2)
    return _shrunk_correlation(A)


def _with_unit_diagonal(B: np.ndarray) -> np.ndarray:
    np.fill_diagonal(B, 1.0)
    return B


def _shrunk_correlation(A: np.ndarray) -> np.ndarray:
    n, m = A.shape
    Z = A - A.mean(axis=0)
    deviation = Z.std(axis=0)
    Z = Z / np.where(deviation > 0, deviation, 1.0)
    R = Z.T @ Z / n
    # Var(r_st) from the products z_s z_t, summed over pairs.
    noise = ((Z * Z).T @ (Z * Z) / n - R * R) / max(n - 1, 1)
    off = ~np.eye(m, dtype=bool)
    total = (R[off] ** 2).sum()
    share = min(1.0, noise[off].sum() / total) if total > 0 else 1.0
    return _with_unit_diagonal((1 - share) * R)


def whitened(Y: np.ndarray, reg: float) -> np.ndarray:
    """Give ``Yc (Yc'Yc + reg I)^-1/2``, by the pseudo-inverse for reg = 0: the labels of CCA."""
    Yc = Y - Y.mean(axis=0)
    values, V = descending_eigh(Yc.T @ Yc)
    keep = values > max(values[0], 0.0) * max(Y.shape) * np.finfo(float).eps
    return Yc @ (V[:, keep] / np.sqrt(values[keep] + reg))


def class_indicator(Y: np.ndarray) -> np.ndarray:
    """Give ``Y diag(sizes)^-1/2``: the labels of LDA, each sample in all its labels."""
    return _over_root(Y.astype(float), Y.sum(axis=0))


def hypergraph(Y: np.ndarray, laplacian: str) -> np.ndarray:
    """Give a factor of I - Laplacian of the hypergraph whose edges are the labels.

    "clique" and "star" expand edges into graphs, "zhou" is the normalised Laplacian of Zhou,
    Huang and Schoelkopf (2007).
    """
    A = Y.astype(float)
    sizes = A.sum(axis=0)
    if laplacian == "clique":
        return _over_root(A, (A @ sizes)[:, None])
    each = np.where(sizes > 0, sizes, 1.0)
    if laplacian == "star":
        return _over_root(A / each, (A @ (1 / each))[:, None])
    return _over_root(_over_root(A, A.sum(axis=1)[:, None]), sizes)


def correlated_labels(Y: np.ndarray, kernel: Any, gamma: float) -> np.ndarray:
    """Give T of ``L = Y B Y'``, from the name of a B, a matrix B (m, m), or L (n, n) itself."""
    if isinstance(kernel, str):
        B = label_correlation(Y, kernel, gamma)
        return Y.astype(float) if kernel == "linear" else Y @ square_root(B)
    try:
        B = np.asarray(kernel, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"label_kernel must be one of {', '.join(map(repr, CORRELATIONS))} or a matrix, got "
            f"{kernel!r}."
        ) from error
    n, m = Y.shape
    if B.shape == (m, m):
        return Y @ square_root(B, "label_kernel")
    if B.shape == (n, n):
        return square_root(B, "label_kernel")
    raise ValueError(
        f"label_kernel must be a matrix between the {m} labels or between the {n} samples, got "
        f"shape {B.shape}."
    )
