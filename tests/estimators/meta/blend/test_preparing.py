import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import MultilabelBlend, Views
from eigenlabel.estimators.meta.blend.preparing import needs_preparation
from eigenlabel.persistence import load_model, save_model
from eigenlabel.preprocessing import TablePreparation

QUICK = ["linear", "neighbours"]
COUNTS = {"a": [1.0, 0.0, 2.0], "b": [0, 0, 1], "c": [True, False, False]}


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, False),
        ({"a": [1.0, 3.0, 2.0]}, True),
        ({"a": ["x", "y", "x"]}, True),
        ({"a": [1.0, None, 2.0]}, True),
        ({"a": [1.0, float("nan"), 2.0]}, True),
    ],
)
def test_frames_are_prepared_unless_most_numbers_are_zero(library, changed, expected):
    assert needs_preparation(library.DataFrame({**COUNTS, **changed})) is expected


@pytest.mark.parametrize("form", [list, tuple, pd.Series, pl.Series, np.array])
def test_texts_are_prepared(form):
    assert needs_preparation(form(["red apple", "green car"]))
    assert not needs_preparation(form([1.0, 2.0]))


PLAIN = np.random.default_rng(0).standard_normal((20, 3))


@pytest.mark.parametrize(
    "X",
    [
        PLAIN,
        PLAIN.tolist(),
        PLAIN * [1.0, 5.0, 0.001],  # a column that hardly counts does no harm
        PLAIN > 0,
        np.ones((20, 3)),
        np.ones(3),
        np.eye(9) * 100.0 ** np.arange(9),  # most numbers are zero
        sp.csr_array(PLAIN),
        sp.eye_array(3).tocsr(),  # zeros and ones are not counts of words
    ],
)
def test_matrices_that_all_members_can_read_are_not_prepared(X):
    assert not needs_preparation(X)


@pytest.mark.parametrize(
    "X",
    [
        PLAIN * [1.0, 1.0, 30.0],
        (PLAIN * [1.0, 1.0, 30.0]).round().astype(int) + 1,
        np.where(PLAIN > 1, np.nan, PLAIN),
        PLAIN.astype(object),
        [["a", 1.0], ["b", 2.0]],
        sp.csr_array([[0, 2], [1, 0]]),
    ],
)
def test_other_matrices_are_prepared(X):
    assert needs_preparation(X)


def test_the_scale_of_columns_does_not_matter(table):
    X = np.random.default_rng(1).standard_normal((120, 4))
    scale = [1.0, 1.0, 1e3, 1.0]
    expected = MultilabelBlend(["linear"]).fit(X / X.std(axis=0), table[1])
    found = MultilabelBlend(["linear"]).fit(X / X.std(axis=0) * scale, table[1])
    assert found.preparation_.n_features_in_ == 4
    np.testing.assert_allclose(found.predict_proba(X * scale), expected.predict_proba(X), rtol=1e-6)
    raw = MultilabelBlend(["linear"], prepare="none").fit(X * scale, table[1])
    assert not hasattr(raw, "preparation_")


def test_missing_numbers_are_filled_in(table):
    X = np.random.default_rng(1).standard_normal((120, 4))
    gaps = np.where(X > 1.5, np.nan, X)
    model = MultilabelBlend(QUICK, random_state=0).fit(gaps, table[1])
    assert np.isfinite(model.predict_proba(np.full((2, 4), np.nan))).all()
    complete = MultilabelBlend(QUICK, random_state=0).fit(X, table[1])
    with pytest.raises(ValueError, match="X contains NaN, but X in fit was complete"):
        complete.predict(gaps)


def test_columns_of_a_frame_of_numbers_are_found_by_name(table):
    X = np.random.default_rng(1).standard_normal((120, 3))
    for names in (["a", "b", "c"], [0, 1, 2]):
        frame = pd.DataFrame(X, columns=names)
        model = MultilabelBlend(QUICK, random_state=0).fit(frame, table[1])
        expected = model.predict_proba(frame)
        other = frame[names[::-1]].assign(further="word")
        np.testing.assert_allclose(model.predict_proba(other), expected, rtol=1e-8)
        assert np.isfinite(model.predict_proba(frame.mask(frame > 1))).all()


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


def test_a_search_over_a_pipeline_gets_the_table(table):
    frame, Y = table
    own = make_pipeline(TablePreparation(columns={"text": "drop"}), LogisticRegression())
    search = GridSearchCV(own, {"logisticregression__C": [0.1, 1.0]}, cv=2)
    model = MultilabelBlend([("search", search)], random_state=0).fit(frame, Y)
    assert model.predict_proba(frame[:5]).shape == (5, 3)


def test_columns_that_are_left_out_are_named(table, capsys):
    frame, Y = table
    MultilabelBlend(["linear"], verbose=1).fit(frame.assign(same=1), Y)
    assert "column 'same' has one value only: left out" in capsys.readouterr().err


