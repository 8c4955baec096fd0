"""Curves of a metric over a parameter, one run for each point."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenlabel.comparison import collect, holm, paired, wilcoxon
from eigenlabel.experiment import Data, Method, Protocol, Splits

Point = tuple[str, str]  # curve, value of the parameter


@dataclass(frozen=True)
class Curves:
    """A figure of a paper, whose numbers were not printed: our curves alone.

    Attributes
    ----------
    name, title : "mddm-figure2" and what it is
    x : what varies
    y : the metric, or "seconds" of fitting
    points : (curve, value of x) -> method
    data : panel -> data sets, whose figures are averaged
    splits : how samples are split
    notes : what differs from the paper
    reference : point that all others are tested against, or None
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

    def curves(self) -> list[str]:
        """List the names of the curves."""
        return list(dict.fromkeys(curve for curve, _ in self.points))

    def runnable(self) -> list[str]:
        """List what can be chosen: curves, and points by the names of their methods."""
        return [*self.curves(), *(method.name for method in self.points.values())]

    def protocol(
        self, *, n_splits: int | None = None, methods: Sequence[str] | None = None
    ) -> Protocol:
        """Give the figure's protocol, with fewer splits, curves or points if so wanted."""
        unknown = [m for m in methods or () if m not in self.runnable()]
        if unknown:
            known = ", ".join(self.curves())
            raise ValueError(f"No curve {unknown[0]!r} in {self.name}; there are: {known}.")
        return Protocol(
            data=[d for group in self.data.values() for d in group],
            methods=[
                m
                for (c, _), m in self.points.items()
                if methods is None or c in methods or m.name in methods
            ],
            splits=replace(self.splits, at_most=n_splits),
            metrics=("f1_macro",) if self.y == "seconds" else (self.y,),
            name=self.name,
        )

    def status(self) -> str:
        """Say in a few words what there is."""
        sets = sum(len(group) for group in self.data.values())
        return (
            f"{len(self.curves())} curves on {sets} data set{'s' * (sets > 1)}; "
            "the paper prints no numbers"
        )

    def means(self, records: Sequence[dict[str, Any]]) -> dict[str, dict[Point, float]]:
        """Average the records of each panel and point; what was not run is left out."""
        if self.y == "seconds":
            records = [
                {**r, "metrics": {self.y: r["seconds"]["fit"]}} for r in records if "seconds" in r
            ]
        found = collect(records, self.y)
        panels: dict[str, dict[Point, float]] = {}
        for panel, group in self.data.items():
            for point, method in self.points.items():
                runs = [found.get(d.name, {}).get(method.name, {}).values() for d in group]
                values = [np.mean(list(r)) for r in runs if r]
                if values:
                    panels.setdefault(panel, {})[point] = float(np.mean(values))
        return panels

    def tests(self, records: Sequence[dict[str, Any]]) -> dict[str, dict[Point, float]]:
        """Give, panel by panel, p-values of Wilcoxon's test of each point against the reference.

        Pairs are the splits of the panel's data sets; p-values are adjusted by Holm's method.
        """
        found, panels = collect(records, self.y), {}
        for panel, group in self.data.items() if self.reference else ():
            p_values = {}
            for point, method in self.points.items():
                pairs = [
                    paired(by.get(method.name, {}), by.get(self.points[self.reference].name, {}))
                    for by in (found.get(d.name, {}) for d in group)
                ]
                a, b = (np.concatenate(side) for side in zip(*pairs, strict=True))
                if point != self.reference and len(a):
                    p_values[point] = wilcoxon(a, b)
            panels[panel] = dict(zip(p_values, holm(list(p_values.values())), strict=True))
        return panels
