"""The calibration of whatever y is: a map for each label, or one map that all classes share.

scikit-learn's contract demands of classes that the likeliest one has the highest score and is
predicted. Maps that differ by class would break it; one increasing map for all classes does not.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats
from eigenlabel.thresholds.calibration import Calibration, fit_calibration

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
