"""TablePreparation: mixed tables and texts in every form, and what users do with it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import SharedSubspaceClassifierCV
from eigenlabel.cli import main
from eigenlabel.datasets import from_frame
from eigenlabel.inspection import explain
from eigenlabel.persistence import load_model, save_model
from eigenlabel.preprocessing import TablePreparation, make_preparation
from forms import dense

WORDS = ["battery", "screen", "price", "slow", "quick", "broken", "support", "shipping"]
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


def survey(n, seed=0):
    """Return a mixed table and labels that its columns decide."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], n)
    age = np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 80, n))
    comments = [" ".join(rng.choice(WORDS, 6)) for _ in range(n)]
    days = rng.integers(0, 700, n)
    Y = np.column_stack([colour == "red", np.nan_to_num(age) > 50, days > 300])
    Y = np.column_stack([Y, ["battery" in comment for comment in comments]]).astype(int)
    columns = {
        "colour": colour.tolist(),
        "age": [("n/a" if np.isnan(a) else str(int(a))) for a in age],
        "bought": [str(np.datetime64("2022-01-01") + int(day)) for day in days],
        "again": rng.choice(["yes", "no"], n).tolist(),
        "comment": comments,
    }
    return columns, Y


def frame_of(columns, library="pandas"):
    return pytest.importorskip(library).DataFrame(columns)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_survey_is_prepared_by_hand(library):
    columns, _ = survey(150)
    frame = frame_of(columns, library)
    prepare = TablePreparation()
    X = prepare.fit_transform(frame)
    assert prepare.kinds_ == {
        "colour": "category",
        "age": "number",
        "bought": "date",
        "again": "boolean",
        "comment": "text",
    }
    found = dict(zip(prepare.get_feature_names_out(), X.toarray().T, strict=True))
    age = np.array([np.nan if a == "n/a" else float(a) for a in columns["age"]])
    filled = np.where(np.isnan(age), np.nanmean(age), age)
    np.testing.assert_allclose(found["age"], (filled - filled.mean()) / filled.std(), atol=1e-12)
    np.testing.assert_array_equal(found["age is missing"], np.isnan(age))
    np.testing.assert_array_equal(found["colour=red"], np.array(columns["colour"]) == "red")
    again = np.array([a == "yes" for a in columns["again"]], dtype=float)
    np.testing.assert_allclose(found["again"], (again - again.mean()) / again.std(), atol=1e-12)
    dates = np.array(columns["bought"], dtype="datetime64[D]")
    months = dates.astype("datetime64[M]").astype(int) % 12 + 1
    np.testing.assert_array_equal(found["bought: month=3"], months == 3)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    expected = vectorizer.fit_transform(columns["comment"]).toarray()
    words = [f"comment: '{word}'" for word in vectorizer.get_feature_names_out()]
    assert [name for name in found if name.startswith("comment")] == words
    np.testing.assert_allclose(np.array([found[w] for w in words]).T, expected, atol=1e-12)
    assert len(found) == X.shape[1]


def test_libraries_and_arrays_agree():
    columns, _ = survey(60)
    frame = frame_of(columns)
    expected = TablePreparation().fit_transform(frame).toarray()
    prepare = TablePreparation().fit(frame_of(columns, "polars"))
    np.testing.assert_allclose(prepare.transform(frame).toarray(), expected, atol=1e-12)
    with pytest.warns(UserWarning, match="no column names, but had them in fit"):
        found = prepare.transform(frame.to_numpy())
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)
    objects = TablePreparation().fit(frame.to_numpy(dtype=object))
    np.testing.assert_allclose(objects.transform(frame).toarray(), expected, atol=1e-12)
    assert objects.get_feature_names_out()[0] == "x1"
    pa = pytest.importorskip("pyarrow")
    np.testing.assert_allclose(prepare.transform(pa.table(columns)).toarray(), expected, atol=1e-12)


def test_columns_are_found_by_name():
    columns, _ = survey(40)
    frame = frame_of(columns)
    prepare = TablePreparation().fit(frame)
    expected = prepare.transform(frame).toarray()
    shuffled = frame[["comment", "age", "again", "bought", "colour"]].assign(extra=1)
    np.testing.assert_allclose(prepare.transform(shuffled).toarray(), expected, atol=1e-12)
    with pytest.raises(ValueError, match="X has no column 'age', which fit used"):
        prepare.transform(frame.drop(columns="age"))
    with pytest.raises(ValueError, match="X has 4 features, but TablePreparation is expecting 5"):
        prepare.transform(frame.to_numpy()[:, 1:])


