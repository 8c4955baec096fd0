"""The program: exit codes, help, interrupts and pipes."""

import os
import subprocess
import sys

import pytest

from commands import run_command
from eigenlabel import __version__
from eigenlabel.cli import main


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "required: COMMAND"),
        (["nonsense"], 2, "invalid choice: 'nonsense'"),
        (["demo", "--samples", "many"], 2, "invalid int value"),
        (["demo", "--samples", "3"], 1, "eigenlabel: --samples must be an integer between 50 and"),
        (["fit", "nowhere.csv", "-o", "m.skops"], 1, "nowhere.csv: no such file"),
        (["fit", "x.csv", "-o", "nowhere/m.skops"], 1, "its folder does not exist"),
        (["fit", "x.csv", "-o", "m.skops", "--method", "ridg"], 2, "did you mean ridge?"),
        (["fit", "x.csv", "-o", "m", "--method", "!"], 2, "'eigenlabel fit --list-methods' lists"),
        (["fit", "x.csv", "-o", "m.skops", "--set", "cv"], 2, "expected NAME=VALUE, got 'cv'"),
        (
            ["fit", "x.csv", "-o", "m.skops", "--method", "JEC", "--set", "foo=1"],
            2,
            "eigenlabel: JEC has no parameter 'foo'; it has calibration, metric, n_neighbors,",
        ),
        (["tune", "x.csv", "-o", "m", "--scoring", "f1"], 2, "invalid choice: 'f1'"),
        (["tune", "x.csv", "-o", "m", "--scoring", "log_loss"], 2, "invalid choice: 'log_loss'"),
        (["compare", "x.csv", "-o", "r", "--methods", "ridg"], 2, "did you mean ridge?"),
        (["compare", "x.csv", "-o", "r", "--metrics", "f1macro"], 2, "did you mean f1_macro"),
        (["compare", "x.csv", "-o", "r", "--splits", "0"], 2, "expected an integer >= 1"),
        (["predict", "m.skops", "x.csv", "--rows", "0"], 2, "expected an integer >= 1"),
        (["predict", ".", "x.csv"], 1, "a folder, not a file"),
        (["datasets", "fetch"], 2, "name the data sets to download, or pass --all-for TABLE"),
        (["datasets", "fetch", "--all-for", "x"], 2, "'eigenlabel reproduce --list' lists them"),
        (["datasets", "fetch", "--all-for", "mlls-table9"], 1, "the FlyExpress images"),
        (["reproduce"], 2, "which table? 'eigenlabel reproduce --list' lists them"),
        (["reproduce", "mlls-table3", "--methods", "SWM"], 2, "did you mean SVM"),
        (["report", "nowhere", "-o", "x.html"], 1, "nowhere: no such file"),
        (
            ["tune", "x.csv", "-o", "m.skops", "--alphas", "a"],
            2,
            "expected numbers such as 0.1,1,inf",
        ),
        (["predict", "nowhere.skops", "x.csv"], 1, "nowhere.skops: no such file"),
        (["reproduce", "mlls-table33"], 2, "did you mean mlls-table3"),
        (["reproduce", "!"], 2, "no table '!'; 'eigenlabel reproduce --list' lists them"),
        (["report", "nowhere", "-o", "x.html", "--data", "x"], 1, "nowhere: no such file"),
    ],
)
def test_wrong_calls_and_failures_have_different_exit_codes(arguments, code, message, capsys):
    assert main(arguments) == code
    assert message in capsys.readouterr().err


def test_every_command_has_a_help_text(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"eigenlabel {__version__}"
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for command in ("demo", "fit", "predict", "evaluate", "tune", "compare", "reproduce", "report"):
        assert f"\n    {command}" in out
        assert main([command, "--help"]) == 0
        assert len(capsys.readouterr().out) > 100


def test_the_program_survives_a_closed_pipe():
    command = f"{sys.executable} -m eigenlabel.cli"
    done = subprocess.run(
        f"{command} --version; {command} datasets list | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    version, listing = done.stdout.splitlines()
    assert version == f"eigenlabel {__version__}"
    assert "name" in listing
    assert done.stderr == ""


def test_an_interrupted_run_reports_what_is_kept(tmp_path, folder, monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("eigenlabel.cli.experiments.run", stop)
    assert run_command("compare", folder / "train.svm", "-o", tmp_path, "--methods", "ridge") == 1
    assert "stopped; finished work is kept" in capsys.readouterr().err
    monkeypatch.setattr("eigenlabel.cli.fit_and_predict.make_preparation", stop)
    for command in ("fit", "tune"):
        assert run_command(command, folder / "train.svm", "-o", tmp_path / "m.skops") == 1
        assert "stopped; nothing was written" in capsys.readouterr().err

    def overflow(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr("eigenlabel.cli.experiments.run", overflow)
    assert run_command("compare", folder / "train.svm", "-o", tmp_path, "--methods", "ridge") == 1
    assert "eigenlabel: no room" in capsys.readouterr().err


def test_a_terminal_without_a_character_prints_its_code(folder, tmp_path):
    words = ["compare", folder / "train.svm", "--methods", "ridge", "--splits", "2", "-o", tmp_path]
    done = subprocess.run(
        [sys.executable, "-m", "eigenlabel.cli", *map(str, words)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert rb"\xb1" in done.stdout


def run_program(words):
    """Run the program in a process of its own."""
    words = [sys.executable, "-m", "eigenlabel", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, check=True)


def test_the_package_runs_as_a_module():
    found = run_program(["--version"])
    assert found.stdout == f"eigenlabel {__version__}\n"


def test_a_warning_is_one_line_without_code(folder, tmp_path):
    words = ["tune", folder / "train.arff", "-o", tmp_path / "m.skops", "--alphas", "1"]
    words += ["--betas", "1", "--risk", "recall=1"]
    run = run_program(words)
    assert run.stderr.startswith("eigenlabel: warning: No cut keeps recall=1")
    assert run.stderr.count("\n") == 1
    assert "SystemExit" not in run.stderr


def test_a_warning_of_many_fits_is_printed_once(tmp_path):
    rows = [f"{i % 3},{i % 5},{i % 7},{('u', 'v', 'u;w')[i % 3]}" for i in range(40)]
    (tmp_path / "d.csv").write_text("\n".join(["a,b,c,labels", *rows]))
    words = ["fit", str(tmp_path / "d.csv"), "--method", "KGHA", "-o", str(tmp_path / "m.skops")]
    run = run_program(words)
    assert run.stderr.splitlines() == [
        "eigenlabel: warning: Top(5) predicts all 3 labels for every sample: use fewer, as Top(1), "
        "or another rule as threshold or strategy, such as 'mixed' (eigenlabel fit --set "
        "threshold=mixed)."
    ]
    words += ["--set", "threshold=mixed"]
    run = run_program(words)
    assert run.stderr == ""
