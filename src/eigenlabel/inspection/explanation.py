"""Explanation: the scores of samples as sums, for reading, tables and pages."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from eigenlabel.inputs.frames import make_frame
from eigenlabel.inputs.parameters import check_number
from eigenlabel.inspection.rendering import (
    Rows,
    shorten,
    signed,
    sum_html,
    sum_lines,
    without_rounding,
)
from eigenlabel.inspection.words import MarkedText, TextColumn
from eigenlabel.linalg._types import Bools, Floats, Ints

INTERCEPT, OTHERS = "(intercept)", "(others)"
SHOWN = 5  # predicted labels of a sample that are shown
BEST = 3  # labels that are shown if none is predicted
SAMPLES = 10  # samples that are shown
LENDERS = 3  # labels that a label borrows from, in a text


@dataclass(frozen=True, eq=False)
class Borrowed:
    """What the labels add to each other's scores through the shared subspace.

    With W the eigenlabels, the shared part of label j is ``sum_l (W W')_jl f_l`` over all labels l,
    where f_l is the score of label l without its intercept.

    Parameters
    ----------
    labels : ndarray of shape (n_samples, n_labels, n_top)
        The names of the other labels that add most, by absolute value.
    weights : ndarray of shape (n_samples, n_labels, n_top)
        Their weights ``(W W')_jl``.
    contributions : ndarray of shape (n_samples, n_labels, n_top)
        What they add: their weights times their scores without intercept.
    itself : ndarray of shape (n_samples, n_labels)
        What the label adds to itself, ``(W W')_jj f_j``.
    remainder : ndarray of shape (n_samples, n_labels)
        What all other labels add.
    """

    labels: np.ndarray
    weights: Floats
    contributions: Floats
    itself: Floats
    remainder: Floats


@dataclass(frozen=True, eq=False)
class Explanation:
    """The scores of some samples and labels as sums of contributions.

    For sample i and label j, ``intercept[i, j] + contributions[i, j].sum() + remainder[i, j]`` is
    ``score[i, j]`` up to rounding. :func:`explain` returns explanations. All parameters are
    attributes too.

    Parameters
    ----------
    kind : {"feature", "training sample", "feature or training sample", "member"}
        What contributes: features for linear models, training samples for kernels and neighbours,
        members for a blend.
    scale : {"score", "log-odds"}
        The scale on which contributions add up: the score of the model, or the log-odds of a label
        if the model computes probabilities that are sums on that scale only.
    sample_names : ndarray of shape (n_samples,)
        The names of the samples.
    label_names : ndarray of shape (n_labels,)
        The names of the labels that are explained.
    names : ndarray of shape (n_samples, n_labels, n_top)
        The names of the terms that contribute most, by absolute value; empty where there are fewer.
    values : ndarray of shape (n_samples, n_labels, n_top)
        The values of these features as the model sees them, or of the kernel; the weights of the
        members of a blend.
    contributions : ndarray of shape (n_samples, n_labels, n_top)
        What these terms add to the score, zero where there are fewer.
    remainder : ndarray of shape (n_samples, n_labels)
        What all other terms add together.
    n_others : ndarray of shape (n_samples, n_labels)
        The number of these other terms.
    intercept : ndarray of shape (n_samples, n_labels)
        The score without any term.
    score : ndarray of shape (n_samples, n_labels)
        The score of the model, on the scale of the explanation.
    predicted : ndarray of shape (n_samples, n_labels), bool
        Whether the model predicts the label.
    threshold : ndarray of shape (n_labels,) or None
        The thresholds of the scores, or of the probabilities; NaN for a label that is not decided
        by one.
    probability : ndarray of shape (n_samples, n_labels) or None
        The probabilities that the model predicts. None if it predicts none.
    shared : ndarray of shape (n_samples, n_labels) or None
        The part of the score, without the intercept, that comes through the shared subspace. None
        if the model has none.
    shared_contributions : ndarray of shape (n_samples, n_labels, n_top) or None
        The part of each contribution that comes through the shared subspace.
    borrowed : Borrowed or None
        The labels that the shared part comes from.
    notes : tuple of str
        Why names are not those of the user's own features.
    texts : tuple of TextColumn
        The texts of the samples whose words are features.
    threshold_of : {"score", "probability"}
        What the thresholds are compared with.

    Attributes
    ----------
    own : ndarray of shape (n_samples, n_labels) or None
        The part of the score, without the intercept, that does not come through the shared
        subspace.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from eigenlabel import SharedSubspaceClassifier
    >>> from eigenlabel.inspection import explain
    >>> texts = ["red apple", "green apple", "red car", "fast car"]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model = make_pipeline(TfidfVectorizer(), SharedSubspaceClassifier()).fit(texts, Y)
    >>> found = explain(model, ["a green apple"], label_names=["fruit", "vehicle"])
    >>> found.names[0, 0].tolist(), bool(found.predicted[0, 0])
    (['apple', 'green'], True)
    """

    kind: str
    scale: str
    sample_names: np.ndarray
    label_names: np.ndarray
    names: np.ndarray
    values: Floats
    contributions: Floats
    remainder: Floats
    n_others: Ints
    intercept: Floats
    score: Floats
    predicted: Bools
    threshold: Floats | None = None
    probability: Floats | None = None
    shared: Floats | None = None
    shared_contributions: Floats | None = None
    borrowed: Borrowed | None = None
    notes: tuple[str, ...] = ()
    texts: tuple[TextColumn, ...] = ()
    threshold_of: str = "score"

    @property
    def own(self) -> Floats | None:
        """The part of the score that does not come through the shared subspace."""
        return None if self.shared is None else self._sums() - self.shared

    def _sums(self) -> Floats:
        return np.asarray(self.contributions.sum(axis=2) + self.remainder)

    def find_sample(self, sample: Any) -> int:
        """Return the position of a sample.

        Parameters
        ----------
        sample : int or str
            The position or the name of the sample.

        Returns
        -------
        position : int
            The position.
        """
        return find(sample, self.sample_names, "sample")

    def find_label(self, label: Any) -> int:
        """Return the position of a label among those that are explained.

        Parameters
        ----------
        label : int or str
            The position or the name of the label.

        Returns
        -------
        position : int
            The position.
        """
        return find(label, self.label_names, "label")

    def terms(self, sample: Any = 0, label: Any = 0) -> dict[str, float]:
        """Return what each term adds to one score, the largest first.

        Parameters
        ----------
        sample : int or str, default=0
            The position or the name of the sample.
        label : int or str, default=0
            The position or the name of the label.

        Returns
        -------
        contributions : dict of str to float
            Maps the names of the terms to their contributions, without intercept and remainder.
            The contributions of terms with the same name are added.
        """
        i, j = self.find_sample(sample), self.find_label(label)
        found: dict[str, float] = {}
        for name, contribution in zip(self.names[i, j], self.contributions[i, j], strict=True):
            if name:
                found[str(name)] = found.get(str(name), 0.0) + float(contribution)
        return found

    def top(self, n_top: int) -> "Explanation":
        """Return the explanation with fewer terms; the others are added to the remainder.

        Parameters
        ----------
        n_top : int
            The number of terms, and of labels that a label shares with, to keep, at least 1.

        Returns
        -------
        explanation : Explanation
            The explanation with the largest terms.
        """
        check_number("n_top", n_top, 1, integer=True)
        kept, rest = np.s_[:, :, :n_top], np.s_[:, :, n_top:]
        part, lent = self.shared_contributions, self.borrowed
        if lent is not None:
            lent = Borrowed(
                lent.labels[kept],
                lent.weights[kept],
                lent.contributions[kept],
                lent.itself,
                lent.remainder + lent.contributions[rest].sum(axis=2),
            )
        return replace(
            self,
            names=self.names[kept],
            values=self.values[kept],
            contributions=self.contributions[kept],
            remainder=self.remainder + self.contributions[rest].sum(axis=2),
            n_others=self.n_others + np.count_nonzero(self.contributions[rest], axis=2),
            shared_contributions=None if part is None else part[kept],
            borrowed=lent,
        )

    def mark(self, sample: Any = 0, label: Any = 0) -> list[MarkedText]:
        """Return the texts of a sample with the words that speak for and against a label.

        A word contributes equally at each of its places, and a feature of several words by each of
        them, so that the marks of a text add up to the contributions of its features. Pass
        ``n_top=None`` to :func:`explain` to mark all words.

        Parameters
        ----------
        sample : int or str, default=0
            The position or the name of the sample.
        label : int or str, default=0
            The position or the name of the label.

        Returns
        -------
        texts : list of MarkedText
            The marked texts, with the attributes ``name``, ``text`` and ``spans``, and the method
            ``to_html``.
        """
        if not self.texts:
            raise ValueError(
                "The samples are not texts whose words are features: marks need a pipeline with "
                "CountVectorizer or TfidfVectorizer that counts words by a token_pattern."
            )
        i, terms = self.find_sample(sample), self.terms(sample, label)
        return [column.mark(i, terms) for column in self.texts]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as lists and dictionaries that JSON can store.

        Numbers that are not finite become None.

        Returns
        -------
        content : dict
            The kind, the scale, the notes, and a list of samples. Each has a list of labels with
            their score, intercept, contributions and remainder.
        """
        samples = [
            {
                "sample": str(name),
                "labels": [self._cell(i, j) for j in range(len(self.label_names))],
            }
            for i, name in enumerate(self.sample_names)
        ]
        notes = list(self.notes)
        return {"kind": self.kind, "scale": self.scale, "notes": notes, "samples": samples}

    def _cell(self, i: int, j: int) -> dict[str, Any]:
        """Return one score as a dictionary."""
        found = {
            "label": str(self.label_names[j]),
            "score": number(self.score[i, j]),
            "predicted": bool(self.predicted[i, j]),
            "threshold": None if self.threshold is None else number(self.threshold[j]),
            "threshold_of": self.threshold_of,
            "probability": None if self.probability is None else number(self.probability[i, j]),
            "intercept": number(self.intercept[i, j]),
            "contributions": [
                {"name": name, "value": number(value), "contribution": number(contribution)}
                | ({} if shared is None else {"shared": number(shared)})
                for name, value, contribution, shared in self.listed(i, j)
            ],
            "remainder": number(self.remainder[i, j]),
            "n_others": int(self.n_others[i, j]),
        }
        if self.shared is not None and self.own is not None:
            found |= {"shared": number(self.shared[i, j]), "own": number(self.own[i, j])}
        if self.borrowed is not None:
            found["borrowed"] = [
                {"label": name, "weight": number(weight), "contribution": number(contribution)}
                for name, weight, contribution in self.lenders(i, j)
            ]
            found["borrowed_from_itself"] = number(self.borrowed.itself[i, j])
            found["borrowed_remainder"] = number(self.borrowed.remainder[i, j])
        return found

    def listed(self, i: int, j: int) -> Iterator[tuple[str, float, float, float | None]]:
        """Yield the terms of one score: name, value, contribution and the shared part of it.

        Parameters
        ----------
        i : int
            The position of the sample.
        j : int
            The position of the label.
        """
        for k, name in enumerate(self.names[i, j]):
            if name:
                part = self.shared_contributions
                shared = None if part is None else float(part[i, j, k])
                yield (
                    str(name),
                    float(self.values[i, j, k]),
                    float(self.contributions[i, j, k]),
                    shared,
                )

    def lenders(self, i: int, j: int) -> Iterator[tuple[str, float, float]]:
        """Yield the other labels that a score comes from: name, weight and contribution.

        Parameters
        ----------
        i : int
            The position of the sample.
        j : int
            The position of the label.
        """
        if self.borrowed is None:
            return
        rows = self.borrowed.labels, self.borrowed.weights, self.borrowed.contributions
        for name, weight, contribution in zip(*(part[i, j] for part in rows), strict=True):
            if name:
                yield str(name), float(weight), float(contribution)

    def to_frame(self, library: str | None = None) -> Any:
        """Return the contributions as a data frame, one row for each sample, label and term.

        The intercept and the remainder are rows called "(intercept)" and "(others)", so that the
        contributions of a sample and a label add up to its score.

        Parameters
        ----------
        library : {"pandas", "polars"} or None, default=None
            The library of the frame. None is pandas, or polars if pandas is not installed.

        Returns
        -------
        frame : DataFrame
            The columns are "sample", "label", "name", "value" and "contribution", and "shared" if
            the model has a shared subspace.
        """
        columns: dict[str, list[Any]] = {
            name: [] for name in ("sample", "label", "name", "value", "contribution")
        }
        if self.shared is not None:
            columns["shared"] = []
        for i, sample in enumerate(self.sample_names):
            for j, label in enumerate(self.label_names):
                for row in self._rows(i, j):
                    for name, cell in zip(columns, (str(sample), str(label), *row), strict=False):
                        columns[name].append(cell)
        return make_frame(columns, library)

    def _rows(self, i: int, j: int) -> Iterator[tuple[str, float, float, float]]:
        """Yield the rows of a frame for one score: name, value, contribution and shared part."""
        yield INTERCEPT, math.nan, float(self.intercept[i, j]), 0.0
        shown = 0.0
        for name, value, contribution, shared in self.listed(i, j):
            shown += shared or 0.0
            yield name, value, contribution, shared or 0.0
        total = 0.0 if self.shared is None else float(self.shared[i, j])
        yield OTHERS, math.nan, float(self.remainder[i, j]), total - shown

    def __str__(self) -> str:
        return _text(self)

    def _repr_html_(self) -> str:
        return _html(self)

    def __repr__(self) -> str:
        n, q = self.score.shape
        return f"Explanation({n} samples, {q} labels; contributions by {self.kind})"


def number(value: Any) -> float | None:
    """Return a number for JSON, None if it is not finite."""
    return float(value) if math.isfinite(value) else None


def find(wanted: Any, names: np.ndarray, what: str) -> int:
    """Return the position of a name, or check a position.

    A text is a name. A number is a position; negative ones count from the end.
    """
    if isinstance(wanted, str):
        at = np.flatnonzero(names == wanted)
        if not len(at):
            shown = ", ".join(repr(str(name)) for name in names[:5])
            more = ", ..." if len(names) > 5 else ""
            raise ValueError(f"No {what} is called {wanted!r}; there are: {shown}{more}")
        return int(at[0])
    position = int(wanted)
    if not -len(names) <= position < len(names):
        raise ValueError(f"There are {len(names)} {what}s, {what} {position} is not one of them.")
    return position % len(names)


def chosen_labels(found: Explanation, i: int) -> Ints:
    """Return the labels of a sample that are worth reading: those predicted, or else the best."""
    order = np.argsort(-found.score[i], kind="stable")
    predicted = [int(j) for j in order if found.predicted[i, j]]
    return np.array(predicted[:SHOWN] or order[:BEST], dtype=np.intp)


def headline(found: Explanation, i: int, j: int, *, decision: bool = True) -> str:
    """Return the decision about a label in one line."""
    parts = [f"{found.scale} {found.score[i, j]:.3f}"]
    cut = []
    if found.threshold is not None and math.isfinite(found.threshold[j]):
        cut = [f"threshold {found.threshold[j]:.3f}"]
    if found.threshold_of == "score":
        parts, cut = [*parts, *cut], []
    if found.probability is not None:
        parts.append(f"probability {found.probability[i, j]:.3f}")
    parts += cut
    if decision:
        parts.append("predicted" if found.predicted[i, j] else "not predicted")
    return ", ".join(parts)


def sum_rows(found: Explanation, i: int, j: int) -> Rows:
    """Return the rows of a sum: the intercept, the terms, the others and the score."""
    rows = [("intercept", float(found.intercept[i, j]))]
    rows += [(name, contribution) for name, _, contribution, _ in found.listed(i, j)]
    count = int(found.n_others[i, j])
    if count:
        rows.append((f"{count:,} other{'s' * (count > 1)}", float(found.remainder[i, j])))
    return without_rounding([*rows, (f"= {found.scale}", float(found.score[i, j]))])


def label_rows(found: Explanation, i: int, j: int) -> Rows:
    """Return the rows of a score by label; empty if the model shares nothing.

    The rows are the intercept, what is the label's own, what each label adds through the shared
    subspace, the label itself among them, and the score.
    """
    if found.shared is None or found.own is None:
        return []
    rows = [("intercept", float(found.intercept[i, j])), ("own", float(found.own[i, j]))]
    if found.borrowed is None:
        rows.append(("shared", float(found.shared[i, j])))
    else:
        rows.append(("shared: itself", float(found.borrowed.itself[i, j])))
        rows += [(f"shared: {name}", value) for name, _, value in found.lenders(i, j)]
        if found.borrowed.remainder[i, j]:
            rows.append(("shared: other labels", float(found.borrowed.remainder[i, j])))
    return without_rounding([*rows, (f"= {found.scale}", float(found.score[i, j]))])


def origin(found: Explanation, i: int, j: int) -> str:
    """Return which part of a score is shared, in one line; empty if the model shares nothing."""
    rows = label_rows(found, i, j)[1:-1]
    if not rows or found.shared is None:
        return ""
    text = f"own {signed(rows[0][1])}, through the shared subspace {signed(found.shared[i, j])}"
    if found.borrowed is None:
        return text
    shown, rest = rows[1 : 2 + LENDERS], sum(value for _, value in rows[2 + LENDERS :])
    parts = [f"{shorten(name.partition(': ')[2])} {signed(value)}" for name, value in shown]
    if rest:
        parts.append(f"others {signed(rest)}")
    return f"{text} (from {', '.join(parts)})"


def label_text(found: Explanation, i: int, j: int) -> str:
    """Return the sum of one score as text."""
    lines = [f"  {found.label_names[j]}: {headline(found, i, j)}"]
    lines += [f"    {line}" for line in sum_lines(sum_rows(found, i, j))]
    about = origin(found, i, j)
    return "\n".join([*lines, *([f"    {about}"] if about else [])])


def _text(found: Explanation) -> str:
    """Return an explanation as text: some samples, and the labels of each worth reading."""
    blocks = []
    for i in range(min(SAMPLES, len(found.sample_names))):
        labels = chosen_labels(found, i)
        blocks.append(f"sample {found.sample_names[i]}")
        blocks += [label_text(found, i, int(j)) for j in labels]
        left = len(found.label_names) - len(labels)
        if left:
            blocks.append(f"  ({left} other label{'s' * (left > 1)} not shown)")
    left = len(found.sample_names) - SAMPLES
    if left > 0:
        blocks.append(f"({left} other sample{'s' * (left > 1)} not shown)")
    return "\n".join([*blocks, *(f"note: {note}" for note in found.notes)])


def _html(found: Explanation) -> str:
    """Return an explanation as an escaped piece of HTML."""
    parts = []
    for i in range(min(SAMPLES, len(found.sample_names))):
        parts.append(f"<h4>sample {escape(str(found.sample_names[i]))}</h4>")
        for j in chosen_labels(found, i):
            name, about = escape(str(found.label_names[j])), escape(origin(found, i, int(j)))
            parts.append(f"<p><b>{name}</b>: {escape(headline(found, i, int(j)))}</p>")
            parts.append(sum_html(sum_rows(found, i, int(j))))
            parts += [f"<p><small>{about}</small></p>"] if about else []
    parts += [f"<p><small>{escape(note)}</small></p>" for note in found.notes]
    return f"<div>{''.join(parts)}</div>"
