"""Logistic maps from the evidence on a cell to its label, one for each label."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.numerics import EPS

MOST_STEPS, MOST_HALVINGS = 50, 20
TOLERANCE = 1e-9  # of the coefficients, relative


@dataclass(frozen=True)
class Evidence:
    """Cells of a label matrix, with what speaks for or against their labels.

    Attributes
    ----------
    label : (c,)
        The label of each cell.
    features : (c, k)
        The evidence on each cell; the last column is 1.
    positive : (c,)
        Whether the given label is 1.
    weight : (c,)
        The number of cells of the matrix that each cell stands for.
    """

    label: Ints
    features: Floats
    positive: Bools
    weight: Floats


def fit_maps(cells: Evidence, n_labels: int, start: Floats, ridge: float = 1.0) -> Floats:
    """Return the coefficients (n_labels, k) of the map of each label.

    The map of a label minimises its log-loss plus ``ridge / 2 |w - common|^2``, where the common
    coefficients minimise the log-loss of all cells plus ``ridge / 2 |w - start|^2``. So a label
    with few positives has nearly the common map.

    Parameters
    ----------
    cells : Evidence
        The cells to fit.
    n_labels : int
        The number of labels.
    start : (k,)
        The coefficients that the common ones are shrunk to.
    ridge : float
        The strength of both penalties.
    """
    pooled = np.zeros(len(cells.label), dtype=np.intp)
    common = _minimise(cells, pooled, start[None], ridge)
    return _minimise(cells, cells.label, np.tile(common, (n_labels, 1)), ridge)


def log_odds(features: Floats, coefficients: Floats, label: Ints) -> Floats:
    """Return the log-odds (c,) of cells by the maps of their labels."""
    return np.asarray(np.einsum("ck,ck->c", features, coefficients[label]))


def _minimise(cells: Evidence, group: Ints, prior: Floats, ridge: float) -> Floats:
    """Minimise the log-loss of each group of cells plus its penalty, by Newton's method.

    The objective is strictly convex. Steps that raise the objective of a group are halved, and
    groups whose steps have become small are left out.
    """
    W, active = prior.copy(), np.arange(len(prior))
    for _ in range(MOST_STEPS):
        part, place = _cells_of(cells, group, active, len(prior))
        at = (part, place, W[active], prior[active], ridge)
        step = _shorten(_newton_step(*at), *at)
        W[active] += step
        active = active[(np.abs(step) > TOLERANCE * (1 + np.abs(W[active]))).any(axis=1)]
        if not active.size:
            break
    return W


def _cells_of(cells: Evidence, group: Ints, active: Ints, count: int) -> tuple[Evidence, Ints]:
    """Return the cells of the active groups, with the position of their group among these."""
    if len(active) == count:
        return cells, group
    place = np.full(count, -1)
    place[active] = np.arange(len(active))
    kept = np.flatnonzero(place[group] >= 0)
    part = (cells.label[kept], cells.features[kept], cells.positive[kept], cells.weight[kept])
    return Evidence(*part), place[group[kept]]


def _shorten(
    step: Floats, cells: Evidence, group: Ints, W: Floats, prior: Floats, ridge: float
) -> Floats:
    """Halve steps until no objective rises; a step that is lost in rounding becomes zero."""
    value = _objective(cells, group, W, prior, ridge)
    for _ in range(MOST_HALVINGS):
        worse = _objective(cells, group, W + step, prior, ridge) > value + EPS * np.abs(value)
        if not worse.any():
            return step
        step = np.where(worse[:, None], step / 2, step)
    return np.where(worse[:, None], 0.0, step)


def _objective(cells: Evidence, group: Ints, W: Floats, prior: Floats, ridge: float) -> Floats:
    eta = log_odds(cells.features, W, group)
    losses = cells.weight * (np.logaddexp(0.0, eta) - np.where(cells.positive, eta, 0.0))
    penalty = ridge / 2 * ((W - prior) ** 2).sum(axis=1)
    return np.asarray(np.bincount(group, losses, minlength=len(W)) + penalty)


def _newton_step(cells: Evidence, group: Ints, W: Floats, prior: Floats, ridge: float) -> Floats:
    F, count, k = cells.features, len(W), W.shape[1]
    p = expit(log_odds(F, W, group))
    residual, curvature = cells.weight * (cells.positive - p), cells.weight * p * (1 - p)
    gradient = np.empty((count, k))
    H = np.empty((count, k, k))
    for a in range(k):
        gradient[:, a] = np.bincount(group, residual * F[:, a], minlength=count)
        for b in range(a + 1):
            sums = np.bincount(group, curvature * F[:, a] * F[:, b], minlength=count)
            H[:, a, b] = H[:, b, a] = sums
    gradient -= ridge * (W - prior)
    H += ridge * np.eye(k)
    return np.asarray(np.linalg.solve(H, gradient[..., None])[..., 0])
