"""From held-out scores of members to the blend: calibrated log-odds, weights, thresholds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from eigenlabel.estimators.meta.blend.task import BlendTask
from eigenlabel.estimators.meta.blend.weights import (
    BlendCells,
    equal_point,
    fit_by_label,
    fit_shared,
    kept_members,
)
from eigenlabel.labels.checks import blank
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.thresholds.calibration import (
    Calibration,
    fit_probabilities,
    held_out_probabilities,
    probabilities_by_fold,
)
from eigenlabel.thresholds.isotonic import IsotonicCurves
from eigenlabel.thresholds.logistic import IDENTITY

MOST_WEIGHED = 1000  # labels up to which each has weights of its own
LEAST = 1e-7  # probabilities are clipped to this, so that no member alone decides


def log_odds(P: Floats) -> Floats:
    """Return the log-odds of probabilities, which are clipped to [LEAST, 1 - LEAST]."""
    return np.asarray(logit(np.clip(np.asarray(P, dtype=float), LEAST, 1 - LEAST)))


def identity(n_columns: int, floor: float = 0.0) -> Calibration:
    """Return the calibration of scores that are log-odds already, up to the floor."""
    nothing = IsotonicCurves(np.zeros(1, dtype=np.intp), np.zeros(0), np.zeros(0))
    return Calibration(
        0.0,
        1.0,
        np.ones(n_columns),
        np.zeros(n_columns),
        IDENTITY.copy(),
        np.zeros(n_columns, dtype=bool),
        nothing,
        floor,
    )


@dataclass(frozen=True)
class Calibrated:
    """The calibration of a member, and its held-out log-odds.

    Attributes
    ----------
    calibration : Calibration
        The maps that are fitted to all held-out scores.
    logits : (n, m) array
        The log-odds of samples by maps that have not seen them; NaN where there are no scores.
    """

    calibration: Calibration
    logits: Floats


def calibrate(scores: Floats, task: BlendTask, method: str) -> Calibrated:
    """Calibrate the held-out scores of a member."""
    calibration = fit_probabilities(task.codec, scores, _truth(task), task.weights, method=method)
    return Calibrated(calibration, log_odds(_held_out(scores, task, method, calibration)))


def _truth(task: BlendTask) -> Any:
    return blank(task.Y, task.observed) if task.codec.multilabel else task.Y


def _held_out(scores: Floats, task: BlendTask, method: str, calibration: Calibration) -> Floats:
    """Return probabilities by maps that have not seen the sample, nor those it belongs to.

    The classes of a vector share a few parameters, for which that makes no difference.
    """
    if not task.codec.multilabel:
        return calibration.probabilities(scores)
    if task.exchangeable:
        return held_out_probabilities(scores, _truth(task), task.weights, method=method)
    fold = np.full(len(scores), -1)
    for k, (_, test) in enumerate(task.folds):
        fold[test] = k
    return probabilities_by_fold(scores, _truth(task), fold, task.weights, method)


@dataclass(frozen=True)
class MemberWeights:
    """Weights of members.

    Attributes
    ----------
    kept : (K,) array of bool
        The members that are used.
    points : (k + 1,) array, or (m, k + 1)
        The intercept and the weights of the members that are used, for all labels or for each.
    """

    kept: Bools
    points: Floats

    @property
    def weights(self) -> Floats:
        """The weights of the members that are used, (k,) or (m, k)."""
        return np.asarray(self.points[..., 1:])

    def scores(self, logits: list[Floats]) -> Floats:
        """Return the blended log-odds (n, m) of those of the members that are used."""
        return blend_logits(self.points, logits)


def blend_logits(points: Floats, logits: list[Floats]) -> Floats:
    """Return ``b + sum_k w_k z_k`` of log-odds (n, m); points are (k + 1,) or (m, k + 1)."""
    total = np.broadcast_to(points[..., 0], logits[0].shape).astype(float)
    for k, z in enumerate(logits, start=1):
        total = total + points[..., k] * z
    return np.asarray(total)


def fit_mixture(logits: list[Floats], task: BlendTask, how: str) -> MemberWeights:
    """Return the weights of members by their held-out log-odds.

    Parameters
    ----------
    logits : list of (n, m) arrays
        The held-out log-odds.
    task : BlendTask
        The training data.
    how : {"shared", "by_label", "equal"}
        The kind of weights. Members with small weights are dropped, and the others fitted again;
        equal weights drop none.
    """
    K = len(logits)
    everyone = np.ones(K, dtype=bool)
    if how == "equal":
        return MemberWeights(everyone, equal_point(K))
    kept, points = everyone, fit_points(logits, task, how)
    while True:
        stays = kept_members(points[..., 1:])
        if stays.all():
            return MemberWeights(kept, points)
        kept = kept.copy()
        kept[np.flatnonzero(kept)[~stays]] = False
        points = fit_points([z for z, k in zip(logits, kept, strict=True) if k], task, how)


def added_by(logits: list[Floats], task: BlendTask, how: str, start: int = 0) -> Floats:
    """Return what each member adds: the rise of the held-out log-loss of a cell without it.

    The weights of the others are fitted again. The only member of a blend adds NaN.

    Parameters
    ----------
    logits : list of (n, m) arrays
        The held-out log-odds of the members that are used.
    task : BlendTask
        The training data.
    how : {"shared", "by_label", "equal"}
        The kind of weights.
    start : int
        The number of the first member that is left out.
    """
    if len(logits) == 1:
        return np.full(1 - start, np.nan)

    def loss(some: list[Floats]) -> float:
        points = fit_points(some, task, how)
        return _mean_loss(expit(blend_logits(points, some)), task)

    everyone = loss(logits)
    parts = [logits[:k] + logits[k + 1 :] for k in range(start, len(logits))]
    return np.array([loss(part) for part in parts]) - everyone


def fit_points(logits: list[Floats], task: BlendTask, how: str) -> Floats:
    """Return the intercept and the weights of members, (k + 1,) or (m, k + 1); none is dropped."""
    if how == "equal":
        return equal_point(len(logits))
    usable = task.cells & ~np.isnan(logits[0])
    for z in logits[1:]:
        usable = usable & ~np.isnan(z)
    if not usable.any():
        return equal_point(len(logits))
    cells = BlendCells.of(logits, task.Y, task.weights, usable)
    two = task.codec.kind == "binary"
    shared = fit_shared(cells.both_signs() if two else cells, intercept=not two)
    if how == "shared" or not task.codec.multilabel or task.Y.shape[1] > MOST_WEIGHED:
        return shared
    return fit_by_label(logits, task.Y, task.weights, usable, shared)


def recalibrate(scores: Floats, task: BlendTask, method: str) -> tuple[Calibration, Floats]:
    """Return the calibration of blended log-odds, and held-out probabilities.

    The log-odds are taken as they are unless maps that are fitted to other samples lower the
    log-loss.
    """
    fitted = fit_probabilities(task.codec, scores, _truth(task), task.weights, method=method)
    floor = fitted.floor  # the number of cells supports no more certainty
    plain = floor + (1 - 2 * floor) * expit(scores)
    better = _held_out(scores, task, method, fitted)
    if _mean_loss(better, task) < _mean_loss(plain, task):
        return fitted, better
    return identity(task.Y.shape[1], floor), plain


def _mean_loss(P: Floats, task: BlendTask) -> float:
    """Return the mean log-loss of the cells that count; NaN if there are none."""
    use = task.cells & ~np.isnan(P)
    w = np.ones(len(P)) if task.weights is None else task.weights
    right = np.where(task.Y, P, 1 - P)[use]
    each = np.broadcast_to(w[:, None], use.shape)[use]
    if not len(each):
        return float("nan")
    return float(-(each @ np.log(np.maximum(right, 1e-300))) / each.sum())
