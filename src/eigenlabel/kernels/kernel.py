"""One kernel with its parameters settled, and the width that paper 003 gives the Gaussian one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import KERNEL_PARAMS, manhattan_distances, pairwise_kernels

from eigenlabel.inputs.validation import check_choice, check_number
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg.factors.exact import check_memory, nearest_psd, symmetric_part
from eigenlabel.linalg.numerics import rank_tolerance
from eigenlabel.linalg.operators import row_blocks

KERNELS = (
    "linear",
    "poly",
    "rbf",
    "sigmoid",
    "cosine",
    "laplacian",
    "chi2",
    "intersection",
    "precomputed",
)
HISTOGRAMS = ("chi2", "intersection")
DOUBTFUL = ("precomputed", "sigmoid")  # may have negative eigenvalues
CHUNK = 2**22  # kernel values or distances held at once


def strips(n: int, width: int) -> list[slice]:
    """Cut n rows so that a strip of the given width holds at most CHUNK values."""
    step = max(1, CHUNK // max(1, width))
    return [slice(start, min(n, start + step)) for start in range(0, n, step)]


def mean_distance(X: Any) -> float:
    """Average the Euclidean distances of all n^2 pairs of rows, a row with itself included.

    Exact, by strips: n^2 d / 2 operations and 32 MiB. It is the width sigma of the Gaussian kernel
    ``exp(-|x - z|^2 / (2 sigma^2))`` in Section 7.1 of paper 003.
    """
    n = X.shape[0]
    if not sp.issparse(X):
        X = X - X.mean(axis=0, dtype=float)  # small numbers cancel less
    squares = _row_sums(X.multiply(X) if sp.issparse(X) else X * X)
    total = 0.0
    for rows in strips(n, n):
        products = X[rows] @ X[rows.start :].T
        D = products.toarray() if sp.issparse(products) else np.asarray(products)
        D *= -2.0
        D += squares[rows, None]
        D += squares[rows.start :]
        np.fill_diagonal(D, 0.0)  # rounding leaves no distance of a row to itself
        np.sqrt(np.maximum(D, 0.0, out=D), out=D)
        inner = rows.stop - rows.start
        total += float(D[:, :inner].sum()) + 2.0 * float(D[:, inner:].sum())
    return total / n**2


def _row_sums(A: Any) -> np.ndarray:
    return np.asarray(A.sum(axis=1), dtype=float).ravel()


def intersection_kernel(X: Any, Z: Any) -> np.ndarray:
    """Give ``sum_k min(x_k, z_k)`` of all pairs of histograms, dense or sparse.

    The minimum of two numbers is half their sum less half their distance.
    """
    for A in (X, Z):
        _check_histograms("intersection", A)
    sums = _row_sums(X)[:, None] + _row_sums(Z)
    return (sums - manhattan_distances(X, Z)) / 2


@dataclass(frozen=True)
class Kernel:
    """A kernel function of two matrices of samples.

    Attributes
    ----------
    name : one of KERNELS, or a callable that takes two matrices
    gamma, degree, coef0 : as in scikit-learn
    """

    name: Any
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1

    @property
    def linear(self) -> bool:
        """Whether it is the inner product of the features."""
        return isinstance(self.name, str) and self.name == "linear"

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Give the kernel matrix (rows of X, rows of Z), or the kernel of two vectors.

        Vectors are what scikit-learn's Nystroem passes to a callable.
        """
        if np.ndim(X) == 1:
            return self(X[None], Z[None])[0, 0]
        if callable(self.name):
            K = np.asarray(self.name(X, Z), dtype=float)
            if K.shape != (X.shape[0], Z.shape[0]):
                raise ValueError(
                    "A callable kernel takes two matrices and gives the kernel matrix of their "
                    f"rows: expected shape {(X.shape[0], Z.shape[0])}, got {K.shape}."
                )
            return K
        if self.name == "precomputed":
            return X.toarray() if sp.issparse(X) else X
        if self.name == "intersection":
            return intersection_kernel(X, Z)
        given = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        params = {k: v for k, v in given.items() if k in KERNEL_PARAMS[self.name]}
        with np.errstate(over="ignore"):  # callers refuse infinity, with the kernel's name
            return np.asarray(pairwise_kernels(X, Z, metric=self.name, **params))

    def product(self, X: Any, Z: Any, C: np.ndarray) -> np.ndarray:
        """K(X, Z) C, by strips of rows."""
        parts = [self(X[rows], Z) @ C for rows in strips(X.shape[0], Z.shape[0])]
        return np.concatenate(parts)


