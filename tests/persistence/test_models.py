"""Models are saved and loaded without a change; other files raise clear errors."""

import errno
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.base import BaseEstimator
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
)
from sklearn.pipeline import make_pipeline

from commands import run_command
from discovery import instances, outputs, settled
from eigenlabel import (
    MLkNN,
    MultilabelBlend,
    ProjectedClassifierCV,
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    __version__,
)
from eigenlabel.catalogue import METHODS, make
from eigenlabel.datasets import DataError, make_shared_subspace
from eigenlabel.experiment import scores_of
from eigenlabel.model_selection import MultilabelStratifiedShuffleSplit
from eigenlabel.persistence import SavedModel, load_model, save_model
from eigenlabel.persistence.models import FORM
from eigenlabel.preprocessing import DocumentFrequencySelector, make_preparation
from eigenlabel.preprocessing.preparation import PREPARATIONS
from eigenlabel.thresholds import RULES
from model_files import edit


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(120, 6, 4, 2, prevalence=0.3, random_state=0)


def round_trip(model, data, path):
    saved = SavedModel(
        model,
        data.feature_names,
        data.label_names,
        {"feature_3": ("a", "b")},
        {"columns": slice(0, 2), "text": slice(2, 6)},
        {"labels": ["x", "y"], "text": "t"},
        {"samples": 120},
    )
    save_model(saved, path)
    again = load_model(path)
    assert again.feature_names.tolist() == data.feature_names.tolist()
    assert again.label_names.tolist() == data.label_names.tolist()
    assert again.categories == {"feature_3": ("a", "b")}
    assert again.views == saved.views
    assert (again.options, again.about) == (saved.options, saved.about)
    return again.model


# One method of each kind: the other combinations of the papers consist of the same parts.
NAMES = [n for n in METHODS if n.endswith("MLkNN") or "+" not in n or n == "mddm:ORI+SVM"]
NAMES.remove("kernel:ASO_SVM")
NAMES += ["CCA+Ridge", "LDA+SVM", "mddm:MDDM_p+SVM-rbf"]


@pytest.mark.filterwarnings("ignore:Top.* predicts all")  # of five labels here
@pytest.mark.filterwarnings("ignore:The SVMs of ASO stopped")  # ASO_SVM at the smallest alphas
@pytest.mark.parametrize("name", NAMES)
def test_every_method_predicts_the_same_after_loading(name, data, tmp_path):
    quick = {
        "SVM": {"estimator__svm__param_grid": {"C": [1.0]}},
        "SVM-squared": {"estimator__param_grid": {"C": [1.0]}},
        "kernel:SVM": {"estimator__then__param_grid": {"C": [1.0]}},
        "mddm:ORI+SVM": {"param_grid": {"svm__C": [1.0]}},
        "LDA+SVM": {"penalties": [1.0]},
        "HSML": {"penalties": [1.0]},
        "CCA+Ridge": {"penalties": [1.0]},
        "mddm:MDDM_p+SVM-rbf": {"kernel_grid": {"gamma": [0.5]}},
        "many-labels": {"n_components": 3},
    }.get(name)
    model = make(name, quick).fit(data.X, data.Y)
    again = round_trip(model, data, tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict(data.X), model.predict(data.X))
    np.testing.assert_array_equal(scores_of(again, data.X), scores_of(model, data.X))


@pytest.mark.filterwarnings("ignore")  # warnings of fits are tested with the estimators
@pytest.mark.parametrize("model", instances(), ids=lambda m: type(m).__name__)
def test_every_public_estimator_returns_the_same_after_loading(model, data, tmp_path):
    X = np.abs(data.X).round() if type(model).__name__ == "HomogeneityAnalysis" else data.X
    model = settled(model).fit(X, data.Y)
    again = round_trip(model, data, tmp_path / "m.skops")
    expected, found = outputs(model, X), outputs(again, X)
    assert expected.keys() == found.keys()
    for name, values in expected.items():
        # The alignment of arrays in memory may change the last digit of a product.
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "cv", [LeaveOneOut(), KFold(3), ShuffleSplit(2, random_state=0), PredefinedSplit([0, 1] * 30)]
)
def test_splitters_are_saved_and_loaded(cv, data, tmp_path):
    X, Y = data.X[:60], data.Y[:60]
    model = SharedSubspaceClassifierCV([0.0], [0.1], cv=cv).fit(X, Y)
    again = round_trip(model, data, tmp_path / "m.skops")
    assert type(again.cv) is type(cv)
    np.testing.assert_array_equal(again.fit(X, Y).oof_scores_, model.oof_scores_)


