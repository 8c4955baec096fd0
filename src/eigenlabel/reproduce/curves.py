"""Curves of a metric over a parameter, with one method for each point."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.comparison import collect, holm, paired, wilcoxon
from eigenlabel.experiment import Data, Method, Protocol, Splits
from eigenlabel.reproduce.tables import all_data

Point = tuple[str, str]  # name of a curve, value of the parameter
TIME = "cpu seconds"


class PointTest(NamedTuple):
    """Wilcoxon's test of a point against the reference.

    Parameters
    ----------
    p : float
        The p-value, adjusted by Holm's method over the points of a panel.
    pairs : int
        The number of pairs that it is from.
    """

    p: float
    pairs: int


@dataclass(frozen=True)
class Curves:
    """A figure of a paper, whose numbers were not printed: our curves alone.

    Parameters
    ----------
    name : str
        Name of the figure, such as "mlls-figure3".
    title : str
        The paper, the number of the figure and its topic.
    x : str
        The parameter that varies along a curve.
    y : str
        Name of the metric, or "cpu seconds" for the processor time of the fit.
    points : dict of (str, str) to Method
        Maps the name of a curve and a value of ``x`` to the method of this point.
    data : dict of str to tuple of Data
        Maps the name of a panel to its data sets, whose figures are averaged.
    splits : Splits
        How samples are split.
    notes : tuple of str, default=()
        Differences from the paper.
    reference : (str, str) or None, default=None
        The point that all other points are tested against. None makes no tests.
    published : dict of str to dict of str to float, default={}
        Maps a panel to published values of its curves, from a table of the paper. They are drawn
        beside the panel.
    run : str, default=""
        Name of the run, which tables may share. It is ``name`` by default.
    recorded : tuple of str, default=()
        Metrics that the records contain, those of the shared run. By default it is ``y``.

    Examples
    --------
    >>> from eigenlabel.reproduce import get_table
    >>> get_table("mtsda-figure1").curves()
    ['MtSDA(I)', 'MtSDA(Delta)']
    """

    name: str
    title: str
    x: str
    y: str
    points: Mapping[Point, Method]
    data: Mapping[str, tuple[Data, ...]]
    splits: Splits
    notes: tuple[str, ...] = ()
    reference: Point | None = None
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    run: str = ""
    recorded: tuple[str, ...] = ()

    def curves(self) -> list[str]:
        """List the names of the curves.

        Returns
        -------
        list of str
            The names in the order of the points.
        """
        return list(dict.fromkeys(curve for curve, _ in self.points))

    def runnable(self) -> list[str]:
        """List what can be run: whole curves, and single points by the names of their methods.

        Returns
        -------
        list of str
            The curves, then the methods of all points.
        """
        return [*self.curves(), *(method.name for method in self.points.values())]

    def protocol(
        self, *, n_splits: int | None = None, methods: Sequence[str] | None = None
    ) -> Protocol:
        """Return the protocol of the figure, with fewer splits, curves or points on request.

        Parameters
        ----------
        n_splits : int or None, default=None
            Upper bound on the number of splits. None runs all splits.
        methods : list of str or None, default=None
            Names of curves, or of the methods of single points. None runs all points.

        Returns
        -------
        Protocol
            What :func:`eigenlabel.experiment.run` runs.
        """
        unknown = [m for m in methods or () if m not in self.runnable()]
        if unknown:
            known = ", ".join(self.curves())
            raise ValueError(f"No curve {unknown[0]!r} in {self.name}; there are: {known}.")
        return Protocol(
            data=all_data(self.data),
            methods=[
                m
                for (c, _), m in self.points.items()
                if methods is None or c in methods or m.name in methods
            ],
            splits=replace(self.splits, at_most=n_splits),
            metrics=self.recorded or (("f1_macro",) if self.y == TIME else (self.y,)),
            name=self.run or self.name,
        )

    def status(self) -> str:
        """Describe in a few words what can be run.

        Returns
        -------
        str
            The numbers of curves and data sets.
        """
        sets = len(all_data(self.data))
        return (
            f"{len(self.curves())} curves on {sets} data set{'s' * (sets > 1)}; "
            "the paper prints no numbers"
        )

    def means(self, records: Sequence[dict[str, Any]]) -> dict[str, dict[Point, float]]:
        """Average the records of each panel and point, first over splits, then over data sets.

        Parameters
        ----------
        records : list of dict
            Records of the figure's protocol.

        Returns
        -------
        dict of str to dict of (str, str) to float
            Maps a panel to the means of its points. Points without records are left out.
        """
        found = self._values(records)
        panels: dict[str, dict[Point, float]] = {}
        for panel, group in self.data.items():
            for point, method in self.points.items():
                runs = [found.get(d.name, {}).get(method.name, {}).values() for d in group]
                values = [np.mean(list(r)) for r in runs if r]
                if values:
                    panels.setdefault(panel, {})[point] = float(np.mean(values))
        return panels

    def _values(self, records: Sequence[dict[str, Any]]) -> dict[str, dict[str, dict[int, float]]]:
        """Return the values of y by data set, method and split."""
        if self.y == TIME:
            records = [
                {**r, "metrics": {TIME: r["cpu_seconds"]}}
                for r in records
                if r.get("cpu_seconds") is not None
            ]
        return collect(records, self.y)

    def intervals(self, records: Sequence[dict[str, Any]]) -> dict[str, dict[Point, float]]:
        """Return half the width of the 95% interval of each mean, ``1.96 s / sqrt(n)``.

        Han et al. (2010) define the bounds of their Figure 1 in this way.

        Parameters
        ----------
        records : list of dict
            Records of the figure's protocol.

        Returns
        -------
        dict of str to dict of (str, str) to float
            Maps a panel to the half widths of its points. Panels of several data sets and points
            of a single split are left out.
        """
        found = self._values(records)
        panels: dict[str, dict[Point, float]] = {}
        for panel, group in self.data.items():
            by_method = found.get(group[0].name, {}) if len(group) == 1 else {}
            for point, method in self.points.items():
                values = np.array(list(by_method.get(method.name, {}).values()))
                if len(values) > 1:
                    width = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
                    panels.setdefault(panel, {})[point] = float(width)
        return panels

    def tests(self, records: Sequence[dict[str, Any]]) -> dict[str, dict[Point, PointTest]]:
        """Test each point against the reference by Wilcoxon's test, panel by panel.

        Pairs are the splits of the panel's data sets. The p-values of a panel are adjusted by
        Holm's method.

        Parameters
        ----------
        records : list of dict
            Records of the figure's protocol.

        Returns
        -------
        dict of str to dict of (str, str) to PointTest
            Maps a panel to the tests of its points. It is empty without a reference.
        """
        if self.reference is None:
            return {}
        found, panels = collect(records, self.y), {}
        reference = self.points[self.reference].name
        for panel, group in self.data.items():
            p_values, counts = {}, {}
            for point, method in self.points.items():
                pairs = [
                    paired(by_method.get(method.name, {}), by_method.get(reference, {}))
                    for by_method in (found.get(d.name, {}) for d in group)
                ]
                a, b = (np.concatenate(side) for side in zip(*pairs, strict=True))
                if point != self.reference and len(a):
                    p_values[point], counts[point] = wilcoxon(a, b), len(a)
            adjusted = holm(list(p_values.values())).tolist()
            panels[panel] = {
                point: PointTest(p, counts[point])
                for point, p in zip(p_values, adjusted, strict=True)
            }
        return panels
