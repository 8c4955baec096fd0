"""From held-out scores to probabilities: one monotone map for each label.

All labels have a logistic map, fitted together (``logistic``). Labels with many positives may have
an isotonic curve on top of it (``isotonic``). Both are fitted to bins of scores (``score_bins``).

If y is a vector of classes, all classes share one map. scikit-learn's contract demands that the
likeliest class has the highest score and is predicted; maps that differ by class would break it.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from eigenlabel.inputs.data import unmasked
from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.inputs.sample_weights import check_row_weights
from eigenlabel.labels.checks import check_observed_labels
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.labels.named_columns import labels_beside
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.thresholds.isotonic import IsotonicCurves, fit_curves, has_curve, prefer_curves
from eigenlabel.thresholds.logistic import Maps, Prior, fit_maps, fit_rising_pairs
from eigenlabel.thresholds.score_bins import (
    ARRAYS,
    FOLDS,
    LARGEST,
    Bins,
    ScoreBins,
    counting_rows,
    label_blocks,
    read_cells,
)

METHODS = ("auto", "sigmoid", "isotonic")


@dataclass(frozen=True, eq=False)
class Calibration:
    """Monotone maps from the scores of each label to its probabilities.

    With the log-odds ``z = slopes (s - center) / scale + intercepts`` and the curve ``g(z) = c - d
    softplus(-z) + e softplus(z)`` that all labels share, a label has the probability
    ``sigmoid(g(z))``, or the value of its isotonic curve there. A probability p becomes ``floor +
    (1 - 2 floor) p``, so that none is closer to 0 or 1 than the number of cells supports.
    Probabilities never fall with the score. :func:`fit_calibration` and :class:`Calibrator` fit
    them.

    Parameters
    ----------
    center : float
        The median score of all labels.
    scale : float
        The unit of the slopes: half the distance of the quantiles 0.05 and 0.95 of all scores.
    slopes : ndarray of shape (n_labels,)
        The slope of each label, which is not negative.
    intercepts : ndarray of shape (n_labels,)
        The intercept of each label.
    link : ndarray of shape (3,)
        The numbers c, d and e of the curve that all labels share; (0, 1, 1) is the identity.
    isotonic : ndarray of shape (n_labels,), bool
        The labels that have an isotonic curve.
    curves : IsotonicCurves
        The isotonic curves of these labels.
    floor : float, default=0.0
        The smallest probability, 0.5 / (N + 1) for N cells, as if half a cell more were positive
        and half a cell more negative.

    Attributes
    ----------
    methods : list of str
        The method of each label, "sigmoid" or "isotonic".

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.thresholds import fit_calibration
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.standard_normal((500, 3))
    >>> Y = rng.random((500, 3)) < 1 / (1 + np.exp(-2 * scores))
    >>> calibration = fit_calibration(scores, Y)
    >>> calibration.probabilities(np.array([[-2.0, 0.0, 2.0]])).round(1)
    array([[0. , 0.5, 1. ]])
    """

    center: float
    scale: float
    slopes: Floats
    intercepts: Floats
    link: Floats
    isotonic: Bools
    curves: IsotonicCurves
    floor: float = 0.0

    @property
    def methods(self) -> list[str]:
        """The method of each label, "sigmoid" or "isotonic"."""
        return ["isotonic" if each else "sigmoid" for each in self.isotonic]

    def probabilities(self, scores: Any) -> Floats:
        """Return the probabilities of scores.

        The work is done in blocks of rows, so that temporary arrays take at most 32 MiB.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            The scores. A score of NaN has the probability NaN.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels)
            The probabilities, of type float32 if the scores are.
        """
        scores = _check_scores(scores)
        m = len(self.slopes)
        if scores.shape[1] != m:
            raise ValueError(
                f"scores have {scores.shape[1]} columns, but the calibration was fitted to {m} "
                "labels: pass one score for each of them."
            )
        out = np.empty(scores.shape, dtype=np.result_type(scores.dtype, np.float32))
        pairs = np.stack([self.slopes, self.intercepts], axis=1)
        maps = Maps(self.center, self.scale, pairs, self.link)
        curved = np.flatnonzero(self.isotonic)
        label = np.arange(len(curved))
        for rows in row_blocks(len(scores), ARRAYS * m):
            p = expit(maps.log_odds(np.clip(scores[rows].astype(float), -LARGEST, LARGEST)))
            if curved.size:
                part = p[:, curved]
                p[:, curved] = self.curves.apply(part, np.broadcast_to(label, part.shape))
            out[rows] = self.floor + (1 - 2 * self.floor) * p
        return out


class Calibrator:
    """Fit a calibration to held-out scores that arrive in pieces, in bounded memory.

    A piece consists of some rows, of all labels or of a block of labels. Of each label at most 256
    bins of scores are kept, and fewer (at least 96) if there are more than 10,000 labels: 6 kB per
    label, at most 70 MB for 30,000 labels. Fitting needs about three times as much. Up to 256
    samples the result is that of :func:`fit_calibration`. With more, the sigmoids are fitted to the
    bins, so that probabilities differ by some thousandths, and "auto" may choose another method for
    a label. Pieces of some hundred rows are fastest.

    Parameters
    ----------
    n_labels : int
        The number of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.thresholds import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> calibrator = Calibrator(3)
    >>> for _ in range(10):
    ...     scores = rng.standard_normal((200, 3))
    ...     Y = rng.random((200, 3)) < 1 / (1 + np.exp(-2 * scores))
    ...     calibrator = calibrator.add(scores, Y)
    >>> calibrator.fit().probabilities(np.array([[-2.0, 0.0, 2.0]])).round(1)
    array([[0. , 0.5, 1. ]])
    """

    def __init__(self, n_labels: int) -> None:
        check_number("n_labels", n_labels, 1, integer=True)
        self._summary = ScoreBins(int(n_labels))

    def add(
        self, scores: Any, Y: Any, sample_weight: Any = None, *, labels: slice = slice(None)
    ) -> "Calibrator":
        """Add the held-out scores of some samples.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            The scores. Scores of NaN are ignored.
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            The true labels of the piece; NaN where a label is not observed.
        sample_weight : array-like of shape (n_samples,), default=None
            The sample weights, which count as numbers of samples. If their mean is below one, they
            are scaled to a mean of one.
        labels : slice, default=slice(None)
            The labels of the piece. If pieces consist of blocks of labels, each block must receive
            the same samples in the same order.

        Returns
        -------
        calibrator : Calibrator
            The object itself.
        """
        columns = len(range(len(self._summary.n_samples))[labels])
        scores, truth, weights, observed = _check(scores, Y, sample_weight)
        if truth.shape[1] != columns:
            raise ValueError(
                f"The piece has {truth.shape[1]} labels, but {columns} were announced: pass the "
                "number of all labels to Calibrator, and the labels of a block as labels."
            )
        self._summary.add(scores, truth, weights, observed, labels)
        return self

    def fit(self, method: str = "auto") -> Calibration:
        """Fit the maps of all labels.

        Parameters
        ----------
        method : str, default="auto"
            The kind of maps: "sigmoid", "isotonic" or "auto"; see :func:`fit_calibration`.

        Returns
        -------
        calibration : Calibration
            The calibration.
        """
        check_choice("method", method, METHODS)
        bins = self._summary.scaled()
        _check_samples(bins)
        return _complete(fit_maps(bins.joined())[0], bins, method)


def fit_calibration(
    scores: Any, Y: Any, sample_weight: Any = None, *, method: str = "auto"
) -> Calibration:
    """Fit monotone maps from held-out scores to probabilities, one for each label.

    The map of label j is a sigmoid with the slope a_j >= 0 and the intercept b_j. The pairs (a_j,
    b_j) follow a normal distribution whose mean and covariance are estimated from all labels by
    their marginal likelihood (empirical Bayes), so that labels with few positives borrow from the
    others and no slope is infinite. A curve with three parameters that all labels share (the beta
    calibration of Kull et al. 2017) corrects the shape of the sigmoid. The result does not depend
    on the location or the scale of the scores. With N cells in all, probabilities lie between
    0.5 / (N + 1) and 1 minus that: what never happened in N cells is not impossible (the estimator
    of Krichevsky and Trofimov 1981).

    The cost is that of sorting the scores, and about 10 passes over them. Temporary arrays take
    32 MiB beside a few bins per label.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores of samples that the model was not fitted to, as ``oof_scores_``. Scores of NaN are
        ignored, and infinite ones count as 1e150.
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels. A cell that is NaN is not observed.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights, which count as numbers of samples; samples of weight zero are ignored.
        If their mean is below one, they are scaled to a mean of one.
    method : str, default="auto"
        "sigmoid" for the maps above. "isotonic" adds an isotonic curve to each label with at least
        20 positives and 20 negatives; the sigmoid counts as 100 more samples of the rarer class, so
        that values lie strictly between 0 and 1, and the curve is linear between its knots. "auto"
        adds it to the labels whose log-loss is lower with it, in cross-validation over four parts
        of the samples.

    Returns
    -------
    calibration : Calibration
        The maps; ``calibration.probabilities(scores)`` applies them.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.thresholds import fit_calibration
    >>> data = make_shared_subspace(random_state=0)
    >>> model = SharedSubspaceClassifierCV().fit(data.X, data.Y)
    >>> calibration = fit_calibration(model.oof_scores_, data.Y)
    >>> P = calibration.probabilities(model.decision_function(data.X))
    >>> P.shape == data.Y.shape, bool((P > 0).all() and (P < 1).all())
    (True, True)
    """
    check_choice("method", method, METHODS)
    scores, truth, weights, observed = _check(scores, Y, sample_weight)
    summary = ScoreBins(truth.shape[1])
    summary.add(scores, truth, weights, observed, slice(None))
    bins = summary.scaled()
    _check_samples(bins)
    maps, prior = fit_maps(bins.joined())
    rows = counting_rows(scores, weights)
    if prior is not None and len(rows) > 2 * summary.k * FOLDS:
        w = None if weights is None else weights[rows] * summary.factor
        seen = None if observed is None else observed[rows]
        pairs = _refine(maps, prior, scores[rows], truth[rows], w, seen)
        maps = replace(maps, pairs=pairs)
    return _complete(maps, bins, method)


def held_out_probabilities(
    scores: Any,
    Y: Any,
    sample_weight: Any = None,
    *,
    method: str = "auto",
    n_folds: int = 5,
) -> Floats:
    """Return probabilities by calibrations that have not seen the labels of the sample.

    The samples are divided into folds, and each fold is calibrated by maps that are fitted to the
    others. Rules with guarantees, such as :class:`RiskControl`, and searches for wrong labels need
    these probabilities: a calibration knows which labels it was fitted to, above all those of rare
    labels. The cost is that of ``n_folds`` calibrations.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores of samples that the model was not fitted to, as ``oof_scores_``.
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels. A cell that is NaN is not observed.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights, as in :func:`fit_calibration`.
    method : str, default="auto"
        The kind of maps: "sigmoid", "isotonic" or "auto"; see :func:`fit_calibration`.
    n_folds : int, default=5
        The number of folds, at least 2. Sample number i of those that have scores belongs to the
        fold i modulo ``n_folds``.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_labels)
        The probabilities, NaN where scores are NaN. If the other folds have no observed label, as
        those of a single sample, the calibration is fitted to all samples.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.thresholds import RiskControl, held_out_probabilities
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.standard_normal((500, 3))
    >>> Y = rng.random((500, 3)) < 1 / (1 + np.exp(-2 * scores))
    >>> RiskControl(recall=0.9).fit(held_out_probabilities(scores, Y), Y).round(1)
    array([0.3, 0.3, 0.3])
    """
    check_number("n_folds", n_folds, 2, integer=True)
    scores = _check_scores(scores)
    known = np.flatnonzero(~np.isnan(scores).all(axis=1))
    fold = np.full(len(scores), -1)
    fold[known] = np.arange(len(known)) % n_folds
    return probabilities_by_fold(scores, Y, fold, sample_weight, method)


def probabilities_by_fold(
    scores: Any, Y: Any, fold: Ints, sample_weight: Any, method: str
) -> Floats:
    """Return probabilities of held-out scores by calibrations that have not seen their fold.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        The held-out scores.
    Y : array-like of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    fold : array of int of shape (n_samples,)
        The fold of each sample, -1 for samples without scores.
    sample_weight : array-like of shape (n_samples,) or None
        The sample weights.
    method : str
        The kind of maps, as in :func:`fit_calibration`.
    """
    check_choice("method", method, METHODS)
    scores, truth, weights, observed = _check(scores, Y, sample_weight)
    cells = ~np.isnan(scores) if observed is None else observed & ~np.isnan(scores)
    counts = cells.any(axis=1) if weights is None else cells.any(axis=1) & (weights > 0)
    labels = truth if observed is None else np.where(observed, truth, np.nan)
    out = np.full(scores.shape, np.nan, dtype=np.result_type(scores.dtype, np.float32))
    for k in np.unique(fold[fold >= 0]):
        train = counts & (fold != k)
        rows = train if train.any() else counts
        part = None if weights is None else weights[rows]
        calibration = fit_calibration(scores[rows], labels[rows], part, method=method)
        out[fold == k] = calibration.probabilities(scores[fold == k])
    return out


def _refine(
    maps: Maps,
    prior: Prior,
    scores: Floats,
    truth: Bools,
    weights: Floats | None,
    observed: Bools | None,
) -> Floats:
    """Return the pairs (m, 2) fitted to all samples, not to bins, a few labels at a time."""
    pairs = maps.pairs.copy()
    for part in label_blocks(*scores.shape):
        cells = read_cells(scores, truth, weights, observed, part)
        unit = cells.standardised(maps.centre, maps.spread)
        pairs[part] = fit_rising_pairs(unit, prior, pairs[part])
    return pairs


def _complete(maps: Maps, bins: Bins, method: str) -> Calibration:
    """Return the calibration of fitted maps, with isotonic curves by the method."""
    m, folds, k = bins.scores.shape
    maps = maps.with_link(bins.joined())
    positives, weights = (each.sum(axis=(1, 2)) for each in (bins.positives, bins.weights))
    curved = has_curve(positives, weights - positives, maps.pairs[:, 0])
    if method == "sigmoid":
        curved = np.zeros_like(curved)
    for part in label_blocks(folds * k, m):
        some = part.start + np.flatnonzero(curved[part])
        if method == "auto" and some.size:
            curved[some] = prefer_curves(_bin_probabilities(maps, bins, some), bins.part(some))
    some = np.flatnonzero(curved)
    p = _bin_probabilities(maps, bins, some).reshape(len(some), folds * k)
    slopes, intercepts = maps.pairs.T.copy()
    curves = fit_curves(p, bins.part(some).joined())
    floor = 0.5 / (float(bins.weights.sum()) + 1)
    return Calibration(
        maps.centre, maps.spread, slopes, intercepts, maps.link, curved, curves, floor
    )


def _bin_probabilities(maps: Maps, bins: Bins, labels: Ints) -> Floats:
    """Return the probabilities (labels, folds, k) of the bins of some labels."""
    some = replace(maps, pairs=maps.pairs[labels])
    z = some.log_odds(bins.scores[labels].transpose(1, 2, 0))
    return np.asarray(expit(np.ascontiguousarray(z.transpose(2, 0, 1))))


def _check(
    scores: Any, Y: Any, sample_weight: Any
) -> tuple[Floats, Bools, Floats | None, Bools | None]:
    """Return checked scores, labels, weights and observed cells."""
    truth, observed = check_observed_labels(labels_beside(Y, scores, "scores"), "Y")
    scores = _check_scores(scores)
    if scores.shape != truth.shape:
        raise ValueError(f"scores have shape {scores.shape}, the label matrix {truth.shape}.")
    return scores, truth, check_row_weights(sample_weight, len(truth)), observed


def _check_scores(scores: Any) -> Floats:
    """Return a matrix of scores, which may contain NaN and infinite numbers."""
    array = np.asarray(unmasked(scores))
    if array.dtype.kind not in "biuf":
        raise ValueError(f"scores must be numbers, got dtype {array.dtype}.")
    if array.ndim != 2:
        raise ValueError(f"scores must be a matrix (samples, labels), got shape {array.shape}.")
    return array if array.dtype.kind == "f" else array.astype(float)


def _check_samples(bins: Bins) -> None:
    """Raise ValueError if no cell counts."""
    if not bins.weights.any():
        raise ValueError(
            "No score of a sample of positive weight with an observed label: calibration needs at "
            "least one."
        )


LEAST_SLOPE = 1e-6  # of the map of classes, in units of the spread of scores: it must increase


def fit_probabilities(
    codec: LabelCodec, scores: Floats, Y: Any, sample_weight: Any = None, *, method: str = "auto"
) -> Calibration:
    """Fit the maps from held-out scores (n, m) to probabilities, for any form of y.

    For a label matrix it is :func:`eigenlabel.thresholds.fit_calibration`. For a vector y, one
    sigmoid is fitted to the scores of all classes together, whatever the method; that of two
    classes is 1/2 at score zero.

    Parameters
    ----------
    codec : LabelCodec
        The form of y.
    scores : ndarray of shape (n_samples, n_labels)
        Scores of samples that the model was not fitted to. Scores of NaN are ignored.
    Y : ndarray of shape (n_samples, n_labels)
        The label matrix, with NaN where a label is not observed.
    sample_weight : ndarray of shape (n_samples,), default=None
        The sample weights.
    method : str, default="auto"
        The kind of maps: "sigmoid", "isotonic" or "auto".
    """
    if codec.multilabel:
        return fit_calibration(scores, Y, sample_weight, method=method)
    cells = class_cells(codec, scores, Y, sample_weight)
    return share_map(codec, fit_calibration(*cells, method="sigmoid"))


def class_cells(
    codec: LabelCodec, scores: Floats, Y: Any, sample_weight: Floats | None
) -> tuple[Floats, Any, Floats | None]:
    """Return the scores (n k, 1) of all k classes of a vector y, their truth, and weights.

    Of two classes, the first one has the negative score of the second.
    """
    if codec.kind == "binary" and len(codec.classes) == 2:
        scores, Y = np.hstack([-scores, scores]), np.hstack([~Y, Y])
    weights = None if sample_weight is None else np.repeat(sample_weight, scores.shape[1])
    return scores.reshape(-1, 1), Y.reshape(-1, 1), weights


def share_map(codec: LabelCodec, one: Calibration) -> Calibration:
    """Return the calibration in which all classes have the one map that was fitted to them.

    That of two classes is exactly antisymmetric, as the scores that it was fitted to are.
    """
    columns = 1 if codec.kind == "binary" else len(codec.classes)
    center, intercept, (_, d, e) = one.center, float(one.intercepts[0]), one.link
    link = one.link
    if codec.kind == "binary" and len(codec.classes) == 2:
        center, intercept, link = 0.0, 0.0, np.array([0.0, (d + e) / 2, (d + e) / 2])
    return replace(
        one,
        center=center,
        slopes=np.full(columns, max(float(one.slopes[0]), LEAST_SLOPE)),
        intercepts=np.full(columns, intercept),
        link=link,
        isotonic=np.zeros(columns, dtype=bool),
    )
