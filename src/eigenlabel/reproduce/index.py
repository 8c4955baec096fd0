"""The papers, their tables, and which of them the data at hand allow to run."""

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from eigenlabel.datasets import DataError, Dataset
from eigenlabel.datasets.registry import owner
from eigenlabel.experiment import Data
from eigenlabel.experiment.data_and_splits import find_file
from eigenlabel.reproduce.contests import Contest
from eigenlabel.reproduce.curves import Curves
from eigenlabel.reproduce.papers import PAPERS
from eigenlabel.reproduce.tables import Table, all_data

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


Kind = TypeVar("Kind", bound=Table | Contest | Curves)


def _files(data: Data) -> list[str]:
    """List the files of a data set; data in memory and embedded data have none."""
    if isinstance(data.source, Dataset) or data.source == "debtags":
        return []
    return [data.source] if isinstance(data.source, str) else list(data.source)


def data_sets(table: Table | Contest | Curves) -> list[str]:
    """List the known data sets that a table or figure uses.

    Parameters
    ----------
    table : Table, Contest or Curves
        The table or figure.

    Returns
    -------
    list of str
        Names that :func:`eigenlabel.datasets.fetch` knows.

    Examples
    --------
    >>> from eigenlabel.reproduce import data_sets, get_table
    >>> data_sets(get_table("mtsda-figure1"))
    ['yahoo-education', 'yahoo-science']
    """
    paths = (path for data in all_data(table.data) for path in _files(data))
    return list(dict.fromkeys(entry.name for path in paths if (entry := owner(path))))


def at_hand(table: Kind, folder: Path = Path()) -> tuple[Kind, dict[str, str]]:
    """Restrict a table or figure to the data sets whose files are on this machine.

    Parameters
    ----------
    table : Table, Contest or Curves
        The table or figure.
    folder : Path, default=Path()
        Folder in which data files are searched before the folder of data sets.

    Returns
    -------
    table : Table, Contest or Curves
        The table or figure without the data sets whose files are missing.
    missing : dict of str to str
        Maps the name of each missing data set to the reason.

    Raises
    ------
    DataError
        If no data set is there. The message contains the error of the first missing file.

    Examples
    --------
    >>> from eigenlabel.reproduce import at_hand, get_table
    >>> table, missing = at_hand(get_table("kgha-claims-debtags"))
    >>> list(table.data), missing
    (['debtags'], {})
    """
    missing: dict[str, DataError] = {}
    for data in all_data(table.data):
        for source in _files(data):
            try:
                find_file(source, folder)
            except DataError as error:
                missing.setdefault(data.name, error)
    groups = {
        name: tuple(d for d in group if d.name not in missing) for name, group in table.data.items()
    }
    if missing and not any(groups.values()):
        first = next(iter(missing.values()))
        raise DataError(table.name, f"none of its data is there. {first}") from first
    there = {name: group for name, group in groups.items() if group}
    return replace(table, data=there), {name: str(error) for name, error in missing.items()}
