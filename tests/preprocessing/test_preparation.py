"""Each kind of column has its own preparation."""

import calendar
import datetime

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from eigenlabel.datasets import load
from eigenlabel.preprocessing import (
    ColumnGroups,
    make_preparation,
    prepared_views,
)
from eigenlabel.preprocessing.preparation import PREPARATIONS
from forms import dense, lines, mixed_data

SHOPS = ("A", "B", "G")


def impute_and_standardise(column, like):
    """Standardise a column by hand, by the mean and deviation of another."""
    seen = like[~np.isnan(like)]
    mean = seen.mean() if len(seen) else 0.0
    filled = np.where(np.isnan(like), mean, like)
    deviation = filled.std() or 1.0
    return (np.where(np.isnan(column), mean, column) - filled.mean()) / deviation


def tfidf(counts, like, sublinear=False):
    weights = np.log((1 + len(like)) / (1 + (like != 0).sum(axis=0))) + 1
    if sublinear:
        counts = np.where(counts > 0, 1 + np.log(np.where(counts > 0, counts, 1)), 0)
    return unit(counts * weights)


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)


def date_columns(days, like):
    """Return the columns that are made of a date, by name, with the calendar of Python."""
    start = datetime.date(1970, 1, 1)
    seen, dates = (
        [None if np.isnan(day) else start + datetime.timedelta(day) for day in column]
        for column in (like, days)
    )
    known = [date for date in seen if date is not None]
    years = [[np.nan if d is None else d.year for d in column] for column in (dates, seen)]
    found = {"when: year": impute_and_standardise(*map(np.array, years))}
    if len({d.year for d in known}) < 2:
        found = {}
    for month in sorted({d.month for d in known}):
        found[f"when: month={month}"] = [float(d is not None and d.month == month) for d in dates]
    for day in sorted({d.weekday() for d in known}):
        name = f"when: weekday={calendar.day_name[day]}"
        found[name] = [float(d is not None and d.weekday() == day) for d in dates]
    return found


def prepare_by_hand(kind, X, like, words):
    """Prepare columns shop, price, when and words, as the table in the docstring has it."""
    found = {f"shop={shop}": X[:, 0] == k for k, shop in enumerate(SHOPS)}
    for j, name in ((1, "price"), (2, "when")):
        found[name] = impute_and_standardise(X[:, j], like[:, j])
        if np.isnan(like[:, j]).any():
            found[f"{name} is missing"] = np.isnan(X[:, j])
    found |= date_columns(X[:, 2], like[:, 2])
    counts, known = X[:, 3:], like[:, 3:]
    made = {
        "auto": lambda: tfidf(counts, known, sublinear=True),
        "tfidf": lambda: tfidf(counts, known, sublinear=True),
        "unit": lambda: unit(counts),
        "standard": lambda: counts / np.where(known.std(axis=0) == 0, 1, known.std(axis=0)),
    }
    return found | dict(zip(words, made[kind]().T, strict=True))


@pytest.mark.parametrize("kind", [k for k in PREPARATIONS if k != "none"])
def test_each_kind_of_column_has_its_own_preparation(write, kind):
    data = mixed_data(write)
    new = np.array([[1, 2.0, 19000, 0, 3, 0, 1, 0], [np.nan, np.nan, np.nan, 1, 0, 0, 0, 0]])
    prepare = make_preparation(kind, data.X, **data.layout)
    found = prepare.fit_transform(data.X)
    assert sp.issparse(found)
    X, words = data.X.toarray(), data.feature_names[3:]
    names = prepare.get_feature_names_out(data.feature_names).tolist()
    for rows, prepared in ((X, found), (new, prepare.transform(sp.csr_array(new)))):
        expected = prepare_by_hand(kind, rows, X, words)
        assert sorted(names) == sorted(expected)
        columns = np.column_stack([expected[name] for name in names])
        np.testing.assert_allclose(prepared.toarray(), columns, atol=1e-12)
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
    X = numbers.X
    assert not isinstance(make_preparation("auto", X[::2], **numbers.layout), ColumnGroups)
    prepare = make_preparation("auto", X, **numbers.layout)
    expected = np.column_stack([*(impute_and_standardise(c, c) for c in X.T), [0, 1, 0]])
    np.testing.assert_allclose(prepare.fit_transform(X), expected, atol=1e-12)
    counts = make_preparation("tfidf", X[:1], **numbers.layout)
    assert isinstance(counts, TfidfTransformer), "explicit kinds apply to numbers without a text"


