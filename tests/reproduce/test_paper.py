"""Papers do not share names."""

from eigenlabel.reproduce import CONTESTS, FIGURES, TABLES
from eigenlabel.reproduce.papers import PAPERS


def test_tables_and_figures_of_the_papers_have_different_names():
    names = [
        item.name for paper in PAPERS for item in (*paper.tables, *paper.contests, *paper.figures)
    ]
    assert len(names) == len(set(names)) == len({*TABLES, *CONTESTS, *FIGURES})


def test_titles_begin_with_the_citation():
    for paper in PAPERS:
        for item in (*paper.tables, *paper.contests, *paper.figures):
            assert item.title.startswith(paper.citation)
