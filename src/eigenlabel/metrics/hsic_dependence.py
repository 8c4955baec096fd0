"""The dependence of two kernel matrices."""

from typing import Any

import numpy as np

from eigenlabel.labels.missing import to_dense


def hsic(K: Any, L: Any, *, unbiased: bool = False) -> float:
    """Estimate the Hilbert-Schmidt independence criterion of two kernel matrices.

    The biased estimate is ``tr(H K H L) / (n - 1)^2`` (Gretton et al. 2005). The unbiased estimate
    leaves out pairs of a sample with itself (Song et al. 2012) and may be negative.

    Parameters
    ----------
    K : array-like or sparse matrix of shape (n_samples, n_samples)
        The first kernel matrix.
    L : array-like or sparse matrix of shape (n_samples, n_samples)
        The second kernel matrix, of the same samples.
    unbiased : bool, default=False
        Whether the estimate is unbiased.

    Returns
    -------
    value : float
        The estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel import metrics
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> metrics.hsic(x @ x.T, x @ x.T)
    1.0
    """
    K, L = (np.asarray(to_dense(A), dtype=float) for A in (K, L))
    if not (np.isfinite(K).all() and np.isfinite(L).all()):
        raise ValueError("K and L must be finite: they contain NaN or infinity.")
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.shape != L.shape:
        raise ValueError(f"K and L must be square matrices of one size, got {K.shape}, {L.shape}.")
    n = len(K)
    if n < (4 if unbiased else 2):
        raise ValueError(f"HSIC needs at least {4 if unbiased else 2} samples, got {n}.")
    if not unbiased:
        centred = K - K.mean(axis=0)
        centred -= centred.mean(axis=1, keepdims=True)
        return float((centred * L.T).sum() / (n - 1) ** 2)
    K, L = K - np.diag(np.diag(K)), L - np.diag(np.diag(L))
    apart = K.sum() * L.sum() / ((n - 1) * (n - 2))
    shared = 2 * (K.sum(axis=0) @ L.sum(axis=1)) / (n - 2)
    return float(((K * L.T).sum() + apart - shared) / (n * (n - 3)))
