"""The files: names of any kind, what they refuse, and what is left if something fails."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenlabel as el
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.export import onnx_files
from eigenlabel.export.graph import IR_VERSION, OPSET, ExportError
from eigenlabel.persistence import SavedModel
from onnx_runs import check_equal, notes, onnx, run

DATA = make_shared_subspace(80, 6, 4, 2, random_state=0)
HOSTILE = ["</script><b>", 'a "quoted" \\ name', "line\nbreak\x00", "日本語 \U0001f600", "", "{}"]


@pytest.fixture(scope="module")
def model():
    return el.SharedSubspaceClassifierCV(cv=3).fit(DATA.X, DATA.Y)


def test_names_of_any_kind_survive(model, tmp_path):
    saved = SavedModel(model, np.array(HOSTILE), np.array(HOSTILE[:4]))
    el.export_onnx(saved, tmp_path / "m.onnx")
    found = notes(tmp_path / "m.onnx")
    assert found["feature_names"] == [str(name) for name in np.array(HOSTILE)]
    assert found["label_names"] == [str(name) for name in np.array(HOSTILE[:4])]
    assert found["model"] == "SharedSubspaceClassifierCV"
    assert found["eigenlabel"] == el.__version__


def test_names_of_frames_are_stored(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(DATA.X, columns=list("abcdef"))
    Y = pandas.DataFrame(DATA.Y, columns=list("wxyz"))
    model = el.SharedSubspaceClassifierCV(cv=3).fit(X, Y)
    el.export_onnx(model, str(tmp_path / "m.onnx"))
    found = notes(tmp_path / "m.onnx")
    assert found["feature_names"] == list("abcdef")
    assert found["label_names"] == list("wxyz")
    some = ("some", StandardScaler(), ["c", "a"])
    columns = ColumnTransformer([some, ("others", "passthrough", list("bdef"))])
    chain = make_pipeline(columns, el.SharedSubspaceClassifier()).fit(X, Y)
    el.export_onnx(chain, tmp_path / "m.onnx")
    np.testing.assert_allclose(
        run(tmp_path / "m.onnx", DATA.X)["scores"], chain.decision_function(X), atol=1e-9
    )


def test_the_file_says_what_it_needs(model, tmp_path):
    el.export_onnx(model, tmp_path / "m.onnx")
    proto = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(proto, full_check=True)
    assert [(one.domain, one.version) for one in proto.opset_import] == [("", OPSET)]
    assert proto.ir_version == IR_VERSION
    assert [one.name for one in proto.graph.input] == ["X"]
    assert [one.name for one in proto.graph.output] == ["labels", "probabilities", "scores"]


def test_models_that_are_not_fitted_or_read_texts(tmp_path):
    with pytest.raises(NotFittedError):
        el.export_onnx(el.SharedSubspaceClassifier(), tmp_path / "m.onnx")
    texts = ["red green", "green blue", "blue", "red"] * 5
    model = make_pipeline(CountVectorizer(), el.SharedSubspaceClassifier())
    model.fit(texts, np.tile(np.eye(2, dtype=int), (10, 1)))
    with pytest.raises(ExportError, match=r"CountVectorizer does not read .*model\[1:\]"):
        el.export_onnx(model, tmp_path / "m.onnx")
    counts = model[:1].transform(texts)
    check_equal(model[1:], counts, tmp_path / "m.onnx")


def test_blends_of_mixed_tables_raise_an_error(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"size": DATA.X[:, 0], "kind": np.tile(["a", "b"], 40)})
    model = el.MultilabelBlend(["linear"], cv=3).fit(X, DATA.Y)
    with pytest.raises(ExportError, match="TablePreparation"):
        el.export_onnx(model, tmp_path / "m.onnx")


def test_a_file_that_differs_from_the_model_is_not_written(model, tmp_path, monkeypatch):
    def wrong(graph, fitted, X, wanted):
        found = predictions(graph, fitted, X, wanted)
        off = graph.add("Add", found.scores.name, graph.constant(1e-3))
        return onnx_files.Predictions(
            found.codec, found.scores._replace(name=off), found.probabilities, found.labels, 7
        )

    predictions = onnx_files.predictions
    monkeypatch.setattr(onnx_files, "predictions", wrong)
    (tmp_path / "m.onnx").write_bytes(b"before")
    with pytest.raises(ExportError, match="scores of the file differ"):
        el.export_onnx(model, tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == b"before"


def test_a_model_that_is_too_large_says_what_to_do(model, tmp_path, monkeypatch):
    monkeypatch.setattr("eigenlabel.export.graph.LARGEST", 100)
    with pytest.raises(MemoryError, match="at most that"):
        el.export_onnx(model, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
