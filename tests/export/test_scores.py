"""Scores of exported models in onnxruntime against those of the models, and naive sums."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import eigenlabel as el
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.export.graph import ExportError
from eigenlabel.thresholds import Top
from onnx_runs import check_equal, run

KERNELS = ("linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "chi2", "intersection")


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(120, 8, 5, 2, random_state=0)


@pytest.fixture(scope="module")
def positive(data):
    return np.abs(data.X)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.filterwarnings("ignore:.*not positive semi-definite")
def test_shared_subspace_with_every_kernel(positive, data, kernel, tmp_path):
    model = el.SharedSubspaceClassifier(kernel=kernel, calibration="auto")
    model.fit(positive[:100], data.Y[:100])
    check_equal(model, positive[90:], tmp_path / "m.onnx")


def test_the_scores_are_the_naive_sum(data, tmp_path):
    model = el.SharedSubspaceClassifier(kernel="rbf", gamma=0.1).fit(data.X[:100], data.Y[:100])
    el.export_onnx(model, tmp_path / "m.onnx")
    found = run(tmp_path / "m.onnx", data.X[100:])["scores"]
    for i, x in enumerate(data.X[100:]):
        for j in range(5):
            total = model.intercept_[j]
            for z, c in zip(data.X[:100], model.dual_coef_[:, j], strict=True):
                total += c * np.exp(-0.1 * ((x - z) ** 2).sum())
            assert found[i, j] == pytest.approx(total, rel=1e-9, abs=1e-9)


def test_models_of_sparse_samples(positive, data, tmp_path):
    X = sp.csr_matrix(np.where(positive > 0.7, positive, 0.0))
    for kernel in ("linear", "rbf", "intersection"):
        model = el.SharedSubspaceClassifierCV(kernel=kernel, cv=3).fit(X[:100], data.Y[:100])
        check_equal(model, X[100:], tmp_path / "m.onnx")


def test_models_in_single_precision(data, tmp_path):
    X = data.X.astype(np.float32)
    model = el.SharedSubspaceClassifierCV(cv=3).fit(X[:100], data.Y[:100])
    # The model itself rounds its scores to float32.
    check_equal(model, X[100:], tmp_path / "m.onnx", rtol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_many_labels_are_two_factors(data, kernel, tmp_path):
    rng = np.random.default_rng(0)
    Y = sp.csr_array(rng.random((120, 10_000)) < 0.01)
    model = el.SharedSubspaceClassifier(np.inf, n_components=3, kernel=kernel).fit(data.X, Y)
    assert model.label_weights_.shape == (3, 10_000)
    check_equal(model, data.X[:6], tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").stat().st_size < 1e6  # the product would take 0.6 or 9.6 MB


def test_streams(data, tmp_path):
    model = el.SharedSubspaceClassifierCV(cv=3)
    model.partial_fit(data.X[:60], data.Y[:60]).partial_fit(data.X[60:], data.Y[60:])
    check_equal(model, data.X, tmp_path / "m.onnx")


MODELS = {
    "mtsda": el.MtSDA(calibration="sigmoid"),
    "mtsda tuned": el.MtSDACV(cv=3),
    "aso": el.ASOClassifier(calibration="sigmoid"),
    "aso rbf": el.ASOClassifier(kernel="rbf"),
    "kgha": el.KGHA(2, calibration="auto"),
    "kgha views": el.KGHA(2, views={"a": slice(0, 3), "b": [3, 5, 7]}, kernel=["rbf", "linear"]),
    "kgha nystrom": el.KGHA(
        2, approximation="nystrom", transformers=StandardScaler(), random_state=0
    ),
    "ridge tagger": el.KernelRidgeTagger(kernel="laplacian"),
    "fasttag": el.FastTag(calibration="sigmoid"),
    "fasttag views": el.FastTag(views={"a": slice(0, 3), "b": slice(3, 8)}),
    "top": el.ThresholdedClassifier(el.SharedSubspaceClassifier(), strategy=Top(2)),
    "thresholded": el.ThresholdedClassifier(OneVsRestClassifier(LinearSVC()), cv=3),
    "costs": el.ThresholdedClassifier(
        OneVsRestClassifier(LogisticRegression()), strategy="costs", cv=3, calibration="auto"
    ),
    "per label": el.OneVsRestSearchCV(LinearSVC(), {"C": [0.1, 1.0]}, cv=3),
    "per label pipelines": OneVsRestClassifier(make_pipeline(StandardScaler(), LinearSVC())),
    "projected": el.ProjectedClassifierCV(
        el.SharedSubspaceClassifier(), el.MDDM(kernel="rbf"), [1, 3], cv=3
    ),
    "ridge": RidgeClassifier(),
    "search": GridSearchCV(el.SharedSubspaceClassifier(calibration="auto"), {"beta": [1e-3, 1.0]}),
    "pipeline": make_pipeline(StandardScaler(), el.CCA(2), el.SharedSubspaceClassifierCV(cv=3)),
}


@pytest.mark.parametrize("name", MODELS)
def test_other_models(data, name, tmp_path):
    model = MODELS[name].fit(data.X[:100], data.Y[:100])
    check_equal(model, data.X[100:], tmp_path / "m.onnx")


def test_labels_that_are_always_or_never_there(data, tmp_path):
    Y = data.Y.copy()
    Y[:, 1], Y[:, 3] = 0, 1
    for model in (
        el.SharedSubspaceClassifierCV(cv=3),
        el.OneVsRestSearchCV(LinearSVC(), {"C": [1.0]}, cv=3),
    ):
        check_equal(model.fit(data.X, Y), data.X, tmp_path / "m.onnx")
    with pytest.warns(UserWarning, match="Label"):
        plain = OneVsRestClassifier(LinearSVC()).fit(data.X, Y)
    check_equal(plain, data.X, tmp_path / "m.onnx")


def test_labels_that_are_never_observed(data, tmp_path):
    Y = data.Y.astype(float)
    Y[:, 2], Y[::5, 0] = np.nan, np.nan
    model = el.SharedSubspaceClassifierCV(cv=3).fit(data.X, Y)
    found = check_equal(model, data.X, tmp_path / "m.onnx")
    assert not found["labels"][:, 2].any()


@pytest.mark.parametrize("weights", ["shared", "by_label"])
def test_blends_of_exportable_members(positive, data, weights, tmp_path):
    members = ["linear", "laplacian", "gaussian", "margin"]
    model = el.MultilabelBlend(members, weights=weights, cv=3, random_state=0)
    check_equal(model.fit(positive[:100], data.Y[:100]), positive[100:], tmp_path / "m.onnx")


def test_blends_of_words(positive, data, tmp_path):
    X = sp.csr_array(np.where(positive > 0.7, np.round(3 * positive), 0.0))
    model = el.MultilabelBlend(["linear", "presence", "words"], weights="equal", cv=3)
    check_equal(model.fit(X[:100], data.Y[:100]), X[100:], tmp_path / "m.onnx")


@pytest.mark.filterwarnings("ignore:X has no column names")
def test_blends_that_scale_columns_and_fill_gaps(data, tmp_path):
    X = np.where(data.X > 1, np.nan, data.X * [1.0, 1e3, *[1.0] * (data.X.shape[1] - 2)])
    model = el.MultilabelBlend(["linear", "laplacian"], weights="equal", cv=3, random_state=0)
    check_equal(model.fit(X[:100], data.Y[:100]), X[100:], tmp_path / "m.onnx")
    frame = pd.DataFrame(X).assign(same=1.0)  # a column that is left out
    model.fit(frame[:100], data.Y[:100])
    check_equal(model, frame[100:].to_numpy(), tmp_path / "m.onnx")


def test_a_blend_of_words_and_numbers_has_no_form(data, tmp_path):
    for words in (("high", "low"), ("yes", "no")):
        frame = pd.DataFrame(data.X).assign(kind=np.where(data.X[:, 0] > 0, *words))
        model = el.MultilabelBlend(["linear"], cv=3).fit(frame, data.Y)
        check_refused(model, tmp_path)


def check_refused(model, tmp_path):
    with pytest.raises(ExportError, match="TablePreparation reads words or dates"):
        el.export_onnx(model, tmp_path / "m.onnx")


def test_a_member_without_a_form_is_named(data, tmp_path):
    model = el.MultilabelBlend(["linear", "forest"], weights="equal", cv=3, random_state=0)
    with pytest.raises(ExportError, match="member 'forest' of the blend: LabelForest has no form"):
        el.export_onnx(model.fit(data.X, data.Y), tmp_path / "m.onnx")
    assert not (tmp_path / "m.onnx").exists()


@pytest.mark.parametrize("model", [el.MLkNN(), el.JEC(), el.TagProp()], ids=repr)
def test_a_model_without_a_form_is_named(data, model, tmp_path):
    with pytest.raises(ExportError, match=f"{type(model).__name__} has no form in ONNX. Models"):
        el.export_onnx(model.fit(data.X, data.Y), tmp_path / "m.onnx")


def test_several_tables_raise_an_error(data, tmp_path):
    model = el.KGHA(2).fit({"a": data.X[:, :4], "b": data.X[:, 4:]}, data.Y)
    with pytest.raises(ExportError, match="several tables"):
        el.export_onnx(model, tmp_path / "m.onnx")
