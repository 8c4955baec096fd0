"""Published figures: one CSV file beside each paper's module."""

from eigenlabel.reproduce import published
from eigenlabel.reproduce.published_figures import read_figures


def test_every_paper_has_its_figures_in_a_file_of_its_own():
    counts = {
        name: sum(len(figures) for figures in read_figures(name).values())
        for name in ("ji2008", "ji2010", "han2010", "zhang2010", "xiong_kgha")
    }
    assert counts == {
        "ji2008": 253, "ji2010": 832, "han2010": 85, "zhang2010": 588, "xiong_kgha": 161
    }  # fmt: skip
    assert sum(map(len, published().values())) == sum(counts.values())


def test_a_figure_has_a_deviation_if_the_paper_prints_one():
    figure = next(
        f for f in published()["mlls-table3"] if (f.dataset, f.method) == ("Arts", "ML_LS")
    )
    assert (figure.metric, figure.mean, figure.std) == ("auc", 0.7611, None)
    assert all(f.std is not None for f in published()["kdd-table3"])