def test_a_category_of_a_sparse_arff_is_not_a_count(write):
    rows = "".join(f"{{0 {'abc'[k % 3]}, 1 {k % 4}, 2 {k % 2}}}\n" for k in range(12))
    head = "@relation 'r: -C -1'\n@attribute c {a,b,c}\n@attribute n numeric\n@attribute l {0,1}\n"
    data = load(write(head + "@data\n" + rows, "it.arff"))
    assert sp.issparse(data.X)
    assert data.categories == {"c": ("a", "b", "c")}
    found = make_preparation("auto", data.X, **data.layout).fit_transform(data.X).toarray()
    expected = np.column_stack([np.eye(3)[np.arange(12) % 3], np.arange(12) % 4 > 0])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_sparse_features_beside_columns_are_prepared_separately(write):
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
    parts = [
        TfidfTransformer(sublinear_tf=True).fit_transform(data.X[:, s]) for s in data.words.values()
    ]
    expected = np.hstack([part.toarray() for part in parts])
    np.testing.assert_allclose(sp.csr_array(found).toarray(), expected, rtol=0, atol=1e-12)


def test_auto_preparation_looks_at_the_features(rng):
    counts = sp.csr_array(rng.poisson(1.0, (9, 4)).astype(float))
    assert isinstance(make_preparation("auto", counts), TfidfTransformer)
    weights = counts * 0.5
    out = make_preparation("auto", weights).fit_transform(weights)
    np.testing.assert_array_equal(out.toarray(), weights.toarray())
    table = rng.standard_normal((9, 4)) * [1, 10, 0, 3] + 5
    table[2, 1] = np.nan
    out = make_preparation("auto", table).fit_transform(table)
    np.testing.assert_array_equal(out[:, 4], np.arange(9) == 2)
    out = out[:, :4]
    assert np.isfinite(out).all()
    np.testing.assert_allclose(out.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(out.std(axis=0), [1, 1, 0, 1])


def test_rows_are_scaled_to_unit_length(rng):
    X = rng.standard_normal((5, 3))
    out = make_preparation("unit", X).fit_transform(X)
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1)


def test_each_value_of_a_category_becomes_a_column():
    X = np.array([[0.0, 5], [2, 7], [np.nan, 6]])
    make = make_preparation(
        "standard", X, feature_names=["c", "x"], categories={"c": ("red", "green", "blue")}
    )
    out = make.fit_transform(X)
    np.testing.assert_array_equal(out[:, 1:], [[1, 0, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(out[:, 0], np.array([-1, 1, 0]) * np.sqrt(1.5))
    with pytest.raises(ValueError, match="kind must be one of"):
        make_preparation("tidy", X)


def test_numbers_that_are_missing_together_share_a_column():
    X = np.arange(24.0).reshape(6, 4)
    X[1, :2] = np.nan
    X[[1, 4], 2] = np.nan
    make = make_preparation("auto", X).fit(X)
    names = make.get_feature_names_out(["a", "b", "c", "d"]).tolist()
    assert names == ["a", "b", "c", "d", "a is missing", "c is missing"]
    assert make.transform(X)[:, 4:].T.tolist() == [[0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0]]
    X[:, 2] = np.nan
    assert make_preparation("auto", X).fit_transform(X).shape == (6, 5), "all are missing in c"
