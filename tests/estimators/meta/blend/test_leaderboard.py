import builtins
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    label_ranking_average_precision_score,
    roc_auc_score,
)
from sklearn.metrics import log_loss as sklearn_log_loss

from eigenlabel.estimators.meta.blend import leaderboard as module
from eigenlabel.estimators.meta.blend.leaderboard import (
    COLUMNS,
    FIGURES,
    Leaderboard,
    empty_row,
    measure,
)


@pytest.fixture
def board():
    good = {
        "name": "a<b>",
        "weight": 0.5,
        "adds": 0.125,
        **dict.fromkeys(FIGURES, 0.25),
        "seconds": 1.0,
    }
    return Leaderboard(({**good, "status": "blended"}, empty_row("b", "failed: no & yes", 2.0)))


def test_figures_are_those_of_scikit_learn(rng):
    Y = rng.random((60, 4)) < 0.4
    P = rng.random((60, 4))
    decisions = P > 0.5
    found = measure(Y, None, decisions, P, None)
    expected = {
        "f1_macro": f1_score(Y, decisions, average="macro"),
        "f1_micro": f1_score(Y, decisions, average="micro"),
        "auc": roc_auc_score(Y, P),
        "map": average_precision_score(Y, P),
        "lrap": label_ranking_average_precision_score(Y, P),
        "log_loss": np.mean([sklearn_log_loss(t, p) for t, p in zip(Y.T, P.T, strict=True)]),
    }
    assert found == pytest.approx(expected, rel=1e-10)


def test_samples_without_probabilities_do_not_count(rng):
    Y, P = rng.random((30, 3)) < 0.4, rng.random((30, 3))
    part = measure(Y[:20], None, P[:20] > 0.5, P[:20], None)
    P[20:] = np.nan
    assert measure(Y, None, P > 0.5, P, None) == pytest.approx(part, rel=1e-12)
    nothing = measure(Y, None, P > 0.5, np.full((30, 3), np.nan), None)
    assert np.isnan(list(nothing.values())).all()


def test_labels_that_are_not_observed_do_not_count(rng):
    Y, P = rng.random((30, 3)) < 0.4, rng.random((30, 3))
    cells = rng.random((30, 3)) < 0.8
    other = np.where(cells, Y, ~Y)
    assert measure(Y, cells, P > 0.5, P, None) == pytest.approx(
        measure(other, cells, P > 0.5, P, None), rel=1e-12
    )


def test_many_cells_are_thinned(rng, monkeypatch):
    Y, P = rng.random((30, 3)) < 0.4, rng.random((30, 3))
    monkeypatch.setattr(module, "MOST_CELLS", 45)
    assert measure(Y, None, P > 0.5, P, None) == pytest.approx(
        measure(Y[::2], None, P[::2] > 0.5, P[::2], None), rel=1e-12
    )


def test_rows_are_read_like_a_list(board):
    assert len(board) == 2
    assert board[0]["name"] == "a<b>"
    assert [row["status"] for row in board] == ["blended", "failed: no & yes"]
    assert board[1:] == Leaderboard(board.rows[1:])


def test_it_prints_as_a_table(board):
    lines = repr(board).splitlines()
    assert lines[0].split() == list(COLUMNS)
    assert lines[1].split() == [
        "a<b>",
        "0.500",
        "0.1250",
        *["0.250"] * 5,
        "0.2500",
        "1.0",
        "blended",
    ]
    assert lines[2].split() == ["b", "0.000", "2.0", "failed:", "no", "&", "yes"]


def test_html_is_escaped(board):
    html = board._repr_html_()
    assert "<td>a&lt;b&gt;</td>" in html
    assert "no &amp; yes" in html
    assert html.count("<tr>") == 3


def test_a_frame_of_whichever_library_is_there(board, monkeypatch):
    frame = board.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(COLUMNS)
    assert frame["seconds"].tolist() == [1.0, 2.0]

    assert type(board.to_frame("polars")).__module__.split(".")[0] == "polars"
    for library in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match="pandas or polars"):
        board.to_frame()
    assert isinstance(board.rows, builtins.tuple)
