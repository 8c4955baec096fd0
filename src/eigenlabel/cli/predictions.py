"""Predictions from files of any size to CSV, LIBSVM text or JSON lines."""

import contextlib
import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import scipy.sparse as sp

from eigenlabel.cli.common import UsageError, check_finite
from eigenlabel.datasets import iterate
from eigenlabel.datasets.writing import writing
from eigenlabel.experiment import scores_of
from eigenlabel.persistence import SavedModel
from eigenlabel.thresholds import top_labels

FORMS = ("csv", "libsvm", "jsonl")
SUFFIXES = {".csv": "csv", ".svm": "libsvm", ".libsvm": "libsvm", ".jsonl": "jsonl"}
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
SEPARATOR = "|"
# What a model whose parts do not fit together raises besides ValueError and TypeError.
BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError)
COUNTED = re.compile(r"(.*?)(?:(\d+)( cells.*))?", re.DOTALL)


def write_predictions(
    saved: SavedModel,
    data: Any,
    options: dict[str, Any],
    *,
    output: str | None,
    form: str | None,
    scores: bool,
    top: int | None,
    rows: int,
) -> tuple[int, list[str]]:
    """Predict a file piece by piece; give the number of samples, and what is to be said of it."""
    if Path(output or "").suffix in PACKED:
        raise UsageError(
            f"predictions are written as plain text, not as {Path(output or '').suffix}: choose "
            "another name, or pipe them: eigenlabel predict ... -o - | gzip > FILE"
        )
    form = form or SUFFIXES.get(Path(output or "").suffix, "csv")
    names = saved.label_names.tolist()
    if form == "csv" and any(SEPARATOR in name for name in names):
        raise ValueError(f"A label has {SEPARATOR!r} in its name: use --format jsonl.")
    count, notes = 0, _Notes()
    pieces = iterate(data, rows=rows, like=saved, labelled=False, **options)
    first = next(pieces)  # an unreadable file is told before anything is written
    with _writing(output) as stream:
        write = {"csv": _Csv, "libsvm": _Libsvm, "jsonl": _JsonLines}[form](stream, names, scores)
        for piece in chain([first], pieces):
            notes.add(piece.notes)
            check_finite(data, piece, count)
            found = predict_with(saved, piece.X, scores=True) if scores or top else None
            if found is None and (scores or top):
                raise ValueError("The model gives no scores: leave --scores and --top out.")
            for i, chosen in enumerate(_labels(saved, piece.X, found, top)):
                sample = count if piece.sample_names is None else str(piece.sample_names[i])
                write(sample, chosen, None if found is None or not scores else found[i])
                count += 1
    return count, notes.all()


class _Notes:
    """What is said of the pieces of a file: each remark once, with the sum of what it counts."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], int] = {}

    def add(self, notes: Iterable[str]) -> None:
        """Take the remarks on a piece."""
        for note in notes:
            begin, count, end = COUNTED.fullmatch(note).groups(default="")
            self.counts[begin, end] = self.counts.get((begin, end), 0) + int(count or 0)

    def all(self) -> list[str]:
        """Give the remarks on all pieces."""
        return [f"{begin}{count or ''}{end}" for (begin, end), count in self.counts.items()]


def predict_with(saved: SavedModel, X: Any, *, scores: bool) -> Any:
    """Return the scores (None if the model has none) or the label sets, a column for each label.

    A model file whose parts do not fit together raises ValueError or TypeError and nothing else.
    """
    model, count = saved.model, len(saved.label_names)
    try:
        found = scores_of(model, X, count) if scores else model.predict(X)
    except BROKEN as error:
        what = f"{type(error).__name__}: {error}"
        raise ValueError(f"The model cannot predict; its file may be damaged ({what}).") from error
    width = 0 if found is None else found.shape[1] if found.ndim == 2 else 1
    if found is not None and width != count:
        raise ValueError(
            f"The model predicts {width} labels, but its file names {count}; it may be damaged."
        )
    return found


def _labels(
    saved: SavedModel, X: Any, scores: np.ndarray | None, top: int | None
) -> list[list[int]]:
    """List each sample's labels: those decided, or the ``top`` ones with the best first."""
    if top:
        return top_labels(scores, top).tolist()
    decided = sp.csr_array(predict_with(saved, X, scores=False))
    decided.sort_indices()
    return [part.tolist() for part in np.split(decided.indices, decided.indptr[1:-1])]


@contextlib.contextmanager
def _writing(output: str | None) -> Iterator[TextIO]:
    """Yield standard output, or a file that appears when all of it is written."""
    if output is None and sys.stdout is None:
        raise UsageError("standard output is closed; pass -o FILE")
    if output is None:
        yield sys.stdout
        return
    with writing(output, "utf-8") as stream:
        yield stream


class _Csv:
    """``sample,labels`` with labels between bars, and a column for each score."""

    def __init__(self, stream: TextIO, names: list[str], scores: bool) -> None:
        self.names, self.out = names, csv.writer(stream, lineterminator="\n")
        self.out.writerow(["sample", "labels", *(f"score:{n}" for n in names if scores)])

    def __call__(self, sample: str | int, labels: list[int], scores: np.ndarray | None) -> None:
        words = [] if scores is None else [f"{s:.6g}" for s in scores]
        self.out.writerow([sample, SEPARATOR.join(self.names[j] for j in labels), *words])


class _Libsvm:
    """Label numbers from 0, scores as features from 1, and the name of the sample as a comment."""

    def __init__(self, stream: TextIO, names: list[str], scores: bool) -> None:  # noqa: ARG002
        self.stream = stream

    def __call__(self, sample: str | int, labels: list[int], scores: np.ndarray | None) -> None:
        words = [] if scores is None else [f"{j}:{s:.6g}" for j, s in enumerate(scores, 1)]
        if isinstance(sample, str):  # a name, in which a line must not end
            words += ["#", *sample.split()]
        self.stream.write(" ".join([",".join(map(str, labels)), *words]) + "\n")


class _JsonLines:
    """An object a line: sample, labels, and scores by label."""

    def __init__(self, stream: TextIO, names: list[str], scores: bool) -> None:  # noqa: ARG002
        self.stream, self.names = stream, names

    def __call__(self, sample: str | int, labels: list[int], scores: np.ndarray | None) -> None:
        found: dict[str, Any] = {"sample": str(sample), "labels": [self.names[j] for j in labels]}
        if scores is not None:
            rounded = (float(f"{s:.6g}") for s in scores)
            found["scores"] = dict(zip(self.names, rounded, strict=True))
        self.stream.write(json.dumps(found, ensure_ascii=False) + "\n")