def test_columns_of_the_same_name_are_refused():
    frame = pd.DataFrame([[1.0, "a"], [2.0, "b"]] * 10, columns=["x", "x"])
    with pytest.raises(ValueError, match="Two columns of X are called 'x'"):
        MultilabelBlend(["linear"]).fit(frame, np.eye(2, dtype=int)[[0, 1] * 10])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_sparse_forms_of_the_same_counts(table, form):
    counts = np.random.default_rng(0).poisson(0.4, (120, 6))
    expected = MultilabelBlend(["linear"]).fit(sp.csr_array(counts), table[1])
    found = MultilabelBlend(["linear"]).fit(sp.csr_array(counts).asformat(form), table[1])
    np.testing.assert_allclose(found.oof_scores_, expected.oof_scores_, rtol=1e-10)


def test_frames_of_sparse_columns():
    counts = np.random.default_rng(0).poisson(0.2, (20, 6))
    frame = pd.DataFrame(counts)
    for dtype in (float, int):
        assert not needs_preparation(frame.astype(pd.SparseDtype(dtype, 0)))
    assert needs_preparation((frame + 1.0).astype(pd.SparseDtype(float, 0)))


def test_spreads_of_small_integers_and_masked_numbers():
    X = np.array([[1, -128, 2], [3, -128, 90], [5, -128, 7]], dtype=np.int8)
    assert needs_preparation(np.column_stack([X, X[:, :1], X[:, :1]]))
    assert needs_preparation(np.ma.masked_greater(PLAIN, 1.0))


def test_samples_without_weight_do_not_count(table):
    frame, Y = table
    weights = np.ones(120)
    weights[:30] = 0.0
    strange = frame.assign(size=np.where(weights > 0, frame["size"], 1e4))
    expected = MultilabelBlend(QUICK, random_state=0).fit(frame[30:], Y[30:])
    found = MultilabelBlend(QUICK, random_state=0).fit(strange, Y, sample_weight=weights)
    np.testing.assert_allclose(found.predict_proba(frame), expected.predict_proba(frame), rtol=1e-8)


@pytest.mark.filterwarnings("ignore:X has no column names")
def test_a_prepared_blend_reads_sparse_rows_of_the_same_numbers(table):
    X = np.random.default_rng(1).standard_normal((120, 4)) * [1.0, 100.0, 1.0, 1.0]
    for fitted in (X, pd.DataFrame(X)):
        model = MultilabelBlend(QUICK, random_state=0).fit(fitted, table[1])
        expected = model.predict_proba(fitted)
        np.testing.assert_allclose(model.predict_proba(sp.csr_array(X)), expected, rtol=1e-10)


def test_several_tables_for_a_blend_of_one_are_an_error(table):
    X = np.random.default_rng(1).standard_normal((120, 4))
    model = MultilabelBlend(QUICK, random_state=0).fit(X, table[1])
    with pytest.raises(ValueError, match="X is several tables, but X in fit was one"):
        model.predict({"a": X[:, :2], "b": X[:, 2:]})


def test_a_preparation_of_the_user_is_used(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"zip": rng.integers(0, 4, 80) * 1000.0, "x": rng.standard_normal(80)})
    Y = (frame["zip"].to_numpy()[:, None] == [0.0, 1000.0]).astype(int)
    own = TablePreparation(columns={"zip": "category", "x": "drop"})
    model = MultilabelBlend(["linear", "neighbours"], prepare=own).fit(frame, Y)
    assert model.preparation_.kinds_ == {"zip": "category", "x": "drop"}
    assert not hasattr(own, "kinds_"), "the parameter is cloned"
    np.testing.assert_array_equal(model.predict(frame), Y)
    same = clone(model).fit(frame, Y)
    np.testing.assert_array_equal(same.predict_proba(frame), model.predict_proba(frame))
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    plain = MultilabelBlend(["linear"], prepare=TablePreparation()).fit(
        np.eye(12), np.eye(12)[:, :2]
    )
    assert hasattr(plain, "preparation_"), "arrays that need no preparation are prepared as well"


def test_what_prepare_accepts():
    X, Y = np.eye(12), np.eye(12)[:, :2]
    with pytest.raises(TypeError, match="prepare must be a TablePreparation, got StandardScaler"):
        MultilabelBlend(prepare=StandardScaler()).fit(X, Y)
    with pytest.raises(ValueError, match="one table, but X is several tables"):
        MultilabelBlend(prepare=TablePreparation()).fit(Views({"a": X, "b": X}), Y)


def test_errors_of_columns_say_what_to_pass():
    frame = pd.DataFrame({"d": [[1], [2]] * 10, "x": np.arange(20.0)})
    with pytest.raises(ValueError, match=re.escape("TablePreparation(columns={'d': 'drop'})")):
        MultilabelBlend().fit(frame, np.eye(20)[:, :2])


def test_a_column_of_numbers_that_cannot_be_read_raises_a_warning():
    price = np.arange(40.0)
    frame = pd.DataFrame({"price": [f"{p:.2f} €".replace(".", ",") for p in price], "x": price % 3})
    said = "Column 'price' holds numbers with signs or commas.* left out.* write numbers such as"
    with pytest.warns(UserWarning, match=said):
        MultilabelBlend(["linear"]).fit(frame, (price[:, None] > [10, 20]).astype(int))
