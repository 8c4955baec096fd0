"""The table of commands, and what the help does not import."""

import subprocess
import sys

import pytest

from eigenlabel.cli import main
from eigenlabel.cli.commands import ENTRIES
from eigenlabel.cli.options import Command

HEAVY = ("numpy", "scipy", "sklearn", "joblib", "skops", "jinja2", "narwhals", "pandas", "polars")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_command_is_where_the_table_says(entry, capsys):
    assert isinstance(entry.load(), Command)
    assert main([entry.name, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"usage: eigenlabel {entry.name}" in shown
    assert entry.description.split(". ")[0].split(":")[0] in shown


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["nonsense"], []], ids=str)
def test_the_help_and_the_version_import_nothing_heavy(words):
    code = (
        "import sys; from eigenlabel.cli import main; main(sys.argv[1:]); "
        f"print('loaded:', *[name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_the_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for entry in ENTRIES:
        assert f"\n    {entry.name}" in shown
