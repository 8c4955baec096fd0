"""Comparisons of methods."""

from dataclasses import replace

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from commands import run_command
from eigenlabel.datasets import save_npz
from eigenlabel.experiment import read_records
from protocols import planted_views


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


def test_kernel_matrices_are_compared_by_kernel_methods(tmp_path, capsys):
    data = planted_views(0, 60)
    n = len(data.X)
    K = np.hstack([rbf_kernel(data.X[:, columns]) for columns in data.views.values()])
    names = [f"s{k}" for k in range(2 * n)]
    sides = {"left": slice(0, n), "right": slice(n, 2 * n)}
    kernels = replace(data, X=K, feature_names=names, views=sides)
    save_npz(kernels, tmp_path / "kernels.npz")
    words = ["compare", tmp_path / "kernels.npz", "-o", tmp_path / "runs", "--precomputed"]
    words += ["--methods", "kernel:ML_LS,kernel:SVM", "--splits", 1]
    assert run_command(*words) == 0
    out = capsys.readouterr().out
    assert "kernel:ML_LS" in out
    (first, second) = read_records(tmp_path / "runs")
    assert {first["n_features"], second["n_features"]} == {2 * 40}, "the training samples, twice"
    assert run_command(*words, "--min-positives", 3) == 1
    assert "min_positives cannot be used with precomputed=True" in capsys.readouterr().err
    text = """
        [[data]]
        name = "kernels"
        source = "kernels.npz"
        precomputed = true
        [[methods]]
        name = "one kernel"
        method = "kernel:ML_LS"
        parameters = { sum__weights = [1.0, 0.0] }
        [splits]
        n_splits = 1
        """
    (tmp_path / "kernels.toml").write_text(text)
    assert run_command("compare", tmp_path / "kernels.toml", "-o", tmp_path / "more") == 0
