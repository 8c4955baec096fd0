"""Mixed tables, from the file to the prepared features: each kind of column by itself."""

import csv
import datetime

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from eigenlabel import KernelSum
from eigenlabel.catalogue import with_views
from eigenlabel.cli import main
from eigenlabel.datasets import DataError, from_frame, iterate, load, save
from eigenlabel.experiment import Data, Method, Protocol, Splits, load_data, run
from eigenlabel.persistence import SavedModel, load_model, save_model
from eigenlabel.preprocessing import (
    PREPARATIONS,
    ColumnGroups,
    make_preparation,
    prepared_views,
)
from forms import dense, lines, same

both = pytest.mark.usefixtures("engine")
SHOPS = ("A", "B", "G")
TABLE = """shop,price,when,text,labels
G,1.5,2024-01-31,hot tea and tea,x
A,,2024-02-01,cold tea,y
,4.5,,hot milk,x|y
B,9,2024-03-01,,x
"""
DAYS = [19753.0, 19754.0, np.nan, 19783.0]


def impute_and_standardise(column, like):
    """Standardise a column by hand, by the mean and deviation of another."""
    seen = like[~np.isnan(like)]
    mean = seen.mean() if len(seen) else 0.0
    filled = np.where(np.isnan(like), mean, like)
    deviation = filled.std() or 1.0
    return (np.where(np.isnan(column), mean, column) - filled.mean()) / deviation


def tfidf(counts, like):
    weights = np.log((1 + len(like)) / (1 + (like != 0).sum(axis=0))) + 1
    return unit(counts * weights)


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)


def prepare_by_hand(kind, X, like):
    """Prepare columns shop, price, when and words, as the table in the docstring has it."""
    shops = [[float(code == k) for k in range(len(SHOPS))] for code in X[:, 0]]
    numbers = [impute_and_standardise(X[:, j], like[:, j])[:, None] for j in (1, 2)]
    words, known = X[:, 3:], like[:, 3:]
    made = {
        "auto": lambda: tfidf(words, known),
        "tfidf": lambda: tfidf(words, known),
        "unit": lambda: unit(words),
        "standard": lambda: words / np.where(known.std(axis=0) == 0, 1, known.std(axis=0)),
    }
    return np.hstack([shops, *numbers, made[kind]()])


def mixed_data(write):
    data = load(write(TABLE))
    assert data.feature_names.tolist()[:3] == ["shop", "price", "when"]
    return data


@both
def test_the_reader_knows_what_each_column_is(write):
    data = mixed_data(write)
    assert sp.issparse(data.X)
    assert data.column_types == {"shop": "category", "price": "number", "when": "date"}
    assert data.categories == {"shop": SHOPS}
    assert data.words == {"text": slice(3, 8)}
    np.testing.assert_array_equal(data.X[:, [2]].toarray().ravel(), DAYS)
    np.testing.assert_array_equal(data.X[:, [1]].toarray().ravel(), [1.5, np.nan, 4.5, 9])
    part = data.subset(features=[1, 3, 4])
    assert part.column_types == {"price": "number"}
    assert part.words == {"text": slice(1, 3)}


@pytest.mark.parametrize("kind", [k for k in PREPARATIONS if k != "none"])
def test_each_kind_of_column_has_its_own_preparation(write, kind):
    data = mixed_data(write)
    new = np.array([[1, 2.0, 19000, 0, 3, 0, 1, 0], [np.nan, np.nan, np.nan, 1, 0, 0, 0, 0]])
    prepare = make_preparation(kind, data.X, **data.layout)
    found = prepare.fit_transform(data.X)
    assert sp.issparse(found)
    X = data.X.toarray()
    np.testing.assert_allclose(found.toarray(), prepare_by_hand(kind, X, X), atol=1e-12)
    found = prepare.transform(sp.csr_array(new))
    np.testing.assert_allclose(found.toarray(), prepare_by_hand(kind, new, X), atol=1e-12)
    np.testing.assert_array_equal(dense(data.X), X, err_msg="the input is not modified")


def test_none_leaves_mixed_columns_alone(write):
    data = mixed_data(write)
    found = make_preparation("none", data.X, **data.layout).fit_transform(data.X)
    np.testing.assert_array_equal(found.toarray(), data.X.toarray())


def test_missing_and_constant_columns_become_zero(write):
    rows = "".join(f"word{k % 3},,7,{k},x\n" for k in range(9))
    data = load(write("text,nothing,constant,number,labels\n" + rows))
    found = make_preparation("auto", data.X, **data.layout).fit_transform(data.X).toarray()
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[:, :2], 0)
    np.testing.assert_allclose(found[:, 2].std(), 1)