def _check_histograms(name: str, X: Any) -> None:
    if (X.data if sp.issparse(X) else X).min(initial=0) < 0:
        raise ValueError(
            f"kernel={name!r} compares histograms and needs values >= 0; use 'rbf' or 'linear'."
        )


def make_kernel(name: Any, X: Any, gamma: Any, degree: Any, coef0: Any) -> Kernel:
    """Settle the parameters of a kernel on samples X; gamma None takes the paper's width."""
    check_kernel(name, gamma, degree, coef0)
    if name in HISTOGRAMS:
        _check_histograms(name, X)
    if isinstance(name, str) and name == "chi2" and sp.issparse(X):
        raise ValueError("kernel='chi2' takes dense features: use 'intersection', or X.toarray().")
    if gamma is None and isinstance(name, str):
        if name == "rbf":
            sigma = mean_distance(X)
            gamma = 1.0 / (2.0 * sigma**2) if sigma > 0 else 1.0
        elif name == "chi2":
            gamma = 1.0
    return Kernel(name, gamma, degree, coef0)


def check_kernel(name: Any, gamma: Any, degree: Any, coef0: Any) -> None:
    """Check the parameters of a kernel."""
    if not callable(name):
        check_choice("kernel", name, KERNELS)
    if gamma is not None:
        check_number("gamma", gamma, 0)
    check_number("degree", degree, 0)
    check_number("coef0", coef0, -np.inf)


def check_finite_kernel(K: np.ndarray, kernel: Any, where: str) -> None:
    """Refuse kernel values that are no numbers, by rows."""
    if not all(np.isfinite(K[rows]).all() for rows in row_blocks(*K.shape)):
        raise ValueError(
            f"kernel={kernel!r} gives NaN or infinity on {where}. Rescale X, or take other gamma, "
            "degree or coef0: a fractional power needs values >= 0."
        )


def checked_symmetric(K: np.ndarray, precision: np.dtype, what: str) -> np.ndarray:
    """Give the symmetric part of a finite matrix that is symmetric up to rounding, or refuse."""
    S, (i, j) = symmetric_part(K)
    largest = max(K.max(), -K.min())
    if abs(K[i, j] - K[j, i]) > largest * np.sqrt(np.finfo(precision).eps):
        raise ValueError(
            f"The {what} is not symmetric: K[{i}, {j}] = {K[i, j]:.6g} but "
            f"K[{j}, {i}] = {K[j, i]:.6g}. Pass (K + K.T) / 2 if that is what you mean."
        )
    return S


def training_kernel(
    kernel: Kernel, X: Any, view: str, repair: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Give the kernel matrix of training samples and, if it had to be repaired, what was kept.

    A matrix with negative eigenvalues is refused, or used without them on request; the second
    result holds the eigenvectors kept, on which dual coefficients must be projected.
    """
    check_memory(X.shape[0], f"kernel matrix of {view}")
    K = kernel(X, X)
    precision = np.dtype(K.dtype) if K.dtype.kind == "f" else np.dtype(float)
    K = np.array(K, dtype=float)
    check_finite_kernel(K, kernel.name, view)
    if not callable(kernel.name) and kernel.name not in DOUBTFUL:
        return K, None
    K = checked_symmetric(K, precision, f"kernel matrix of {view}")
    K, kept, negative = nearest_psd(K, rank_tolerance(len(K), precision))
    if kept is not None:
        if not kept.shape[1]:
            raise ValueError(
                f"The kernel matrix of {view} has no positive eigenvalue: is its sign or scale "
                "wrong? A kernel is a similarity, not a distance."
            )
        _state_indefinite(view, negative, repair, precision)
    return K, kept


def _state_indefinite(view: str, negative: float, repair: bool, precision: np.dtype) -> None:
    if negative >= -np.sqrt(np.finfo(precision).eps):  # rounding
        return
    found = (
        f"The kernel matrix of {view} is not positive semi-definite (smallest eigenvalue "
        f"{negative:.2g} of the largest)"
    )
    if not repair:
        raise ValueError(f"{found}. Pass repair=True to leave its negative part out.")
    warn(f"{found}; its negative part is left out.", UserWarning)