def test_fit_leaves_the_frame_alone():
    columns, Y = survey(30)
    frame = frame_of(columns)
    before = frame.copy(deep=True)
    TablePreparation().fit(frame, Y).transform(frame)
    pd.testing.assert_frame_equal(frame, before)
    rows = np.array([[1.0, np.nan], [3.0, 4.0]])
    kept = rows.copy()
    TablePreparation().fit(rows).transform(rows)
    np.testing.assert_array_equal(rows, kept)


def test_lists_of_texts_are_tfidf():
    texts = ["red apple", "green apple", None, "red car"]
    prepare = TablePreparation(ngram_range=(1, 1)).fit(texts)
    expected = TfidfVectorizer(sublinear_tf=True).fit([t or "" for t in texts])
    names = expected.get_feature_names_out().tolist()
    assert prepare.get_feature_names_out().tolist() == names
    new = ["apple apple red", "", "unknown"]
    found = prepare.transform(new).toarray()
    np.testing.assert_allclose(found, expected.transform(new).toarray(), atol=1e-12)
    assert prepare.kinds_ == {"": "text"}
    assert prepare.n_features_in_ == 1
    with pytest.raises(ValueError, match="the texts have no word in 1 or more samples"):
        TablePreparation().fit(["", "a"])


def test_matrices_are_prepared_as_on_the_command_line(rng):
    X = rng.standard_normal((20, 3)) * [1, 10, 0]
    X[3, 1] = np.nan
    found = TablePreparation().fit(X)
    np.testing.assert_array_equal(found.transform(X), make_preparation("auto", X).fit_transform(X))
    assert found.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x1 is missing"]
    assert found.kinds_ == {}
    counts = sp.csr_array(rng.poisson(0.5, (20, 6)))
    expected = make_preparation("auto", counts).fit_transform(counts)
    found = TablePreparation().fit_transform(counts)
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-12)
    with pytest.raises(TypeError, match="X is a sparse matrix"):
        TablePreparation(columns={"x0": "category"}).fit(counts)


def test_the_command_line_prepares_frames_alike():
    columns, Y = survey(150)
    del columns["comment"]
    frame = frame_of(columns).assign(
        age=[np.nan if a == "n/a" else float(a) for a in columns["age"]],
        again=[float(a == "yes") for a in columns["again"]],
    )
    labels = [f"label:{j}" for j in range(4)]
    data = from_frame(frame.join(pd.DataFrame(Y, columns=labels)))
    prepare = make_preparation("auto", data.X, **data.layout).fit(data.X)
    ours = TablePreparation().fit(frame)
    names = prepare.get_feature_names_out(data.feature_names).tolist()
    assert ours.get_feature_names_out().tolist() == names
    np.testing.assert_allclose(ours.transform(frame), dense(prepare.transform(data.X)), rtol=1e-12)


def test_rare_and_many_values_share_a_column():
    values = [f"v{k:03}" for k in range(150) for _ in range(4)] + ["rare1", "rare2"] * 2
    frame = pd.DataFrame({"v": values, "x": range(len(values))})
    prepare = TablePreparation(min_frequency=3).fit(frame)
    names = prepare.get_feature_names_out().tolist()
    assert names == ["x", *(f"v=v{k:03}" for k in range(150)), "v=(other)"]
    found = prepare.transform(frame)
    assert sp.issparse(found), "more than 100 values"
    assert found.toarray()[-4:, -1].tolist() == [1] * 4
    few = TablePreparation(max_levels=2, sparse_output=False).fit(frame)
    assert few.get_feature_names_out().tolist() == ["x", "v=v000", "v=v001", "v=(other)"]
    assert isinstance(few.transform(frame), np.ndarray)
    new = pd.DataFrame({"v": ["never seen", None, "v001"], "x": [1, 2, 3]})
    assert few.transform(new)[:, 1:].tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_sparse_output():
    frame = frame_of(survey(30)[0])
    assert sp.issparse(TablePreparation().fit_transform(frame))
    wide = TablePreparation(sparse_output=False).set_output(transform="pandas")
    found = wide.fit_transform(frame.set_index(frame.index[::-1]))
    assert found.index.tolist() == list(range(29, -1, -1))
    assert list(found.columns) == wide.get_feature_names_out().tolist()
    numbers = frame[["age", "colour"]]
    assert isinstance(TablePreparation().fit_transform(numbers), np.ndarray)
    assert sp.issparse(TablePreparation(sparse_output=True).fit_transform(numbers))
    polars = TablePreparation().set_output(transform="polars").fit_transform(numbers)
    assert polars.columns[0] == "age"


