"""Probabilities in ONNX against those of the calibration, and against the formula."""

import numpy as np
import pytest
from scipy.special import expit, logit

from eigenlabel.export.graph import Graph, Value
from eigenlabel.export.probabilities import calibrated, log_odds, shaped
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.thresholds import fit_calibration
from export.test_kernel_values import evaluate


@pytest.fixture
def scored(rng):
    scores = 3.0 * rng.standard_normal((2000, 5)) + 1.0
    Y = rng.random((2000, 5)) < expit(scores - [0, 1, 2, 3, 14])
    return scores, Y


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "auto"])
def test_probabilities_are_those_of_the_calibration(scored, method):
    scores, Y = scored
    calibration = fit_calibration(scores, Y, method=method)
    if method == "isotonic":
        assert calibration.isotonic.any()
        assert not calibration.isotonic.all()
    knots = np.append(np.linspace(-40, 40, 301), [1e300, -1e300, np.inf, -np.inf, 0.0])
    tried = np.concatenate([scores, np.tile(knots[:, None], (1, 5))])
    graph = Graph()
    found = evaluate(graph, calibrated(graph, calibration, Value("X", 5)), tried)
    np.testing.assert_allclose(found, calibration.probabilities(tried), rtol=0, atol=1e-13)


def test_the_sigmoid_is_the_formula(scored):
    scores, Y = scored
    c = fit_calibration(scores, Y, method="sigmoid")
    z = c.slopes * (scores - c.center) / c.scale + c.intercepts
    g = c.link[0] - c.link[1] * np.log1p(np.exp(-z)) + c.link[2] * np.log1p(np.exp(z))
    graph = Graph()
    found = evaluate(graph, calibrated(graph, c, Value("X", 5)), scores)
    np.testing.assert_allclose(found, c.floor + (1 - 2 * c.floor) * expit(g), rtol=0, atol=1e-12)


def test_log_odds_are_clipped(rng):
    P = rng.random((4, 3))
    P[0] = 0.0, 1.0, 0.5
    graph = Graph()
    found = evaluate(graph, log_odds(graph, Value("X", 3), 1e-7), P)
    np.testing.assert_allclose(found, logit(np.clip(P, 1e-7, 1 - 1e-7)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "classes", "width"),
    [("matrix", 3, 3), ("binary", 1, 1), ("binary", 2, 1), ("multiclass", 3, 3)],
)
def test_shapes_of_probabilities(rng, kind, classes, width):
    codec, P = LabelCodec(kind, np.arange(classes)), rng.random((4, width))
    graph = Graph()
    found = evaluate(graph, shaped(graph, codec, Value("X", width)), P)
    np.testing.assert_allclose(found, codec.shape_probabilities(P), rtol=1e-12)
