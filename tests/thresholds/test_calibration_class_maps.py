"""Labels have a map each; all classes of a vector y share one increasing map."""

import numpy as np
import pytest
from scipy.special import expit

from eigenlabel.labels.codec import LabelCodec
from eigenlabel.thresholds import fit_calibration
from eigenlabel.thresholds.calibration import (
    LEAST_SLOPE,
    class_cells,
    fit_probabilities,
    share_map,
)


def draw(rng, n, k):
    """Return scores (n, k) and classes that follow their softmax."""
    scores = rng.standard_normal((n, k))
    chances = np.exp(2 * scores) / np.exp(2 * scores).sum(axis=1, keepdims=True)
    return scores, (rng.random((n, 1)) > chances.cumsum(axis=1)).sum(axis=1)


@pytest.mark.parametrize("method", ["auto", "sigmoid", "isotonic"])
def test_each_label_of_a_matrix_has_its_own_map(method, rng):
    scores, w = rng.standard_normal((300, 3)), rng.integers(1, 3, 300)
    Y = rng.random(scores.shape) < expit(2 * scores + [0, 1, -2])
    codec = LabelCodec.fit(Y)[0]
    found = fit_probabilities(codec, scores, Y, w, method=method)
    expected = fit_calibration(scores, Y, w, method=method)
    np.testing.assert_array_equal(found.probabilities(scores), expected.probabilities(scores))


@pytest.mark.parametrize("method", ["auto", "isotonic"])
def test_all_classes_share_the_sigmoid_of_all_their_cells(method, rng):
    scores, y = draw(rng, 400, 4)
    codec, Y = LabelCodec.fit(y)
    w = rng.integers(0, 3, 400).astype(float)
    found = fit_probabilities(codec, scores, Y, w, method=method)
    one = fit_calibration(
        scores.reshape(-1, 1), Y.reshape(-1, 1), np.repeat(w, 4), method="sigmoid"
    )
    expected = one.probabilities(scores.reshape(-1, 1)).reshape(-1, 4)
    np.testing.assert_allclose(found.probabilities(scores), expected, rtol=1e-12)
    assert found.methods == ["sigmoid"] * 4
    np.testing.assert_array_equal(found.probabilities(scores).argmax(axis=1), scores.argmax(axis=1))


def test_two_classes_are_equally_likely_at_score_zero(rng):
    scores = rng.standard_normal((300, 1)) + 0.7  # the second class is frequent
    y = (rng.random(300) < expit(3 * scores[:, 0])).astype(int)
    codec, Y = LabelCodec.fit(y)
    found = fit_probabilities(codec, scores, Y)
    grid = np.linspace(-3, 3, 101)[:, None]
    p = found.probabilities(grid)
    np.testing.assert_allclose(p + p[::-1], 1, rtol=1e-12)
    assert (np.diff(p[:, 0]) > 0).all()
    cells = class_cells(codec, scores, Y, None)
    one = fit_calibration(*cells, method="sigmoid").probabilities(grid)
    # The fit to symmetric cells is symmetric but for the rounding of its iterations.
    np.testing.assert_allclose(p, one, atol=1e-4)


def test_cells_of_two_classes_are_those_of_both():
    codec, Y = LabelCodec.fit(np.array([0, 1]))
    scores, truth, weights = class_cells(codec, np.array([[-2.0], [3.0]]), Y, np.array([1.0, 5.0]))
    np.testing.assert_array_equal(scores, [[2], [-2], [-3], [3]])
    np.testing.assert_array_equal(truth, [[True], [False], [False], [True]])
    np.testing.assert_array_equal(weights, [1, 1, 5, 5])


def test_a_single_class_has_one_cell():
    codec, Y = LabelCodec.fit(np.array([7, 7]))
    scores, truth, weights = class_cells(codec, np.array([[1.0], [2.0]]), Y, None)
    np.testing.assert_array_equal(scores, [[1], [2]])
    assert truth.all()
    assert weights is None
    assert fit_probabilities(codec, scores, Y).slopes.shape == (1,)


def test_the_map_of_classes_increases_even_if_scores_say_nothing(rng):
    scores, y = -draw(rng, 300, 3)[0], draw(rng, 300, 3)[1]
    codec, Y = LabelCodec.fit(y)
    flat = fit_calibration(scores.reshape(-1, 1), 1 - Y.reshape(-1, 1), method="sigmoid")
    flat = share_map(codec, type(flat)(**{**vars(flat), "slopes": np.zeros(1)}))
    np.testing.assert_array_equal(flat.slopes, [LEAST_SLOPE] * 3)
    P = flat.probabilities(scores)
    np.testing.assert_array_equal(P.argmax(axis=1), scores.argmax(axis=1))
    np.testing.assert_allclose(P, P.mean(), atol=1e-5)  # nearly constant: slopes of 1e-6
