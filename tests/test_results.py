"""Every result becomes a frame, in pandas and in polars."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

import eigenlabel as el
from eigenlabel.comparison import summarise
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inspection import explain, explain_label, find_label_issues

pytest.importorskip("pandas")
pytest.importorskip("polars")
DATA = make_shared_subspace(80, 5, 3, 2, random_state=0)
LIBRARIES = ["pandas", "polars"]


def shape_and_columns(result, library):
    frame = el.to_frame(result, library)
    assert type(frame).__module__.split(".")[0] == library
    return frame.shape, list(frame.columns)


@pytest.mark.parametrize("library", LIBRARIES)
def test_figures_and_grids(library):
    model = el.SharedSubspaceClassifierCV([0.0, 1.0], [0.1, 1.0], cv=3).fit(DATA.X, DATA.Y)
    figures = el.metrics.evaluate(DATA.Y, model.decision_function(DATA.X), model.predict(DATA.X))
    assert shape_and_columns(figures, library) == ((len(figures), 2), ["name", "value"])
    frame = el.to_frame(figures, library)
    assert list(frame["value"]) == list(figures.values())
    shape, columns = shape_and_columns(model.cv_results_, library)
    assert shape[0] == 4
    assert set(model.cv_results_) == set(columns)
    per_label = el.OneVsRestSearchCV(LinearSVC(), {"C": [0.1, 1.0]}, cv=3).fit(DATA.X, DATA.Y)
    assert shape_and_columns(per_label.cv_results_, library)[0][0] == 2


@pytest.mark.parametrize("library", LIBRARIES)
def test_paths_have_a_column_for_each_fold(library):
    path = el.dimensions_path(el.PCA(), el.SharedSubspaceClassifier(), DATA.X, DATA.Y, [1, 2], cv=3)
    shape, columns = shape_and_columns(path, library)
    assert (shape, columns) == ((2, 4), ["dimensions", "scores_0", "scores_1", "scores_2"])
    frame = el.to_frame(path, library)
    np.testing.assert_array_equal(np.asarray(frame["scores_2"]), path.scores[:, 2])


@pytest.mark.parametrize("library", LIBRARIES)
def test_results_with_frames_of_their_own(library):
    model = el.SharedSubspaceClassifierCV(cv=3).fit(DATA.X, DATA.Y)
    blend = el.MultilabelBlend(["linear"], cv=3).fit(DATA.X, DATA.Y)
    issues = find_label_issues(DATA.Y, model.predict_proba(DATA.X))
    found = [blend.leaderboard_, issues, explain(model, DATA.X[:2]), explain_label(model, 0)]
    for result in found:
        assert shape_and_columns(result, library)[0][0] > 0


@pytest.mark.parametrize("library", LIBRARIES)
def test_records_and_their_summary(library):
    records = [
        {
            "data": "d",
            "method": method,
            "split": split,
            "metrics": {"f1_macro": value, "f1_micro": 1 - value},
            "parameters": {"alpha": 1.0},
            "views": ["a", "b"],
        }
        for method, values in {"ridge": (0.5, 0.6), "svm": (0.4, 0.7)}.items()
        for split, value in enumerate(values)
    ]
    shape, columns = shape_and_columns(records, library)
    assert shape == (4, 7)
    assert {"f1_macro", "f1_micro", "parameters.alpha", "views"} < set(columns)
    frame = el.to_frame(summarise(records, ["f1_macro", "f1_micro"]), library)
    assert frame.shape == (4, 10)
    second = {name: frame[name].to_list()[1] for name in frame.columns}
    assert (second["method"], second["won"], second["lost"]) == ("svm", 1, 1)
    assert second["mean"] == pytest.approx(0.55)


def test_what_is_no_table_raises_an_error(monkeypatch):
    for wrong in (3, "text", [1, 2], [], {"a": [1, 2], "b": [1]}):
        with pytest.raises(TypeError, match=r"no result with rows|no table"):
            el.to_frame(wrong)
    with pytest.raises(ValueError, match="library"):
        el.to_frame({"a": 1.0}, "arrow")
    for name in LIBRARIES:
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(ImportError, match="pandas or polars"):
        el.to_frame({"a": 1.0})
