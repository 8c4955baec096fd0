"""Tables of a paper whose data are available: what is run to produce them again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from eigenlabel.experiment import Data, Method, Protocol, Splits
from eigenlabel.experiment.methods import known_methods
from eigenlabel.reproduce.published_figures import Figure


@dataclass(frozen=True)
class Table:
    """A table of a paper, whose figures are compared with ours.

    Parameters
    ----------
    name : str
        Name of the table, such as "mlls-table3".
    title : str
        The paper, the number of the table and its topic.
    kind : {"figures", "p-values", "counts"}, default="figures"
        What the table contains: figures of methods, p-values of Wilcoxon tests on the records of
        ``run``, or sizes of data sets.
    run : str, default=""
        Name of the run, which several tables may share. It is ``name`` by default.
    data : dict of str to tuple of Data, default={}
        Maps a published data set to the available data sets, whose figures are averaged.
    lacking : dict of str to str, default={}
        Maps a published data set that is not available to the reason.
    metrics : dict of str to str, default={}
        Maps a published metric to ours.
    methods : dict of str to str, default={}
        Maps a published method to its name in the catalogue, which need not contain it.
    beyond : tuple of str, default=()
        Methods of the catalogue that the paper does not have.
    recorded : tuple of str, default=()
        Metrics that the records contain, the same for all tables of a run. By default they are
        those of ``metrics``.
    splits : Splits, default=Splits()
        How samples are split.
    fewer : dict of str to int, default={}
        Maps a published method to the number of its splits if the paper has fewer for it.
    conventions : dict of str to str, default={}
        Maps a published metric to our metric by the convention that the paper seems to have, which
        is compared beside the usual one.
    t_tests : bool, default=False
        Whether the paper marks the best methods of each metric by paired t-tests.
    notes : tuple of str, default=()
        Differences from the paper.

    Examples
    --------
    >>> from eigenlabel.reproduce import get_table
    >>> get_table("mlls-table3").status()
    '4 of 6 data sets, 6 of 6 methods'
    """

    name: str
    title: str
    kind: str = "figures"
    run: str = ""
    data: Mapping[str, tuple[Data, ...]] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
    beyond: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    splits: Splits = field(default_factory=Splits)
    fewer: Mapping[str, int] = field(default_factory=dict)
    conventions: Mapping[str, str] = field(default_factory=dict)
    t_tests: bool = False
    notes: tuple[str, ...] = ()

    def runnable(self) -> list[str]:
        """List the methods of the table that the catalogue contains.

        Returns
        -------
        list of str
            Names in the catalogue, those of the paper first.
        """
        wanted = dict.fromkeys([*self.methods.values(), *self.beyond])
        return [name for name in wanted if name in known_methods()]

    def missing(self) -> list[str]:
        """List the published methods that the catalogue does not contain.

        Returns
        -------
        list of str
            Names of the paper.
        """
        return [paper for paper, name in self.methods.items() if name not in known_methods()]

    def protocol(
        self, *, n_splits: int | None = None, methods: list[str] | None = None
    ) -> Protocol:
        """Return the protocol of the table, with fewer splits or methods on request.

        Parameters
        ----------
        n_splits : int or None, default=None
            Upper bound on the number of splits. None runs all splits.
        methods : list of str or None, default=None
            Names of the methods to run. None runs all methods.

        Returns
        -------
        Protocol
            What :func:`eigenlabel.experiment.run` runs.
        """
        if not self.data:
            raise ValueError(f"{self.name} cannot be run: {self.status()}.")
        if not self.runnable():
            names = ", ".join(self.missing())
            raise ValueError(f"{self.name} cannot be run: the catalogue has no method of {names}.")
        wanted = self.runnable() if methods is None else methods
        if self.kind == "p-values" and len(set(wanted)) < 2:
            raise ValueError(f"{self.name} contains p-values, which need two methods to be run.")
        check_known("method", self.name, wanted, self.runnable())
        return Protocol(
            data=all_data(self.data),
            methods=[Method(name) for name in wanted],
            splits=replace(self.splits, at_most=n_splits),
            metrics=self.recorded or tuple(dict.fromkeys(self.metrics.values())),
            name=self.run or self.name,
        )

    def n_runs(self, dataset: str, method: str = "") -> int:
        """Return how many figures our mean is over if the protocol is run to its end.

        Parameters
        ----------
        dataset : str
            Name of an available data set in the table.
        method : str, default=""
            Name of a method of the paper.

        Returns
        -------
        int
            The number of data sets if several are averaged, otherwise the number of splits.
        """
        group = self.data[dataset]
        return len(group) if len(group) > 1 else self.fewer.get(method, self.splits.n_splits)

    def status(self) -> str:
        """Describe in a few words how much of the table can be reproduced.

        Returns
        -------
        str
            The numbers of available data sets and methods, or the reason why there are none.
        """
        if not self.data:
            return "the data are not available: " + next(iter(self.lacking.values()))
        available = len(all_data(self.data))
        total = available + len(self.lacking)
        sets = f"{available} of {total} data set{'s' * (total > 1)}"
        if self.kind == "counts":
            return sets
        there = len(self.methods) - len(self.missing())
        return f"{sets}, {there} of {len(self.methods)} methods"


def unavailable(name: str, title: str, figures: Iterable[Figure], why: str) -> Table:
    """Return a table none of whose data sets is available, for one reason."""
    datasets = dict.fromkeys(figure.dataset for figure in figures)
    return Table(name, title, lacking=dict.fromkeys(datasets, why))


def all_data(groups: Mapping[str, tuple[Data, ...]]) -> list[Data]:
    """List the data sets of all groups in order."""
    return [data for group in groups.values() for data in group]


def check_known(what: str, where: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    """Raise ValueError if something that is wanted is not known."""
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(f"No {what} {unknown[0]!r} in {where}; there are: {', '.join(known)}.")
