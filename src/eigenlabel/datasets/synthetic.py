"""Synthetic data whose labels share a subspace that is known."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.inputs.parameters import check_number


def make_shared_subspace(
    n_samples: int = 1000,
    n_features: int = 50,
    n_labels: int = 20,
    n_components: int = 3,
    *,
    prevalence: float = 0.15,
    noise: float = 0.3,
    random_state: Any = None,
) -> Dataset:
    """Draw samples whose labels all depend on the same few directions of X.

    The labels are ``Y = (X Theta' V + noise > cut)``, where Theta has ``n_components`` orthonormal
    rows, the columns of V have unit length, X is Gaussian and each label has its own cut. The share
    of positives differs between labels by up to a factor of three in either direction, and
    ``prevalence`` is its geometric mean.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of samples, at least 1.
    n_features : int, default=50
        The number of features, at least 1.
    n_labels : int, default=20
        The number of labels, at least 1.
    n_components : int, default=3
        The dimension of the shared subspace, at least 1 and at most ``n_features``.
    prevalence : float, default=0.15
        The share of positives of a typical label, at most 1/3.
    noise : float, default=0.3
        The standard deviation of the noise. That of the signal is 1.
    random_state : int, RandomState or None, default=None
        The seed of the random numbers. Pass an int for reproducible data.

    Returns
    -------
    data : Dataset
        The samples. ``truth["components"]`` is Theta, of shape (n_components, n_features), and
        ``truth["loadings"]`` is V, of shape (n_components, n_labels).

    Examples
    --------
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> make_shared_subspace(random_state=0)
    Dataset(1000 samples, 50 features, 20 labels; planted shared subspace, dimension 3)
    """
    for name, value in (
        ("n_samples", n_samples),
        ("n_labels", n_labels),
        ("n_features", n_features),
    ):
        check_number(name, value, 1, integer=True)
    check_number("n_components", n_components, 1, n_features, integer=True)
    check_number("prevalence", prevalence, 1e-9, 1 / 3)
    check_number("noise", noise, 0)
    rng = check_random_state(random_state)
    Theta = np.linalg.qr(rng.standard_normal((n_features, n_components)))[0].T
    V = rng.standard_normal((n_components, n_labels))
    V /= np.linalg.norm(V, axis=0)
    X = rng.standard_normal((n_samples, n_features))
    signal = X @ Theta.T @ V + noise * rng.standard_normal((n_samples, n_labels))
    share = prevalence * 3 ** rng.uniform(-1, 1, n_labels)
    cuts = np.array([np.quantile(signal[:, j], 1 - share[j]) for j in range(n_labels)])
    return Dataset(
        X=X,
        Y=(signal > cuts).astype(np.int64),
        feature_names=np.array([f"feature_{j}" for j in range(n_features)]),
        label_names=np.array([f"label_{j}" for j in range(n_labels)]),
        source=f"planted shared subspace, dimension {n_components}",
        truth={"components": Theta, "loadings": V},
    )
