"""Label sets with a guarantee: one cut of the probabilities that bounds recall or false alarms.

Two methods find the cut. *Conformal risk control* (Angelopoulos et al. 2022) bounds the expectation
of a loss that never falls when the cut rises, as the share of missed labels does. *Learn then test*
(Angelopoulos et al. 2021) tests cuts in an order that is fixed beforehand and bounds any loss in
[0, 1] with a given confidence.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, xlogy
from scipy.stats import binom

from eigenlabel.inputs.parameters import check_number
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.linalg.ties import ACCURACY, UNITS, WEIGHED, precision
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.probability_rules import check_probabilities

CUTS = expit(np.linspace(-12.0, 10.0, 221))  # those that are tested; log-odds in steps of 0.1
STARTS = tuple(range(180, 80, -5))  # of the sequences of tests of precision: 6 to -3.5
CONFIDENCE = 0.9


def hoeffding_bentkus(risk: Floats, n: Floats, bound: float) -> Floats:
    """Return p-values of the hypothesis that the mean of a loss in [0, 1] exceeds a bound.

    The smaller one of the p-values by the inequalities of Hoeffding and of Bentkus is valid for n
    independent losses of mean ``risk`` (Bates et al. 2021). It is 1 if n is 0.
    """
    if bound <= 0 or bound >= 1:
        return np.full(np.shape(risk), float(bound <= 0))
    n = np.asarray(n, dtype=float)
    r = np.minimum(risk, bound)
    distance = xlogy(r, r / bound) + xlogy(1 - r, (1 - r) / (1 - bound))
    hoeffding = np.exp(-n * distance)
    count = np.ceil(n * risk * (1 - ACCURACY))  # sums of shares may lie just above an integer
    bentkus = math.e * binom.cdf(count, n, bound)
    return np.where(n > 0, np.minimum(1.0, np.minimum(hoeffding, bentkus)), 1.0)


@dataclass(frozen=True)
class RiskControl(Rule):
    """Decide by one cut of the probabilities that keeps a bound on new samples.

    One of three bounds is passed. For a sample with the true labels Y and the predicted labels C:

    * ``recall``: the expectation of the recall ``|Y & C| / |Y|`` is at least the bound. A sample
      without labels has a recall of 1. The cut is the highest one that conformal risk control
      admits: with n samples and the mean loss r (1 - recall) on them, ``(n r + 1) / (n + 1) <= 1 -
      recall``. The expectation is over the n samples and the new one; with ``confidence``, the
      expectation over new samples alone keeps the bound, with that probability over the n samples.
    * ``false_discovery``: the expectation over new samples of the false-discovery proportion ``|C -
      Y| / |C|`` is at most the bound, with probability ``confidence`` over the n samples. The
      proportion of an empty set is 0. Cuts are tested from the highest to the lowest (learn then
      test with the p-values of Hoeffding and Bentkus), until one cannot be accepted.
    * ``precision``: as ``false_discovery=1 - precision``, but over the samples with at least one
      predicted label: of those, the expected share of right labels is at least the bound. Cuts
      are tested from 20 starts downwards, each at a twentieth of the error probability.

    The statements hold for any number of samples and any probabilities, right or wrong, if the n
    samples and the new ones are exchangeable (independent for the last two) and the model and its
    calibration, the preparation of features included, have not seen the n samples: keep a part of
    the samples aside for exact statements, as :class:`eigenlabel.ThresholdedClassifier` does with
    its parameter ``split``, and the command ``eigenlabel tune`` with ``--risk-split``.
    Cross-validated scores come from models with other training samples than the final one, so that
    the statements hold only approximately; :func:`held_out_probabilities` turns them into
    probabilities. Those of ``fit_calibration`` have seen the labels, and miss the bound by more.

    If labels are missing (NaN), losses are those of the observed labels, and the statements are
    about the observed labels of new samples whose labels go missing in the same way. Samples
    without an observed label are left out. The cut of a label that is never observed is +inf.

    If no cut keeps the bound, a warning is issued and the cut is the safe one: all labels are
    predicted for ``recall``, and none for the other two. Sample weights must be equal, but for
    zeros: samples that count unequally are not exchangeable.

    Parameters
    ----------
    recall : float, default=None
        The lower bound on recall, between 0 and 1.
    false_discovery : float, default=None
        The upper bound on the false-discovery proportion, between 0 and 1.
    precision : float, default=None
        The lower bound on precision, between 0 and 1.
    confidence : float, default=None
        The probability with which the bound holds, between 0 and 1 (excluded). None stands for 0.9,
        and for a bound on the expectation in the case of ``recall``.

    Attributes
    ----------
    name : str
        The name of the rule, "risk". It needs a bound and cannot be chosen by name.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.thresholds import RiskControl
    >>> rng = np.random.default_rng(0)
    >>> P = rng.random((1000, 5))
    >>> Y = rng.random((1000, 5)) < P
    >>> rule = RiskControl(recall=0.9)
    >>> cut = rule.fit(P[:500], Y[:500])
    >>> found = rule.decide(P[500:], cut)
    >>> some = Y[500:].any(axis=1)
    >>> recall = (Y[500:] & found)[some].sum(axis=1) / Y[500:][some].sum(axis=1)
    >>> cut.round(2)[0], np.append(recall, np.ones((~some).sum())).mean().round(2)
    (np.float64(0.32), np.float64(0.92))
    """

    recall: float | None = None
    false_discovery: float | None = None
    precision: float | None = None
    confidence: float | None = None
    name: ClassVar[str] = "risk"
    reads: ClassVar[str] = "probabilities"

    def check(self) -> None:
        """Raise ValueError unless there is exactly one bound, and its numbers are in range."""
        self._read()

    def fit_grid(self, scores: Floats, truth: Bools, weights: Floats | None) -> Floats:
        """Find the cuts; the cost is linear in the number of cells, but for sorting positives.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of probabilities, with samples last; -inf where a label is not observed.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels.
        weights : ndarray of shape (n_samples,) or None
            Positive sample weights, which must be equal.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The cut of each set, equal for all labels.
        """
        kind, bound, confidence = self._read()
        check_probabilities(scores, self)
        if weights is not None and not np.allclose(weights, weights[0], rtol=WEIGHED, atol=0):
            raise ValueError(
                f"RiskControl needs samples of equal weight, found weights from {weights.min()} to "
                f"{weights.max()}: its bounds hold for exchangeable samples. Fit the rule without "
                "sample_weight, or with weights of 0 and 1."
            )
        find = {"recall": bound_recall, "false_discovery": bound_false_discovery}
        find = {**find, "precision": bound_precision}
        cuts = [find[kind](P, truth, bound, confidence) for P in scores]
        if None in cuts:
            self._warn(kind, confidence, scores.shape[2])
        safe = -np.inf if kind == "recall" else np.inf
        chosen = np.array([safe if cut is None else cut for cut in cuts])
        return np.repeat(chosen[:, None], scores.shape[1], axis=1)

    def fit_observed(
        self, scores: Floats, truth: Bools, weights: Floats | None, observed: Bools
    ) -> Floats:
        """Find the cuts for the observed labels of samples that have any.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of probabilities, with samples last.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels.
        weights : ndarray of shape (n_samples,) or None
            Positive sample weights, which must be equal.
        observed : ndarray of shape (n_labels, n_samples), bool
            The cells that are observed.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The cut of each set, +inf for labels that are never observed.
        """
        some = observed.any(axis=0)
        part = None if weights is None else weights[some]
        return super().fit_observed(scores[..., some], truth[:, some], part, observed[:, some])

    def _read(self) -> tuple[str, float, float | None]:
        """Return the kind of the bound, the bound on the loss, and the confidence."""
        given = {k: getattr(self, k) for k in ("recall", "false_discovery", "precision")}
        named = [kind for kind, value in given.items() if value is not None]
        if len(named) != 1:
            raise ValueError(
                "RiskControl needs exactly one of recall, false_discovery and precision, got "
                f"{' and '.join(named) or 'none'}: pass one, such as RiskControl(recall=0.9)."
            )
        kind = named[0]
        check_number(kind, given[kind], 0, 1)
        confidence = self.confidence
        if confidence is None and kind != "recall":
            confidence = CONFIDENCE
        if confidence is not None:
            check_number("confidence", confidence, 0, 1)
            if confidence in (0, 1):
                raise ValueError(f"confidence must be between 0 and 1, excluded, got {confidence}.")
        bound = float(given[kind])
        return kind, bound if kind == "false_discovery" else 1 - bound, confidence

    def _warn(self, kind: str, confidence: float | None, n: int) -> None:
        value = getattr(self, kind)
        sure = "" if confidence is None else f" with confidence {confidence}"
        what = "all labels are" if kind == "recall" else "no label is"
        warn(
            f"No cut keeps {kind}={value}{sure} on {n} samples: {what} predicted. Relax the bound, "
            "lower the confidence, or use more samples.",
            UserWarning,
        )


def bound_recall(P: Floats, truth: Bools, bound: float, confidence: float | None) -> float | None:
    """Return the highest cut whose share of missed labels keeps a bound, or None.

    Parameters
    ----------
    P : (m, n), probabilities
    truth : (m, n)
    bound : on the expected share of missed labels
    confidence : None for conformal risk control, else that of learn then test
    """
    size = truth.sum(axis=0)
    if confidence is not None:
        risk, _ = mean_losses(P, truth, missed_labels)
        accepted = hoeffding_bentkus(risk, size.size, bound) <= 1 - confidence
        return _last(CUTS, accepted)
    room = bound * (size.size + 1) - 1
    if room < -WEIGHED * size.size:
        return None
    label, sample = np.nonzero(truth)
    order = np.argsort(P[label, sample], kind="stable")
    lost = np.cumsum(1 / size[sample[order]])
    keep = int(np.searchsorted(lost, room + WEIGHED * size.size, side="right"))
    if keep == len(order):
        return np.inf
    return _just_below(P, float(P[label[order[keep]], sample[order[keep]]]))


def _just_below(P: Floats, value: float) -> float:
    """Return the middle between a probability and the next smaller one, -inf if there is none."""
    share = max(UNITS * precision(P.dtype), ACCURACY)
    below = P[value * (1 - share) > P]
    if not below.size:
        return -np.inf
    return float(below.max()) / 2 + value / 2


def bound_false_discovery(
    P: Floats, truth: Bools, bound: float, confidence: float | None
) -> float | None:
    """Return the lowest cut whose false-discovery proportion keeps a bound, or None."""
    risk, _ = mean_losses(P, truth, wrong_labels)
    accepted = hoeffding_bentkus(risk, P.shape[1], bound) <= 1 - (confidence or CONFIDENCE)
    return _last(CUTS[::-1], accepted[::-1])


def bound_precision(
    P: Floats, truth: Bools, bound: float, confidence: float | None
) -> float | None:
    """Return the lowest cut whose proportion keeps a bound where labels are predicted, or None."""
    risk, some = mean_losses(P, truth, wrong_labels)
    n = some * P.shape[1]
    risk = np.divide(risk, some, out=np.ones_like(risk), where=some > 0)
    level = (1 - (confidence or CONFIDENCE)) / len(STARTS)
    accepted = hoeffding_bentkus(risk, np.rint(n), bound) <= level
    found = [_last(CUTS[start::-1], accepted[start::-1]) for start in STARTS]
    return min((cut for cut in found if cut is not None), default=None)


def _last(cuts: Floats, accepted: Bools) -> float | None:
    """Return the last cut before the first one that is not accepted, or None."""
    number = int(np.argmin(np.append(accepted, False)))
    return float(cuts[number - 1]) if number else None


Loss = Callable[[Ints, Ints, Ints], Floats]


def missed_labels(hits: Ints, predicted: Ints, size: Ints) -> Floats:  # noqa: ARG001
    """Return the share of true labels that are not predicted, 0 if there are none."""
    return np.asarray(1 - hits / np.maximum(size, 1)) * (size > 0)


def wrong_labels(hits: Ints, predicted: Ints, size: Ints) -> Floats:  # noqa: ARG001
    """Return the share of predicted labels that are wrong, 0 if there are none."""
    return np.asarray((predicted - hits) / np.maximum(predicted, 1))


def mean_losses(P: Floats, truth: Bools, loss: Loss) -> tuple[Floats, Floats]:
    """Return the mean loss of each cut of CUTS, and the share of samples with predictions.

    Samples are read in blocks; the cost is that of searching each probability among the cuts.
    """
    m, n = P.shape
    c = len(CUTS)
    total, some = np.zeros(c), np.zeros(c)
    for part in row_blocks(n, 3 * m + 6 * c):
        number = part.stop - part.start
        at = np.searchsorted(CUTS, P[:, part]) + (c + 1) * np.arange(number)
        true = truth[:, part]
        counts = (np.bincount(each.ravel(), minlength=number * (c + 1)) for each in (at, at[true]))
        below = (each.reshape(number, c + 1)[:, :0:-1] for each in counts)
        predicted, hits = (np.cumsum(each, axis=1)[:, ::-1] for each in below)
        total += loss(hits, predicted, true.sum(axis=0)[:, None]).sum(axis=0)
        some += np.count_nonzero(predicted, axis=0)
    return total / n, some / n