@pytest.mark.parametrize("kind", PREPARATIONS)
def test_every_preparation_is_saved_and_loaded(kind, data, tmp_path):
    X = np.abs(data.X)
    X[:, 3] = X[:, 3] > 1
    prepare = make_preparation(
        kind, X, feature_names=data.feature_names, categories={"feature_3": ("a", "b")}
    )
    model = make_pipeline(prepare, SharedSubspaceClassifier()).fit(X, data.Y)
    again = round_trip(model, data, tmp_path / "m.skops")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.filterwarnings("ignore:Top.* predicts all")  # of five labels here
@pytest.mark.parametrize("rule", RULES)
def test_every_threshold_rule_is_saved_and_loaded(rule, data, tmp_path):
    model = make("ridge", {"threshold": rule, "betas": [0.1]}).fit(data.X, data.Y)
    again = round_trip(model, data, tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict(data.X), model.predict(data.X))


def stamp(schema, form, version):
    """Change the form and the version that a file states."""
    schema["content"]["eigenlabel"]["content"] = json.dumps(form)
    schema["content"]["version"]["content"] = json.dumps(version)


@pytest.mark.parametrize(
    ("form", "version", "message"),
    [
        (1, None, f"saved by eigenlabel 0.1, and eigenlabel {__version__} cannot read it; fit"),
        (1, None, "or install eigenlabel 0.1$"),
        (FORM + 1, "9.9.0", "saved by eigenlabel 9.9.0, and .* or install eigenlabel 9.9.0$"),
        (FORM + 1, "9 rm -r", "by another version of eigenlabel, .* the version that saved it$"),
        (FORM + 1, ["9"], "saved by another version of eigenlabel"),
        (None, "9.9.0", "not a model file of eigenlabel"),
        ("1", "9.9.0", "not a model file of eigenlabel"),
    ],
)
def test_files_of_other_versions_name_the_version_before_types_are_checked(
    form, version, message, tmp_path
):
    path = tmp_path / "m.skops"
    strange_file(path)
    edit(path, lambda schema, _: stamp(schema, form, version))
    with pytest.raises(DataError, match=message):
        load_model(path)


def test_a_file_of_another_version_whose_classes_have_moved_names_the_version(data, tmp_path):
    path = tmp_path / "m.skops"
    round_trip(SharedSubspaceClassifier().fit(data.X, data.Y), data, path)

    def move(schema, _):
        stamp(schema, FORM, "9.9.0")
        schema["content"]["model"]["__module__"] = "eigenlabel.estimators.elsewhere"

    edit(path, move)
    with pytest.raises(DataError, match=r"saved by eigenlabel 9\.9\.0"):
        load_model(path, trusted=[])


def test_a_file_of_another_version_is_read_if_its_classes_are_known(data, tmp_path):
    path = tmp_path / "m.skops"
    model = SharedSubspaceClassifier().fit(data.X, data.Y)
    round_trip(model, data, path)
    edit(path, lambda schema, _: stamp(schema, FORM, "9.9.0"))
    np.testing.assert_array_equal(load_model(path).model.coef_, model.coef_)


class Strange(BaseEstimator):
    """A type that is not on the list of trusted types."""


def strange_file(path):
    path.write_bytes(
        skops.io.dumps({"eigenlabel": FORM, "version": __version__, "model": Strange()})
    )


def test_an_unknown_type_is_rejected_by_name(data, tmp_path):
    strange_file(tmp_path / "m.skops")
    with pytest.raises(DataError, match=r"not trusted: .*Strange"):
        load_model(tmp_path / "m.skops")
    with pytest.raises(DataError, match=r"not trusted: .*Strange"):
        round_trip(Strange(), data, tmp_path / "n.skops")
    assert not (tmp_path / "n.skops").exists()


