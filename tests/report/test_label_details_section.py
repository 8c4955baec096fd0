"""The features and the mistakes of labels, and the reliability of probabilities."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier

from eigenlabel import SharedSubspaceClassifier, report
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inspection import explain, explain_label
from eigenlabel.report import label_details_section
from pages import NASTY, Reader


@pytest.fixture(scope="module")
def predicted(fitted):
    data, model = fitted
    return data, model, model.oof_scores_ > model.thresholds_, model.predict_proba(data.X)


def test_mistakes_are_the_most_confident_ones_of_each_label(predicted):
    data, model, decided, P = predicted
    shown = report.label_details(model, data.X, data.Y, decided, P, data.label_names)
    names = list(data.label_names)
    assert [one["support"] for one in shown["labels"]] == sorted(data.Y.sum(axis=0))[::-1]
    for one in shown["labels"]:
        j = names.index(one["name"])
        for found in one["mistakes"]:
            i = int(found["sample"])
            assert decided[i, j] == found["predicted"] != data.Y[i, j]
            assert found["value"] == round(P[i, j], 3)
        false = [int(f["sample"]) for f in one["mistakes"] if f["predicted"]]
        every = [i for i in range(len(P)) if decided[i, j] and not data.Y[i, j]]
        assert false == sorted(every, key=lambda i: -P[i, j])[: len(false)]
        missed = [int(f["sample"]) for f in one["mistakes"] if not f["predicted"]]
        every = [i for i in range(len(P)) if not decided[i, j] and data.Y[i, j]]
        assert missed == sorted(every, key=lambda i: P[i, j])[: len(missed)]


def test_features_and_reasons_are_those_of_the_inspection(predicted):
    data, model, decided, P = predicted
    one = report.label_details(model, data.X, data.Y, decided, P, data.label_names)["labels"][0]
    label = list(data.label_names).index(one["name"])
    found = explain_label(model, label, n_top=5)
    pairs = [*found.speaks_for, *found.speaks_against]
    assert [row["name"] for row in one["features"]] == [name for name, _ in pairs]
    assert [row["for"] for row in one["features"]] == [value > 0 for _, value in pairs]
    first = one["mistakes"][0]
    i = int(first["sample"])
    score = explain(model, data.X[[i]], labels=label).score[0, 0]
    assert first["reasons"][-1]["total"]
    assert first["reasons"][-1]["text"] == f"{score:+.3f}".replace("-", "\u2212")


def test_the_section_is_bounded(predicted, monkeypatch):
    data, model, decided, P = predicted
    monkeypatch.setattr(label_details_section, "MAX_LABELS", 3)
    monkeypatch.setattr(label_details_section, "MAX_SAMPLES", 4)
    shown = report.label_details(model, data.X, data.Y, ~decided, P, data.label_names)
    samples = [[m["sample"] for m in one["mistakes"]] for one in shown["labels"]]
    assert len(samples) == 3
    assert all(samples)  # each label has its first mistake before any has its second one
    assert len({name for some in samples for name in some}) == 4
    assert "Only the 3 most frequent of 9 labels" in report.render(report.page("P", [shown]))


def test_a_model_that_is_not_a_sum_has_mistakes_without_reasons(predicted):
    data, _, decided, P = predicted
    forest = RandomForestClassifier(3, random_state=0).fit(data.X, data.Y)
    shown = report.label_details(forest, data.X, data.Y, decided, P, data.label_names)
    assert shown["labels"][0]["features"] == []
    assert {len(m["reasons"]) for m in shown["labels"][0]["mistakes"]} == {0}
    html = report.render(report.page("P", [shown]))
    assert "The model has no reasons that add up." in html


def test_hostile_names_are_only_text(predicted):
    data, model, decided, P = predicted
    samples = [NASTY[i % len(NASTY)] for i in range(len(P))]
    features = [NASTY[k % len(NASTY)] + str(k) for k in range(data.X.shape[1])]
    names = [NASTY[j % len(NASTY)] + str(j) for j in range(9)]
    shown = report.label_details(
        model, data.X, data.Y, decided, P, names, sample_names=samples, feature_names=features
    )
    json.dumps(shown, allow_nan=False)
    read = Reader(report.render(report.page("P", [shown])))
    assert not any("onmouseover" in attributes for _, attributes in read.tags)
    assert sum(tag == "script" for tag, _ in read.tags) == 2
    assert any(NASTY[0] in text for text in read.text)


def test_shapes_that_differ_are_refused(predicted):
    data, model, decided, P = predicted
    with pytest.raises(ValueError, match="Y has shape"):
        report.label_details(model, data.X, data.Y, decided[:5], P, data.label_names)


def test_every_form_of_samples_has_the_same_reasons(predicted):
    data, model, decided, P = predicted
    names = data.label_names
    expected = report.label_details(model, data.X, data.Y, decided, P, names)
    forms = [pd.DataFrame(data.X), sp.coo_array(data.X), data.X.tolist()]
    for X in forms:
        found = report.label_details(model, X, data.Y, decided, P, names, feature_names=None)
        assert _totals(found) == _totals(expected)


def _totals(shown):
    return [m["reasons"][-1]["text"] for one in shown["labels"] for m in one["mistakes"]]


def test_a_page_of_300_labels_and_10000_samples_is_small():
    data = make_shared_subspace(10_000, 20, 300, 5, prevalence=0.03, random_state=0)
    model = SharedSubspaceClassifier(n_components=5).fit(data.X, data.Y)
    scores = model.decision_function(data.X)
    names = [f"the name of label {j}" for j in range(300)]
    decided = scores > np.quantile(scores, 0.97, axis=0)
    details_of = report.label_details(model, data.X, data.Y, decided, scores, names, scale="score")
    sections = [
        report.label_map(model, data.Y, names),
        report.per_label(data.Y, decided, names),
        details_of,
        report.threshold_curves(data.Y, scores, 0.0, names),
    ]
    samples = {m["sample"] for one in details_of["labels"] for m in one["mistakes"]}
    assert len(details_of["labels"]) == 40
    assert 40 <= len(samples) <= 60
    assert len(report.render(report.page("Large", sections)).encode()) < 2_000_000
