"""Sections of text, tables and diagrams."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import report
from pages import make_model


def json_types(value):
    if isinstance(value, dict):
        return all(type(k) is str and json_types(v) for k, v in value.items())
    if isinstance(value, list):
        return all(map(json_types, value))
    return value is None or type(value) in (bool, int, float, str)


def test_a_page_is_made_of_json_types(page):
    assert json_types(page)
    assert json.loads(json.dumps(page, allow_nan=False)) == page


def test_a_page_accepts_only_sections():
    with pytest.raises(TypeError, match="A section must be the result of a function"):
        report.page("t", ["text"])


def test_methods_within_the_critical_difference_form_groups():
    shown = report.critical_difference("abcd", [3.0, 1.0, 2.0, 4.5], 1.0)
    assert (shown["names"], shown["ranks"]) == (["b", "c", "a", "d"], [1.0, 2.0, 3.0, 4.5])
    assert shown["groups"] == [[0, 1], [1, 2]]
    assert report.critical_difference("abcd", [3.0, 1.0, 2.0, 4.5], 2.0)["groups"] == [
        [0, 2],
        [2, 3],
    ]
    assert report.critical_difference("ab", [1.0, 2.0], 0.5)["groups"] == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: report.table("t", ["a"], [[1, 2]]), "A row has 2 cells, the table 1 columns"),
        (lambda: report.table("t", ["a"], [], best=[]), "best has 0 entries for 1 columns"),
        (lambda: report.table("t", ["a"], [], best=["most"]), "best must be one of 'max', 'min'"),
        (lambda: report.per_label([[1]], [[1]], ["a", "b"]), "2 label_names for 1 labels"),
        (lambda: report.per_label([[1]], [[1, 0]], ["a"]), r"shape \(1, 1\), decisions \(1, 2\)"),
        (lambda: report.per_label(sp.csr_array([[2]]), [[1]], ["a"]), "Y must be a label matrix"),
        (lambda: report.per_label(sp.csr_array((3, 0)), [[1]], []), "Y has no columns"),
        (lambda: report.threshold_curves([[1]], [[np.nan]], 0, ["a"]), "No sample has scores"),
        (lambda: report.threshold_curves([[1]], [[1, 2]], 0, ["a"]), "scores has shape"),
        (lambda: report.resources([("fit", 1)]), r"A row must be \(step, seconds, MiB\)"),
        (lambda: report.curves("t", [1], {"a": []}, x="", y=""), "'a' has 0 numbers for 1 values"),
        (lambda: report.critical_difference(["a"], [1, 2], 1), "1 names for ranks of shape"),
        (lambda: report.critical_difference(["a"], [np.nan], 1), "ranks must be finite"),
        (lambda: report.critical_difference(["a"], [1], -1), "cd must be a number >= 0"),
        (
            lambda: report.label_map(make_model(np.eye(2), [1, 1]), [[1]], "a"),
            "1 labels, the model 2",
        ),
    ],
)
def test_invalid_arguments_raise_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
