"""What both classifiers share: thresholds, discrete predictions, sparse weights and warnings."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from eigenlabel import MtSDA, thresholds
from eigenlabel.estimators.discriminant import base


@pytest.mark.parametrize("n_classes", [2, 4])
def test_discrete_prediction_of_classes_is_equation_4(n_classes, classes):
    X, y = classes
    y = y % n_classes
    model = MtSDA(2.0, 1.0).fit(X, y)
    Y = (y[:, None] == np.arange(n_classes)).astype(float)
    if n_classes == 2:
        Y = Y[:, 1:]
    targets = (Y - Y.mean(axis=0)) @ model.label_scores_  # (n, q), one place a class
    places = np.array([targets[y == c][0] for c in range(n_classes)])
    distance = np.linalg.norm(model.transform(X)[:, None] - places[None], axis=2)
    assert (model.predict(X, method="discrete") == distance.argmin(axis=1)).all()
    assert (model.predict(X, method="discrete") == y).mean() > 0.6


@pytest.mark.parametrize("chunk", [2**22, 100])
def test_discrete_prediction_is_the_best_of_all_label_sets(data, chunk, monkeypatch):
    monkeypatch.setattr(base, "CHUNK", chunk)
    model = MtSDA(5.0, 1.0).fit(data.X, data.Y)
    found = model.predict(data.X, method="discrete")
    sets = np.array(list(itertools.product([0, 1], repeat=5)))
    theta, Z = model.label_scores_, model.transform(data.X)
    reached = np.linalg.norm((found - data.Y.mean(axis=0)) @ theta - Z, axis=1)
    all_of_them = (sets - data.Y.mean(axis=0)) @ theta
    least = np.linalg.norm(all_of_them[None] - Z[:, None], axis=2).min(axis=1)
    np.testing.assert_allclose(reached, least, atol=1e-10)
    assert (found == data.Y).mean() > 0.8


@pytest.mark.parametrize("rule", ["global", "f1", "mixed", thresholds.Top(2)])
def test_thresholds_are_those_of_the_rule_on_training_scores(rule, data):
    model = MtSDA(5.0, 1.0, threshold=rule).fit(data.X, data.Y)
    scores = model.decision_function(data.X)
    chosen = thresholds.get_rule(rule)
    expected = chosen.fit(scores, data.Y)
    np.testing.assert_array_equal(model.thresholds_, expected)
    np.testing.assert_array_equal(model.predict(data.X), chosen.decide(scores, expected))


def test_weights_and_methods_are_checked(data):
    with pytest.raises(ValueError, match="at least one non-zero number"):
        MtSDA().fit(data.X, data.Y, np.zeros(80))
    with pytest.raises(ValueError, match="method must be one of 'auto', 'discrete'"):
        MtSDA().fit(data.X, data.Y).predict(data.X, method="exact")


def test_stopping_early_warns_with_the_last_change(data, monkeypatch):
    model = MtSDA(5.0, 1.0, n_iter=2, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match="n_iter=2 iterations") as caught:
        model.fit(data.X, data.Y)
    first, last = model.objective_
    assert f"by {(first - last) / first:.2g} of itself" in str(caught[0].message)
    monkeypatch.setattr(base, "TOLERATED", -1.0)
    with pytest.warns(ConvergenceWarning, match="relative violation of optimality of"):
        MtSDA(5.0, 1.0).fit(data.X, data.Y)


def test_selected_features_are_sorted_by_weight(data):
    X = pd.DataFrame(data.X, columns=[f"f{i}" for i in range(20)])
    model = MtSDA(30.0, 1.0).fit(X, data.Y)
    used = model.selected_features()
    assert len(used) == model.n_components_ == 5
    for names, row in zip(used, model.components_, strict=True):
        weights = [abs(row[int(name[1:])]) for name in names]
        assert weights == sorted(weights, reverse=True)
        assert len(names) == np.count_nonzero(row)
    assert len(set(np.concatenate(used))) == model.n_features_selected_ < 20
    numbers = MtSDA(30.0, 1.0).fit(data.X, data.Y).selected_features()
    assert [f"f{i}" for i in numbers[0]] == list(used[0])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_sparse_weights_predict_the_same(form, data):
    model = MtSDA(30.0, 1.0).fit(data.X, data.Y)
    X = form(data.X)
    before = model.decision_function(X), model.transform(X), model.predict(X, "discrete")
    used = model.selected_features()
    assert model.sparsify() is model
    assert sp.issparse(model.coef_)
    assert model.components_.nnz == sum(len(names) for names in used)
    after = model.decision_function(X), model.transform(X), model.predict(X, "discrete")
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-13)
    assert [list(u) for u in model.selected_features()] == [list(u) for u in used]
    assert isinstance(model.densify().coef_, np.ndarray)
    np.testing.assert_allclose(model.transform(X), before[1], atol=1e-13)
