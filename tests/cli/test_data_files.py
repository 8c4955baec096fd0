"""Inputs and outputs of the commands."""

import os
import sys

import pytest

from commands import run_command
from eigenlabel.experiment import read_records
from eigenlabel.persistence import load_model


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1:1\n1 1:nan 2:1\n", "feature '0' of sample 2 is nan; sparse features must be finite"),
        ("0 1:inf\n1 2:1\n", "feature '0' of sample 1 is inf"),
        ("x,labels\n1,a\ninf,b\n", "feature 'x' of sample 2 is inf; features must be finite"),
    ],
)
def test_features_that_are_not_finite_are_reported_by_sample(tmp_path, text, message, capsys):
    (tmp_path / "t.txt").write_text(text)
    assert run_command("fit", tmp_path / "t.txt", "-o", tmp_path / "m.skops") == 1
    assert message in capsys.readouterr().err


def test_a_closed_output_and_a_folder_that_is_not_writable_are_errors(folder, monkeypatch, capsys):
    predict = ["predict", folder / "m.skops", folder / "test.arff"]
    monkeypatch.setattr(os, "access", lambda place, mode: mode != os.W_OK)
    assert run_command(*predict, "-o", folder / "x.csv") == 1
    assert "x.csv: its folder is not writable" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr(sys, "stdout", None)
    assert run_command(*predict) == 2
    assert run_command(*predict, "-o", folder / "x.csv") == 0


def test_known_data_sets_are_read_by_name(tmp_path, monkeypatch, capsys, data_folder):
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    words = ["--methods", "ridge", "--splits", 1, "-o", tmp_path / "runs"]
    assert run_command("compare", "emotions", *words, "--metrics", "f1_macro") == 0
    assert read_records(tmp_path / "runs")[0]["train_size"] > 390
    assert run_command("compare", "debtags", *words, "--min-positives", 3000, "--dry-run") == 0
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    assert run_command("compare", "emotions", *words) == 1
    assert "Run: eigenlabel datasets fetch emotions" in capsys.readouterr().err


def test_an_output_that_is_an_input_is_an_error(folder, tmp_path, capsys):
    data, model = folder / "train.arff", folder / "m.skops"
    before = data.read_bytes(), model.read_bytes()
    for call in (
        ["fit", data, "-o", data],
        ["tune", data, "-o", tmp_path / "m.skops", "--report", data],
        ["predict", model, data, "-o", data],
        ["predict", model, data, "-o", model],
        ["evaluate", model, data, "--report", data],
        ["compare", data, "-o", tmp_path, "--report", data],
        ["report", model, "--data", data, "-o", data],
    ):
        assert run_command(*call) == 1
        assert "is also another file of this command" in capsys.readouterr().err
    assert (data.read_bytes(), model.read_bytes()) == before


def test_columns_may_be_named_by_several_options(tmp_path):
    path = tmp_path / "t.csv"
    rows = ["title,body,n,m,k,a,b", *(f"old tea {i},hot milk,1,{i},2,{i % 2},1" for i in range(30))]
    path.write_text("\n".join(rows) + "\n")
    call = ["fit", path, "--method", "ridge", "--set", "betas=[0.1]", "-o", tmp_path / "m.skops"]
    several = ["--text", "title", "--text", "body", "--drop", "n", "--drop", "m,k"]
    assert run_command(*call, *several, "--labels", "a", "--labels", "b") == 0
    saved = load_model(tmp_path / "m.skops")
    assert saved.label_names.tolist() == ["a", "b"]
    assert {"title=tea", "body=milk"} <= set(saved.feature_names)
    assert not {"n", "m", "k"} & set(saved.feature_names)
    assert saved.options["text"] == ["title", "body"]
    assert saved.options["drop"] == ["n", "m", "k"]
