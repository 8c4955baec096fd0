import subprocess
import sys

import pytest

from eigenlabel import __version__
from eigenlabel.cli import main


def test_demo_finds_the_planted_subspace_and_beats_one_vs_rest(capsys):
    assert main(["demo", "--samples", "600", "--labels", "12"]) == 0
    out = capsys.readouterr().out
    rows = {line[:33].strip(): line[33:].split() for line in out.splitlines() if line[:1].isalpha()}
    ours, theirs = rows["shared subspace, tuned"], rows["one-vs-rest logistic, defaults"]
    assert float(ours[0]) > float(theirs[0])
    cosines = out.split("the one found: ")[1].splitlines()[0].split()
    assert float(cosines[0]) > 0.8


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "required: COMMAND"),
        (["nonsense"], 2, "invalid choice: 'nonsense'"),
        (["demo", "--samples", "many"], 2, "invalid int value"),
        (["demo", "--labels", "0"], 1, "eigenlabel: n_labels must be an integer >= 1, got 0"),
    ],
)
def test_wrong_calls_and_failures_have_their_exit_codes(arguments, code, message, capsys):
    assert main(arguments) == code
    assert message in capsys.readouterr().err


def test_help_and_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"eigenlabel {__version__}"
    assert main(["--help"]) == 0
    assert "demo" in capsys.readouterr().out


def test_it_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "eigenlabel.cli", "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, f"eigenlabel {__version__}")
