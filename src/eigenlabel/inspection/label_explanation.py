"""LabelExplanation: what a model knows about a label, for reading, tables and pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from eigenlabel.inputs.frames import make_frame
from eigenlabel.inspection.explanation import number
from eigenlabel.inspection.rendering import pairs_text, signed


class Confusion(NamedTuple):
    """How often a label is confused with another one.

    All parameters are attributes too.

    Parameters
    ----------
    label : str
        The name of the other label.
    missed : int
        The number of samples that have the label, but are predicted to have the other one.
    instead : int
        The number of samples that have the other label, but are predicted to have the label.

    Examples
    --------
    >>> from eigenlabel.inspection import Confusion
    >>> Confusion("vehicle", missed=3, instead=1).missed
    3
    """

    label: str
    missed: int
    instead: int


@dataclass(frozen=True, eq=False)
class LabelExplanation:
    """What a model knows about a label.

    :func:`explain_label` returns such objects. All parameters are attributes too.

    Parameters
    ----------
    label : str
        The name of the label.
    kind : {"feature", "training sample"}
        What has weights.
    speaks_for : list of (str, float)
        The names with the largest positive weights, and these weights.
    speaks_against : list of (str, float)
        The names with the most negative weights, and these weights.
    similar : list of (str, float)
        The most similar labels, by the cosine of what the model knows about them.
    lenders : list of (str, float)
        The other labels that the label shares most with: their weights ``(W W')_jl`` in the shared
        subspace, largest first by absolute value. Empty if the model has no eigenlabels, or if its
        alpha is 0.
    confused : list of Confusion or None
        The labels that it is confused with most often. None without labelled samples.
    intercept : float or None
        The intercept of the label, None if the model has none.
    threshold : float or None
        The threshold of its scores or probabilities, None if the model has none.
    notes : tuple of str
        Why names are not those of the user's own features.
    threshold_of : {"score", "probability"}
        What the threshold is compared with.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.inspection import explain_label
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = SharedSubspaceClassifierCV(n_components=2).fit(data.X, data.Y)
    >>> found = explain_label(model, 0, Y=data.Y, n_top=3)
    >>> len(found.speaks_for), found.speaks_for[0][1] > 0, found.speaks_against[0][1] < 0
    (3, True, True)
    """

    label: str
    kind: str
    speaks_for: list[tuple[str, float]]
    speaks_against: list[tuple[str, float]]
    similar: list[tuple[str, float]]
    lenders: list[tuple[str, float]]
    confused: list[Confusion] | None = None
    intercept: float | None = None
    threshold: float | None = None
    notes: tuple[str, ...] = ()
    threshold_of: str = "score"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as lists and dictionaries that JSON can store.

        Returns
        -------
        content : dict
            The attributes. Numbers that are not finite become None.
        """
        pairs = {
            name: [{"name": n, "value": number(v)} for n, v in getattr(self, name)]
            for name in ("speaks_for", "speaks_against", "similar", "lenders")
        }
        confused = None if self.confused is None else [c._asdict() for c in self.confused]
        return {
            "label": self.label,
            "kind": self.kind,
            **pairs,
            "confused": confused,
            "intercept": None if self.intercept is None else number(self.intercept),
            "threshold": None if self.threshold is None else number(self.threshold),
            "threshold_of": self.threshold_of,
            "notes": list(self.notes),
        }

    def to_frame(self, library: str | None = None) -> Any:
        """Return the weights and labels as a data frame with one row for each.

        Parameters
        ----------
        library : {"pandas", "polars"} or None, default=None
            The library of the frame. None is pandas, or polars if pandas is not installed.

        Returns
        -------
        frame : DataFrame
            The columns are "label", "role" ("for", "against", "similar", "lender", "missed" or
            "instead"), "name" and "value".
        """
        rows = [(role, name, value) for role, pairs in self._roles() for name, value in pairs]
        columns: dict[str, list[Any]] = {
            "label": [self.label] * len(rows),
            "role": [role for role, _, _ in rows],
            "name": [name for _, name, _ in rows],
            "value": [float(value) for _, _, value in rows],
        }
        return make_frame(columns, library)

    def _roles(self) -> list[tuple[str, Sequence[tuple[str, float]]]]:
        confused = self.confused or []
        return [
            ("for", self.speaks_for),
            ("against", self.speaks_against),
            ("similar", self.similar),
            ("lender", self.lenders),
            ("missed", [(c.label, float(c.missed)) for c in confused]),
            ("instead", [(c.label, float(c.instead)) for c in confused]),
        ]

    def _lines(self) -> list[tuple[str, str]]:
        """Return the parts of the text: what they are, and their content."""
        found = [
            (f"{self.kind}s for it", pairs_text(self.speaks_for)),
            (f"{self.kind}s against it", pairs_text(self.speaks_against)),
            ("most similar labels", pairs_text(self.similar)),
            ("shares most with", pairs_text(self.lenders)),
        ]
        if self.confused is not None:
            texts = [
                f"{c.label} (predicted instead of it {c.missed}, the reverse {c.instead})"
                for c in self.confused
            ]
            found.append(("confused with", ", ".join(texts) or "none"))
        of = "" if self.threshold_of == "score" else f" of the {self.threshold_of}"
        for name, value in (("intercept", self.intercept), (f"threshold{of}", self.threshold)):
            if value is not None:
                found.append((name, signed(value)))
        return [line for line in found if line[1]]

    def __str__(self) -> str:
        lines = [f"label {self.label}", *(f"  {what}: {text}" for what, text in self._lines())]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        rows = [
            f"<tr><th>{escape(what)}</th><td>{escape(text)}</td></tr>"
            for what, text in [*self._lines(), *(("note", note) for note in self.notes)]
        ]
        return f"<div><h4>label {escape(self.label)}</h4><table>{''.join(rows)}</table></div>"
