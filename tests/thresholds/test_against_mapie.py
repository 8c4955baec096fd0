"""Cuts and p-values against those of MAPIE, which needs a label in every sample."""

import numpy as np
import pytest

from eigenlabel.thresholds import RiskControl
from eigenlabel.thresholds.risk import hoeffding_bentkus

mapie = pytest.importorskip("mapie.risk_control", reason="MAPIE is not installed")

STEP = 1e-3


@pytest.fixture
def problem(rng):
    truth = rng.beta(0.5, 1.5, (400, 6))
    Y = rng.random(truth.shape) < truth
    some = Y.any(axis=1)
    return truth[some] ** 1.5, Y[some]


@pytest.mark.parametrize("recall", [0.7, 0.8, 0.9, 0.95])
def test_conformal_cuts_are_the_same(problem, recall):
    P, Y = problem
    other = mapie.MultiLabelClassificationController(
        lambda _: P, risk="recall", target_level=recall, predict_params=np.arange(0, 1, STEP)
    )
    other.calibrate(P, Y.astype(int))
    found = RiskControl(recall=recall).fit(P, Y)[0]
    assert abs(found - other.best_predict_param[0]) <= STEP  # the grid of MAPIE


def test_p_values_are_the_same(rng):
    from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value

    risks = np.append(rng.random(30), [0.0])
    expected = compute_hoeffding_bentkus_p_value(risks, 70, np.array([0.3]))
    np.testing.assert_allclose(hoeffding_bentkus(risks, 70, 0.3), np.ravel(expected), rtol=1e-9)


def test_samples_without_labels_are_accepted_here_only(problem):
    P, Y = problem
    Y[:50] = False
    assert np.isfinite(RiskControl(recall=0.9).fit(P, Y)[0])
    other = mapie.MultiLabelClassificationController(lambda _: P, risk="recall", target_level=0.9)
    with pytest.raises(ValueError, match="Invalid y"):
        other.calibrate(P, Y.astype(int))
