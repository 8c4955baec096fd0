"""Cells of a label matrix that held-out probabilities and the other labels contradict."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, logit

from eigenlabel.inputs.parameters import check_number
from eigenlabel.inspection.label_errors.given_cells import GivenLabels, probability_blocks
from eigenlabel.inspection.label_errors.label_issues import LabelIssues
from eigenlabel.inspection.label_errors.logistic_maps import Evidence, fit_maps, log_odds
from eigenlabel.inspection.label_errors.noise_rates import NoiseRates, fit_noise_rates
from eigenlabel.labels.label_sets import read_labels
from eigenlabel.labels.named_columns import labels_beside
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.conditional_means import ConditionalMeans
from eigenlabel.linalg.numerics import EPS

CELLS = 2**20  # up to this number of cells, all of them are fitted
Blocks = Callable[[], Iterator[tuple[slice, Floats]]]


def find_label_issues(
    Y: Any,
    probabilities: Any,
    *,
    max_issues: int = 100_000,
    label_names: Any = None,
    sample_names: Any = None,
) -> LabelIssues:
    """Find the labels that are most likely wrong or missing.

    The evidence on a cell (sample, label) is its held-out probability, from any model, and the
    other labels of the sample. A ridge regression predicts the label from the others, without the
    sample itself, and a logistic map for each label combines this prediction with the log-odds of
    the probability. With the combined probability p, and with the rates of lost and of wrongly
    given labels, which are estimated from all cells, errors explain

    * the share ``x = missing / (1 - wrong_j) * p / (1 - p)`` of the labels that are *not* given on
      such evidence,
    * the share ``x = wrong_j / (1 - missing) * (1 - p) / p`` of those that *are* given,

    because p describes the given labels, errors included. The score is ``x / sqrt(1 + x^2)``, which
    equals x if x is small and is always below 1. The probabilities need not be calibrated, but must
    come from models that were fitted without the sample.

    The cost is three passes over the probabilities and ``O(n K m)`` operations, where K is the
    number of labels that others are predicted from: all m up to 1,448 labels, and about
    ``4e6 / m`` of the most frequent ones beyond. Memory is bounded if Y is sparse and the
    probabilities are sparse or come in blocks.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels), or list of label sets
        The given labels, 0 or 1. NaN stands for a label that is not observed, which is never
        reported. The labels of label sets are those of ``label_names``, or those that occur, in
        ascending order.
    probabilities : array-like, sparse matrix or callable
        Held-out probabilities of the labels, of shape (n_samples, n_labels). Cells that a sparse
        matrix does not store have probability 0, so that the highest probabilities of each sample
        suffice. A callable returns an iterable of blocks of consecutive rows, each an array or a
        sparse matrix; it is called three times.
    max_issues : int, default=100_000
        The number of cells to keep, those with the highest scores.
    label_names : array-like of shape (n_labels,), default=None
        The names of the labels. By default they are the columns of Y if it is a frame, and
        positions otherwise.
    sample_names : array-like of shape (n_samples,), default=None
        The names of the samples. By default they are positions.

    Returns
    -------
    issues : LabelIssues
        The cells, the most suspicious first, and scores of samples and labels.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.inspection import find_label_issues
    >>> rng = np.random.default_rng(0)
    >>> evidence = rng.normal(size=(300, 3))
    >>> truth = rng.random((300, 3)) < 1 / (1 + np.exp(-6 * evidence))
    >>> Y = truth.astype(int)
    >>> wrong = evidence[:, 1].argmin()
    >>> Y[wrong, 1] = 1
    >>> issues = find_label_issues(Y, 1 / (1 + np.exp(-6 * evidence)))
    >>> bool(issues.samples[0] == wrong), int(issues.labels[0]), str(issues.kinds[0])
    (True, 1, 'wrong')
    >>> bool((issues.corrected(1) == truth).all())
    True
    """
    check_number("max_issues", max_issues, 1, integer=True)
    if hasattr(probabilities, "fit"):
        raise TypeError(
            "probabilities is an estimator. Pass held-out probabilities, such as "
            "cross_val_predict(model, X, Y, method='predict_proba')."
        )
    Y = read_labels(labels_beside(Y, probabilities, "probabilities"), label_names)
    given = GivenLabels(Y)
    n, m = given.shape
    names = getattr(Y, "columns", None) if label_names is None else label_names
    _check_names("label_names", names, m)
    _check_names("sample_names", sample_names, n)
    detector = _Detector(given, lambda: probability_blocks(probabilities, given.shape))
    kept = _TopCells(max_issues)
    sound, missing, wrong = np.zeros(n), np.zeros(m), np.zeros(m)
    for rows, P, odds, error, positive, observed in detector.blocks():
        scores = np.where(observed, _score(error), 0.0)
        sound[rows] = (np.where(observed, log_expit(-2 * error), 0.0) - np.log1p(scores)).sum(
            axis=1
        )
        missing += np.where(positive, 0.0, scores).sum(axis=0)
        wrong += np.where(positive, scores, 0.0).sum(axis=0)
        kept.add(rows.start, P, odds, error, positive, observed)
    samples, labels, positive, P, odds, error = kept.cells()
    return LabelIssues(
        samples=samples,
        labels=labels,
        kinds=np.where(positive, "wrong", "missing"),
        scores=_score(error),
        probabilities=P,
        combined=expit(odds),
        sample_scores=-np.expm1(sound),
        label_scores=(missing + wrong) / np.maximum(given.observed_counts, 1),
        label_missing=missing,
        label_wrong=wrong,
        missing_rate=detector.rates.missing,
        wrong_rates=detector.rates.wrong,
        Y=Y,
        label_names=names,
        sample_names=sample_names,
    )


def _check_names(what: str, names: Any, count: int) -> None:
    if names is not None and len(names) != count:
        raise ValueError(f"{what} has {len(names)} names, but Y needs {count}.")


class _Detector:
    """The maps from evidence to odds of an error, and the blocks of cells that they are applied to.

    Parameters
    ----------
    given : GivenLabels
        The labels.
    read : callable
        Returns an iterator of rows and their probabilities.
    """

    rates: NoiseRates

    def __init__(self, given: GivenLabels, read: Blocks) -> None:
        n, m = given.shape
        self.given, self.read = given, read
        self.bounds = _bounds(P for _, P in read())
        self.context = ConditionalMeans(given.filled(), given.frequency)
        cells = self._collect(stride=-(-n * m // CELLS))
        self.maps = fit_maps(cells, m, start=np.array([1.0, 0.0, 0.0]))
        odds = log_odds(cells.features, self.maps, cells.label)
        counts = given.observed_counts
        frequency = (given.frequency * counts + 0.5) / (counts + 1)
        self.rates = fit_noise_rates(
            odds - logit(frequency)[cells.label],
            cells.label,
            cells.weight * cells.positive,
            cells.weight * ~cells.positive,
            frequency,
            n,
        )

    def _evidence(self) -> Iterator[tuple[slice, Floats, Floats, Bools, Bools]]:
        """Yield rows, probabilities, evidence (rows, m, 3), and given and observed labels."""
        low, high = self.bounds
        for rows, P in self.read():
            features = np.ones((*P.shape, 3))
            features[..., 0] = logit(np.clip(P, low, high))
            features[..., 1] = self.context.of_rows(rows)
            yield rows, P, features, *self.given.rows(rows)

    def _collect(self, stride: int) -> Evidence:
        """Return all positives, and the negatives of every ``stride``-th sample."""
        parts = []
        for rows, _, features, positive, observed in self._evidence():
            chosen = np.arange(rows.start, rows.stop) % stride == 0
            i, j = np.nonzero(observed & (positive | chosen[:, None]))
            given = positive[i, j]
            parts.append((j, features[i, j], given, np.where(given, 1.0, float(stride))))
        return Evidence(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def blocks(self) -> Iterator[tuple[slice, Floats, Floats, Floats, Bools, Bools]]:
        """Yield rows, probabilities, log-odds of p, log x, and given and observed labels."""
        wrong, missing = self.rates.wrong, self.rates.missing
        if_given = np.log(wrong) - np.log1p(-missing)
        if_not = np.log(missing) - np.log1p(-wrong)
        for rows, P, features, positive, observed in self._evidence():
            odds = np.einsum("ijk,jk->ij", features, self.maps)
            error = np.where(positive, if_given - odds, if_not + odds)
            yield rows, P, odds, error, positive, observed


def _score(error: Floats) -> Floats:
    """Return ``s = x / sqrt(1 + x^2)`` of ``log x``; then ``1 - s = expit(-2 log x) / (1 + s)``."""
    return np.asarray(np.sqrt(expit(2 * error)))


def _bounds(blocks: Iterator[Floats]) -> tuple[float, float]:
    """Return what 0 and 1 are replaced by: half the distance of the probability next to them.

    So a probability that is rounded to 0, or is not stored, counts as a little less than the
    smallest one that is not.
    """
    low, high = 0.5, 0.5
    for P in blocks:
        low = min(low, float(P[P > 0].min(initial=0.5)))
        high = max(high, float(P[P < 1].max(initial=0.5)))
    return max(low / 2, EPS), min((1 + high) / 2, 1 - EPS)


class _TopCells:
    """The cells that are most likely errors, of all that were added; of equal ones the first."""

    def __init__(self, limit: int) -> None:
        self.limit, self.bound = limit, -np.inf
        self.parts: list[tuple[Any, ...]] = []

    def add(
        self, first: int, P: Floats, odds: Floats, error: Floats, positive: Bools, observed: Bools
    ) -> None:
        """Add the observed cells of a block whose first row is ``first``."""
        i, j = np.nonzero(observed & (error > self.bound))
        self.parts.append((i + first, j, positive[i, j], P[i, j], odds[i, j], error[i, j]))
        if sum(len(part[0]) for part in self.parts) > 2 * self.limit:
            self.cells()

    def cells(self) -> tuple[Any, ...]:
        """Return samples, labels, given labels, probabilities, log-odds of p, and log x."""
        joined = [np.concatenate(part) for part in zip(*self.parts, strict=True)]
        samples, labels, *_, error = joined
        order = np.lexsort((labels, samples, -error))[: self.limit]
        self.parts = [tuple(part[order] for part in joined)]
        if len(order) == self.limit:
            self.bound = float(error[order[-1]])
        return self.parts[0]
