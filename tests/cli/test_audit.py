"""The command that finds label errors in a data file."""

import csv

import numpy as np
import pytest

from commands import run_command
from eigenlabel.datasets import make_shared_subspace
from pages import NASTY

N, M = 300, 5


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A CSV file with six planted errors; the cells of the errors; names that HTML must escape."""
    data = make_shared_subspace(N, 8, M, 2, prevalence=0.3, noise=0.05, random_state=0)
    Y = np.asarray(data.Y).astype(int)
    rng = np.random.default_rng(1)
    chosen = rng.choice(N * M, 6, replace=False)
    errors = [(int(i), int(j)) for i, j in zip(*np.divmod(chosen, M), strict=True)]
    for i, j in errors:
        Y[i, j] = 1 - Y[i, j]
    names = [f"l_{name}" for name in (NASTY[0], NASTY[4], "red", "blue", "green")]
    path = tmp_path_factory.mktemp("audit") / "data.csv"
    with path.open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["id", *(f"x{k}" for k in range(8)), *names])
        for i in range(N):
            out.writerow([f"doc{i}<b>", *data.X[i].round(6), *Y[i]])
    return path, {(f"doc{i}<b>", names[j]): Y[i, j] for i, j in errors}


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_planted_errors_are_written_first(table, tmp_path, capsys):
    path, errors = table
    output, page = tmp_path / "issues.csv", tmp_path / "page.html"
    words = ["--labels", "l_*", "-o", output, "--report", page]
    assert run_command("audit", path, *words) == 0
    out = capsys.readouterr().out
    rows = rows_of(output)
    assert 4 <= len(rows) < 50  # of more than a thousand cells
    assert min(float(row["score"]) for row in rows) >= 0.1
    found = {(row["sample"], row["label"]): int(row["given"]) for row in rows[:12]}
    assert sum(found.get(cell) == given for cell, given in errors.items()) >= 4
    for row in rows:
        assert row["kind"] == ("wrong" if row["given"] == "1" else "missing")
        assert int(row["suggested"]) == 1 - int(row["given"])
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert rows[0]["sample"] in out
    assert "are expected" in out
    assert str(output) in out
    assert str(page) in out


def test_the_page_is_escaped_and_shows_cells_labels_and_samples(table, tmp_path):
    path, _ = table
    output, page = tmp_path / "issues.csv", tmp_path / "page.html"
    run_command("audit", path, "--labels", "l_*", "-o", output, "--report", page, "--rows", 7)
    assert len(rows_of(output)) == 7
    text = page.read_text()
    assert "<script>alert" not in text
    assert "<b>" not in text.replace("<b></b>", "")
    for title in ("may be missing", "may be wrong", "By label", "By sample", "How to read"):
        assert title in text
    assert "l_green" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_labels_that_are_not_observed_are_left_out(table, tmp_path):
    path, _ = table
    lines = path.read_text().splitlines()
    cut = [line.rpartition(",")[0] + "," if k % 3 == 1 else line for k, line in enumerate(lines)]
    some = tmp_path / "some.csv"
    some.write_text("\n".join(cut) + "\n")
    output, page = tmp_path / "issues.csv", tmp_path / "page.html"
    words = ["--labels", "l_*", "--missing-labels", "nan", "-o", output, "--report", page]
    assert run_command("audit", some, *words, "--rows", 10_000) == 0
    rows = rows_of(output)
    assert len(rows) == N * M - N // 3
    hidden = {f"doc{k - 1}<b>" for k in range(1, N + 1) if k % 3 == 1}
    assert not [row for row in rows if row["label"] == "l_green" and row["sample"] in hidden]
    assert run_command("audit", some, "--labels", "l_*", "-o", output) == 1


def test_a_file_without_suspicious_labels_says_so(tmp_path, capsys):
    path, output = tmp_path / "clean.csv", tmp_path / "issues.csv"
    rows = [f"{k % 2 + 0.001 * (k // 2)},{k % 2}" for k in range(400)]  # far apart
    path.write_text("\n".join(["size,l_large", *rows]))
    assert run_command("audit", path, "--labels", "l_*", "-o", output) == 0
    out = capsys.readouterr().out
    assert "no label is an error with a probability of 0.1 or more; no rows in" in out
    assert not any(line.startswith("sample ") for line in out.splitlines())
    assert rows_of(output) == []
    assert run_command("audit", path, "--labels", "l_*", "-o", output, "--rows", 2) == 0
    assert "2 labels, the most suspicious first" in capsys.readouterr().out


def test_samples_without_names_are_known_by_position(folder, tmp_path):
    output = tmp_path / "issues.csv"
    assert run_command("audit", folder / "train.svm", "-o", output, "--cv", 3) == 0
    assert {int(row["sample"]) for row in rows_of(output)} <= set(range(200))


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["-o", "none/issues.csv"], 1, "its folder does not exist"),
        ([], 2, "required: -o"),
        (["-o", "i.csv", "--rows", "0"], 2, "expected an integer >= 1"),
        (["-o", "i.csv", "--cv", "500"], 1, "too few for 500 folds"),
        (["-o", "i.csv", "--cv", "1"], 2, "expected an integer >= 2"),
        (["-o", "i.csv", "--report", "i.csv"], 1, "also another file"),
    ],
)
def test_wrong_calls_say_what_to_do(folder, tmp_path, monkeypatch, capsys, words, code, why):
    monkeypatch.chdir(tmp_path)
    assert run_command("audit", folder / "train.arff", *words) == code
    assert why in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
