"""Progress of tuning: on request, on a terminal for the commands, and never in a pipe."""

import os
import pty
import sys
import termios
import threading

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut

from eigenlabel import (
    MLkNN,
    MtSDACV,
    OneVsRestSearchCV,
    ProjectedClassifierCV,
    SharedSubspaceClassifierCV,
)
from eigenlabel.cli import main
from eigenlabel.datasets import make_shared_subspace, save
from eigenlabel.inputs import progress

SMALL = {"alphas": [0.0, 0.1], "betas": [0.1, 1.0], "n_components": [1, 2], "cv": 3}
TUNED = {
    "wide": (SharedSubspaceClassifierCV(**SMALL), 3 + 8),
    "repeated": (SharedSubspaceClassifierCV(**{**SMALL, "betas": [0.1, 0.1]}), 3 + 4),
    "leave-one-out": (SharedSubspaceClassifierCV(**{**SMALL, "cv": LeaveOneOut()}), 40 + 8),
    "products": (SharedSubspaceClassifierCV(**SMALL, solver="krylov"), 3 + 8),
    "MtSDACV": (MtSDACV(l1s=[0.1, 0.01], l2s=[1.0], cv=3), 3 * 2),
    "one-vs-rest": (OneVsRestSearchCV(param_grid={"C": [0.1, 1.0]}, cv=3), 2),
    "projected": (ProjectedClassifierCV(MLkNN(3), dimensions=[1, 2], cv=3), 3),
}


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(40, n_features=6, n_labels=4, random_state=0)


@pytest.mark.parametrize("name", TUNED)
def test_verbose_shows_every_step_and_the_default_nothing(data, capsys, name):
    model, steps = TUNED[name]
    silent = model.set_params(verbose=0).fit(data.X, data.Y).predict(data.X)
    assert capsys.readouterr() == ("", "")
    shown = model.set_params(verbose=1).fit(data.X, data.Y).predict(data.X)
    np.testing.assert_array_equal(shown, silent)
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{steps}/{steps} [" in err


def test_progress_with_missing_labels_shows_every_fold(data, capsys):
    Y = data.Y.astype(float)
    Y[::7, 0] = np.nan
    SharedSubspaceClassifierCV(**SMALL, verbose=1).fit(data.X, Y)
    assert "11/11 [" in capsys.readouterr().err


def test_blocks_show_every_grid_point(data, capsys):
    model = SharedSubspaceClassifierCV(**SMALL, verbose=1)
    model.partial_fit(data.X, data.Y)
    model.finish()
    assert "8/8 [" in capsys.readouterr().err


@pytest.mark.parametrize(("verbose", "error"), [("yes", TypeError), (-1, ValueError)])
@pytest.mark.parametrize("name", TUNED)
def test_a_wrong_verbose_raises_an_error(data, name, verbose, error):
    model = TUNED[name][0].set_params(verbose=verbose)
    with pytest.raises(error, match="verbose must be"):
        model.fit(data.X, data.Y)
    model.set_params(verbose=0)


def test_watched_bars_are_for_terminals(monkeypatch):
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda t=terminal: t, raising=False)
        with progress.watched(), progress.tuning(3, 0) as bar:
            assert bar.disable != terminal
        with progress.tuning(3, 0) as bar:
            assert bar.disable


class Screen:
    """A pseudo terminal, and what was written to it."""

    def __init__(self):
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 100))
        self.stream = os.fdopen(slave, "w", encoding="utf-8")
        self.text = ""
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        try:
            while part := os.read(self.master, 2**16):
                self.text += part.decode(errors="replace")
        except OSError:  # the other side is closed
            pass

    def close(self):
        self.stream.close()
        self.reader.join()
        os.close(self.master)


COMMANDS = {
    "tune": ["tune", "DATA", "--cv", "3", "-o", "OUT.skops"],
    "fit": ["fit", "DATA", "--method", "ridge", "-o", "OUT.skops"],
    "compare": ["compare", "DATA", "--methods", "ridge", "--splits", "2", "-o", "OUT"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_show_the_tuning_on_a_terminal_and_nothing_in_a_pipe(
    data, tmp_path, monkeypatch, capsys, name
):
    path = tmp_path / "data.npz"
    save(data, path)
    words = [w.replace("DATA", str(path)) for w in COMMANDS[name]]
    screen = Screen()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", screen.stream)
        assert main([w.replace("OUT", str(tmp_path / "a")) for w in words]) == 0
    screen.close()
    assert "tuning:" in screen.text
    capsys.readouterr()
    assert main([w.replace("OUT", str(tmp_path / "b")) for w in words]) == 0
    assert "tuning:" not in "".join(capsys.readouterr())
