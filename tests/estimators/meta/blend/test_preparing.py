import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from eigenlabel import MultilabelBlend
from eigenlabel.estimators.meta.blend.preparing import needs_preparation
from eigenlabel.persistence import load_model, save_model
from eigenlabel.preprocessing import TablePreparation

QUICK = ["linear", "neighbours"]
NUMBERS = {"a": [1.0, 2.0, 3.0], "b": [1, 0, 1], "c": [True, False, True]}


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, False),
        ({"a": ["x", "y", "x"]}, True),
        ({"a": [1.0, None, 2.0]}, True),
        ({"a": [1.0, float("nan"), 2.0]}, True),
    ],
)
def test_frames_are_prepared_unless_they_are_complete_numbers(library, changed, expected):
    assert needs_preparation(library.DataFrame({**NUMBERS, **changed})) is expected


@pytest.mark.parametrize("form", [list, tuple, pd.Series, pl.Series, np.array])
def test_texts_are_prepared(form):
    assert needs_preparation(form(["red apple", "green car"]))
    assert not needs_preparation(form([1.0, 2.0]))


@pytest.mark.parametrize("X", [np.eye(3), np.eye(3).tolist(), sp.eye_array(3).tocsr(), np.ones(3)])
def test_matrices_are_not_prepared(X):
    assert not needs_preparation(X)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 120
    kind, size = rng.choice(["red", "green", "blue"], n), rng.standard_normal(n)
    size[::9] = np.nan
    words = np.where(rng.random(n) < 0.5, "fast delivery again", "slow delivery today")
    frame = pd.DataFrame({"kind": kind, "size": size, "text": words})
    frame["text"] += [f" number{k} item" for k in rng.integers(0, 50, n)]
    Y = np.column_stack([kind == "red", np.nan_to_num(size) > 0, words == "fast delivery again"])
    return frame, Y.astype(int)


def test_a_frame_of_mixed_columns_is_fitted_as_it_is(table, tmp_path):
    frame, Y = table
    model = MultilabelBlend(QUICK, random_state=0).fit(frame[:80], Y[:80])
    assert list(model.feature_names_in_) == ["kind", "size", "text"]
    assert model.n_features_in_ == 3
    by_hand = TablePreparation().fit(frame[:80])
    same = MultilabelBlend(QUICK, random_state=0).fit(by_hand.transform(frame[:80]), Y[:80])
    expected = same.predict_proba(by_hand.transform(frame[80:]))
    found = model.predict_proba(frame[80:])
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    assert (model.predict(frame[80:]) == Y[80:]).mean() > 0.9
    shuffled = frame[80:][["text", "kind", "size"]]
    np.testing.assert_allclose(model.predict_proba(shuffled), expected, rtol=1e-8)
    save_model(model, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops").model
    np.testing.assert_allclose(loaded.predict_proba(frame[80:]), expected, rtol=1e-8)
    model.fit(by_hand.transform(frame[:80]), Y[:80])
    assert not hasattr(model, "preparation_")
    assert model.n_features_in_ == by_hand.transform(frame[:1]).shape[1]


def test_a_missing_column_is_named(table):
    frame, Y = table
    model = MultilabelBlend(["linear"]).fit(frame, Y)
    with pytest.raises(ValueError, match="kind"):
        model.predict(frame.drop(columns="kind"))


def test_texts_and_label_sets_are_fitted_as_they_are():
    texts = ["red apple", "green apple", "red car", "fast car"] * 10
    sets = [{"fruit", "red"}, {"fruit"}, {"red", "vehicle"}, {"vehicle"}] * 10
    model = MultilabelBlend(QUICK, random_state=0).fit(texts, sets)
    assert model.predict(["a red apple", "the fast car"]) == [("fruit", "red"), ("vehicle",)]


def test_pipelines_of_the_user_get_the_table_and_classifiers_its_features(table):
    frame, Y = table
    own = make_pipeline(TablePreparation(columns={"text": "drop"}), LogisticRegression())
    members = ["linear", ("pipeline", own), ("logistic", LogisticRegression())]
    model = MultilabelBlend(members, weights="equal", random_state=0).fit(frame, Y)
    assert set(model.members_) == {"linear", "pipeline", "logistic"}
    assert model.predict_proba(frame[:5]).shape == (5, 3)


def test_columns_of_the_same_name_are_refused():
    frame = pd.DataFrame([[1.0, "a"], [2.0, "b"]] * 10, columns=["x", "x"])
    with pytest.raises(ValueError, match="Two columns of X are called 'x'"):
        MultilabelBlend(["linear"]).fit(frame, np.eye(2, dtype=int)[[0, 1] * 10])
