"""The sections of the pages that commands write."""

import argparse
import dataclasses

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import (
    MLkNN,
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    ThresholdedClassifier,
    __version__,
    metrics,
)
from eigenlabel.cli.pages import (
    about,
    comparison_sections,
    comparison_title,
    evaluated,
    model_sections,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.persistence import SavedModel
from eigenlabel.thresholds import Costs


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(120, 6, 4, 2, prevalence=0.3, random_state=0)


def kinds(sections):
    return [section["kind"] for section in sections]


def record(method, split, value, **more):
    figures = {"metrics": {"f1_macro": value}, "seconds": {"fit": 2.0}, "peak_mib": 10.0}
    return {
        "data": "d",
        "method": method,
        "split": split,
        "key": f"{method}-{split}",
        **figures,
    } | more


def test_a_page_states_the_command_and_the_versions():
    found = about(argparse.Namespace(command="tune"))
    assert found["command"] == "eigenlabel tune"
    assert f"eigenlabel {__version__}, Python " in found["versions"]


def test_a_tuned_model_has_a_section_of_every_kind(data):
    tuned = SharedSubspaceClassifierCV([0, 1], [0.1], [2], cv=2).fit(data.X, data.Y)
    found = model_sections(tuned, data, 1.5)
    model = ["label_map", "surface", "reliability", "threshold_curves", "table", "resources"]
    assert kinds(found) == ["per_label", *model]
    saved = SavedModel(tuned, data.feature_names, data.label_names)
    assert kinds(model_sections(tuned, data, 1.5, saved)) == ["per_label", "label_details", *model]
    assert found[-1]["rows"][0][:2] == ["tune and fit", 1.5]


def test_results_by_label_are_left_out_if_labels_are_unobserved(data):
    Y = data.Y.astype(float)
    Y[0, 0] = np.nan
    tuned = SharedSubspaceClassifierCV([0, 1], [0.1], [2], cv=2).fit(data.X, Y)
    found = model_sections(tuned, dataclasses.replace(data, Y=Y), 1.5)
    assert kinds(found) == ["surface", "text", "table", "resources"]


def test_an_evaluation_returns_metrics_and_sections(data):
    model = SharedSubspaceClassifier(n_components=2).fit(data.X, data.Y)
    saved = SavedModel(model, data.feature_names, data.label_names)
    found, sections = evaluated(saved, data)
    assert 0 < found["f1_macro"] <= 1
    assert kinds(sections)[:2] == ["table", "label_map"]
    empty = dataclasses.replace(data, Y=np.zeros_like(data.Y))
    with pytest.raises(ValueError, match="contains no labels to compare with"):
        evaluated(saved, empty)


def test_an_evaluation_contains_metrics_of_probabilities_if_the_model_has_them(data):
    model = MLkNN(5).fit(data.X, data.Y)
    found, _ = evaluated(SavedModel(model, data.feature_names, data.label_names), data)
    assert found["log_loss"] == metrics.log_loss(data.Y, model.predict_proba(data.X))


def test_a_comparison_without_any_figure_says_so():
    records = [record(m, k, 0.5) for m in ("a", "b") for k in range(2)]
    section = comparison_sections(records, ["log_loss"])[0]
    assert section["kind"] == "text"
    assert "No method has what log_loss read" in str(section)


def test_a_comparison_shows_means_tests_resources_and_failures():
    records = [record(m, k, v + k / 10) for m, v in (("a", 0.3), ("b", 0.5)) for k in range(4)]
    records.append(record("c", 0, 0.0, error="no memory"))
    found = comparison_sections(records, ["f1_macro"])
    means, plots, resources, tests, failures = found
    assert means["rows"][0][:2] == ["a", pytest.approx(0.45)]
    assert means["note"] == "Mean and standard deviation over 4 splits."
    assert [group["name"] for group in plots["panels"][0]["groups"]] == ["a", "b"]
    assert plots["panels"][0]["groups"][0]["values"] == [0.3, 0.4, 0.5, 0.6]
    assert tests["title"] == "Tests: a against the others"
    assert tests["rows"][0][:5] == ["f1_macro", "d", "b", pytest.approx(-0.2), "0 / 0 / 4"]
    assert tests["folded"]
    assert resources["rows"] == [["d, a", 2.0, 10.0], ["d, b", 2.0, 10.0]]
    assert failures["rows"] == [["d", "c", 0, "no memory"]]


@pytest.mark.parametrize("n", [2, 3, 5, 6, 10])
def test_the_smallest_p_value_of_few_splits_is_stated_and_can_be_reached(n):
    records = [record(m, k, v * (k + 1)) for m, v in (("a", 0.03), ("b", 0.05)) for k in range(n)]
    tests = next(s for s in comparison_sections(records, ["f1_macro"]) if "folded" in s)
    assert f"cannot fall below {2.0 ** (1 - n):.3g} " in tests["note"]
    assert ("at least 6 splits" in tests["note"]) == (n < 6)
    assert float(tests["rows"][0][5]) == float(f"{2.0 ** (1 - n):.3g}")  # all differences agree


def test_the_title_of_a_comparison_says_what_is_compared():
    few = [record(m, 0, 0.5) for m in ("a", "b")]
    assert comparison_title(few) == "Comparison of a and b on d"
    many = [record(str(m), 0, 0.5) for m in range(7)]
    assert comparison_title(many) == "Comparison of 7 methods on d"


def test_the_rule_of_samples_kept_aside_decides(data):
    inner = make_pipeline(
        StandardScaler(), SharedSubspaceClassifierCV([0, 1], [0.1], [2], cv=2, threshold="f1")
    )
    model = ThresholdedClassifier(
        inner, strategy=Costs(miss=9.0), calibration=None, split=0.3, random_state=0
    ).fit(data.X, data.Y)
    rest = np.setdiff1d(np.arange(120), model.aside_)
    saved = SavedModel(model, data.feature_names, data.label_names)
    tuned = model.estimator_[-1]
    found = model_sections(tuned, data.subset(samples=rest), 1.5, saved)
    P = tuned.calibration_.probabilities(tuned.oof_scores_)
    counts = sorted((P > 0.1).sum(axis=0).tolist())
    curves = next(section for section in found if section["kind"] == "threshold_curves")
    assert sorted(curve["at"][0] for curve in curves["curves"]) == counts
    per_label = next(section for section in found if section["kind"] == "per_label")
    assert sorted(row[2] for row in per_label["rows"]) == counts
    _, sections = evaluated(saved, data)
    assert kinds(sections)[1:3] == ["label_map", "surface"]  # of the model inside
