"""The preview of a Dataset: what it shows, escaped, for every kind of X and Y."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import Dataset, make_shared_subspace
from eigenlabel.datasets.preview import preview

HOSTILE = "<script>alert('x')</script>"


def table(**more):
    X = np.array([[1.5, 0.0, np.nan], [2.0, 1.0, 3.0]])
    names = np.array(["size", "colour", HOSTILE]), np.array([HOSTILE, "b"])
    return Dataset(X, np.array([[1, 0], [1, 1]]), *names, **more)


def test_a_small_table_shows_columns_categories_and_label_sets():
    found = preview(
        table(categories={"colour": ("red", "blue")}, sample_names=np.array(["p", "q"]))
    )
    assert found.header == ["sample", "size", "colour", HOSTILE, "labels"]
    assert found.rows == [
        ["p", "1.5", "red", "", HOSTILE],
        ["q", "2", "blue", "3", f"{HOSTILE}, b"],
    ]
    assert dict(found.facts) == {"samples": "2", "features": "3", "labels": "2 (1.5 per sample)"}


def test_everything_is_escaped():
    data = table(source=HOSTILE, notes=(HOSTILE,), sample_names=np.array([HOSTILE, "q"]))
    shown = data._repr_html_()
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") >= 5


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, np.asarray])
def test_wide_and_sparse_samples_show_what_is_not_zero(make):
    X = np.zeros((7, 12))
    X[0, [3, 11]] = 2.0, 0.25
    X[1] = 1.0
    names = np.array([f"f{j}" for j in range(12)]), np.array(["a"])
    found = preview(Dataset(make(X), sp.csr_array(np.ones((7, 1))), *names))
    assert found.header == ["sample", "features", "labels"]
    assert found.rows[0] == ["0", "f3 2, f11 0.25", "a"]
    assert found.rows[1][1].endswith("f7 1, …")
    assert found.rows[2][1] == ""
    assert found.rows[-1] == ["…", "", ""]
    assert len(found.rows) == 6
    sparse = "16.7% stored" in dict(found.facts)["features"]
    assert sparse == (make is not np.asarray)


def test_missing_labels_views_and_empty_data():
    data = make_shared_subspace(20, 4, 3, 2, random_state=0)
    Y = data.Y.astype(float)
    Y[:, 0] = np.nan
    views = {"left": slice(0, 1), "right": slice(1, 4)}
    shown = Dataset(data.X, Y, data.feature_names, data.label_names, views=views)
    facts = dict(preview(shown).facts)
    assert "33.3% of the cells not observed" in facts["labels"]
    assert facts["views"] == "left (1), right (3)"
    empty = Dataset(np.zeros((0, 2)), np.zeros((0, 1)), np.array(["a", "b"]), np.array(["c"]))
    assert preview(empty).rows == []
    assert "Dataset" in empty._repr_html_()


def test_long_names_and_many_labels_are_cut():
    X, Y = np.ones((1, 1)), np.ones((1, 20), dtype=int)
    names = np.array(["x" * 99]), np.array([f"l{j}" for j in range(20)])
    found = preview(Dataset(X, Y, *names))
    assert found.header[1] == "x" * 39 + "…"
    assert found.rows[0][-1].endswith("l7, …")