def test_a_file_that_would_run_code_does_not(tmp_path):
    marker = tmp_path / "ran"
    buffer = io.BytesIO(skops.io.dumps({"eigenlabel": FORM, "model": 1}))
    with zipfile.ZipFile(buffer) as archive:
        schema = json.loads(archive.read("schema.json"))
    schema["content"] = {
        "__class__": "system",
        "__module__": "os",
        "__loader__": "FunctionNode",
        "__id__": 1,
        "content": {"module_path": "os", "function": "system"},
    }
    schema |= {k: schema["content"][k] for k in ("__class__", "__module__", "__loader__")}
    with zipfile.ZipFile(tmp_path / "m.skops", "w") as archive:
        archive.writestr("schema.json", json.dumps(schema).replace("ran", str(marker)))
    with pytest.raises(DataError, match=r"os\.system|damaged|not a model"):
        load_model(tmp_path / "m.skops")
    assert not marker.exists()


def test_a_file_that_is_not_a_model_raises_a_clear_error(tmp_path, data):
    path = tmp_path / "m.skops"
    with pytest.raises(DataError, match="no such file"):
        load_model(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="not a model file"):
        load_model(path)
    path.write_bytes(skops.io.dumps([1, 2]))
    with pytest.raises(DataError, match="not a model file of eigenlabel"):
        load_model(path)
    model = SharedSubspaceClassifier().fit(data.X, data.Y)
    round_trip(model, data, path)
    with pytest.raises(DataError, match="MiB of content; pass max_bytes"):
        load_model(path, max_bytes=100)
    whole = path.read_bytes()
    for cut in (10, len(whole) // 2, len(whole) - 30):
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError, match="not a model file"):
            load_model(path)
    broken = bytearray(whole)
    broken[len(whole) // 3] ^= 0xFF
    path.write_bytes(broken)
    with pytest.raises(DataError, match="damaged"):
        load_model(path)


def test_saving_leaves_no_partial_files(tmp_path, data):
    with pytest.raises(FileNotFoundError):
        round_trip(make("ridge"), data, tmp_path / "nowhere" / "m.skops")
    round_trip(SharedSubspaceClassifier().fit(data.X, data.Y), data, tmp_path / "m.skops")
    assert [p.name for p in tmp_path.iterdir()] == ["m.skops"]


def test_limits_apply_to_the_content_not_to_the_file(tmp_path, data):
    path = tmp_path / "m.skops"
    round_trip(SharedSubspaceClassifier().fit(data.X, data.Y), data, path)
    with zipfile.ZipFile(path) as archive:
        size = sum(item.file_size for item in archive.infolist())
    load_model(path, max_bytes=size)
    with pytest.raises(DataError, match="pass max_bytes"):
        load_model(path, max_bytes=size - 1)
    with pytest.raises(DataError, match="pass max_bytes"):
        load_model(path, max_bytes=0)


def test_a_compression_bomb_is_not_opened(tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * 2**22)
    monkeypatch.setattr("eigenlabel.persistence.models.memory_limit", lambda: 2.0**22)
    with pytest.raises(DataError, match="4 MiB of content"):
        load_model(path)


def test_other_parts_of_models_are_saved_and_loaded(tmp_path, data):
    path = tmp_path / "m.skops"
    words = make_pipeline(DocumentFrequencySelector(1), SharedSubspaceClassifier())
    round_trip(words.fit(data.X, data.Y), data, path)
    drawn = GridSearchCV(
        SharedSubspaceClassifier(), {"beta": [1.0]}, cv=MultilabelStratifiedShuffleSplit(1)
    )
    round_trip(drawn.fit(data.X, data.Y), data, path)
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_tuned_dimension_is_saved_and_loaded(data, tmp_path):
    model = ProjectedClassifierCV(dimensions=[1, 2], cv=2).fit(data.X, data.Y)
    again = round_trip(model, data, tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict(data.X), model.predict(data.X))
    np.testing.assert_array_equal(again.path_.scores, model.path_.scores)


def test_a_full_disk_leaves_the_old_file_and_no_other(data, tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    model = SharedSubspaceClassifier().fit(data.X, data.Y)
    saved = SavedModel(model, data.feature_names, data.label_names)
    save_model(saved, path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("chmod", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(f"eigenlabel.datasets.files.atomic.os.{name}", full)
            with pytest.raises(OSError, match=r"No space left on device: '.*m\.skops'"):
                save_model(saved, path)
        assert [p.name for p in tmp_path.iterdir()] == ["m.skops"]
        assert path.read_bytes() == before


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_are_saved(method, tmp_path):
    data = make_shared_subspace(300, 6, 4, 2, prevalence=0.3, random_state=0)
    path = tmp_path / "m.skops"
    for model in (
        SharedSubspaceClassifier(calibration=method).fit(data.X, data.Y),
        SharedSubspaceClassifier(calibration=method).partial_fit(data.X, data.Y),
        SharedSubspaceClassifierCV([0.1], [0.1], calibration=method).fit(data.X, data.Y),
    ):
        expected = model.predict_proba(data.X)
        save_model(SavedModel(model, data.feature_names, data.label_names), path)
        again = load_model(path).model
        np.testing.assert_array_equal(again.predict_proba(data.X), expected)
        assert again.calibration_.methods == model.calibration_.methods
        assert method in again.calibration_.methods


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "csr_array", "csc_array"])
def test_models_that_keep_sparse_samples_are_saved_in_any_sparse_form(form, tmp_path, rng):
    X = getattr(sp, form)(rng.uniform(size=(40, 6)) * (rng.uniform(size=(40, 6)) < 0.5))
    Y = (rng.uniform(size=(40, 3)) < 0.4).astype(int)
    for model in (SharedSubspaceClassifierCV(kernel="rbf", cv=3), MLkNN(3)):
        save_model(model.fit(X, Y), tmp_path / "model.skops")
        loaded = load_model(tmp_path / "model.skops").model
        np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X))


