"""Comparisons of methods."""

import numpy as np

from commands import run_command
from eigenlabel.experiment import read_records


def test_compare_continues_and_prints_the_same_results(folder, tmp_path, capsys):
    words = ["compare", folder / "train.arff", "--methods", "ridge,linear-svm-plain,logistic"]
    words += ["--splits", 3, "--metrics", "f1_macro,hamming_loss", "-o", tmp_path / "runs"]
    assert run_command(*words, "--dry-run") == 0
    assert "9 of 9 runs to do" in capsys.readouterr().out
    assert run_command(*words, "--so-far") == 1
    assert "no such folder: nothing is recorded yet" in capsys.readouterr().err
    assert run_command(*words, "--so-far", "--dry-run") == 2
    assert not (tmp_path / "runs").exists()
    assert run_command(*words, "--report", tmp_path / "page.html") == 0
    first = capsys.readouterr().out
    records = read_records(tmp_path / "runs")
    mean = np.mean([r["metrics"]["f1_macro"] for r in records if r["method"] == "logistic"])
    assert f"logistic          {mean:.4f} ±" in first
    assert run_command(*words, "--format", "markdown") == 0
    assert f"| logistic | {mean:.4f} ±" in capsys.readouterr().out
    lines = (tmp_path / "runs" / "records.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "records.jsonl").write_text("".join(lines[:4]))
    page = tmp_path / "half.html"
    assert run_command(*words[:-1], tmp_path / "half", "--so-far", "--report", page) == 0
    partly, told = capsys.readouterr()
    assert "ridge" in partly
    assert "logistic" not in partly
    assert "nan" not in partly
    assert "4 of 9 runs are recorded" in told
    assert len(read_records(tmp_path / "half")) == 4, "nothing is run"
    assert "A closer look" not in page.read_text(), "nor fitted for the page"
    assert read_records(tmp_path / "runs") == records
    assert "A closer look" in (tmp_path / "page.html").read_text()
    assert run_command("report", tmp_path / "runs", "-o", tmp_path / "again.html") == 0
    assert "logistic" in (tmp_path / "again.html").read_text()


def test_compare_by_probabilities_that_some_methods_do_not_have(folder, tmp_path, capsys):
    words = ["compare", folder / "train.arff", "--splits", 2, "--methods", "linear-svm-plain,MLkNN"]
    words += ["--metrics", "log_loss,propensity_precision_at_3", "-o", tmp_path / "runs"]
    assert run_command(*words, "--report", tmp_path / "page.html") == 0
    records = read_records(tmp_path / "runs")
    mean = np.mean([r["metrics"]["log_loss"] for r in records if r["method"] == "MLkNN"])
    assert f"MLkNN   {mean:.4f} ±" in capsys.readouterr().out
    words[5] = "linear-svm-plain"
    assert run_command(*words[:-1], tmp_path / "few", "--report", tmp_path / "page.html") == 0
    told = capsys.readouterr().out
    assert "log_loss: no method has the probabilities that it reads." in told