def test_a_dense_result_that_does_not_fit_raises_an_error(monkeypatch):
    monkeypatch.setattr("eigenlabel.preprocessing.table_preparation.memory_limit", lambda: 1000.0)
    with pytest.raises(MemoryError, match="pass sparse_output=True"):
        TablePreparation(sparse_output=False).fit_transform(frame_of(survey(30)[0]))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"columns": {"age": "numeric"}}, ValueError, "kinds among .*got 'numeric' for 'age'"),
        ({"columns": {"Age": "number"}}, ValueError, "no column 'Age'; did you mean 'age'"),
        ({"columns": ["age"]}, TypeError, "columns must be a dict"),
        ({"ngram_range": (2, 1)}, ValueError, "ngram_range must be in ascending order"),
        ({"ngram_range": 2}, TypeError, "ngram_range must be two integers"),
        ({"min_df": 0}, ValueError, "min_df must be an integer >= 1"),
        ({"min_df": "many"}, ValueError, "min_df must be one of 'auto'"),
        ({"max_words": 0}, ValueError, "max_words must be"),
        ({"sparse_output": "no"}, ValueError, "sparse_output must be one of 'auto'"),
        ({"columns": {"colour": "number"}}, ValueError, "'colour' is '.*', not a number"),
        ({"columns": dict.fromkeys(survey(1)[0], "drop")}, ValueError, "No column of X is left"),
    ],
)
def test_wrong_parameters_say_what_to_do(parameters, error, message):
    with pytest.raises(error, match=message):
        TablePreparation(**parameters).fit(frame_of(survey(20)[0]))


def test_messages_name_the_parameter_of_this_class():
    frame = pd.DataFrame({"id": [f"u{k}" for k in range(30)], "x": range(30)})
    prepare = TablePreparation().fit(frame)
    assert prepare.kinds_["id"] == "drop"
    assert "columns={'id': 'text'}) to count its words" in prepare.notes_[0]
    prepare.transform(frame[["x"]])  # columns that were left out are not needed
    dates = pd.DataFrame({"d": ["1/2/2024", "2/3/2024"], "x": [1, 2]})
    with pytest.raises(ValueError, match=r"month is unknown.*columns=\{'d': 'drop'\}"):
        TablePreparation().fit(dates)
    lists = pd.DataFrame({"d": [[1], [2]], "x": [1, 2]})
    with pytest.raises(ValueError, match="'d' holds lists"):
        TablePreparation().fit(lists)


def test_types_decide_before_content():
    frame = pd.DataFrame(
        {
            "grade": pd.Categorical([1, 2, 1]),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "mixed": [True, None, False],
            "words": [1, "n/a", 2.5],
            "count": pd.array([1, None, 3], dtype="Int64"),
            "when": pd.to_datetime(["2024-01-01 10:00", "2024-05-01 12:00", None]),
        }
    )
    prepare = TablePreparation().fit(frame)
    kinds = ["category", "boolean", "boolean", "number", "number", "date"]
    assert list(prepare.kinds_.values()) == kinds
    names = prepare.get_feature_names_out().tolist()
    assert {"grade=1", "grade=2", "when: hour=12", "when is missing"} <= set(names)


