import numpy as np
import pytest

from eigenlabel import MultilabelBlend, report
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.report.leaderboard_section import FIGURES


class Failing:
    """A blend whose leaderboard is known."""

    leaderboard_ = (
        {"name": "blend", "weight": 1.0, "adds": np.nan, "seconds": 2.0, "status": ""}
        | dict.fromkeys(FIGURES, 0.5),
        {"name": "<b>", "weight": 0.0, "adds": np.nan, "seconds": 1.0, "status": "failed: no"}
        | dict.fromkeys(FIGURES, np.nan),
    )


def test_rows_are_those_of_the_leaderboard():
    data = make_shared_subspace(100, n_labels=3, noise=0.3, random_state=0)
    model = MultilabelBlend(["linear", "neighbours"], random_state=0).fit(data.X, data.Y)
    section = report.leaderboard(model)
    assert section["columns"][3:9] == list(FIGURES.values())
    for shown, row in zip(section["rows"], model.leaderboard_, strict=True):
        assert shown[0] == row["name"]
        assert shown[3:9] == pytest.approx([row[name] for name in FIGURES])
    assert section["rows"][0][2] is None  # what the blend adds to itself


def test_members_without_figures_are_shown_with_their_reason():
    section = report.leaderboard(Failing())
    assert section["rows"][1] == ["<b>", None, None, *[None] * 6, 1.0, "failed: no"]
    text = report.render(report.page("A page", [section]))
    assert "&lt;b&gt;" in text
    assert "<b>" not in text.split("<main")[-1]