def test_a_blend_of_texts_is_saved(tmp_path):
    words = ("invoice wrong", "parcel lost", "charged twice")
    texts = [f"{words[i % 3]} {i % 7}" for i in range(60)]
    Y = np.array([[i % 3 != 1, i % 3 != 0] for i in range(60)]).astype(int)
    model = MultilabelBlend(["linear", "neighbours"], random_state=0).fit(texts, Y)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").model
    np.testing.assert_allclose(loaded.predict_proba(texts), model.predict_proba(texts))


def test_a_saved_model_reads_frames_as_its_training_file(tmp_path):
    """Columns are matched by name, whatever their order; words and categories are read alike."""
    frame = pd.DataFrame(
        {
            "size": np.arange(60.0),
            "message": ["late parcel" if k % 3 else "wrong invoice" for k in range(60)],
            "land": ["it", "us"] * 30,
            "teams": ["post;law" if k % 3 and k > 29 else "law" for k in range(60)],
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["--text", "message", "--labels", "teams", "-o", tmp_path / "m.skops"]
    assert run_command("tune", tmp_path / "t.csv", *words) == 0
    saved = load_model(tmp_path / "m.skops")
    output = tmp_path / "p.csv"
    new = frame.drop(columns="teams")[::-1]
    new.to_csv(tmp_path / "new.csv", index=False)
    arguments = [tmp_path / "m.skops", tmp_path / "new.csv", "-o", output, "--probabilities"]
    assert run_command("predict", *arguments) == 0
    written = pd.read_csv(output, keep_default_na=False)
    turned = new[["land", "message", "size"]].assign(other=0)
    assert [";".join(labels) for labels in saved.predict(turned)] == written["labels"].tolist()
    columns = [f"probability:{name}" for name in saved.label_names]
    np.testing.assert_allclose(
        saved.predict_proba(turned),
        written[columns].to_numpy(),
        rtol=1e-5,  # six digits are written
    )


def test_a_saved_model_that_knows_its_columns_receives_the_frame(data, tmp_path):
    frame = pd.DataFrame(data.X, columns=[f"f{k}" for k in range(data.X.shape[1])])
    model = SharedSubspaceClassifierCV().fit(frame, data.Y)
    save_model(model, tmp_path / "m.skops")
    saved = load_model(tmp_path / "m.skops")
    expected = [tuple(saved.label_names[row > 0]) for row in model.predict(frame)]
    assert saved.predict(frame) == expected
    np.testing.assert_allclose(saved.predict_proba(frame), model.predict_proba(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        saved.predict(frame[frame.columns[::-1]])
