"""The outputs of exported models: which there are, and their form for every form of y."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import eigenlabel as el
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.export.graph import ExportError
from eigenlabel.thresholds import Between, ExpectedF1, RiskControl
from onnx_runs import check_equal, run

DATA = make_shared_subspace(150, 6, 4, 2, random_state=0)
X = DATA.X


def vector(classes):
    return np.array(classes)[np.digitize(X[:, 0], [-0.5, 0.5][: len(classes) - 1])]


@pytest.mark.parametrize(
    "classes", [["no", "yes"], [3, 7], ["a", "b", "c"], [1.0, 2.0, 3.0]], ids=str
)
@pytest.mark.parametrize(
    "make",
    [
        lambda: el.SharedSubspaceClassifierCV(cv=3),
        lambda: make_pipeline(StandardScaler(), el.MtSDA(calibration="sigmoid")),
        lambda: el.MultilabelBlend(["linear", "gaussian"], cv=3, random_state=0),
        lambda: el.ThresholdedClassifier(LinearSVC(), cv=3, calibration="sigmoid"),
        lambda: el.ProjectedClassifierCV(el.SharedSubspaceClassifier(), el.PCA(), [2], cv=3),
    ],
    ids=["tuned", "pipeline", "blend", "thresholded", "projected"],
)
def test_classes(make, classes, tmp_path):
    model, y = make(), vector(classes)
    model.fit(X, y)
    el.export_onnx(model, tmp_path / "m.onnx")
    found = run(tmp_path / "m.onnx", X)
    assert found["labels"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(found["scores"], model.decision_function(X), atol=1e-9)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-9)


def test_one_class_only(tmp_path):
    model = el.SharedSubspaceClassifier(calibration="sigmoid").fit(X, np.full(150, "only"))
    el.export_onnx(model, tmp_path / "m.onnx")
    found = run(tmp_path / "m.onnx", X[:2])
    assert found["labels"].tolist() == ["only", "only"]
    np.testing.assert_array_equal(found["probabilities"], np.ones((2, 1)))


@pytest.mark.parametrize(
    "y",
    [DATA.Y, sp.csr_array(DATA.Y), [{f"label {j}" for j in np.flatnonzero(row)} for row in DATA.Y]],
    ids=["matrix", "sparse", "sets"],
)
def test_every_form_of_labels_is_a_matrix(y, tmp_path):
    model = el.SharedSubspaceClassifierCV(cv=3).fit(X, y)
    check_equal(model, X, tmp_path / "m.onnx")


@pytest.mark.parametrize("rule", ["costs", Between(1, 2), RiskControl(recall=0.9), "global", "f1"])
def test_rules(rule, tmp_path):
    model = el.SharedSubspaceClassifierCV(cv=3, threshold=rule, calibration="auto").fit(X, DATA.Y)
    check_equal(model, X, tmp_path / "m.onnx")


def test_outputs_are_chosen(tmp_path):
    model = el.SharedSubspaceClassifierCV(cv=3, threshold=ExpectedF1()).fit(X, DATA.Y)
    with pytest.raises(ExportError, match="ExpectedF1"):
        el.export_onnx(model, tmp_path / "m.onnx")
    found = check_equal(model, X, tmp_path / "m.onnx", outputs=["scores", "probabilities"])
    assert set(found) == {"scores", "probabilities"}
    plain = el.SharedSubspaceClassifier().fit(X, DATA.Y)
    assert set(check_equal(plain, X, tmp_path / "m.onnx")) == {"scores", "labels"}
    with pytest.raises(ExportError, match="calibration='auto'"):
        el.export_onnx(plain, tmp_path / "m.onnx", outputs=["probabilities"])
    with pytest.raises(ValueError, match="outputs must be some of"):
        el.export_onnx(plain, tmp_path / "m.onnx", outputs=["labels", "classes"])
    with pytest.raises(ValueError, match="outputs must be some of"):
        el.export_onnx(plain, tmp_path / "m.onnx", outputs=())


def test_probabilities_of_scikit_learn_raise_an_error(tmp_path):
    model = OneVsRestClassifier(LogisticRegression()).fit(X, DATA.Y)
    with pytest.raises(ExportError, match="ThresholdedClassifier"):
        el.export_onnx(model, tmp_path / "m.onnx")
    check_equal(model, X, tmp_path / "m.onnx", outputs=["labels", "scores"])
