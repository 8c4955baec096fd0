"""Pages for tests: hostile names, sections of every kind, and a reader of HTML."""

from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np

from eigenlabel import report
from eigenlabel.inspection import explain

NASTY = [
    "<script>alert(1)</script>",
    "</script><b>",
    "\"';--",
    "{{7*7}}",
    "<!--",
    "a&b\u2028c",
    "{% raw %}",
    "' onmouseover='alert(2)",
]


def make_model(W, eigenvalues):
    return SimpleNamespace(eigenlabels_=np.asarray(W), eigenvalues_=np.asarray(eigenvalues))


def everything(data, model, names):
    decisions = model.oof_scores_ > model.thresholds_
    return [
        report.table("Results", ["model", "F1"], [["a", 0.5], ["b", 0.25]], best=[None, "max"]),
        report.label_map(model, data.Y, names),
        report.surface(model),
        report.per_label(data.Y, decisions, names),
        report.threshold_curves(data.Y, model.oof_scores_, model.thresholds_, names),
        report.resources([("fit", 1.5, 200), ("predict", 0.1, None)]),
        report.critical_difference(["a", "b", "c"], [1.2, 2.0, 2.8], 0.9),
        report.curves(
            "Paths", [1, 2, 4], {"a": [0.1, 0.2, 0.3], "b": [None, 0.4, 0.5]}, x="d", y="F1"
        ),
        report.explanation(explain(model, data.X[:1], label_names=names), label=1),
        report.reliability(data.Y, model.predict_proba(data.X)),
        report.label_details(model, data.X, data.Y, decisions, model.predict_proba(data.X), names),
        report.boxes("Splits", {"f1_macro": {"a": [0.1, 0.2, 0.4], "b": [0.3]}}),
        report.text("Words", ["One.", "Two."]),
    ]


class Reader(HTMLParser):
    """A parser that keeps the text outside scripts and styles, all tags, and the embedded data."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.data, self.inside = [], [], "", None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.inside = dict(attrs).get("id", tag)

    def handle_endtag(self, tag):
        if tag in {"script", "style"}:
            self.inside = None

    def handle_data(self, data):
        if self.inside is None:
            self.text.append(data)
        elif self.inside == "data":
            self.data += data
