"""The section that shows why a sample has a label: its words, and what adds up to its score."""

from typing import Any

from eigenlabel.inputs.parameters import check_number
from eigenlabel.inspection import Explanation, MarkedText
from eigenlabel.inspection.explanation import headline, label_rows, sum_rows
from eigenlabel.inspection.rendering import Rows, signed
from eigenlabel.report.json_values import LONGEST_NAME, UNPRINTABLE, clean
from eigenlabel.report.label_details_section import bars
from eigenlabel.report.sections import Section

LONGEST_TEXT = 20_000  # characters of a text that are shown
WHOLE = {"score": "the score of the model", "log-odds": "the log-odds of the label"}
BY_LABEL = (
    "The same score by label: what is its own, and what each label adds through the subspace that "
    "labels share."
)


def explanation(found: Explanation, sample: Any = 0, label: Any = 0, *, n_top: int = 10) -> Section:
    """Return why a sample has a label: its marked texts, and the sum that is its score.

    Parameters
    ----------
    found : Explanation
        The explanation, as :func:`eigenlabel.inspection.explain` returns it. All words of its texts
        are marked if it was made with ``n_top=None``.
    sample : int or str, default=0
        The position or the name of the sample.
    label : int or str, default=0
        The position or the name of the label.
    n_top : int, default=10
        The number of terms in the table.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifier, report
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.inspection import explain
    >>> data = make_shared_subspace(random_state=0)
    >>> model = SharedSubspaceClassifier().fit(data.X, data.Y)
    >>> section = report.explanation(explain(model, data.X[:1]), label=2)
    >>> section["kind"], section["title"]
    ('explanation', '2')
    """
    check_number("n_top", n_top, 1, integer=True)
    i, j = found.find_sample(sample), found.find_label(label)
    short = found.top(n_top)
    sums = [_sum(found.kind, f"These add up to {WHOLE[found.scale]}.", sum_rows(short, i, j))]
    if found.shared is not None:
        sums.append(_sum("label", BY_LABEL, label_rows(short, i, j)))
    return {
        "kind": "explanation",
        "title": clean(found.label_names[j], LONGEST_NAME),
        "headline": clean(headline(found, i, j, decision=False)),
        "predicted": bool(found.predicted[i, j]),
        "texts": [_text(text) for text in (found.mark(i, j) if found.texts else [])],
        "sums": sums,
        "notes": [clean(note) for note in found.notes],
    }


def _sum(term: str, about: str, rows: Rows) -> dict[str, Any]:
    """Return the rows of a sum, with bars."""
    shown = bars(rows, total=True)
    return {"term": term, "about": about, "rows": shown}


def _text(marked: MarkedText) -> dict[str, Any]:
    """Return a text in pieces: its words, what they contribute, and the strength of their marks."""
    largest = max((abs(span.contribution) for span in marked.spans), default=0.0) or 1.0
    pieces: list[dict[str, Any]] = []
    left = LONGEST_TEXT
    for text, contribution in marked.pieces():
        shown = UNPRINTABLE.sub("\ufffd", text)[: max(left, 0)]
        left -= len(text)
        pieces.append(
            {
                "text": shown,
                "contribution": signed(contribution) if contribution else None,
                "share": round(abs(contribution or 0.0) / largest, 3),
                "for": (contribution or 0.0) > 0,
            }
        )
        if left < 0:
            pieces.append({"text": "…", "contribution": None, "share": 0.0, "for": False})
            break
    return {"name": clean(marked.name, LONGEST_NAME), "pieces": pieces}