def test_a_failed_fit_leaves_the_preparation_as_it_was(write):
    data = mixed_data(write)
    prepare = make_preparation("auto", data.X, **data.layout).fit(data.X)
    before = prepare.transform(data.X).toarray()
    with pytest.raises(ValueError, match="infinity"):
        prepare.fit(sp.csr_array(np.full((3, 2), np.inf)))
    np.testing.assert_array_equal(prepare.transform(data.X).toarray(), before)


def test_plain_features_are_prepared_as_scikit_learn_does(rng):
    counts = sp.csr_array(rng.poisson(0.7, (30, 9)).astype(float))
    weights = counts * 0.5
    table = rng.standard_normal((30, 4)) * 7 + 2
    for X, kind, expected in (
        (counts, "auto", TfidfTransformer()),
        (counts, "standard", StandardScaler(with_mean=False)),
        (table, "auto", StandardScaler()),
        (np.abs(table), "tfidf", TfidfTransformer()),
    ):
        found = make_preparation(kind, X).fit_transform(X)
        np.testing.assert_allclose(dense(found), dense(expected.fit_transform(X)), rtol=1e-12)
    np.testing.assert_array_equal(
        dense(make_preparation("auto", weights).fit_transform(weights)), dense(weights)
    )


def test_files_of_one_kind_of_column_are_prepared_as_one(write):
    text = load(write("text,labels\nhot tea tea,x\ncold tea,y\n"))
    assert isinstance(make_preparation("auto", text.X, **text.layout), TfidfTransformer)
    numbers = load(write("a,b,labels\n1,2,x\n3,,y\n5,1,x\n"))
    prepare = make_preparation("auto", numbers.X, **numbers.layout)
    assert not isinstance(prepare, ColumnGroups)
    X = numbers.X
    expected = np.column_stack([impute_and_standardise(c, c) for c in X.T])
    np.testing.assert_allclose(prepare.fit_transform(X), expected, atol=1e-12)
    counts = make_preparation("tfidf", X[:1], **numbers.layout)
    assert isinstance(counts, TfidfTransformer), "explicit kinds apply to numbers without a text"


def test_a_category_of_a_sparse_arff_is_no_count(write):
    rows = "".join(f"{{0 {'abc'[k % 3]}, 1 {k % 4}, 2 {k % 2}}}\n" for k in range(12))
    head = "@relation 'r: -C -1'\n@attribute c {a,b,c}\n@attribute n numeric\n@attribute l {0,1}\n"
    data = load(write(head + "@data\n" + rows, "it.arff"))
    assert sp.issparse(data.X)
    assert data.categories == {"c": ("a", "b", "c")}
    found = make_preparation("auto", data.X, **data.layout).fit_transform(data.X).toarray()
    expected = np.column_stack([np.eye(3)[np.arange(12) % 3], np.arange(12) % 4 > 0])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_sparse_features_beside_columns_are_prepared_by_themselves(write):
    rows = [{"size": k, "features": {"a": k % 2, "b": 2}, "labels": ["x"]} for k in range(6)]
    data = load(write(lines(*rows), "it.jsonl"))
    assert data.column_types == {"size": "number"}
    found = make_preparation("auto", data.X, **data.layout).fit_transform(data.X).toarray()
    X = data.X.toarray()
    np.testing.assert_allclose(found[:, 0], impute_and_standardise(X[:, 0], X[:, 0]))
    np.testing.assert_allclose(found[:, 1:], tfidf(X[:, 1:], X[:, 1:]))


def test_views_stay_together(rng):
    X = np.column_stack([rng.integers(0, 3, 20), rng.standard_normal((20, 2))] * 2)
    names = list("abcdef")
    categories = {"a": tuple("xyz"), "d": tuple("uvw")}
    views = {"first": slice(0, 3), "second": slice(3, 6)}
    prepare = make_preparation("auto", X, feature_names=names, categories=categories, views=views)
    found = prepare.fit_transform(X)
    places = prepared_views(prepare, views, 6)
    for name, columns in views.items():
        part = X[:, columns]
        alone = np.column_stack(
            [np.eye(3)[part[:, 0].astype(int)], StandardScaler().fit_transform(part[:, 1:])]
        )
        np.testing.assert_allclose(found[:, places[name]], alone, atol=1e-12)
    with pytest.raises(ValueError, match="'first' are not side by side"):
        prepared_views(
            make_preparation("auto", X, feature_names=names, categories=categories), views, 6
        )


