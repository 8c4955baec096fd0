"""How often labels are lost or wrongly given, estimated from the evidence on all cells."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from eigenlabel.linalg._types import Floats, Ints

BINS, FARTHEST = 64, 8.0  # of the evidence, in log-odds relative to the label's frequency
RATIO = 1.5  # labels whose frequencies differ by less are in one group
MOST = 0.3  # rate of wrong positives beyond which labels are no longer worth looking at
SHARES = np.geomspace(0.002, 0.6, 14)  # of the positives of a label that are wrong
WRONG = 0.05  # largest share that is believed, because unpredictable positives look like wrong ones
LOST = 0.02  # share of positives that are lost even where none is wrong
STEPS = 20


@dataclass(frozen=True)
class NoiseRates:
    """Rates of label errors.

    Attributes
    ----------
    wrong : (m,)
        The probability that a label is given to a sample that does not have it.
    missing : float
        The probability that a label of a sample is not given.
    """

    wrong: Floats
    missing: float


def fit_noise_rates(
    evidence: Floats, label: Ints, positive: Floats, negative: Floats, frequency: Floats, n: int
) -> NoiseRates:
    """Estimate how often labels are lost or wrongly given.

    The model: a true label is lost with probability ``lost``, and label j of frequency f_j is
    wrongly given with probability ``r_j = uniform + share f_j``. Then a sample is given label j
    with probability ``r_j + (1 - r_j - lost) q``, where the log-odds of q are linear in the
    evidence and the mean of q is the frequency that label j would have without errors. Wrong labels
    show as a floor below which the frequency of positives does not fall, however strong the
    evidence against them is, and lost ones as a ceiling.

    The frequencies of labels are spread over orders of magnitude, that is, the logarithm of the
    true frequency is about as likely to lie anywhere. This prior identifies the uniform rate: if it
    is high, the rare labels all have nearly the frequency of the errors. The posterior is maximised
    on a grid of ``uniform`` and ``share``, over the other parameters by Fisher scoring.

    Where no label is certain, the ceiling is no evidence of losses. Therefore the estimate of
    ``missing`` is at most ``uniform + share + 0.02``.

    Parameters
    ----------
    evidence : (c,)
        The log-odds of each cell minus those of its label's frequency.
    label : (c,)
        The label of each cell.
    positive : (c,)
        The number of given positives that each cell stands for.
    negative : (c,)
        The number of given negatives that each cell stands for.
    frequency : (m,)
        The share of positives of each label, above 0 and below 1.
    n : int
        The number of samples.
    """
    counts, frequencies = _histogram(evidence, label, positive, negative, frequency)
    uniform = np.concatenate([[0.0], np.geomspace(1 / max(n, 4), MOST, 28)])
    grid = np.stack(np.meshgrid(uniform, SHARES, indexing="ij"), axis=-1).reshape(-1, 2)
    floor = grid[:, :1] + grid[:, 1:] * frequencies  # (grid, groups)
    fits, lost = _fit_ceilings(counts, floor, frequencies, n)
    objective = fits - _prior(grid, frequency, n)
    best = int(np.argmin(objective))
    rate, share = grid[best]
    share = min(share, WRONG)
    missing = min(float(lost[best]), rate + share + LOST)
    return NoiseRates(rate + share * frequency, float(missing))


def _histogram(
    evidence: Floats, label: Ints, positive: Floats, negative: Floats, frequency: Floats
) -> tuple[Floats, Floats]:
    """Return positives and negatives (2, groups, BINS), and the frequency of each group."""
    codes = np.floor(np.log(frequency) / np.log(RATIO)).astype(np.intp)
    _, group = np.unique(codes, return_inverse=True)
    size = np.bincount(group)
    means = np.bincount(group, frequency) / size
    place = ((evidence + FARTHEST) * (BINS / (2 * FARTHEST))).astype(np.intp)
    cell = group[label] * BINS + np.clip(place, 0, BINS - 1)
    total = len(size) * BINS
    counts = [np.bincount(cell, w, minlength=total) for w in (positive, negative)]
    return np.reshape(counts, (2, len(size), BINS)), means


def _fit_ceilings(
    counts: Floats, floor: Floats, frequencies: Floats, n: int
) -> tuple[Floats, Floats]:
    """Return the negative log-likelihood of each point of the grid, and the share that is lost."""
    g = FARTHEST * ((2 * np.arange(BINS) + 1) / BINS - 1)
    total = counts.sum(axis=0)
    spread = np.sqrt(frequencies / n)  # of an observed frequency
    above = spread * np.logaddexp(0.0, (frequencies - floor) / spread)
    W = np.tile([1.0, 0.0, 0.05], (len(floor), 1))  # slope, intercept, lost
    low, high, most = np.array([[0.3, -3.0, 1e-3], [4.0, 3.0, 0.45], [0.5, 0.5, 0.1]])
    for step in range(STEPS + 1):
        slope, intercept, lost = W.T[:, :, None]
        room = np.maximum(1 - floor - lost, 0.05)
        true = np.clip(above / room, 1e-12, 0.999)
        eta = slope[..., None] * g + (intercept + logit(true))[..., None]
        q, room, true = expit(eta), room[..., None], true[..., None]
        p = np.clip(floor[..., None] + room * q, 1e-12, 1 - 1e-12)
        if step == STEPS:
            break
        inner = q * (1 - q)
        J = np.stack([room * inner * g, room * inner, inner / (1 - true) - q])
        J_V = J / (p * (1 - p))
        gradient = np.einsum("agjb,gjb->ga", J_V, counts[0] - total * p)
        H = np.einsum("agjb,cgjb->gac", J_V, total * J) + 1e-3 * np.eye(3)
        change = np.linalg.solve(H, gradient[..., None])[..., 0]
        W = np.clip(W + np.clip(change, -most, most), low, high)
    loss = -np.einsum("jb,gjb->g", counts[0], np.log(p))
    return loss - np.einsum("jb,gjb->g", counts[1], np.log1p(-p)), W[:, 2]


def _prior(grid: Floats, frequency: Floats, n: int) -> Floats:
    """Return the log-prior of each point: the true frequencies are uniform on a logarithmic scale.

    It is the Jacobian ``d log(true) / d log(observed)``, blurred by the sampling error of the
    observed frequencies.
    """
    frequency, times = np.unique(frequency, return_counts=True)
    spread = np.sqrt(frequency / n)
    given = frequency * (1 - grid[:, 1:])
    left, whole = (
        spread * np.logaddexp(0.0, (given - rate) / spread) + 1 / n for rate in (grid[:, :1], 0.0)
    )
    return np.asarray(-np.log(left / whole) @ times)
