"""The sections of the pages that commands write."""

import argparse
import dataclasses

import numpy as np
import pytest

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV, __version__
from eigenlabel.cli.pages import about, comparison_sections, evaluated, model_sections, peak_mib
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.persistence import SavedModel


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
    assert peak_mib() > 1


def test_a_tuned_model_has_a_section_of_every_kind(data):
    tuned = SharedSubspaceClassifierCV([0, 1], [0.1], [2], cv=2).fit(data.X, data.Y)
    found = model_sections(tuned, data, 1.5)
    assert kinds(found) == ["label_map", "surface", "per_label", "threshold_curves", "resources"]
    assert found[-1]["rows"][0][:2] == ["tune and fit", 1.5]


def test_results_by_label_are_left_out_if_labels_are_unobserved(data):
    Y = data.Y.astype(float)
    Y[0, 0] = np.nan
    tuned = SharedSubspaceClassifierCV([0, 1], [0.1], [2], cv=2).fit(data.X, Y)
    found = model_sections(tuned, dataclasses.replace(data, Y=Y), 1.5)
    assert kinds(found) == ["surface", "text", "resources"]


def test_an_evaluation_returns_metrics_and_sections(data):
    model = SharedSubspaceClassifier(n_components=2).fit(data.X, data.Y)
    saved = SavedModel(model, data.feature_names, data.label_names)
    found, sections = evaluated(saved, data)
    assert 0 < found["f1_macro"] <= 1
    assert kinds(sections)[:2] == ["table", "label_map"]
    empty = dataclasses.replace(data, Y=np.zeros_like(data.Y))
    with pytest.raises(ValueError, match="contains no labels to compare with"):
        evaluated(saved, empty)


def test_a_comparison_shows_means_tests_resources_and_failures():
    records = [record(m, k, v + k / 10) for m, v in (("a", 0.3), ("b", 0.5)) for k in range(4)]
    records.append(record("c", 0, 0.0, error="no memory"))
    found = comparison_sections(records, ["f1_macro"])
    means, tests, *_, resources, failures = found
    assert means["rows"][0][:2] == ["a", pytest.approx(0.45)]
    assert means["note"] == "Mean and standard deviation over 4 splits."
    assert tests["title"] == "f1_macro: a against the others"
    assert tests["rows"][0][:4] == ["d", "b", pytest.approx(-0.2), "0 / 0 / 4"]
    assert resources["rows"] == [["d, a", 2.0, 10.0], ["d, b", 2.0, 10.0]]
    assert failures["rows"] == [["d", "c", 0, "no memory"]]
