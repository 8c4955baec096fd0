"""Non-negative weights of views: how much each view contributes to predictions of the labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize, nnls

from eigenlabel.estimators.views.kernels import TrainingView
from eigenlabel.inputs.parameters import NOT_NEGATIVE, ByView, Maybe, WordOr
from eigenlabel.inputs.views import per_view
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.hats import Hat
from eigenlabel.linalg.operators import row_blocks

RULES = ("alignment", "heldout")
VIEW_WEIGHTS = Maybe(WordOr(RULES, ByView(NOT_NEGATIVE)))  # the declaration of view_weights


def find_weights(
    given: Any, training: Sequence[TrainingView], hats: Sequence[Hat], T: Floats
) -> Floats:
    """Return the weights of views (V,), of mean one, by a rule or as passed in.

    Parameters
    ----------
    given : None, "alignment", "heldout", mapping or sequence
        The parameter ``view_weights``; None stands for equal weights.
    training : sequence of TrainingView
        The training samples.
    hats : sequence of Hat
        The hat matrices of ridge regression on the views.
    T : (n_samples, n_labels) array
        The 0/1 labels.
    """
    if given is None:
        return np.ones(len(training))
    if isinstance(given, str):
        if given == "alignment":
            return to_mean_one(aligned_weights(training, T))
        return to_mean_one(heldout_weights(training, hats, T))
    return to_mean_one(given_weights(given, [view.name for view in training]))


def given_weights(given: Any, names: Sequence[str]) -> Floats:
    """Return the weights of views (V,) that a user passed; raise ValueError if all are zero."""
    by_name = per_view("view_weights", given, names)
    weights = np.array([float(by_name[name]) for name in names])
    if not weights.any():
        raise ValueError("view_weights are all zero: one at least must be positive.")
    return weights


def to_mean_one(weights: Floats) -> Floats:
    """Scale weights to a mean of one; if all weights are zero, return equal weights."""
    return np.asarray(weights / weights.mean()) if weights.any() else np.ones_like(weights)


def common_rows(views: Sequence[TrainingView], n: int) -> Ints:
    """Return the samples that every view has; raise ValueError if there are fewer than two."""
    common = np.arange(n)
    for view in views:
        common = np.intersect1d(common, view.rows, assume_unique=True)
    if len(common) < 2:
        raise ValueError(
            f"Weights are found on samples that every view has, and there are {len(common)}: "
            "pass them as numbers."
        )
    return common


def minimise_quadratic(M: Floats, a: Floats) -> Floats:
    """Return v >= 0 with the smallest ``v'M v - 2 a'v``, M positive semi-definite."""
    lam, Q = np.linalg.eigh((M + M.T) / 2)
    keep = lam > max(lam[-1], 0.0) * len(M) * np.finfo(float).eps
    if not keep.any():
        return np.zeros(len(M))
    root = np.sqrt(lam[keep])
    return np.asarray(nnls(root[:, None] * Q[:, keep].T, (Q[:, keep].T @ a) / root)[0])


def _strip(view: TrainingView, samples: Any, place: Ints, rows: slice) -> Floats:
    """Return some rows of the kernel matrix of the chosen samples."""
    K = view.kernel(samples[rows], samples)
    return K[:, place] if view.kernel.precomputed else K


def alignments(views: Sequence[TrainingView], T: Floats) -> tuple[Floats, Floats]:
    """Return the inner products of centred kernels (V, V), and theirs with the labels' kernel (V,).

    They are Frobenius products, from one pass over strips of the kernel matrices. Cost: the kernel
    values and n^2 V^2 operations; no n x n matrix.
    """
    common = common_rows(views, len(T))
    n, count = len(common), len(views)
    places = [np.searchsorted(view.rows, common) for view in views]
    samples = [view.samples[place] for view, place in zip(views, places, strict=True)]
    Tc = T[common] - T[common].mean(axis=0)
    products, labels = np.zeros((count, count)), np.zeros(count)
    row_means = np.zeros((count, n))
    for rows in row_blocks(n, count * n):
        K = [
            _strip(view, s, place, rows)
            for view, s, place in zip(views, samples, places, strict=True)
        ]
        for i, k in enumerate(K):
            row_means[i, rows] = k.mean(axis=1)
            labels[i] += float(np.einsum("ij,ij->", Tc[rows], k @ Tc))
            for j in range(i + 1):
                products[i, j] += float(np.einsum("ij,ij->", k, K[j]))
    products = products + np.tril(products, -1).T
    means = row_means.mean(axis=1)
    # The centred kernel is K - r1' - 1r' + g: this is the sum of what centring subtracts.
    products += n**2 * np.outer(means, means) - 2 * n * (row_means @ row_means.T)
    return products, labels


def aligned_weights(views: Sequence[TrainingView], T: Floats) -> Floats:
    """Return the weights of kernels of unit norm whose sum is best aligned with the labels' kernel.

    Centred alignment, ``<sum_j w_j K_j, T T'> / |sum_j w_j K_j|`` over w >= 0, is a quadratic
    problem (Cortes, Mohri, Rostamizadeh, JMLR 2012).
    """
    M, a = alignments(views, T)
    norms = np.sqrt(np.maximum(np.diag(M), 0.0))
    norms[norms <= norms.max(initial=0.0) * np.finfo(float).eps * len(T)] = np.inf  # constant
    return minimise_quadratic(M / np.outer(norms, norms), a / norms)


def heldout_weights(views: Sequence[TrainingView], hats: Sequence[Hat], T: Floats) -> Floats:
    """Return the weights of the views' leave-one-out predictions whose sum fits the labels best.

    With H the hat matrix and h its diagonal, they are ``(H T - h T) / (1 - h)``.
    """
    common = common_rows(views, len(T))
    mean = T.mean(axis=0)
    right = T[common] - mean
    predicted = []
    for view, hat in zip(views, hats, strict=True):
        h = hat.diagonal()[:, None]
        own = T[view.rows] - mean
        left_out = (hat.apply(own) - h * own) / np.maximum(1.0 - h, np.finfo(float).eps)
        predicted.append(left_out[np.searchsorted(view.rows, common)].ravel())
    S = np.array(predicted)
    return minimise_quadratic(S @ S.T, S @ right.ravel())


def loo_error(
    weights: Floats, kernels: Sequence[Floats], T: Floats, ridge: float
) -> tuple[float, Floats]:
    """Return the leave-one-out squared error of kernel ridge regression, and its gradient (V,).

    For ``K = sum_j w_j K_j`` of centred kernels, with an intercept: residuals are
    ``(R T)_i / R_ii``, ``R = (K + c I)^-1 - 11' / (c n)``. Cost: n^3 a kernel.
    """
    n = len(T)
    K: Any = sum(w * k for w, k in zip(weights, kernels, strict=True))
    R = np.linalg.inv(K + ridge * np.eye(n)) - 1 / (ridge * n)
    RT, r = R @ T, np.diag(R)[:, None]
    E = RT / r
    gradient = np.empty(len(kernels))
    for j, k in enumerate(kernels):
        RK = R @ k
        turned = (RK * R).sum(axis=1)[:, None]  # the diagonal of R K_j R
        gradient[j] = 2 * float(np.sum(E * (E * turned - RK @ RT) / r))
    return float(np.sum(E * E)) / T.size, gradient / T.size


def heldout_sum(kernels: Sequence[Floats], T: Floats, ridge: float) -> Floats:
    """Return weights >= 0 of sum one of centred kernels whose sum predicts left-out labels best.

    They are a local minimum, found from the best of equal weights and each kernel alone, and never
    worse than those.
    """
    size = np.array([np.trace(k) for k in kernels])
    telling = np.flatnonzero(size > size.max() * len(T) * np.finfo(float).eps)  # not constant
    weights = np.zeros(len(kernels))
    if not len(telling):
        return weights
    chosen = [kernels[j] for j in telling.tolist()]

    def error(w: Floats) -> tuple[float, Floats]:
        return loo_error(w, chosen, T, ridge)

    m = len(chosen)
    starts = [np.full(m, 1 / m), *np.eye(m)]
    start = min(starts, key=lambda w: error(w)[0])
    sum_one: Any = {"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like}
    found = minimize(
        error,
        start,
        jac=True,
        bounds=[(0.0, 1.0)] * m,
        constraints=sum_one,
        options={"maxiter": 100, "ftol": 1e-12},
    )
    moved = np.maximum(found.x, 0.0) / np.maximum(found.x, 0.0).sum()
    weights[telling] = min(start, moved, key=lambda w: error(w)[0])
    return weights
