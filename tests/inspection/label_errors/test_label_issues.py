"""The result object: selections, corrections, tables."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from eigenlabel.inspection import LabelIssues

Y = np.array([[1, 0, np.nan], [0, 0, 1], [1, 1, 0]])


def make(given=Y, **changes):
    parts = {
        "samples": np.array([2, 0, 1]),
        "labels": np.array([1, 1, 2]),
        "kinds": np.array(["wrong", "missing", "wrong"]),
        "scores": np.array([0.9, 0.6, 0.2]),
        "probabilities": np.array([0.1, 0.8, 0.4]),
        "combined": np.array([0.05, 0.9, 0.3]),
        "sample_scores": np.array([0.6, 0.2, 0.9]),
        "label_scores": np.array([0.0, 0.5, 0.1]),
        "label_missing": np.array([0.0, 0.6, 0.0]),
        "label_wrong": np.array([0.0, 0.9, 0.2]),
        "missing_rate": 0.05,
        "wrong_rates": np.array([0.01, 0.02, 0.03]),
        "Y": given,
    }
    return LabelIssues(**(parts | changes))


def test_kinds_are_kept_apart():
    issues = make()
    assert issues.of_kind("wrong").samples.tolist() == [2, 1]
    assert issues.of_kind("missing").scores.tolist() == [0.6]
    assert len(issues.of_kind("wrong").sample_scores) == 3
    with pytest.raises(ValueError, match="kind"):
        issues.of_kind("odd")


def test_suggestions_reach_the_threshold():
    assert len(make().suggested()) == 2
    assert len(make().suggested(0.9)) == 1
    with pytest.raises(ValueError, match="threshold"):
        make().suggested(1.5)


def expected(n):
    out = Y.copy()
    out[2, 1] = 0 if n > 0 else 1
    out[0, 1] = 1 if n > 1 else 0
    out[1, 2] = 0 if n > 2 else 1
    return out


@pytest.mark.parametrize("form", [np.asarray, list, pd.DataFrame, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_corrected_flips_the_first_cells_of_a_copy(form, n):
    given = form(Y)
    found = make(given).corrected(n)
    if sp.issparse(given):
        assert type(found) is type(given)
        np.testing.assert_array_equal(given.toarray(), Y)
        assert (found.data != 0).all()
        found = found.toarray()
    np.testing.assert_array_equal(found, expected(n))
    if not sp.issparse(given):
        np.testing.assert_array_equal(np.asarray(given), Y)


def test_corrected_takes_a_threshold_and_keeps_the_type():
    np.testing.assert_array_equal(make().corrected(), expected(2))
    np.testing.assert_array_equal(make().corrected(threshold=0.1), expected(3))
    given = np.array([[1, 0, 0], [0, 0, 1], [1, 1, 0]], dtype=bool)
    for form in (np.asarray, sp.csr_array):
        found = make(form(given)).corrected(2)
        assert found.dtype == bool
        assert found[0, 1]
        assert not found[2, 1]
    with pytest.raises(ValueError, match="n "):
        make().corrected(4)


def test_tables_name_samples_and_labels():
    issues = make(label_names=["a", "b", "c"], sample_names=np.array(["x", "y", "z"]))
    frame = issues.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["sample"].tolist() == ["z", "x", "y"]
    assert frame["label"].tolist() == ["b", "b", "c"]
    assert frame["given"].tolist() == [1, 0, 1]
    assert frame["suggested"].tolist() == [0, 1, 0]
    assert issues.to_frame("sample")["sample"].tolist() == ["z", "x", "y"]
    assert issues.to_frame("label")["label"].tolist() == ["b", "c", "a"]
    assert make().to_frame("label")["label"].tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="by"):
        issues.to_frame("row")


def test_polars_makes_the_frame_where_pandas_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = make(label_names=["a", "b", "c"]).to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame["kind"].to_list() == ["wrong", "missing", "wrong"]
    assert isinstance(make().to_frame("label", library="polars"), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pandas or polars"):
        make().to_frame()


def test_texts_are_readable():
    lines = str(make(label_names=["a", "b", "c"])).splitlines()
    assert lines[0].endswith(
        "3 samples, 3 labels. Suggested corrections (score >= 0.5): 1 missing, 1 wrong"
    )
    assert lines[2].split() == ["2", "b", "wrong", "0.9", "0.1"]
    assert repr(make()) == "<LabelIssues: 3 cells of 3 samples, 3 labels>"
    assert "\n" not in str(make()._only(np.zeros(3, dtype=bool)))
    many = make(
        **{
            name: np.repeat(getattr(make(), name), 5)
            for name in ("samples", "labels", "kinds", "scores", "probabilities", "combined")
        }
    )
    assert str(many).endswith("... and 5 more")
