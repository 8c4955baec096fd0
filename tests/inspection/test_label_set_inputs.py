"""Label sets and frames in place of label matrices, in metrics, displays and error searches."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest

from eigenlabel import MultilabelBlend, SharedSubspaceClassifier, metrics
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inspection import (
    LabelBarsDisplay,
    ReliabilityDisplay,
    explain_label,
    find_label_issues,
)
from eigenlabel.thresholds import fit_calibration

mpl.use("Agg")
NAMES = ["ash", "birch", "cedar"]


@pytest.fixture(scope="module")
def case():
    data = make_shared_subspace(80, 5, 3, prevalence=0.3, noise=0.3, random_state=0)
    sets = [{name for name, there in zip(NAMES, row, strict=True) if there} for row in data.Y]
    model = MultilabelBlend(["linear"], random_state=0).fit(data.X, sets)
    return data, sets, model


FORMS = {
    "sets": lambda _, sets: sets,
    "lists": lambda _, sets: [sorted(one) for one in sets],
    "series": lambda _, sets: pd.Series([sorted(one) for one in sets]),
    "pandas": lambda Y, _: pd.DataFrame(Y, columns=NAMES),
    "polars": lambda Y, _: pl.DataFrame(np.asarray(Y), schema=NAMES),
}


@pytest.mark.parametrize("form", list(FORMS))
def test_metrics_of_scores_and_probabilities(form, case):
    data, sets, model = case
    y, P = FORMS[form](data.Y, sets), model.predict_proba(data.X)
    names = ("auc_macro", "average_precision", "log_loss", "calibration_error", "one_error")
    for name in names:
        function = getattr(metrics, name)
        assert function(y, P) == pytest.approx(function(data.Y, P), rel=1e-12)
    assert metrics.f1_macro(y, FORMS[form](data.Y, sets)) == 1
    expected = metrics.evaluate(data.Y, P, data.Y, probabilities=P)
    assert metrics.evaluate(y, P, y, probabilities=P) == pytest.approx(expected, nan_ok=True)


def test_labels_that_do_not_occur_are_explained():
    with pytest.raises(ValueError, match=r"has shape \(2, 3\), the label matrix \(2, 2\). Label s"):
        metrics.auc_macro([{"a"}, {"b"}], np.zeros((2, 3)))


@pytest.mark.parametrize("form", list(FORMS))
def test_label_issues_and_calibrations(form, case):
    data, sets, model = case
    y, P = FORMS[form](data.Y, sets), model.predict_proba(data.X)
    plain = find_label_issues(data.Y, P, label_names=NAMES)
    for found in (find_label_issues(y, P), find_label_issues(y, P, label_names=NAMES)):
        np.testing.assert_array_equal(found.samples, plain.samples)
        assert found.columns()["label"].tolist() == plain.columns()["label"].tolist()
    scores = model.decision_function(data.X)
    same = fit_calibration(scores, y).probabilities(scores)
    np.testing.assert_array_equal(same, fit_calibration(scores, data.Y).probabilities(scores))


@pytest.mark.parametrize("form", list(FORMS))
def test_displays(form, case):
    data, sets, model = case
    y = FORMS[form](data.Y, sets)
    rows = np.flatnonzero(data.Y[:, 0] == 0)[:15]  # the first label of the model does not occur
    few = FORMS[form](data.Y[rows], [sets[i] for i in rows])
    drawn = LabelBarsDisplay.from_estimator(model, data.X[rows], few, metric="f1")
    plain = LabelBarsDisplay.from_estimator(model, data.X[rows], data.Y[rows], metric="f1")
    np.testing.assert_array_equal(drawn.values, plain.values)
    assert list(drawn.names) == list(plain.names)
    LabelBarsDisplay.from_estimator(model, data.X, y, metric="auc")
    ReliabilityDisplay.from_estimator(model, data.X, y)
    ReliabilityDisplay.from_estimator(model, None, y)
    plt.close("all")


def test_explanations_of_labels(case):
    data, sets, _ = case
    linear = SharedSubspaceClassifier().fit(data.X, sets)
    named = explain_label(linear, "birch", X=data.X, Y=sets)
    plain = explain_label(linear, "birch", X=data.X, Y=data.Y)
    assert named.to_dict() == plain.to_dict()
