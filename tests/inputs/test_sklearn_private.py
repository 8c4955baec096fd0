"""The private side of scikit-learn: each function against a small example."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import KFold, check_cv
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import validate_data

from eigenlabel.inputs import sklearn_private as private


def test_metadata_routing_is_read_from_the_configuration():
    for enabled in (False, True):
        with sklearn.config_context(enable_metadata_routing=enabled):
            assert private.routing_enabled() == enabled


def test_only_a_list_of_splits_is_a_list_of_splits():
    assert private.is_list_of_splits(check_cv([([0], [1])]))
    assert not private.is_list_of_splits(check_cv(3))
    assert not private.is_list_of_splits(KFold(3))


def test_rows_are_taken_of_parameters_with_one_entry_per_sample():
    X = np.zeros((4, 2))
    found = private.take_rows(X, {"weights": np.arange(4), "name": "a"}, np.array([1, 3]))
    np.testing.assert_array_equal(found["weights"], [1, 3])
    assert found["name"] == "a"


def test_a_kernel_matrix_is_restricted_to_the_training_samples():
    K, y, rows = np.arange(16.0).reshape(4, 4), np.arange(4), np.array([1, 2])
    part, labels = private.take_samples(SVC(kernel="precomputed"), K, y, np.array([0]), rows)
    np.testing.assert_array_equal(part, [[1, 2]])
    np.testing.assert_array_equal(labels, [0])
    whole, _ = private.take_samples(LogisticRegression(), K, y, np.array([0]), rows)
    np.testing.assert_array_equal(whole, K[:1])


def test_scorers_with_and_without_weights_are_recognised():
    assert private.takes_weights(make_scorer(f1_score))
    assert private.takes_weights(lambda y, p, **more: 0.0)
    assert not private.takes_weights(lambda y, p: 0.0)


def test_weights_that_are_negative_raise_an_error():
    X = np.zeros((2, 1))
    np.testing.assert_array_equal(private.sample_weights([1, 2], X), [1, 2])
    with pytest.raises(ValueError, match="Negative values"):
        private.sample_weights([1, -2], X)


def test_column_names_are_those_of_a_frame():
    assert private.column_names(pd.DataFrame({"a": [1], "b": [2]})) == ("a", "b")
    assert private.column_names(pd.DataFrame([[1, 2]])) is None
    assert private.column_names(np.zeros((1, 2))) is None


def test_feature_names_are_those_of_fit():
    model = LogisticRegression().fit(pd.DataFrame({"a": [0, 1], "b": [1, 1]}), [0, 1])
    assert list(private.feature_names(model, None)) == ["a", "b"]
    with pytest.raises(ValueError, match="input_features is not equal"):
        private.feature_names(model, ["b", "a"])


FRAMES = {
    "float64": pd.DataFrame({"a": [0.5, 1.0], "b": [1.0, -3.0]}),
    "float32": pd.DataFrame({"a": [0.5, 1.0], "b": [1.0, -3.0]}, dtype=np.float32),
    "two types": pd.DataFrame({"a": [0.5, 1.0], "b": [1, -3]}),
    "nullable": pd.DataFrame({"a": [0.5, 1.0], "b": [1.0, -3.0]}, dtype="Float64"),
    "sparse": pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 0.0]}).astype(pd.SparseDtype(float, 0.0)),
    "without names": pd.DataFrame([[0.5, 1.0], [1.0, -3.0]]),
    "NaN": pd.DataFrame({"a": [0.5, np.nan], "b": [1.0, -3.0]}),
    "other names": pd.DataFrame({"a": [0.5, 1.0], "c": [1.0, -3.0]}),
    "other order": pd.DataFrame({"b": [0.5, 1.0], "a": [1.0, -3.0]}),
    "three columns": pd.DataFrame({"a": [0.5], "b": [1.0], "c": [0.0]}),
    "no rows": pd.DataFrame({"a": [], "b": []}, dtype=float),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("reset", [True, False])
@pytest.mark.parametrize("name", FRAMES)
def test_frames_are_validated_as_scikit_learn_does(name, reset):
    rules = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": True}
    outcomes = []
    for validate in (private.validate_samples, validate_data):
        model = LogisticRegression().fit(FRAMES["float64"], [0, 1])
        try:
            found = validate(model, FRAMES[name], reset=reset, **rules)
            found = found.toarray() if name == "sparse" else found
            outcomes.append([found.tolist(), found.dtype, model.n_features_in_])
        except ValueError as error:
            outcomes.append([str(error)])
        outcomes[-1].append(list(getattr(model, "feature_names_in_", [])))
    assert outcomes[0] == outcomes[1]


def test_only_frames_of_one_type_of_floats_take_the_short_way(monkeypatch):
    monkeypatch.setattr(private, "validate_data", lambda *_, **__: "long")
    model = LogisticRegression().fit(FRAMES["float64"], [0, 1])
    long = [
        name
        for name in ("float64", "float32", "two types", "nullable", "sparse")
        if isinstance(private.validate_samples(model, FRAMES[name], reset=False), str)
    ]
    assert long == ["two types", "nullable", "sparse"]


def long_indices(X):
    X = sp.csr_array(X)
    return sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), X.shape)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("shape", [(40, 5), (15, 30)])
@pytest.mark.parametrize("form", [np.ascontiguousarray, sp.csr_array, long_indices])
def test_liblinear_without_checks_is_the_linear_svm(loss, shape, form, rng, capfd):
    """The same calls with the same seed: nothing is added in another order."""
    X, positive = rng.standard_normal(shape), rng.random(shape[0]) < 0.4
    svm = LinearSVC(loss=loss, C=0.3, tol=1e-3, max_iter=500, fit_intercept=False, random_state=7)
    svm.fit(X, np.where(positive, 1, -1))
    settings = {"loss": loss, "C": 0.3, "tol": 1e-3, "max_iter": 500}
    settings["seed"] = private.liblinear_seed(7)
    private._liblinear.set_verbosity_wrap(1)  # LIBLINEAR prints if nobody asked it not to
    w, n_iter = private.fit_liblinear(form(X), positive, **settings)
    np.testing.assert_allclose(w, svm.coef_[0], rtol=1e-12)
    assert n_iter == svm.n_iter_
    assert capfd.readouterr().out == ""


def test_labels_in_any_form_are_indexed():
    rows = np.array([2, 0])
    assert private.take_labels([{"a"}, {"b"}, {"c"}], rows) == [{"c"}, {"a"}]
    Y = np.arange(6).reshape(3, 2)
    np.testing.assert_array_equal(private.take_labels(Y, rows), Y[rows])
    np.testing.assert_array_equal(private.take_labels(sp.csr_array(Y), rows).toarray(), Y[rows])
