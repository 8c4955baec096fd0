"""The exit code of each way in which a command can end, and what is printed with it."""

import argparse

import pytest

from eigenlabel.cli import main
from eigenlabel.cli.exit_codes import exit_code
from eigenlabel.cli.options import UsageError


@pytest.mark.parametrize(
    ("error", "code", "printed"),
    [
        (SystemExit(), 0, ""),
        (SystemExit(2), 2, ""),
        (KeyboardInterrupt(), 1, "eigenlabel: stopped; finished work is kept\n"),
        (KeyboardInterrupt("half is kept"), 1, "eigenlabel: stopped; half is kept\n"),
        (ValueError("no labels"), 1, "eigenlabel: no labels\n"),
        (UsageError("no such option"), 2, "eigenlabel: no such option\n"),
        (BrokenPipeError(32, "Broken pipe", "out.fifo"), 1, "Broken pipe: 'out.fifo'\n"),
    ],
)
def test_each_end_has_its_code(error, code, printed, capsys):
    assert exit_code(error, argparse.Namespace()) == code
    shown = capsys.readouterr()
    assert shown.err.endswith(printed)
    assert bool(shown.err) == bool(printed)
    assert shown.out == ""


def test_a_command_that_succeeds_and_two_that_do_not(tmp_path, capsys):
    assert main(["--version"]) == 0
    assert main(["tune", str(tmp_path / "nothing.csv"), "-o", str(tmp_path / "m.skops")]) == 1
    assert main(["tune", "--no-such-option"]) == 2
    assert "no such file" in capsys.readouterr().err
