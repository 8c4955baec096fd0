"""Contributions add up to the score, whatever the model and the form of the samples."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.svm import SVC, LinearSVC

import eigenlabel as el
from eigenlabel.estimators.subspace import many_labels
from eigenlabel.inspection import explain, explain_label
from eigenlabel.inspection.explaining import largest
from eigenlabel.inspection.explanation import headline
from eigenlabel.thresholds import Costs, Rule
from explained import DENSE, MODELS, assert_adds_up, expected_scores, make_data, total


@pytest.fixture(scope="module")
def data():
    return make_data(np.random.default_rng(7))


@pytest.mark.parametrize("n_top", [1, 3, None])
@pytest.mark.parametrize("name", [*MODELS, *DENSE])
def test_contributions_of_every_model_add_up_to_its_scores(name, n_top, data):
    X, Y = data
    model = {**MODELS, **DENSE}[name]().fit(X, Y)
    found = explain(model, X[:5], n_top=n_top)
    assert_adds_up(model, X[:5], found)
    np.testing.assert_array_equal(found.predicted, model.predict(X[:5]) > 0)
    if n_top is None:
        assert not found.remainder.any()
        assert not found.n_others.any()


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("name", MODELS)
def test_sparse_samples_are_explained_like_dense_ones(name, form, data):
    X, Y = data
    model = MODELS[name]().fit(form(X), Y)
    given = form(X[:5])
    found = explain(model, given, n_top=2)
    assert_adds_up(model, given, found)
    again = explain(MODELS[name]().fit(X, Y), X[:5], n_top=None)
    # Two fits may add numbers in another order; iterative ones stop at their tolerance.
    np.testing.assert_allclose(total(found), total(again), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "name", ["subspace", "subspace rbf", "one-vs-rest", "mlknn", "jec", "mbrm", "kgha", "fasttag"]
)
def test_the_order_of_the_labels_does_not_matter(name, data):
    X, Y = data
    order = np.array([2, 0, 3, 1])
    one = explain(MODELS[name]().fit(X, Y), X[:4], n_top=None)
    other = explain(MODELS[name]().fit(X, Y[:, order]), X[:4], n_top=None)
    for i in range(4):
        for j in range(4):
            first, second = one.terms(i, int(order[j])), other.terms(i, j)
            assert first.keys() == second.keys()
            np.testing.assert_allclose(
                [second[k] for k in first], list(first.values()), rtol=1e-7, atol=1e-9
            )
    if one.shared is not None:
        np.testing.assert_allclose(one.shared[:, order], other.shared, atol=1e-9)


def test_contributions_of_a_linear_model_are_coefficient_times_value(data):
    X, Y = data
    model = RidgeClassifier().fit(X, Y)
    found = explain(model, X[:3], n_top=None)
    for i in range(3):
        for j in range(4):
            naive = {f"x{k}": model.coef_[j, k] * X[i, k] for k in range(8) if X[i, k]}
            assert found.terms(i, j) == pytest.approx(naive, rel=1e-12)
            sizes = np.abs(found.contributions[i, j])
            assert (np.diff(sizes) <= 0).all()
    assert found.values[0, 0, 0] == X[0, int(found.names[0, 0, 0][1:])]


def test_the_remainder_is_what_is_not_shown(data):
    X, Y = data
    model = RidgeClassifier().fit(X, Y)
    every, few = explain(model, X[:3], n_top=None), explain(model, X[:3], n_top=2)
    np.testing.assert_array_equal(few.contributions, every.contributions[:, :, :2])
    np.testing.assert_allclose(few.remainder, every.contributions[:, :, 2:].sum(axis=2))
    assert (few.n_others[0] == np.count_nonzero(X[0]) - 2).all()


def test_one_sample_and_a_sample_without_features(data):
    X, Y = data
    model = el.SharedSubspaceClassifier(n_components=2).fit(X, Y)
    assert_adds_up(model, X[:1], explain(model, X[:1]))
    nothing = sp.csr_array((1, 8))
    found = explain(model, nothing)
    assert found.contributions.shape == (1, 4, 0)
    np.testing.assert_allclose(found.score, model.intercept_[None])


def test_labels_are_chosen_by_name_or_position(data):
    X, Y = data
    model = RidgeClassifier().fit(X, Y)
    names = ["red", "green", "blue", "7"]
    found = explain(model, X[:2], labels=["blue", 0, "7", -3], label_names=names)
    assert found.label_names.tolist() == ["blue", "red", "7", "green"]
    np.testing.assert_allclose(found.score, model.decision_function(X[:2])[:, [2, 0, 3, 1]])
    assert explain(model, X[:2], labels=1).label_names.tolist() == ["1"]
    with pytest.raises(ValueError, match="No label is called 'pink'; there are: 'red'"):
        explain(model, X[:2], labels="pink", label_names=names)
    with pytest.raises(ValueError, match="There are 4 labels, label 4 is not one of them"):
        explain(model, X[:2], labels=4)
    with pytest.raises(ValueError, match="labels is empty"):
        explain(model, X[:2], labels=[])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_name_features_labels_and_samples(library, data):
    frames = pytest.importorskip(library)
    X, Y = data
    features = [f"f{k}" for k in range(8)]
    A = frames.DataFrame({name: X[:, k] for k, name in enumerate(features)})
    B = frames.DataFrame({name: Y[:, k] for k, name in enumerate("abcd")})
    model = el.SharedSubspaceClassifier(n_components=2).fit(A, B)
    found = explain(model, A[2:4])
    assert found.label_names.tolist() == list("abcd")
    assert set(found.names[0, 0]) - {""} <= set(features)
    assert found.sample_names.tolist() == (["2", "3"] if library == "pandas" else ["0", "1"])
    assert_adds_up(model, A[2:4], found)


def test_names_of_the_wrong_number_are_an_error(data):
    X, Y = data
    model = RidgeClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="3 feature_names for 8 columns"):
        explain(model, X[:2], feature_names=list("abc"))
    with pytest.raises(ValueError, match="3 label_names for 4 labels"):
        explain(model, X[:2], label_names=list("abc"))
    with pytest.raises(ValueError, match="3 sample_names for 2 samples"):
        explain(model, X[:2], sample_names=list("abc"))
    rbf = el.SharedSubspaceClassifier(kernel="rbf").fit(X, Y)
    with pytest.raises(ValueError, match="3 training_names for 60 training samples"):
        explain(rbf, X[:2], training_names=list("abc"))
    with pytest.raises(ValueError, match="n_top"):
        explain(model, X[:2], n_top=0)


class Never(Rule):
    """A rule that does not compare scores with its thresholds."""

    def fit(self, scores, Y):  # noqa: ARG002
        return np.zeros(scores.shape[1])

    def decide(self, scores, thresholds):  # noqa: ARG002
        return np.zeros(scores.shape, dtype=bool)


class Squared(RidgeClassifier):
    """A model with coefficients whose scores are not linear."""

    def decision_function(self, X):
        return super().decision_function(X) ** 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: RandomForestClassifier(3, random_state=0),
        lambda: ClassifierChain(LogisticRegression()),
        lambda: OneVsRestClassifier(CalibratedClassifierCV(LinearSVC(), cv=2)),
        el.GaussianFields,
        lambda: KMeans(2, n_init=1),
        Squared,
    ],
    ids=["forest", "chain", "calibrated", "fields", "clusters", "squared"],
)
def test_other_models_are_an_error_that_names_what_is_supported(make, data):
    X, Y = data
    model = make().fit(X, Y)
    with pytest.raises(TypeError, match=r"cannot be explained.*linear models .*MLkNN"):
        explain(model, X[:2])


@pytest.mark.parametrize(
    "make", [lambda: SVC(kernel="linear"), lambda: BaggingClassifier(LogisticRegression(), 3)]
)
def test_coefficients_of_pairs_and_of_ensembles_are_not_those_of_classes(make, data):
    X, Y = data
    for y in (Y[:, 0] + Y[:, 1], Y[:, 0] + 2 * Y[:, 1]):  # three classes and pairs; four, and six
        with pytest.raises(TypeError, match="cannot be explained"):
            explain(make().fit(X, y), X[:2])


def test_a_model_that_is_not_fitted_is_an_error(data):
    with pytest.raises(NotFittedError):
        explain(RidgeClassifier(), data[0][:2])


@pytest.mark.parametrize(
    "make",
    [
        el.SharedSubspaceClassifier,
        LogisticRegression,
        lambda: el.MLkNN(5),
        el.MtSDA,
    ],
    ids=["subspace", "logistic", "mlknn", "mtsda"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_vectors_of_classes(make, n_classes, data):
    X, Y = data
    y = np.array(["no", "yes", "so"])[Y[:, : n_classes - 1].sum(axis=1)]
    model = make().fit(X, y)
    found = explain(model, X[:6])
    names = ["yes"] if n_classes == 2 else ["no", "so", "yes"]
    assert found.label_names.tolist() == names
    assert total(found) == pytest.approx(found.score, abs=1e-12)
    if hasattr(model, "decision_function"):
        scores = model.decision_function(X[:6]).reshape(6, -1)
        np.testing.assert_allclose(found.score, scores, rtol=1e-9, atol=1e-12)
    expected = model.predict(X[:6])[:, None] == np.array(names)
    np.testing.assert_array_equal(found.predicted, expected)


def test_single_precision(data):
    X, Y = data
    for name in ("subspace", "subspace rbf", "mtsda", "kgha"):
        model = MODELS[name]().fit(X.astype(np.float32), Y)
        found = explain(model, X[:4].astype(np.float32), n_top=3)
        scores = model.decision_function(X[:4].astype(np.float32))
        # The model adds up in single precision.
        np.testing.assert_allclose(total(found), scores, rtol=1e-4, atol=1e-4)


def test_missing_labels_and_constant_labels(data):
    X, Y = data
    some = Y.astype(float)
    some[::3, 1] = np.nan
    model = el.SharedSubspaceClassifier(n_components=2).fit(X, some)
    assert_adds_up(model, X[:3], explain(model, X[:3]))
    always = np.column_stack([Y, np.ones(len(Y), int), np.zeros(len(Y), int)])
    search = el.OneVsRestSearchCV(param_grid={"C": [1.0]}, cv=2).fit(X, always)
    found = explain(search, X[:3])
    assert_adds_up(search, X[:3], found)
    assert found.intercept[0, 4:].tolist() == [1.0, -1.0]
    with pytest.warns(UserWarning, match="Label"):
        rest = OneVsRestClassifier(LogisticRegression()).fit(X, always)
    assert_adds_up(rest, X[:3], explain(rest, X[:3]))
    constant = el.OneVsRestSearchCV(param_grid={"C": [1.0]}, cv=2).fit(X, always[:, 4:])
    assert explain(constant, X[:3]).contributions.shape == (3, 2, 0)


def test_thresholds_are_those_of_the_decisions(data):
    X, Y = data
    tuned = el.SharedSubspaceClassifierCV([0.1], [0.1], 2).fit(X, Y)
    np.testing.assert_array_equal(explain(tuned, X[:5]).threshold, tuned.thresholds_)
    assert (explain(RidgeClassifier().fit(X, Y), X[:5]).threshold == 0).all()
    knn = el.ThresholdedClassifier(el.MLkNN(5), cv=2).fit(X, Y)
    found = explain(knn, X[:5])
    np.testing.assert_allclose(1 / (1 + np.exp(-found.threshold)), knn.thresholds_)
    np.testing.assert_allclose(found.probability, knn.predict_proba(X[:5]))
    top = el.ThresholdedClassifier(el.MLkNN(5), strategy="top", cv=2)
    with pytest.warns(UserWarning, match="predicts all 4 labels"):
        top.fit(X, Y)
    assert np.isnan(explain(top, X[:5]).threshold).all()
    never = el.ThresholdedClassifier(RidgeClassifier(), strategy=Never(), cv=2).fit(X, Y)
    found = explain(never, X[:5])
    positive = (found.score > 0).any(axis=0)
    assert positive.any()
    np.testing.assert_array_equal(np.isnan(found.threshold), positive)


def test_factored_weights_are_explained_without_their_product(data, monkeypatch):
    X, Y = data
    full = el.SharedSubspaceClassifier(np.inf, n_components=2).fit(X, Y)
    monkeypatch.setattr(many_labels, "MANY", 1)
    for kernel in ("linear", "rbf"):
        model = el.SharedSubspaceClassifier(np.inf, n_components=2, kernel=kernel, tol=1e-12)
        model.fit(X, Y)
        assert model.label_weights_.shape == (2, 4)
        found = explain(model, X[:4], labels=[3, 1])
        np.testing.assert_allclose(total(found), model.decision_function(X[:4])[:, [3, 1]])
        np.testing.assert_allclose(found.own, 0.0, atol=1e-12)
        if kernel == "linear":
            np.testing.assert_allclose(
                found.contributions, explain(full, X[:4], labels=[3, 1]).contributions, atol=1e-9
            )


def test_streams_are_explained(data):
    X, Y = data
    model = el.SharedSubspaceClassifier(n_components=2)
    model.partial_fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    assert_adds_up(model, X[:3], explain(model, X[:3]))


def test_a_hundred_thousand_sparse_features_are_never_dense(rng):
    n, d = 200, 100_000
    X = sp.csr_array(sp.random_array((n, d), density=2e-4, rng=rng))
    Y = (rng.random((n, 3)) < 0.4).astype(int)
    model = el.SharedSubspaceClassifier(n_components=1).fit(X, Y)
    given = [f"word {k}" for k in range(d)]
    tracemalloc.start()
    found = explain(model, X, n_top=5, feature_names=given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_adds_up(model, X, found)
    assert peak < 40e6  # X alone would be 160 MB
    assert found.names[0, 0, 0].startswith("word ")


def test_input_is_not_modified(data):
    X, Y = data
    for name in ("subspace", "svd, unit length", "mlknn", "kgha linear"):
        model = MODELS[name]().fit(X, Y)
        given = X[:4].copy()
        explain(model, given)
        np.testing.assert_array_equal(given, X[:4])


def test_the_largest_numbers_come_first_and_of_equal_ones_the_first():
    sizes = np.array([[1.0, 3.0, 3.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    assert largest(sizes, 2).tolist() == [[1, 2], [0, 1]]
    assert largest(sizes, 1).tolist() == [[1], [0]]
    assert largest(sizes, 9)[0].tolist() == [1, 2, 4, 0, 3]
    assert largest(sizes, 0).shape == (2, 0)


def test_log_odds_are_those_of_the_probabilities(data):
    X, Y = data
    model = el.MLkNN(5).fit(X, Y)
    found = explain(model, X[:5])
    assert found.scale == "log-odds"
    np.testing.assert_allclose(found.score, expected_scores(model, X[:5], found), rtol=1e-9)


def test_thresholds_of_probabilities_are_not_those_of_scores(data):
    X, Y = data
    model = el.SharedSubspaceClassifierCV([0.1], [0.1], 2, threshold=Costs(miss=3.0)).fit(X, Y)
    found = explain(model, X[:5])
    assert found.threshold_of == "probability"
    np.testing.assert_array_equal(found.threshold, [0.25] * Y.shape[1])
    np.testing.assert_array_equal(found.probability > 0.25, found.predicted)
    assert found.to_dict()["samples"][0]["labels"][0]["threshold_of"] == "probability"
    line = headline(found, 0, 0)
    assert f"probability {found.probability[0, 0]:.3f}, threshold 0.250" in line
    wrapped = el.ThresholdedClassifier(model, strategy=Costs(miss=3.0), calibration=None).fit(X, Y)
    assert explain(wrapped, X[:5]).threshold_of == "probability"
    label = explain_label(model, 0)
    assert label.threshold_of == label.to_dict()["threshold_of"] == "probability"
    assert "threshold of the probability: +0.25" in str(label)
    best = el.SharedSubspaceClassifierCV([0.1], [0.1], 2, threshold="expected_f1").fit(X, Y)
    assert np.isnan(explain(best, X[:5]).threshold).all()  # no comparison decides
