"""Predictions in every output format."""

import csv
import json

import numpy as np
import pytest

from commands import run_command
from eigenlabel.cli.predictions import chosen_labels
from eigenlabel.datasets import load
from eigenlabel.persistence import load_model


@pytest.mark.parametrize("form", ["csv", "jsonl", "libsvm"])
@pytest.mark.parametrize("rows", [7, 4096])
def test_predictions_in_every_format_equal_those_of_the_model(folder, tmp_path, form, rows):
    output = tmp_path / f"p.{form}"
    words = ["-o", output, "--scores", "--rows", rows, "--format", form]
    assert run_command("predict", folder / "m.skops", folder / "test.arff", *words) == 0
    saved, data = load_model(folder / "m.skops"), load(folder / "test.arff")
    decided, scores = saved.model.predict(data.X), saved.model.decision_function(data.X)
    names = data.label_names.tolist()
    lines = output.read_text().splitlines()
    if form == "csv":
        found = list(csv.DictReader(lines))
        labels = [[names.index(w) for w in r["labels"].split("|") if w] for r in found]
        values = [[float(r[f"score:{n}"]) for n in names] for r in found]
        assert [r["sample"] for r in found] == [str(i) for i in range(100)]
    elif form == "jsonl":
        found = [json.loads(line) for line in lines]
        labels = [[names.index(w) for w in r["labels"]] for r in found]
        values = [[r["scores"][n] for n in names] for r in found]
    else:
        parts = [line.split(" ") for line in lines]
        labels = [[int(w) for w in p[0].split(",") if w] for p in parts]
        values = [[float(w.partition(":")[2]) for w in p[1:]] for p in parts]
    assert labels == [np.flatnonzero(row).tolist() for row in decided]
    np.testing.assert_allclose(values, scores, rtol=1e-5)  # six digits are written


def test_top_writes_the_best_labels_first(folder, capsys):
    assert run_command("predict", folder / "m.skops", folder / "test.arff", "--top", 2) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    saved, data = load_model(folder / "m.skops"), load(folder / "test.arff")
    best = np.argsort(-saved.model.decision_function(data.X), axis=1)[:, :2]
    assert [r["labels"] for r in rows] == ["|".join(data.label_names[row]) for row in best]


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
