"""Label matrices as factors T of a similarity ``L = T T'`` between samples.

T alone decides which directions of X a projection keeps: T counts common labels, whitens them, or
is a factor of a hypergraph Laplacian. The solvers centre its columns. Labels without positives and
samples without labels have zero entries in every T.
"""

from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import pdist, squareform

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.numerics import descending_eigh

Labels: TypeAlias = Bools | Ints | Floats
CORRELATIONS = ("linear", "rbf", "rbf_unit", "cosine", "conditional", "shrunk")
LAPLACIANS = ("clique", "star", "zhou")


def _over_root(A: Floats, sizes: Floats) -> Floats:
    """Divide A by the square roots of the sizes; sizes of zero count as one."""
    return A / np.sqrt(np.where(sizes > 0, sizes, 1.0))


def square_root(B: Floats, name: str = "B") -> Floats:
    """Return R with ``R R' = B`` for a symmetric B, whose negative part is left out.

    Raises ValueError if B is not symmetric or has no positive eigenvalue.
    """
    if B.ndim != 2 or B.shape[0] != B.shape[1] or not np.isfinite(B).all():
        raise ValueError(f"{name} must be a square matrix of finite numbers, got {B.shape}.")
    if np.abs(B - B.T).max(initial=0) > 1e-8 * np.abs(B).max(initial=0):
        raise ValueError(f"{name} must be symmetric.")
    values, V = descending_eigh(B)
    keep = values > max(values[0], 0.0) * len(B) * np.finfo(float).eps
    if not keep.any():
        raise ValueError(f"{name} has no positive eigenvalue: it must be a similarity.")
    return np.asarray(V[:, keep] * np.sqrt(values[keep]))


def label_correlation(Y: Labels, kind: str, gamma: float = 1.0) -> Floats:
    """Return the matrix B (m, m) of correlations between labels.

    "linear" is the identity; "rbf" is ``exp(-gamma d^2)``, where d^2 is the number of samples in
    which two labels differ (Zhang and Zhou 2010); "rbf_unit" is the same for label columns of unit
    length, so that d^2 lies between 0 and 2; "cosine" is the cosine of label columns;
    "conditional" is the mean of P(s|t) and P(t|s); "shrunk" is the correlation matrix, shrunk
    towards the identity according to its sampling noise (Schaefer and Strimmer, 2005).
    """
    A = Y.astype(float)
    sizes = A.sum(axis=0)
    unit = _over_root(A, sizes)
    if kind == "linear":
        return np.eye(A.shape[1])
    if kind in ("rbf", "rbf_unit"):
        columns = A if kind == "rbf" else unit
        return np.exp(-gamma * squareform(pdist(columns.T, "sqeuclidean")))
    if kind == "cosine":
        return _with_unit_diagonal(unit.T @ unit)
    if kind == "conditional":
        given = (A.T @ A) / np.where(sizes > 0, sizes, 1.0)
        return _with_unit_diagonal((given + given.T) / 2)
    return _shrunk_correlation(A)


def _with_unit_diagonal(B: Floats) -> Floats:
    """Set the diagonal of B to one, in place, also for labels without positives."""
    np.fill_diagonal(B, 1.0)
    return B


def _shrunk_correlation(A: Floats) -> Floats:
    """Return the correlation matrix of the columns, shrunk towards the identity."""
    n, m = A.shape
    Z = A - A.mean(axis=0)
    deviation = Z.std(axis=0)
    Z = Z / np.where(deviation > 0, deviation, 1.0)
    R = Z.T @ Z / n
    # Var(r_st), estimated from the products z_s z_t.
    noise = ((Z * Z).T @ (Z * Z) / n - R * R) / max(n - 1, 1)
    off = ~np.eye(m, dtype=bool)
    total = (R[off] ** 2).sum()
    share = min(1.0, noise[off].sum() / total) if total > 0 else 1.0
    return _with_unit_diagonal((1 - share) * R)


def whitened(Y: Labels, reg: float) -> Floats:
    """Return ``Yc (Yc'Yc + reg I)^-1/2``, the labels of CCA; reg = 0 uses the pseudo-inverse."""
    Yc = Y - Y.mean(axis=0)
    values, V = descending_eigh(Yc.T @ Yc)
    keep = values > max(values[0], 0.0) * max(Y.shape) * np.finfo(float).eps
    return np.asarray(Yc @ (V[:, keep] / np.sqrt(values[keep] + reg)))


def class_indicator(Y: Labels) -> Floats:
    """Return ``Y diag(sizes)^-1/2``, the labels of LDA with each sample in all of its labels."""
    return _over_root(Y.astype(float), Y.sum(axis=0))


def hypergraph(Y: Labels, laplacian: str) -> Floats:
    """Return a factor of ``I - Laplacian`` of the hypergraph whose edges are the labels.

    "clique" and "star" expand the edges into graphs; "zhou" is the normalised Laplacian of Zhou,
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


def correlated_labels(Y: Labels, kernel: Any, gamma: float) -> Floats:
    """Return T with ``T T' = L``, where L is ``Y B Y'`` for the name of B or a matrix B (m, m).

    A matrix (n, n) is L itself.
    """
    if isinstance(kernel, str):
        B = label_correlation(Y, kernel, gamma)
        return Y.astype(float) if kernel == "linear" else np.asarray(Y @ square_root(B))
    try:
        B = np.asarray(kernel, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"label_kernel must be one of {', '.join(map(repr, CORRELATIONS))} or a matrix, got "
            f"{kernel!r}."
        ) from error
    n, m = Y.shape
    if B.shape == (m, m):
        return np.asarray(Y @ square_root(B, "label_kernel"))
    if B.shape == (n, n):
        return square_root(B, "label_kernel")
    raise ValueError(
        f"label_kernel must be a matrix between the {m} labels or between the {n} samples, got "
        f"shape {B.shape}."
    )