def test_methods_of_views_find_them_after_the_preparation(write):
    data = load(write(TABLE))
    prepare = make_preparation("auto", data.X, **data.layout)
    views = prepared_views(prepare, data.views, data.X.shape[1])
    assert views == {"columns": slice(0, 5), "text": slice(5, 10)}
    Z = prepare.fit_transform(data.X)
    found = with_views(KernelSum(), views).fit(Z).transform(Z)
    parts = [Z[:, columns].toarray() for columns in views.values()]
    np.testing.assert_allclose(found, KernelSum().fit(parts).transform(parts), rtol=1e-8)


# Dates


@both
def test_dates_are_days(write):
    cells = ["2024-01-31", "2024-01-31 12:00", "2024-01-31T18:00:00Z", "31.1.2024", ""]
    cells += ["2024-01-31T00:00:00+06:00"]
    data = load(write("when,labels\n" + "".join(f"{cell},x\n" for cell in cells)))
    days = [19753, 19753.5, 19753.75, 19753, np.nan, 19752.75]
    np.testing.assert_array_equal(data.X[:, 0], days)
    assert data.column_types == {"when": "date"}


def test_dates_of_frames_and_parquet(tmp_path):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    day, noon = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12)
    zoned = noon.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=6)))
    for cell, days in ((day, 19753), (noon, 19753.5), (zoned, 19753.25)):
        for module in (pl, pd):
            frame = module.DataFrame({"x": [cell, None], "labels": ["a", "b"]})
            path = tmp_path / "it.parquet"
            getattr(frame, "write_parquet", getattr(frame, "to_parquet", None))(path)
            for data in (from_frame(frame), load(path)):
                np.testing.assert_array_equal(data.X[:, 0], [days, np.nan])
                assert data.column_types == {"x": "date"}


@both
def test_dates_of_files_like_the_first(write):
    train = load(write(TABLE))
    new = load(write("when,text,price,shop\n,tea,1,A\n1.3.2024,,,Z\n"), like=train)
    assert new.column_types == train.column_types
    assert new.words == train.words
    np.testing.assert_array_equal(new.X[:, [2]].toarray().ravel(), [np.nan, 19783])
    np.testing.assert_array_equal(new.X[:, [0]].toarray().ravel(), [0, np.nan])
    with pytest.raises(DataError, match="line 3: 'when' is 'soon', not a date such as 2024-01-31"):
        load(write("when,text,price,shop\n,tea,1,A\nsoon,,,A\n"), like=train)
    with pytest.raises(DataError, match="line 2: 'when' is '5', not a date"):
        load(write("when,text,price,shop\n5,tea,1,A\n"), like=train)
    pieces = list(iterate(write(TABLE), rows=2, like=train))
    whole = sp.vstack([piece.X for piece in pieces])
    assert pieces[1].column_types == train.column_types
    np.testing.assert_array_equal(whole[:, [2]].toarray().ravel(), DAYS)


def test_dates_are_neither_labels_nor_texts():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1, 2], "when": pd.to_datetime(["2024-01-31", "2024-02-01"])})
    for options in ({"labels": "when"}, {"labels": ["when"]}, {"labels": "x", "text": "when"}):
        with pytest.raises(DataError, match="'when' holds dates"):
            from_frame(frame, **options)
    train = from_frame(frame.assign(when=[1, 2]), labels="x")
    with pytest.raises(DataError, match="'when' holds dates, not numbers as in like"):
        from_frame(frame, labels="x", like=train)


def test_npz_keeps_what_columns_are(write, tmp_path):
    data = mixed_data(write)
    save(data, tmp_path / "it.npz")
    again = load(tmp_path / "it.npz")
    same(again, data)
    assert again.column_types == data.column_types
    assert again.words == data.words


# Models


def write_sales(path, n, seed):
    """Write sales whose labels are decided by the shop, the price, the date and a word."""
    rng = np.random.default_rng(seed)
    with path.open("w", newline="") as stream:
        out = csv.writer(stream)
        names = ("shop", "price", "date", "word")
        out.writerow(["text", "shop", "price", "sold", *(f"label:{n}" for n in names)])
        for _ in range(n):
            words = rng.integers(0, 40, 8)
            shop, price, day = rng.integers(10), rng.gamma(2, 50), int(rng.integers(0, 1500))
            truth = [shop in (1, 4, 6), price > 90, day > 800, (words < 4).any()]
            date = datetime.date(2020, 1, 1) + datetime.timedelta(day)
            cells = ["ABCDEFGHIJ"[shop], f"{price:.2f}", date.isoformat()]
            cells = ["" if rng.random() < 0.03 else cell for cell in cells]
            out.writerow([" ".join(f"w{k}" for k in words), *cells, *map(int, truth)])


