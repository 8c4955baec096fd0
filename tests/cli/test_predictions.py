"""Predictions in every output format."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from commands import run_command
from eigenlabel import MultilabelBlend, SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.cli.predictions import chosen_labels, write_predictions
from eigenlabel.datasets import load
from eigenlabel.persistence import SavedModel, load_model, save_model
from eigenlabel.preprocessing import TablePreparation
from onnx_runs import run


@pytest.mark.parametrize("values", ["scores", "probabilities"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "libsvm"])
@pytest.mark.parametrize("rows", [7, 4096])
def test_predictions_in_every_format_equal_those_of_the_model(folder, tmp_path, form, rows, values):
    output = tmp_path / f"p.{form}"
    words = ["-o", output, f"--{values}", "--rows", rows, "--format", form]
    assert run_command("predict", folder / "m.skops", folder / "test.arff", *words) == 0
    saved, data = load_model(folder / "m.skops"), load(folder / "test.arff")
    decided, model = saved.model.predict(data.X), saved.model
    expected = model.decision_function if values == "scores" else model.predict_proba
    column = "score" if values == "scores" else "probability"
    names = data.label_names.tolist()
    lines = output.read_text().splitlines()
    if form == "csv":
        found = list(csv.DictReader(lines))
        labels = [[names.index(w) for w in r["labels"].split("|") if w] for r in found]
        written = [[float(r[f"{column}:{n}"]) for n in names] for r in found]
        assert [r["sample"] for r in found] == [str(i) for i in range(100)]
    elif form == "jsonl":
        found = [json.loads(line) for line in lines]
        labels = [[names.index(w) for w in r["labels"]] for r in found]
        written = [[r[values][n] for n in names] for r in found]
    else:
        parts = [line.split(" ") for line in lines]
        labels = [[int(w) for w in p[0].split(",") if w] for p in parts]
        written = [[float(w.partition(":")[2]) for w in p[1:]] for p in parts]
    assert labels == [np.flatnonzero(row).tolist() for row in decided]
    np.testing.assert_allclose(written, expected(data.X), rtol=1e-5)  # six digits are written


def test_top_writes_the_likeliest_labels_first(folder, capsys):
    assert run_command("predict", folder / "m.skops", folder / "test.arff", "--top", 2) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    saved, data = load_model(folder / "m.skops"), load(folder / "test.arff")
    best = np.argsort(-saved.model.predict_proba(data.X), axis=1)[:, :2]
    assert [r["labels"] for r in rows] == ["|".join(data.label_names[row]) for row in best]


def test_a_model_without_probabilities_is_ranked_by_scores(folder, tmp_path, capsys):
    path, data = tmp_path / "m.skops", load(folder / "test.arff")
    model = SharedSubspaceClassifier().fit(data.X, data.Y)
    save_model(SavedModel(model, data.feature_names, data.label_names), path)
    assert run_command("predict", path, folder / "test.arff", "--top", 2) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    best = np.argsort(-model.decision_function(data.X), axis=1)[:, :2]
    assert [r["labels"] for r in rows] == ["|".join(data.label_names[row]) for row in best]
    assert run_command("predict", path, folder / "test.arff", "--probabilities") == 1
    message = "The model has no probabilities: omit --probabilities, or fit it with"
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "names", "expected"),
    [
        ({"separator": ";"}, ["a", "b"], "a;b"),
        ({"separator": ";"}, ["a;1", "b"], "a;1|b"),
        ({}, ["a|1", "b"], "a|1;b"),
        ({}, ["a", "b"], "a|b"),
        ({"separator": 3}, ["a", "b"], "a|b"),  # of a model file that somebody changed
    ],
)
def test_labels_are_separated_as_in_the_training_file(tmp_path, options, names, expected, capsys):
    file = tmp_path / "x.csv"
    file.write_text("f,g\n1,2\n3,4\n")
    model = SharedSubspaceClassifier().fit(np.eye(2), np.ones((2, 2), dtype=int))
    saved = SavedModel(model, np.array(["f", "g"]), np.array(names), options=options)
    save_model(saved, tmp_path / "m.skops")
    assert run_command("predict", tmp_path / "m.skops", file) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["labels"] for row in rows] == [expected] * 2


def test_labels_that_contain_both_separators_need_another_format(tmp_path, capsys):
    file = tmp_path / "x.csv"
    file.write_text("f,g\n1,2\n")
    model = SharedSubspaceClassifier().fit(np.eye(2), np.ones((2, 2), dtype=int))
    names = np.array(["a|1", "b;2"])
    save_model(SavedModel(model, np.array(["f", "g"]), names), tmp_path / "m.skops")
    assert run_command("predict", tmp_path / "m.skops", file) == 1
    assert "use --format jsonl" in capsys.readouterr().err


@pytest.fixture(scope="module")
def of_python(tmp_path_factory):
    """A table with label sets, and models that Python fitted to it, by name."""
    place = tmp_path_factory.mktemp("python")
    frame = pd.DataFrame({"x": range(40), "y": ["a", "b"] * 20})
    sets = [{"u"} if i % 2 else {"v", "w"} for i in range(40)]
    frame.assign(labels=[";".join(sorted(s)) for s in sets]).to_csv(place / "d.csv", index=False)
    for name, library in (("sets", None), ("pandas", "pandas"), ("polars", "polars")):
        last = SharedSubspaceClassifierCV().set_output(predict=library)
        model = make_pipeline(TablePreparation(), last).fit(frame, sets)
        save_model(model, place / f"{name}.skops")
        numbers = make_pipeline(StandardScaler(), last).fit(frame[["x"]], sets)
        save_model(numbers, place / f"{name}-numbers.skops")
    save_model(MultilabelBlend(random_state=0).fit(frame, sets), place / "blend.skops")
    return place


@pytest.mark.parametrize("model", ["sets", "pandas", "polars", "blend"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "libsvm"])
def test_models_that_predict_sets_or_frames_write_their_labels(of_python, capsys, model, form):
    words = ["--format", form, "--probabilities"]
    path = of_python / f"{model}.skops"
    assert run_command("predict", path, of_python / "d.csv", *words) == 0
    lines = capsys.readouterr().out.splitlines()
    if form == "csv":
        found = [row["labels"] for row in csv.DictReader(lines)]
    elif form == "jsonl":
        found = ["|".join(json.loads(line)["labels"]) for line in lines]
    else:
        names = {"0": "u", "1,2": "v|w"}
        found = [names[line.split(" ")[0]] for line in lines]
    assert found == ["v|w", "u"] * 20


@pytest.mark.parametrize("model", ["sets", "pandas", "polars", "blend"])
@pytest.mark.parametrize(
    "words", [["evaluate", "--report"], ["explain", "--sample", "3", "-o"], ["report", "-o"]]
)
def test_models_that_predict_sets_or_frames_have_pages(of_python, tmp_path, model, words):
    command, *options = words
    data = ["--data", of_python / "d.csv"] if command == "report" else [of_python / "d.csv"]
    page = tmp_path / "page.html"
    assert run_command(command, of_python / f"{model}.skops", *data, *options, page) == 0
    assert "<html" in page.read_text()


@pytest.mark.parametrize("model", ["sets", "pandas", "polars"])
def test_models_that_predict_sets_or_frames_are_exported(of_python, tmp_path, model):
    path = tmp_path / "m.onnx"
    assert run_command("export", of_python / f"{model}-numbers.skops", path) == 0
    x = np.arange(40.0)[:, None]
    np.testing.assert_array_equal(run(path, x)["labels"].shape, (40, 3))


class Deciding:
    """A model that predicts label sets and nothing else."""

    def predict(self, X):
        return np.ones((X.shape[0], 5), dtype=int)


@pytest.mark.parametrize(
    ("values", "top", "message"),
    [
        (None, 2, "neither probabilities nor scores: omit --top"),
        ("scores", None, "The model has no scores: omit --scores"),
        ("probabilities", None, "The model has no probabilities: omit --probabilities"),
    ],
)
def test_a_model_that_only_decides_has_no_numbers(folder, tmp_path, values, top, message):
    data = load(folder / "test.arff")
    saved = SavedModel(Deciding(), data.feature_names, data.label_names)
    options = {"output": str(tmp_path / "p.csv"), "form": None, "rows": 50}
    with pytest.raises(ValueError, match=message):
        write_predictions(saved, folder / "test.arff", {}, values=values, top=top, **options)


def test_scores_and_probabilities_are_not_written_together(folder, capsys):
    words = ["--scores", "--probabilities"]
    assert run_command("predict", folder / "m.skops", folder / "test.arff", *words) == 2
    assert "not allowed with argument" in capsys.readouterr().err


def test_a_failed_prediction_leaves_no_file(folder, tmp_path, capsys):
    bad = tmp_path / "bad.arff"
    text = (folder / "test.arff").read_text().rstrip("\n")
    bad.write_text(text + "\nnonsense\n")
    (tmp_path / "bad.xml").write_bytes((folder / "test.xml").read_bytes())
    words = ["-o", tmp_path / "p.csv", "--rows", 10]
    assert run_command("predict", folder / "m.skops", bad, *words) == 1
    assert f"bad.arff, line {text.count(chr(10)) + 2}:" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.arff", "bad.xml"]


def test_plain_text_is_not_written_to_a_file_with_a_compressed_name(folder, tmp_path, capsys):
    out = tmp_path / "labels.csv.gz"
    assert run_command("predict", folder / "m.skops", folder / "train.arff", "-o", out) == 2
    assert "plain text, not as .gz" in capsys.readouterr().err
    assert not out.exists()


def test_an_unreadable_file_prints_nothing(folder, capsys):
    assert run_command("predict", folder / "m.skops", "nowhere.csv") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "nowhere.csv: no such file" in captured.err


def test_top_labels_that_tie_up_to_rounding_keep_their_order():
    assert chosen_labels(None, None, np.array([[0.3, 0.1 + 0.2, 0.1]]), 2) == [[0, 1]]
