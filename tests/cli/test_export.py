"""``eigenlabel export``: a model of a data file, as ONNX."""

import numpy as np
import pytest

from eigenlabel.cli import main
from eigenlabel.datasets import load, make_shared_subspace, save
from eigenlabel.persistence import load_model
from onnx_runs import notes, run

TABLE = "size,colour,words,tags\n" + "\n".join(
    f"{'' if i % 9 == 4 else i % 7},{('red', 'blue')[i % 2]},"
    f"{('old car', 'new car', 'bus')[i % 3]},{('fast|small', 'slow', 'fast')[i % 3]}"
    for i in range(60)
)


def test_a_model_of_numbers(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = make_shared_subspace(90, 5, 3, 2, random_state=0)
    save(data, "data.csv")
    assert main(["tune", "data.csv", "-o", "m.skops"]) == 0
    assert main(["export", "m.skops", "m.onnx"]) == 0
    assert "input X with 5 columns, 3 labels" in capsys.readouterr().out
    model = load_model("m.skops").model
    found = run("m.onnx", data.X)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(data.X), atol=1e-9)
    np.testing.assert_array_equal(found["labels"], model.predict(data.X))
    assert notes("m.onnx")["label_names"] == list(data.label_names)


def test_a_model_of_mixed_columns_reads_what_the_reader_makes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(TABLE)
    words = ["--labels", "tags", "--separator", "|", "--text", "words"]
    assert main(["tune", "data.csv", *words, "--cv", "3", "-o", "m.skops"]) == 0
    assert main(["export", "m.skops", "m.onnx", "--outputs", "scores"]) == 0
    saved = load_model("m.skops")
    X = load("data.csv", like=saved).X
    found = run("m.onnx", X)
    assert list(found) == ["scores"]
    np.testing.assert_allclose(found["scores"], saved.model.decision_function(X), atol=1e-9)


def test_a_model_without_a_form_is_an_error(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(make_shared_subspace(60, 5, 3, 2, random_state=0), "data.npz")
    assert main(["fit", "data.npz", "--method", "MLkNN", "-o", "m.skops"]) == 0
    assert main(["export", "m.skops", "m.onnx"]) == 1
    assert "MLkNN has no form in ONNX" in capsys.readouterr().err
    assert not (tmp_path / "m.onnx").exists()
    assert main(["export", "m.skops", "m.onnx", "--outputs", "classes"]) == 1
    assert main(["export", "m.skops", "m.skops"]) in (1, 2)
    with pytest.raises(FileNotFoundError):
        (tmp_path / "m.onnx").stat()
