"""What the commands that run experiments share."""

import os
import pty
import subprocess
import sys
import termios

from commands import run_command


def test_failed_runs_set_the_exit_code(folder, tmp_path, capsys):
    (tmp_path / "p.toml").write_text(
        'methods = [{name = "bad", method = "ridge", parameters = {kernel = "none"}}, "ridge"]\n'
        f'splits = {{n_splits = 2}}\n[[data]]\nname = "d"\nsource = "{folder / "train.svm"}"\n'
    )
    assert run_command("compare", tmp_path / "p.toml", "-o", tmp_path / "runs", "--splits", 1) == 1
    captured = capsys.readouterr()
    assert "1 of 2 runs failed; the first: bad on d, split 0" in captured.err
    assert "ridge" in captured.out
    again = ["compare", tmp_path / "p.toml", "-o", tmp_path / "runs", "--splits", 1, "--so-far"]
    assert run_command(*again) == 1
    assert "1 of 2 runs failed" in capsys.readouterr().err


def test_progress_is_shown_on_a_terminal_but_not_in_a_pipe(folder, tmp_path):
    words = ["compare", folder / "train.svm", "--methods", "ridge", "--splits", "3"]
    command = [sys.executable, "-m", "eigenlabel.cli", *map(str, words)]
    piped = subprocess.run(
        [*command, "-o", str(tmp_path / "a")], capture_output=True, text=True, check=True
    )
    assert piped.stderr == ""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    subprocess.run([*command, "-o", str(tmp_path / "b")], stderr=slave, stdout=slave, check=True)
    os.close(slave)
    assert b"/3 [" in os.read(master, 2**16)
    os.close(master)
