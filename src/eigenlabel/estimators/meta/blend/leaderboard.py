"""The leaderboard: held-out figures and seconds of every member and of the blend."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, overload

import numpy as np

from eigenlabel import metrics
from eigenlabel.inputs.frames import make_frame
from eigenlabel.linalg._types import Bools, Floats

FIGURES = ("f1_macro", "f1_micro", "auc", "map", "lrap", "log_loss")
COLUMNS = ("name", "weight", "adds", *FIGURES, "seconds", "status")
DIGITS = {"adds": 4, "log_loss": 4, "seconds": 1}  # other figures have three
MOST_CELLS = 20_000_000  # figures are computed on at most this many cells


def measure(
    Y: Bools, cells: Bools | None, decisions: Bools, P: Floats, weights: Floats | None
) -> dict[str, float]:
    """Return the figures of held-out decisions and probabilities (n, m).

    Samples without probabilities do not count. "map" is the mean over labels of average precision,
    "lrap" label-ranking average precision, and "log_loss" the mean over all cells.
    """
    known = np.flatnonzero(~np.isnan(P).any(axis=1))
    known = known[:: max(1, -(-Y.size // MOST_CELLS))]
    if not len(known):
        return dict.fromkeys(FIGURES, float("nan"))
    truth: Any = Y if cells is None else np.where(cells, Y, np.nan)
    truth, sets, P = truth[known], decisions[known].astype(int), P[known]
    w = None if weights is None else weights[known]
    return {
        "f1_macro": metrics.f1_macro(truth, sets, sample_weight=w),
        "f1_micro": metrics.f1_micro(truth, sets, sample_weight=w),
        "auc": metrics.auc_macro(truth, P, sample_weight=w),
        "map": metrics.label_average_precision(truth, P, sample_weight=w),
        "lrap": metrics.average_precision(truth, P, trivial="count", sample_weight=w),
        "log_loss": metrics.log_loss(truth, P, sample_weight=w),
    }


@dataclass(frozen=True)
class Leaderboard(Sequence[dict[str, Any]]):
    """Rows of a leaderboard, the blend first, then members by weight.

    Each row is a dict with the name, the weight (that of a label is the mean over labels), what the
    member adds (the rise of the blend's held-out log-loss without it), the held-out figures
    f1_macro, f1_micro, auc (macro), map (mean average precision over labels), lrap (label-ranking
    average precision) and log_loss, the seconds, and the status: "blended", "dropped" for a small
    weight, or the reason why a member failed or was not fitted.

    Parameters
    ----------
    rows : tuple of dict
        The rows.
    """

    rows: tuple[dict[str, Any], ...]

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, key: slice) -> "Leaderboard": ...

    def __getitem__(self, key: int | slice) -> "dict[str, Any] | Leaderboard":
        """Return a row, or some of them."""
        return Leaderboard(self.rows[key]) if isinstance(key, slice) else self.rows[key]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def to_frame(self, library: str | None = None) -> Any:
        """Return the rows as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"} or None, default=None
            The library of the frame. None is pandas, or polars if pandas is not installed.

        Returns
        -------
        frame : DataFrame
            One row for the blend and for each member.
        """
        return make_frame({name: [row[name] for row in self.rows] for name in COLUMNS}, library)

    def _cells(self) -> list[list[str]]:
        """Return the table as text."""
        return [
            list(COLUMNS),
            *([_text(row[name], DIGITS.get(name, 3)) for name in COLUMNS] for row in self.rows),
        ]

    def __repr__(self) -> str:
        table = self._cells()
        widths = [max(len(line[k]) for line in table) for k in range(len(COLUMNS))]
        lines = []
        for line in table:
            first = line[0].ljust(widths[0])
            rest = (text.rjust(width) for text, width in zip(line[1:-1], widths[1:-1], strict=True))
            lines.append("  ".join((first, *rest, line[-1])).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *body = (
            "".join(f"<{tag}>{escape(text)}</{tag}>" for text in line)
            for tag, line in zip(["th", *["td"] * len(self.rows)], self._cells(), strict=True)
        )
        rows = "".join(f"<tr>{line}</tr>" for line in body)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _text(value: Any, digits: int) -> str:
    """Return a cell as text; a figure that does not exist is empty."""
    if isinstance(value, str):
        return value
    return "" if value is None or np.isnan(value) else f"{value:.{digits}f}"


def empty_row(name: str, status: str, seconds: float = 0.0) -> dict[str, Any]:
    """Return the row of a member without figures."""
    nothing = dict.fromkeys(FIGURES, float("nan"))
    shares = {"weight": 0.0, "adds": float("nan")}
    return {"name": name, **shares, **nothing, "seconds": seconds, "status": status}
