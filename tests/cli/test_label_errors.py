"""Tables of suspicious labels on the pages of commands."""

import dataclasses

import numpy as np
import pytest

from eigenlabel import SharedSubspaceClassifierCV
from eigenlabel.cli.label_errors import (
    BESIDE,
    NAMES,
    count_issues,
    find_issues,
    first_rows,
    given_labels,
    issues_table,
    suspected_errors,
)
from eigenlabel.cli.pages import model_sections
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inspection import find_label_issues
from eigenlabel.thresholds import held_out_probabilities


@pytest.fixture(scope="module")
def case():
    """Data with one planted error, a model tuned on it, and the issues."""
    data = make_shared_subspace(150, 8, 4, 2, prevalence=0.3, noise=0.05, random_state=0)
    data.Y[7, 2] = 1 - data.Y[7, 2]
    model = SharedSubspaceClassifierCV([1.0], [0.1], 2, cv=3).fit(data.X, data.Y)
    return data, model, find_issues(model.oof_scores_, data.Y, data)


def test_issues_are_those_of_samples_with_held_out_scores(case):
    data, model, issues = case
    P = held_out_probabilities(model.oof_scores_, data.Y)
    expected = find_label_issues(data.Y, P)
    np.testing.assert_array_equal(issues.samples, expected.samples)
    scores = model.oof_scores_.copy()
    scores[5] = np.nan
    some = find_issues(scores, data.Y, data)
    assert 5 not in some.columns()["sample"][:100]
    assert len(some.columns("sample")["sample"]) == 149


def test_the_page_of_a_tuned_model_shows_a_planted_error_first(case):
    data, model, issues = case
    sections = model_sections(model, data, 1.0)
    table = next(s for s in sections if s["title"] == "Suspected label errors")
    assert table["rows"] == suspected_errors(issues)["rows"]
    assert table["rows"][0][:2] == ["7", data.label_names[2]]
    assert table["rows"][0][2] == ("wrong" if data.Y[7, 2] else "missing")
    assert len(table["rows"]) == BESIDE
    assert count_issues(issues).capitalize() in table["note"]


def test_labels_that_are_not_observed_are_not_suspected(case):
    data, _, _ = case
    Y = data.Y.astype(float)
    Y[7, 2] = np.nan
    other = dataclasses.replace(data, Y=Y)
    model = SharedSubspaceClassifierCV([1.0], [0.1], 2, cv=3).fit(data.X, Y)
    table = next(
        s for s in model_sections(model, other, 1.0) if s["title"] == "Suspected label errors"
    )
    assert ["7", data.label_names[2]] not in [row[:2] for row in table["rows"]]


def test_a_model_without_probabilities_suspects_nothing(case):
    data, _, _ = case
    model = SharedSubspaceClassifierCV([1.0], [0.1], 2, cv=3, calibration=None)
    sections = model_sections(model.fit(data.X, data.Y), data, 1.0)
    assert "Suspected label errors" not in [s["title"] for s in sections]


def test_tables_name_samples_and_shorten_long_lists(case):
    _, _, issues = case
    shown = issues_table("T", issues.of_kind("missing"))
    assert all(row[3] >= 0 for row in shown["rows"])
    given = given_labels(issues, issues.samples[:3])
    for row, text in zip(issues.samples[:3], given, strict=True):
        names = issues.label_names[np.flatnonzero(issues.Y[row] == 1)]
        assert text == ", ".join(names)
    assert first_rows(2, [1, 2, 3], ["a", "b", "c"]) == [["1", "a"], ["2", "b"]]
    Y = np.ones((6, 60), dtype=int)
    many = find_label_issues(Y, np.full(Y.shape, 0.9), label_names=[f"label{j}" for j in range(60)])
    text = given_labels(many, np.array([0]))[0]
    assert len(text) == NAMES
    assert text.endswith("…")
