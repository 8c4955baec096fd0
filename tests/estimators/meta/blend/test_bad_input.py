"""What users pass by mistake, or have to: a blend answers with a model or a clear message."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

from eigenlabel import MultilabelBlend
from eigenlabel.datasets import make_shared_subspace


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(60, 5, 3, prevalence=0.3, noise=0.3, random_state=0)


def fit(X, y, **parameters):
    weights = parameters.pop("sample_weight", None)
    return MultilabelBlend(random_state=0, **parameters).fit(X, y, sample_weight=weights)


def check(model, X, m):
    """Assert that a model predicts label sets and probabilities."""
    P = model.predict_proba(X)
    assert P.shape == (len(X) if not sp.issparse(X) else X.shape[0], m)
    assert np.isfinite(P).all()
    assert ((P > 0) & (P < 1)).all()
    predicted = model.predict(X)
    assert np.isin(predicted.toarray() if sp.issparse(predicted) else predicted, (0, 1)).all()


def test_labels_that_nobody_has_and_one_that_a_single_sample_has(data):
    Y = np.column_stack([data.Y, np.zeros((60, 2))])
    Y[3, 4] = 1
    model = fit(data.X, Y)
    check(model, data.X, 5)
    assert model.predict_proba(data.X)[:, 3].max() < 0.1
    with_ones = np.column_stack([data.Y, np.ones(60)])
    assert fit(data.X, with_ones).predict_proba(data.X)[:, 3].min() > 0.9
    nothing = fit(data.X, np.zeros((60, 2), dtype=int))
    check(nothing, data.X, 2)
    assert not nothing.predict(data.X).any()


@pytest.mark.parametrize("n", [5, 6, 9])
def test_very_few_samples(n, data):
    check(fit(data.X[:n], data.Y[:n]), data.X, 3)


def test_fewer_samples_than_folds_are_refused(data):
    with pytest.raises(ValueError, match=r"(?i)n_splits=5|folds"):
        fit(data.X[:3], data.Y[:3])


def test_one_label(data):
    check(fit(data.X, data.Y[:, :1]), data.X, 1)


def test_labels_that_are_not_observed(data):
    Y = data.Y.astype(float)
    Y[::3, 1] = np.nan
    Y[7] = np.nan
    check(fit(data.X, Y), data.X, 3)
    with pytest.raises(ValueError, match="NaN everywhere"):
        fit(data.X, np.full((60, 2), np.nan))


def test_weights_of_zero(data):
    w = np.r_[np.zeros(20), np.ones(40)]
    model = fit(data.X, data.Y, sample_weight=w)
    check(model, data.X, 3)
    assert np.isnan(model.oof_scores_[:20]).all()
    with pytest.raises(ValueError, match=r"(?i)weight|sample"):
        fit(data.X, data.Y, sample_weight=np.zeros(60))


def mixed(n, library):
    rng = np.random.default_rng(0)
    columns = {
        "size": rng.standard_normal(n).tolist(),
        "same": [7] * n,
        "gone": [None] * n,
        "colour": rng.choice(["red", "blue"], n).tolist(),
        "note": [["", "good and quick work", "slow and far too dear"][i % 3] for i in range(n)],
    }
    return library.DataFrame(columns)


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_that_say_nothing_unseen_values_and_empty_texts(library, data):
    frame = mixed(60, library)
    model = fit(frame, data.Y)
    check(model, frame, 3)
    kinds = model.preparation_.kinds_
    assert (kinds["same"], kinds["gone"]) == ("drop", "drop")
    columns = {name: frame[name].to_list() for name in frame.columns}
    new = library.DataFrame({**columns, "colour": ["green"] * 60, "note": [""] * 60})
    check(model, new, 3)


def test_texts_some_of_which_are_empty_or_missing(data):
    words = np.array(["oak", "ash", "elm"])
    texts = [" ".join(words[row.astype(bool)]) for row in data.Y]
    assert "" in texts
    model = fit(texts, data.Y)
    check(model, texts, 3)
    check(model, ["", "something else"], 3)
    with pytest.raises(ValueError, match=r"no word|feature"):
        fit([""] * 60, data.Y)


def test_columns_with_equal_names(data):
    frame = pd.DataFrame(data.X, columns=["a", "b", "b", "c", "d"])
    with pytest.raises(ValueError, match="'b'"):
        fit(frame, data.Y)


@pytest.mark.parametrize("library", [pd, pl])
def test_names_of_labels_come_back(library, data):
    names = ["ash", "birch", "cedar"]
    Y = library.DataFrame({name: data.Y[:, j] for j, name in enumerate(names)})
    X = library.DataFrame({f"x{j}": data.X[:, j] for j in range(5)})
    model = fit(X, Y)
    assert model.classes_.tolist() == names
    asked = "pandas" if library is pd else "polars"
    framed = MultilabelBlend(random_state=0).set_output(predict=asked).fit(X, Y).predict(X)
    assert list(framed.columns) == names
    np.testing.assert_array_equal(framed.to_numpy(), np.asarray(model.predict(X)))


def test_sparse_labels(data):
    model = fit(data.X, sp.csr_array(data.Y))
    check(model, data.X, 3)
    assert sp.issparse(model.predict(data.X))


def test_a_member_that_fails_is_reported(data):
    with pytest.warns(UserWarning, match="Member 'bad' of the blend is left out"):
        model = fit(
            data.X, data.Y, members=["linear", ("bad", DummyClassifier(strategy="constant"))]
        )
    assert list(model.members_) == ["linear"]
    assert "failed" in model.leaderboard_[-1]["status"]


def test_values_that_are_not_finite(data):
    X = data.X.copy()
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match=r"(?i)infinit"):
        fit(X, data.Y)


def test_a_column_of_strings_with_several_labels_is_reported(data):
    y = np.array(["a;b", "a", "b"])[np.arange(60) % 3]
    with pytest.warns(UserWarning, match=r"'a;b' look like several labels"):
        fit(data.X, y, members=["linear"])


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_the_output_of_transformers_is_the_matter_of_users(data, output):
    words = np.array(["red apple", "green car"])[data.Y[:, 0]]
    frame = mixed(60, pd).assign(words=words)
    for X in (frame, data.X, list(words), sp.csr_array(np.round(np.maximum(data.X, 0) * 3))):
        expected = fit(X, data.Y).predict_proba(X)
        with config_context(transform_output=output):
            model = fit(X, data.Y)
            np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-8)
        assert "failed" not in str(model.leaderboard_)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"members": [("r", Ridge())]}, TypeError, "must be a classifier, got Ridge"),
    ],
)
def test_parameters_that_cannot_work_are_named(data, parameters, error, message):
    with pytest.raises(error, match=message):
        MultilabelBlend(**parameters).fit(data.X, data.Y)


@pytest.mark.parametrize(("n", "message"), [(1, "at least 2 samples"), (3, "choose fewer folds")])
def test_too_few_samples(data, n, message):
    with pytest.raises(ValueError, match=message):
        MultilabelBlend().fit(data.X[:n], data.Y[:n])


def test_samples_in_no_test_part_have_no_held_out_scores(data):
    test = np.arange(40, 60)
    model = MultilabelBlend(["linear", "forest", "sets"], cv=[(np.arange(40), test)])
    model.set_params(random_state=0).fit(data.X, data.Y)
    assert np.isnan(model.oof_scores_).all(axis=1).tolist() == [True] * 40 + [False] * 20
    rows = {row["name"]: row for row in model.leaderboard_}
    assert "held-out scores of all samples" in rows["sets"]["status"]
    found = model._rule.decide(model.oof_scores_[test], model.thresholds_)
    expected = f1_score(data.Y[test], found, average="micro")
    assert rows["blend"]["f1_micro"] == pytest.approx(expected)


@pytest.mark.parametrize("wrap", [ClassifierChain, MultiOutputClassifier])
def test_classifiers_that_accept_only_label_matrices(data, wrap):
    model = MultilabelBlend([("own", wrap(LogisticRegression()))]).fit(data.X, data.Y)
    assert isinstance(model.members_["own"], wrap)
