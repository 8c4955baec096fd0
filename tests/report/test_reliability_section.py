"""The section that compares probabilities with what is observed."""

import numpy as np

from eigenlabel import report
from eigenlabel.metrics import calibration_error, reliability_bins
from eigenlabel.report.reliability_section import LEFT, SIDE, TOP, place


def test_a_reliability_diagram_has_the_bins_of_the_metric(fitted):
    data, model = fitted
    P = model.predict_proba(data.X)
    shown = report.reliability(data.Y, P, n_bins=7)
    bins = reliability_bins(data.Y, P, n_bins=7)
    np.testing.assert_allclose([b[0] for b in shown["bins"]], bins.predicted, rtol=1e-3)  # digits
    np.testing.assert_allclose([b[1] for b in shown["bins"]], bins.observed, rtol=1e-3)
    assert [b[2] for b in shown["bins"]] == bins.count.tolist()
    html = report.render(report.page("P", [shown]))
    assert html.count("<circle") == len(bins.count) + 3  # and the mark of the page
    assert shown["error"] == float(f"{calibration_error(data.Y, P, n_bins=7):.4g}")


def test_perfect_probabilities_are_on_the_diagonal_and_more_cases_are_larger_dots():
    Y = np.array([[1]] * 3 + [[0]] * 9)
    P = Y.astype(float)
    low, high = place(report.reliability(Y, P))["dots"]
    assert (low["x"], low["y"]) == (LEFT, TOP + SIDE)
    assert (high["x"], high["y"]) == (LEFT + SIDE, TOP)
    assert low["r"] > high["r"]
