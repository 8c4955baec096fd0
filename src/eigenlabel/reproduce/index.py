"""The tables and figures of all papers by name."""

from difflib import get_close_matches

from eigenlabel.reproduce.contests import Contest
from eigenlabel.reproduce.curves import Curves
from eigenlabel.reproduce.papers import PAPERS
from eigenlabel.reproduce.tables import Table

TABLES: dict[str, Table] = {table.name: table for paper in PAPERS for table in paper.tables}
CONTESTS: dict[str, Contest] = {
    contest.name: contest for paper in PAPERS for contest in paper.contests
}
FIGURES: dict[str, Curves] = {figure.name: figure for paper in PAPERS for figure in paper.figures}


def get_table(name: str) -> Table | Contest | Curves:
    """Return a table or figure by name.

    Parameters
    ----------
    name : str
        Name of a table or figure, such as "mlls-table3" or "mlls-figure3".

    Returns
    -------
    Table, Contest or Curves
        The table or figure.

    Examples
    --------
    >>> from eigenlabel.reproduce import get_table
    >>> get_table("mtsda-table2").title
    'Han et al. (AAAI 2010), Table 2: AUC'
    """
    known: dict[str, Table | Contest | Curves] = {**TABLES, **CONTESTS, **FIGURES}
    if name not in known:
        close = get_close_matches(name, known, n=3, cutoff=0.5) or list(known)
        raise ValueError(f"No table {name!r}; perhaps: {', '.join(close)}.")
    return known[name]