def test_pipelines_searches_and_column_transformers():
    columns, Y = survey(120)
    frame, Y = frame_of(columns), Y[:, [0, 3]]
    model = make_pipeline(
        TablePreparation(columns={"age": "drop"}),
        OneVsRestClassifier(LogisticRegression()),
    )
    grid = {"tablepreparation__ngram_range": [(1, 1), (1, 2)]}
    search = GridSearchCV(model, grid, cv=2, scoring="f1_macro", error_score="raise")
    assert search.fit(frame, Y).best_score_ > 0.8
    assert clone(model).get_params()["tablepreparation__columns"] == {"age": "drop"}
    union = make_column_transformer(
        (TablePreparation(), ["colour", "comment"]), (TablePreparation(), ["age"])
    )
    names = union.fit(frame).get_feature_names_out().tolist()
    assert "tablepreparation-1__comment: 'battery'" in names
    assert "tablepreparation-2__age is missing" in names
    texts = columns["comment"]
    search = GridSearchCV(make_pipeline(TablePreparation(), *model[1:]), {}, cv=2)
    assert search.fit(texts, Y).predict(texts[:3]).shape == (3, 2)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_explanations_speak_of_the_columns_of_the_user(library):
    columns, Y = survey(200)
    frame = frame_of(columns, library)
    model = make_pipeline(TablePreparation(), SharedSubspaceClassifierCV(cv=3)).fit(frame, Y)
    found = explain(model, frame[:3], n_top=None)
    total = found.intercept + found.contributions.sum(axis=2) + found.remainder
    np.testing.assert_allclose(total, model.decision_function(frame[:3]), rtol=1e-10, atol=1e-12)
    assert found.notes == ()
    assert set(found.names.ravel()) - {""} <= set(model[0].get_feature_names_out())
    assert f"colour={columns['colour'][0]}" in found.terms(0, 0)
    (text,) = found.mark(0, 3)
    assert text.name == "comment"
    assert text.text == columns["comment"][0]
    words = {k: v for k, v in found.terms(0, 3).items() if k.startswith("comment: ")}
    assert sum(span.contribution for span in text.spans) == pytest.approx(sum(words.values()))
    inner = make_column_transformer((TablePreparation(), ["comment", "age"]))
    model = make_pipeline(inner, SharedSubspaceClassifierCV(cv=3)).fit(frame, Y)
    (text,) = explain(model, frame[:3], n_top=None).mark(1, 3)
    assert len(text.spans) > 0


def test_models_of_tables_are_saved_and_loaded(tmp_path):
    columns, Y = survey(120)
    frame = frame_of(columns)
    model = make_pipeline(TablePreparation(), SharedSubspaceClassifierCV(cv=3)).fit(frame, Y)
    save_model(model, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops").model
    new = frame_of(survey(30, seed=1)[0])
    np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))
    assert (loaded[0].get_feature_names_out() == model[0].get_feature_names_out()).all()
    texts = columns["comment"]
    model = make_pipeline(TablePreparation(), SharedSubspaceClassifierCV(cv=3)).fit(texts, Y)
    save_model(model, tmp_path / "t.skops")
    loaded = load_model(tmp_path / "t.skops").model
    np.testing.assert_array_equal(loaded.predict(texts), model.predict(texts))


def test_a_frame_with_label_sets_from_end_to_end(tmp_path):
    columns, Y = survey(200)
    names = np.array(["red", "old", "late", "battery"])
    sets = [names[row == 1].tolist() for row in Y]
    frame = frame_of(columns)
    model = make_pipeline(TablePreparation(), SharedSubspaceClassifierCV(cv=3)).fit(frame, sets)
    plain = make_pipeline(TablePreparation(), SharedSubspaceClassifierCV(cv=3))
    order = np.argsort(names)
    expected = plain.fit(frame, Y[:, order]).predict(frame)
    found = model.predict(frame)
    assert found == [tuple(names[order][row == 1]) for row in expected]
    assert model.score(frame, sets) == pytest.approx(plain.score(frame, Y[:, order]))
    explained = explain(model, frame[:2])
    assert explained.label_names.tolist() == names[order].tolist()
    np.testing.assert_array_equal(explained.predicted, expected[:2] == 1)
    save_model(model, tmp_path / "m.skops")
    assert load_model(tmp_path / "m.skops").model.predict(frame) == found


def test_fits_are_the_same_every_time():
    frame = frame_of(survey(80)[0])
    first, second = (TablePreparation().fit(frame) for _ in range(2))
    np.testing.assert_array_equal(
        first.transform(frame).toarray(), second.transform(frame).toarray()
    )
    assert (first.get_feature_names_out() == second.get_feature_names_out()).all()


def test_a_standardised_column_equals_scikit_learn():
    X = pd.DataFrame({"a": [1.0, 5.0, 2.0], "b": [3.0, 3.5, 9.0]})
    expected = StandardScaler().fit_transform(X.to_numpy())
    np.testing.assert_allclose(TablePreparation().fit_transform(X), expected, atol=1e-12)


def test_the_command_line_learns_written_dates(tmp_path):
    rows = "".join(f"{k % 28 + 1} Jan {2000 + k},{k % 2}\n" for k in range(12))
    path = tmp_path / "it.csv"
    path.write_text("when,late\n" + rows)
    words = ["fit", path, "--labels", "late", "-o", tmp_path / "m.skops"]
    assert main(list(map(str, words))) == 0
    assert load_model(tmp_path / "m.skops").column_types == {"when": "date"}


