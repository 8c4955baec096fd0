"""What explain_label returns, against naive computations."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

import eigenlabel as el
from eigenlabel.estimators.subspace import many_labels
from eigenlabel.inspection import Confusion, explain, explain_label
from eigenlabel.thresholds import Costs
from explained import DENSE, MODELS, make_data


@pytest.fixture(scope="module")
def data():
    return make_data(np.random.default_rng(11), n=80, m=5)


@pytest.mark.parametrize("name", [*MODELS, *DENSE])
def test_every_model_has_a_summary_of_a_label(name, data):
    X, Y = data
    found = explain_label({**MODELS, **DENSE}[name]().fit(X, Y), 2, n_top=3)
    assert found.label == "2"
    assert all(value > 0 for _, value in found.speaks_for)
    assert all(value < 0 for _, value in found.speaks_against)
    assert "2" not in [name for name, _ in found.similar]
    assert str(found).startswith("label 2")


def test_the_features_are_those_of_the_largest_coefficients(data):
    X, Y = data
    model = el.SharedSubspaceClassifierCV([0.1], [0.1], 2).fit(X, Y)
    found = explain_label(model, 1, n_top=2, feature_names=list("abcdefgh"))
    weights = dict(zip("abcdefgh", model.coef_[1], strict=True))
    order = sorted(weights, key=lambda name: -weights[name])
    positive = [name for name in order if weights[name] > 0][:2]
    negative = [name for name in order[::-1] if weights[name] < 0][:2]
    assert found.speaks_for == [(name, pytest.approx(weights[name])) for name in positive]
    assert found.speaks_against == [(name, pytest.approx(weights[name])) for name in negative]
    assert found.intercept == pytest.approx(model.intercept_[1])
    assert found.threshold == pytest.approx(model.thresholds_[1])
    W = model.eigenlabels_
    weights = {str(k): (W @ W[1])[k] for k in range(5) if k != 1}
    best = max(weights, key=lambda k: abs(weights[k]))
    assert found.lenders[0] == (best, pytest.approx(weights[best]))


def test_similar_labels_are_those_of_the_largest_cosine(data):
    X, Y = data
    C = RidgeClassifier().fit(X, Y).coef_
    cosines = C @ C[3] / np.linalg.norm(C, axis=1) / np.linalg.norm(C[3])
    naive = sorted(
        ((str(k), cosines[k]) for k in range(5) if k != 3 and cosines[k] > 0),
        key=lambda pair: -pair[1],
    )
    for model in (
        RidgeClassifier(),
        make_pipeline(StandardScaler(with_std=False), RidgeClassifier()),
    ):
        found = explain_label(model.fit(X, Y), 3)
        assert found.similar == [(name, pytest.approx(value)) for name, value in naive]
    rest = OneVsRestClassifier(RidgeClassifier()).fit(X, Y)
    assert explain_label(rest, 3).similar == [(n, pytest.approx(v)) for n, v in naive]


def test_similarity_in_a_kernel_is_that_of_the_linear_model(data):
    """With a linear kernel, S is the inner product of the two ridge regressions of labels."""
    X, Y = data
    one = el.SharedSubspaceClassifier(1e-9, 0.1, 5).fit(X, Y)
    other = el.SharedSubspaceClassifier(1e-9, 0.1, 5, kernel="precomputed").fit(X @ X.T, Y)
    first, second = explain_label(one, 0).similar, dict(explain_label(other, 0).similar)
    assert {name for name, _ in first} == set(second)
    for name, value in first:  # alpha is small, not zero
        assert second[name] == pytest.approx(value, rel=1e-6)


def test_factored_weights(data, monkeypatch):
    X, Y = data
    full = el.SharedSubspaceClassifier(np.inf, n_components=2).fit(X, Y)
    monkeypatch.setattr(many_labels, "MANY", 1)
    model = el.SharedSubspaceClassifier(np.inf, n_components=2, tol=1e-12).fit(X, Y)
    one, other = explain_label(full, 1), explain_label(model, 1)
    assert dict(other.speaks_for) == pytest.approx(dict(one.speaks_for), abs=1e-8)
    assert dict(other.similar) == pytest.approx(dict(one.similar), abs=1e-8)
    rbf = el.SharedSubspaceClassifier(np.inf, n_components=2, kernel="rbf").fit(X, Y)
    found = explain_label(rbf, 1, training_names=[f"t{i}" for i in range(80)])
    assert found.kind == "training sample"
    assert found.speaks_for[0][0].startswith("t")


def test_words_behind_a_projection():
    texts = ["red apple", "green apple", "red car", "fast car"]
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    model = make_pipeline(
        TfidfVectorizer(), TruncatedSVD(3, random_state=0), Normalizer(), RidgeClassifier()
    ).fit(texts, Y)
    found = explain_label(model, 0)
    weights = model[3].coef_ @ model[1].components_
    words = model[0].get_feature_names_out().tolist()
    assert found.speaks_for[0] == ("apple", pytest.approx(weights[0, words.index("apple")]))


def naive_confusions(Y, D, j):
    found = {}
    for y, d in zip(Y, D, strict=True):
        for k in range(Y.shape[1]):
            if np.isnan([y[j], y[k]]).any():
                continue
            missed = y[j] == 1 and d[j] == 0 and y[k] == 0 and d[k] == 1
            instead = y[j] == 0 and d[j] == 1 and y[k] == 1 and d[k] == 0
            a, b = found.get(k, (0, 0))
            found[k] = a + missed, b + instead
    return {str(k): v for k, v in found.items() if sum(v)}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_confused_labels_are_counted_on_held_out_scores(form, data):
    X, Y = data
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(Y.shape) < 0.2, 1 - Y, Y)
    for model in (
        el.SharedSubspaceClassifierCV([0.1], [0.1], 2),
        el.ThresholdedClassifier(RidgeClassifier()),
    ):
        model.fit(X, noisy)
        decided = model.oof_scores_ > model.thresholds_
        for j in range(5):
            found = explain_label(model, j, Y=form(noisy)).confused
            naive = naive_confusions(noisy.astype(float), decided, j)
            assert {c.label: (c.missed, c.instead) for c in found} == naive
            totals = [c.missed + c.instead for c in found]
            assert totals == sorted(totals, reverse=True)


def test_confused_labels_of_new_samples_and_of_cells_that_are_not_observed(data):
    X, Y = data
    model = RidgeClassifier().fit(X[:40], Y[:40])
    some = Y[40:].astype(float)
    some[::4, 2] = np.nan
    found = explain_label(model, 2, X=X[40:], Y=some).confused
    naive = naive_confusions(some, model.predict(X[40:]), 2)
    assert {c.label: (c.missed, c.instead) for c in found} == naive
    assert all(isinstance(c, Confusion) for c in found)
    tuned = el.OneVsRestSearchCV(param_grid={"C": [1.0]}, cv=2).fit(X, Y)
    with pytest.raises(ValueError, match="no held-out scores"):
        explain_label(tuned, 2, Y=Y)  # it has scores, but no thresholds of its own
    with pytest.raises(ValueError, match="no held-out scores"):
        explain_label(model, 2, Y=Y)
    with pytest.raises(ValueError, match=r"Y has shape \(80, 5\), the predictions have \(40, 5\)"):
        explain_label(model, 2, X=X[40:], Y=Y)
    assert explain_label(model, 2).confused is None


def test_a_label_that_all_samples_have(data):
    X, Y = data
    Y = np.column_stack([Y, np.ones(len(Y), int)])
    with pytest.warns(UserWarning, match="Label"):
        model = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    found = explain_label(model, 5)
    assert (found.speaks_for, found.similar) == ([], [])
    assert "5" not in [name for name, _ in explain_label(model, 0).similar]


def test_models_whose_coefficients_are_not_those_of_labels(data):
    X, Y = data
    with pytest.raises(TypeError, match="cannot be explained"):
        explain_label(SVC(kernel="linear").fit(X, Y[:, 0] + Y[:, 1]), 0)
    with pytest.raises(TypeError, match="cannot be explained"):
        explain_label(el.GaussianFields().fit(X, Y), 0)


def test_names_seen_in_fit_are_used(data):
    pandas = pytest.importorskip("pandas")
    X, Y = data
    frame = pandas.DataFrame(X, columns=[f"f{k}" for k in range(8)])
    model = make_pipeline(StandardScaler(), RidgeClassifier()).fit(frame, Y)
    assert explain_label(model, 0).speaks_for[0][0].startswith("f")
    assert explain_label(RidgeClassifier().fit(frame, Y), 0).speaks_for[0][0].startswith("f")


def test_support_vectors_of_a_label(data):
    X, Y = data
    model = OneVsRestClassifier(SVC(gamma=0.2)).fit(X, Y)
    found = explain_label(model, 1, n_top=1)
    svm = model.estimators_[1]
    best = svm.support_[np.argmax(svm.dual_coef_[0])]
    assert svm.dual_coef_[0].max() == pytest.approx(found.speaks_for[0][1])
    assert found.speaks_for[0][0] == f"training sample {best}"
    assert found.similar == []


def test_confused_labels_of_a_rule_on_probabilities(data):
    X, Y = data
    model = el.SharedSubspaceClassifierCV([0.1], [0.1], 2, threshold=Costs(miss=3.0)).fit(X, Y)
    decided = model.calibration_.probabilities(model.oof_scores_) > 0.25
    found = explain_label(model, 1, Y=Y).confused
    naive = naive_confusions(Y.astype(float), decided, 1)
    assert {c.label: (c.missed, c.instead) for c in found} == naive


def test_columns_without_names_are_called_as_in_explanations_of_samples():
    texts = ["red apple", "green apple", "red car", "fast car"] * 5
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]] * 5)
    model = make_pipeline(HashingVectorizer(n_features=32), el.SharedSubspaceClassifier())
    model.fit(texts, Y)
    label = explain_label(model, 0, n_top=1)
    sample = explain(model, ["apple"], labels=0, n_top=1)
    assert label.speaks_for[0][0] == sample.names[0, 0, 0]
    assert label.notes == sample.notes
    assert label.speaks_for[0][0].startswith("hashingvectorizer")
