"""Scripts of completion, loaded by real shells."""

import os
import select
import shutil
import subprocess
import time

import pytest

from eigenlabel.cli import main, make_parser
from eigenlabel.cli.commands import ENTRIES
from eigenlabel.cli.completion import SHELLS, read_parser


@pytest.fixture(scope="module")
def every():
    return list(read_parser(make_parser([entry.name for entry in ENTRIES])))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.csv").touch()
    (tmp_path / "train two.csv").touch()
    (tmp_path / "model.skops").touch()
    return tmp_path


def script(shell, every, folder):
    """Return the path of a script, and skip the test if the shell is not installed."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = folder / f"completion.{shell}"
    path.write_text(SHELLS[shell](every))
    return path


def bash(path, folder, *words):
    """Return what bash offers for the last of some words."""
    code = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _eigenlabel; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    command = ["bash", "--norc", "-c", code, "bash", path.name, "eigenlabel", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def fish(path, folder, *words):
    """Return what fish offers for the last of some words."""
    line = " ".join(["eigenlabel", *words])
    code = f"source {path.name}; complete -C '{line}'"
    environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


CASES = [
    (["ev"], ["evaluate"]),
    (["datasets", "f"], ["fetch"]),
    (["datasets", "info", "emo"], ["emotions", "emotions-views"]),
    (["fit", "--prep"], ["--prepare"]),
    (["fit", "data.csv", "--prepare", "t"], ["tfidf"]),
    (["fit", "--method", "shared-subspace-"], ["shared-subspace-rbf"]),
    (["completion", ""], ["bash", "fish", "zsh"]),
    (["predict", "mod"], ["model.skops"]),
    (["tune", "-o", "mod"], ["model.skops"]),
    (["demo", "--seed", "mod"], []),
]


@pytest.mark.parametrize(("words", "expected"), CASES, ids=str)
@pytest.mark.parametrize("shell", [bash, fish], ids=lambda shell: shell.__name__)
def test_words_are_completed(every, folder, shell, words, expected):
    path = script(shell.__name__, every, folder)
    assert sorted(shell(path, folder, *words)) == expected


def test_a_word_after_the_command_does_not_call_another_one(every, folder):
    path = script("bash", every, folder)
    assert bash(path, folder, "fit", "demo", "--effo") == []
    assert bash(path, folder, "tune", "demo", "--effo") == ["--effort"]


def zsh(path, folder, typed, wanted):
    """Type words and a tab in an interactive zsh, and return what it shows."""
    pty = pytest.importorskip("pty")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "PS1": "> "})
    shown = ""

    def wait(text, seconds=30.0):
        nonlocal shown
        end = time.monotonic() + seconds
        while text not in shown and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 65536).decode(errors="replace")

    try:
        start = f"autoload -U compinit && compinit -u -D && source ./{path.name} && echo rea''dy\n"
        os.write(terminal, start.encode())
        wait("ready\r")
        os.write(terminal, f"{typed}\t".encode())
        wait(wanted)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)
    return shown


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("eigenlabel ev", "eigenlabel evaluate "),
        ("eigenlabel datasets inf", "eigenlabel datasets info "),
        ("eigenlabel fit --prep", "eigenlabel fit --prepare "),
        ("eigenlabel fit x.csv --prepare t", "--prepare tfidf "),
        ("eigenlabel predict mod", "eigenlabel predict model.skops"),
    ],
)
def test_words_are_completed_in_zsh(every, folder, typed, wanted):
    assert wanted in zsh(script("zsh", every, folder), folder, typed, wanted)


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_have_no_errors_of_syntax(every, folder, shell):
    path = script(shell, every, folder)
    done = subprocess.run([shell, "-n", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_option_is_in_every_script(every):
    flags = {flag for one in every for slot in one.options for flag in slot.flags}
    assert {"--prepare", "--outputs", "--all-for", "-o"} <= flags
    for make in SHELLS.values():
        text = make(every)
        assert [flag for flag in flags if flag.lstrip("-") not in text] == []


def test_the_command_prints_the_script(capsys, every):
    assert main(["completion", "fish"]) == 0
    assert capsys.readouterr().out == SHELLS["fish"](every)
    assert main(["completion", "tcsh"]) == 2