def test_durations_are_seconds():
    frame = pd.DataFrame({"took": pd.to_timedelta([1, 2, None, 4], "h"), "n": range(4)})
    seconds = frame.assign(took=frame["took"].dt.total_seconds())
    expected = TablePreparation().fit_transform(seconds)
    for same in (frame, pl.from_pandas(frame)):
        np.testing.assert_allclose(TablePreparation().fit_transform(same), expected)


def test_sparse_columns_of_pandas():
    frame = pd.DataFrame({"kind": list("abca"), "n": [1.0, 2, 3, 4]})
    dummies = pd.get_dummies(frame, sparse=True, dtype=float)
    dense = pd.get_dummies(frame, dtype=float)
    found = TablePreparation().fit_transform(dummies)
    np.testing.assert_array_equal(found, TablePreparation().fit_transform(dense))


def test_sparse_features_have_indices_that_compiled_classifiers_accept():
    frame = pd.DataFrame({"text": [f"word{i} and more" for i in range(60)], "n": range(60)})
    found = TablePreparation().fit_transform(frame)
    assert (found.indices.dtype, found.indptr.dtype) == (np.int32, np.int32)


def test_decimal_commas_are_not_thousands():
    frame = pd.DataFrame({"k": ["0,125", "2", "0,500", "1"] * 5, "n": range(20)})
    with pytest.warns(UserWarning, match="Column 'k' holds numbers with signs or commas, 10 cells"):
        assert TablePreparation().fit(frame).kinds_["k"] == "category"
    frame["k"] = ["1,125", "2", "500", "1"] * 5
    assert TablePreparation().fit(frame).kinds_["k"] == "number"


def test_a_category_without_a_known_value_raises_a_warning():
    frame = pd.DataFrame({"zip": ["01234", "04567", "08910"] * 4, "n": range(12)})
    prepare = TablePreparation().fit(frame)
    with pytest.warns(UserWarning, match="No value of column 'zip', such as '1234', is one that"):
        prepare.transform(frame.assign(zip=frame["zip"].astype(int)))


def test_a_word_that_is_neither_yes_nor_no_counts_as_missing():
    frame = pd.DataFrame({"vip": ["yes", "no", None, "yes"], "n": range(4)})
    prepare = TablePreparation().fit(frame)
    assert prepare.kinds_["vip"] == "boolean"
    new = pd.DataFrame({"vip": ["No", "maybe", "n/a", "1"], "n": range(4)})
    with pytest.warns(UserWarning, match="Column 'vip' is 'maybe', neither yes nor no"):
        found = prepare.transform(new)
    known = new.assign(vip=["no", None, None, "yes"])
    np.testing.assert_array_equal(found, prepare.transform(known))


def test_stored_zeros_change_nothing():
    X = sp.csr_array(np.array([[2.0, 0, 1, 0], [0, 3, 1, 0], [1, 1, 0, 2], [0, 0, 4, 1]]))
    stored = X.copy()
    stored.data[[1, 3]] = 0.0
    plain = stored.copy()
    plain.eliminate_zeros()
    expected = TablePreparation().fit_transform(plain)
    np.testing.assert_allclose(
        TablePreparation().fit_transform(stored).toarray(), expected.toarray(), rtol=1e-12
    )
    names = {"feature_names": list("abcd"), "words": {"t": slice(0, 3)}}
    found = make_preparation("auto", stored, **names).fit_transform(stored)
    expected = make_preparation("auto", plain, **names).fit_transform(plain)
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-12)
    assert (stored.data == 0).sum() == 2, "what was passed is not modified"


def test_intervals_of_pandas_are_categories():
    age = pd.Series([5.0, 30.0, 50.0, 70.0, 20.0, np.nan] * 5)
    frame = pd.DataFrame({"age": pd.cut(age, [0, 18, 40, 90]), "x": np.arange(30.0)})
    model = TablePreparation().fit(frame)
    assert model.kinds_["age"] == "category"
    names = model.get_feature_names_out()
    assert {"age=(0, 18]", "age=(18, 40]", "age=(40, 90]"} <= set(names)
    Z = model.transform(frame[:1])
    assert Z[0, list(names).index("age=(0, 18]")] > Z[0, list(names).index("age=(40, 90]")]
    with pytest.raises(ValueError, match=r"'month' holds values of type period\[M\]"):
        TablePreparation().fit(
            pd.DataFrame({"month": pd.period_range("2024", periods=4, freq="M")})
        )
