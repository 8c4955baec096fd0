"""A paper: its methods, tables and figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from eigenlabel.experiment.methods import Recipe
from eigenlabel.reproduce.contests import Contest
from eigenlabel.reproduce.curves import Curves
from eigenlabel.reproduce.tables import Table


@dataclass(frozen=True)
class Paper:
    """What a paper contributes to the catalogue and to the command ``reproduce``.

    Parameters
    ----------
    citation : str
        Authors, venue and year.
    methods : dict of str to Recipe
        Maps the name of a method in the catalogue to its recipe.
    tables : tuple of Table, default=()
        Tables whose figures are compared with ours.
    contests : tuple of Contest, default=()
        Tables whose comparison of methods is repeated on other data.
    figures : tuple of Curves, default=()
        Figures and claims.
    """

    citation: str
    methods: Mapping[str, Recipe] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    contests: tuple[Contest, ...] = ()
    figures: tuple[Curves, ...] = ()
