"""Rules that read probabilities: best expected F1, costs of errors, numbers of labels.

They need no thresholds that are fitted to data; what they assume is that probabilities are right.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from eigenlabel.inputs.parameters import check_number
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.linalg.ties import WEIGHED, nearest_first, score_rounding
from eigenlabel.thresholds.base import Rule, known_labels

ARRAYS = 6  # temporary arrays of a block of samples


def check_probabilities(P: Floats, rule: Rule) -> Floats:
    """Return probabilities, or raise ValueError if some are not between 0 and 1.

    Scores of -inf, which stand for cells that are not observed, are accepted.
    """
    odd = ~((P >= 0) & (P <= 1)) & ~np.isneginf(P)
    if odd.any():
        raise ValueError(
            f"{type(rule).__name__} reads probabilities between 0 and 1, found {P[odd][0]}: pass "
            "those of predict_proba, or of fit_calibration, instead of scores."
        )
    return P


@dataclass(frozen=True)
class _Known(Rule):
    """The base of rules whose thresholds do not depend on data."""

    reads: ClassVar[str] = "probabilities"

    def _thresholds(self, m: int) -> Floats:
        """Return the thresholds (m,)."""
        raise NotImplementedError

    def fit_grid(
        self,
        scores: Floats,
        truth: Bools,  # noqa: ARG002
        weights: Floats | None,  # noqa: ARG002
    ) -> Floats:
        """Return the thresholds, which do not depend on the labels.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of probabilities, which are checked.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels, which are not used.
        weights : ndarray of shape (n_samples,) or None
            The sample weights, which are not used.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The thresholds of each set.
        """
        check_probabilities(scores, self)
        return np.tile(self._thresholds(scores.shape[1]), (len(scores), 1))

    def fit_observed(
        self, scores: Floats, truth: Bools, weights: Floats | None, observed: Bools
    ) -> Floats:
        """Return the thresholds, +inf for labels that are never observed.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of probabilities, which are checked.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels, which are not used.
        weights : ndarray of shape (n_samples,) or None
            The sample weights, which are not used.
        observed : ndarray of shape (n_labels, n_samples), bool
            The cells that are observed.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The thresholds of each set.
        """
        return np.where(observed.any(axis=1), self.fit_grid(scores, truth, weights), np.inf)


@dataclass(frozen=True)
class Costs(_Known):
    """Decide by the smaller expected cost of a miss and of a false alarm.

    A label with the probability p is predicted if ``p miss > (1 - p) alarm``, that is, above the
    threshold ``alarm / (miss + alarm)``. With equal costs, this is 1/2.

    Parameters
    ----------
    miss : float or sequence of float, default=1.0
        The cost of not predicting a label that a sample has, not negative; one number, or one for
        each label.
    alarm : float or sequence of float, default=1.0
        The cost of predicting a label that a sample does not have, not negative; one number, or
        one for each label. Of the two costs of a label, one must be positive.

    Attributes
    ----------
    name : str
        The name of the rule, "costs".

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.thresholds import Costs
    >>> P = np.array([[0.9, 0.4, 0.1]])
    >>> rule = Costs(miss=4.0)
    >>> rule.decide(P, rule.fit(P, np.array([[1, 0, 0]])))
    array([[ True,  True, False]])
    """

    miss: float | Sequence[float] = 1.0
    alarm: float | Sequence[float] = 1.0
    name: ClassVar[str] = "costs"

    def _thresholds(self, m: int) -> Floats:
        miss, alarm = (self._read(name, m) for name in ("miss", "alarm"))
        if not (miss + alarm).all():
            label = int(np.flatnonzero(miss + alarm == 0)[0])
            raise ValueError(
                f"miss and alarm are both 0 for label {label}: one of them must be positive."
            )
        return np.asarray(alarm / (miss + alarm))

    def _read(self, name: str, m: int) -> Floats:
        """Return a cost for each label."""
        given = np.asarray(getattr(self, name))
        for each in given.ravel().tolist():
            check_number(name, each, 0)
        if given.shape not in ((), (m,)):
            raise ValueError(
                f"{name} has shape {given.shape}: pass one number, or one for each of the {m} "
                "labels."
            )
        return np.broadcast_to(given.astype(float), (m,))


@dataclass(frozen=True)
class Between(_Known):
    """Predict the probable labels of each sample, but no fewer and no more than given numbers.

    A label is predicted if its probability is above the threshold. If these are fewer than
    ``least`` labels, or more than ``most``, that many of the most probable ones are predicted;
    ties go to the first label. ``Between(1)`` never predicts an empty set, ``Between(0, 5)``
    predicts at most five labels, and ``Between(3, 3)`` exactly three.

    Parameters
    ----------
    least : int, default=1
        The smallest number of labels of a sample.
    most : int, default=None
        The largest number of labels of a sample, or None for no bound.
    threshold : float, default=0.5
        The probability above which a label is predicted, between 0 and 1.

    Attributes
    ----------
    name : str
        The name of the rule, "between".

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.thresholds import Between
    >>> P = np.array([[0.9, 0.8, 0.7], [0.4, 0.2, 0.3]])
    >>> rule = Between(1, 2)
    >>> rule.decide(P, rule.fit(P, np.zeros((2, 3))))
    array([[ True,  True, False],
           [ True, False, False]])
    """

    least: int = 1
    most: int | None = None
    threshold: float = 0.5
    name: ClassVar[str] = "between"

    def _thresholds(self, m: int) -> Floats:
        check_number("least", self.least, 0, integer=True)
        if self.most is not None:
            check_number("most", self.most, self.least, integer=True)
        check_number("threshold", self.threshold, 0, 1)
        return np.full(m, float(self.threshold))

    def decide(self, scores: Floats, thresholds: Floats) -> Bools:
        """Decide that each sample has its probable labels, in the bounds of their number.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            The probabilities.
        thresholds : ndarray of shape (n_labels,)
            The thresholds; labels with +inf, which were never observed, are left out.

        Returns
        -------
        decisions : ndarray of shape (n_samples, n_labels), bool
            The label sets.
        """
        known = known_labels(check_probabilities(scores, self), thresholds)
        P = known.scores
        decisions = np.asarray(known.thresholds < P)
        if self.most is not None:
            decisions &= _first(P, np.full(len(P), self.most))
        return known.spread(decisions | _first(P, np.full(len(P), self.least)))


def _first(P: Floats, number: Ints) -> Bools:
    """Return the most probable labels of each sample (n, m), as many as given by sample (n,)."""
    k = min(int(number.max(initial=0)), P.shape[1])
    top = nearest_first(-P, k, score_rounding(P))
    found = np.zeros(P.shape, dtype=bool)
    np.put_along_axis(found, top, np.arange(k) < number[:, None], axis=1)
    return found


@dataclass(frozen=True)
class ExpectedF1(_Known):
    """Predict the label set of each sample with the largest expected F1.

    Labels are taken as independent given the sample. Then the best set of k labels consists of the
    k most probable ones (Lewis 1995), and with the probabilities p in descending order its
    expected F1 is the integral over t from 0 to 1 of ``2 t^k G(t) sum_{i <= k} p_i / (1 - p_i +
    p_i t)``, where ``G(t)`` is the product of ``1 - p_j + p_j t`` over all labels: ``1 / c`` is
    the integral of ``t^(c - 1)``. The integrand is a polynomial, for which Gauss-Legendre
    quadrature with few nodes is exact up to rounding. Values of k are left out if a bound shows
    that they cannot be the best.

    The cost of a sample is m log m for sorting, and m times the number of nodes, about 16 plus half
    the number of labels that it has. Ye et al. (2012) need m^2.

    Parameters
    ----------
    zero_division : float, default=0.0
        The value of F1 if a sample has no labels and none are predicted, between 0 and 1, as in
        ``metrics.f1_samples``. With 0, at least one label is predicted.

    Attributes
    ----------
    name : str
        The name of the rule, "expected_f1".

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.thresholds import ExpectedF1
    >>> P = np.array([[0.6, 0.4, 0.1], [0.3, 0.3, 0.2]])
    >>> rule = ExpectedF1()
    >>> rule.decide(P, rule.fit(P, np.zeros((2, 3))))
    array([[ True,  True, False],
           [ True,  True,  True]])
    """

    zero_division: float = 0.0
    name: ClassVar[str] = "expected_f1"

    def _thresholds(self, m: int) -> Floats:
        check_number("zero_division", self.zero_division, 0, 1)
        return np.full(m, np.nan)

    def decide(self, scores: Floats, thresholds: Floats) -> Bools:
        """Decide that each sample has the label set with the largest expected F1.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            The probabilities.
        thresholds : ndarray of shape (n_labels,)
            The thresholds; labels with +inf, which were never observed, are left out.

        Returns
        -------
        decisions : ndarray of shape (n_samples, n_labels), bool
            The label sets.
        """
        P = check_probabilities(scores, self).astype(float)
        P[:, np.broadcast_to(thresholds, P.shape[1]) == np.inf] = 0.0
        decisions = np.zeros(P.shape, dtype=bool)
        for rows in row_blocks(len(P), ARRAYS * P.shape[1]):
            values = expected_f1(P[rows], self.zero_division)
            best = values.max(axis=1, keepdims=True)
            number = np.argmax(values >= best * (1 - WEIGHED), axis=1)
            decisions[rows] = _first(P[rows], number)
        return decisions


def expected_f1(P: Floats, zero_division: float = 0.0) -> Floats:
    """Return the expected F1 (n, K + 1) of the 0 to K most probable labels of each sample.

    K is so large that no larger number of labels is better for any sample.
    """
    ordered = -np.sort(-P, axis=1)
    sums = np.cumsum(ordered, axis=1)
    mean = sums[:, -1:]
    k = np.arange(1, P.shape[1] + 1)
    # By Jensen's inequality F1 is at least 2 sums / (k + 1 + mean), and at most 2 sums / (k + 1).
    least = np.max(sums / (k + 1 + mean), axis=1, keepdims=True)
    K = int(k[(sums / (k + 1) >= least * (1 - WEIGHED)).any(axis=0)].max(initial=0))
    top = ordered[:, :K]
    found = np.zeros((len(P), K + 1))
    power = np.arange(1, K + 1)
    for t, w in zip(
        *_nodes(_number_of_nodes(P.shape[1], K, float(mean.max(initial=0.0)))), strict=True
    ):
        G = np.prod(1 - (1 - t) * P, axis=1)
        part = np.cumsum(top / (1 - (1 - t) * top), axis=1)
        found[:, 1:] += (2 * w) * t**power * G[:, None] * part
    found[:, 0] = zero_division * np.prod(1 - P, axis=1)
    return found


def _number_of_nodes(m: int, K: int, mean: float) -> int:
    """Return how many nodes integrate without error, or with one below rounding if fewer do.

    With c = mean + K, the error of N nodes is about ``exp(-c / 2) (e c / (8 N))^(2 N)``, by the
    bound for functions that are analytic in an ellipse.
    """
    enough = 16 + int(np.ceil((mean + K) / 2))
    return min((m + K) // 2 + 1, 8 * -(-enough // 8))


@lru_cache(maxsize=64)
def _nodes(number: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(number)
    return tuple(((x + 1) / 2).tolist()), tuple((w / 2).tolist())


PROBABILITY_RULES: dict[str, Rule] = {
    "expected_f1": ExpectedF1(),
    "costs": Costs(),
    "between": Between(),
}