@pytest.fixture(scope="module")
def sales(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sales")
    write_sales(folder / "train.csv", 400, 0)
    write_sales(folder / "test.csv", 300, 1)
    return folder


def areas(table, predictions):
    """Return the area under the ROC curve of each label, from the files alone."""
    with table.open() as truth, predictions.open() as found:
        rows = list(zip(csv.DictReader(truth), csv.DictReader(found), strict=True))
    return {
        name: roc_auc_score(
            [int(t[f"label:{name}"]) for t, _ in rows], [float(p[f"score:{name}"]) for _, p in rows]
        )
        for name in ("shop", "price", "date", "word")
    }


@pytest.mark.parametrize("kind", ["auto", "tfidf", "unit", "standard"])
def test_every_column_of_a_mixed_table_is_learned(sales, tmp_path, kind, capsys):
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    words = ["tune", sales / "train.csv", "-o", model, "--prepare", kind, "--cv", 3]
    words += ["--alphas", "0,1", "--betas", "1e-4,1e-2"]
    assert main(list(map(str, words))) == 0
    words = ["predict", model, sales / "test.csv", "-o", out, "--scores", "--rows", 70]
    assert main(list(map(str, words))) == 0
    found = areas(sales / "test.csv", out)
    assert min(found.values()) > 0.9, found
    capsys.readouterr()
    assert main(["evaluate", str(model), str(sales / "test.csv")]) == 0
    assert "auc_macro" in capsys.readouterr().out


def test_a_comparison_prepares_mixed_tables_too(sales, tmp_path):
    protocol = Protocol(
        [Data("sales", str(sales / "train.csv"))],
        [Method("ridge", parameters={"betas": [0.001]})],
        Splits("shuffle", 1),
        metrics=["auc_macro"],
    )
    (record,) = run(protocol, tmp_path / "r.jsonl")
    assert record["metrics"]["auc_macro"] > 0.9


def test_only_words_can_be_rare(sales):
    data = load_data(Data("sales", str(sales / "train.csv"), min_documents=1000))
    assert data.feature_names.tolist() == ["shop", "price", "sold"]


def test_missing_numbers_of_sparse_features_are_still_refused(write, tmp_path, capsys):
    rows = [{"features": {"a": None if k == 3 else k}, "labels": ["x"]} for k in range(6)]
    path = write(lines(*rows), "it.jsonl")
    assert main(["fit", str(path), "-o", str(tmp_path / "m.skops")]) != 0
    assert "feature 'a' of sample 4 is nan; sparse features must be" in capsys.readouterr().err


def test_models_of_many_words_stay_small(rng, tmp_path):
    d = 20_000
    words = sp.random_array((30, d), density=0.001, format="csr", rng=rng)
    X = sp.csr_array(sp.hstack([words, rng.integers(0, 2, (30, 2))]))
    names = np.array([f"w{j}" for j in range(d)] + ["size", "colour"])
    layout = {
        "feature_names": names,
        "categories": {"colour": ("red", "blue")},
        "column_types": {"size": "number", "colour": "category"},
        "words": {"text": slice(0, d)},
    }
    prepare = make_preparation("auto", X, **layout).fit(X)
    path = tmp_path / "m.skops"
    save_model(SavedModel(prepare, names, np.array(["l"])), path)
    again = load_model(path).model
    np.testing.assert_array_equal(again.transform(X).toarray(), prepare.transform(X).toarray())
    assert path.stat().st_size < 2 * X.shape[1] * np.dtype(names.dtype).itemsize


@pytest.mark.parametrize("form", ["coo", "csc", "dia", "lil"])
def test_every_form_of_sparse_matrix_is_prepared_alike(form):
    counts = sp.csr_array(np.random.default_rng(0).integers(0, 3, (12, 5)).astype(float))
    wanted = make_preparation("auto", counts).fit_transform(counts)
    given = counts.asformat(form)
    found = make_preparation("auto", given).fit_transform(given)
    np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=1e-12)


def test_each_text_has_its_own_tfidf(write):
    rows = "a,b,y\nred red,blue,1\nblue,red,1\nred blue,,0\n"
    data = load(write(rows), text=["a", "b"], labels=["y"])
    assert list(data.words) == ["a", "b"]
    found = make_preparation("auto", data.X, **data.layout).fit_transform(data.X)
    parts = [TfidfTransformer().fit_transform(data.X[:, s]) for s in data.words.values()]
    expected = np.hstack([part.toarray() for part in parts])
    np.testing.assert_allclose(sp.csr_array(found).toarray(), expected, rtol=0, atol=1e-12)
