"""Predictions for files of any size, as CSV, LIBSVM text or JSON lines."""

import contextlib
import csv
import json
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import scipy.sparse as sp

from eigenlabel.cli.data_files import check_finite
from eigenlabel.cli.options import UsageError
from eigenlabel.datasets import iterate
from eigenlabel.datasets.files.atomic import writing
from eigenlabel.experiment import scores_of
from eigenlabel.experiment.task import probabilities_of
from eigenlabel.inputs.messages import total
from eigenlabel.labels.label_sets import predicted_matrix
from eigenlabel.persistence import SavedModel
from eigenlabel.thresholds import top_labels

FORMS = ("csv", "libsvm", "jsonl")
SUFFIXES = {".csv": "csv", ".svm": "libsvm", ".libsvm": "libsvm", ".jsonl": "jsonl"}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
SEPARATORS = ("|", ";")  # between labels, unless the training file had another one
# What a model with inconsistent parts raises, besides ValueError and TypeError.
BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError)
# A writer receives the sample, its labels, and a number for each label or None.
Writer = Callable[[str | int, list[int], Any], None]


def write_predictions(
    saved: SavedModel,
    data: Any,
    options: dict[str, Any],
    *,
    output: str | None,
    form: str | None,
    values: str | None,
    top: int | None,
    rows: int,
) -> tuple[int, list[str]]:
    """Predict the samples of a file in pieces, and write the predictions.

    Parameters
    ----------
    saved : SavedModel
        The model.
    data : str or Path
        The file with the samples.
    options : dict
        Options of the reader.
    output : str or None
        The file to write; None is standard output.
    form : str or None
        One of ``FORMS``; by default it follows from the name of the output.
    values : {"scores", "probabilities"} or None
        What to write for each label in addition.
    top : int or None
        Number of best labels to write instead of the predicted ones: those with the highest
        probabilities, or scores if the model has no probabilities.
    rows : int
        Number of samples in a piece.

    Returns
    -------
    count : int
        The number of samples.
    notes : list of str
        The notes of the reader on all pieces.
    """
    form = form or SUFFIXES.get(Path(output or "").suffix, "csv")
    names = saved.label_names.tolist()
    _check_output_name(output)
    separator = _find_separator(saved, names) if form == "csv" else ""
    count, notes = 0, list[str]()
    pieces = iterate(data, rows=rows, like=saved, labelled=False, **options)
    first = next(pieces)  # an unreadable file raises an error before anything is written
    with _opened(output) as stream:
        write = _writer(form, stream, names, values, separator)
        for piece in chain([first], pieces):
            notes[:] = total([*notes, *piece.notes])
            check_finite(data, piece, count)
            found = _values(saved, piece.X, values) if values else None
            best = _ranking(saved, piece.X) if top else None
            for i, chosen in enumerate(chosen_labels(saved, piece.X, best, top)):
                sample = count if piece.sample_names is None else str(piece.sample_names[i])
                write(sample, chosen, None if found is None else found[i])
                count += 1
    return count, notes


def _values(saved: SavedModel, X: Any, values: str) -> Any:
    """Return the scores or probabilities of X; raise ValueError if the model has none."""
    if values == "scores":
        found = predict_with(saved, X, scores=True)
        advice = "omit --scores"
    else:
        found = probabilities_with(saved, X)
        advice = "omit --probabilities, or fit it with '--set calibration=auto'"
    if found is None:
        raise ValueError(f"The model has no {values}: {advice}.")
    return found


def _ranking(saved: SavedModel, X: Any) -> Any:
    """Return what labels are ranked by: probabilities, or scores if the model has none."""
    found = probabilities_with(saved, X)
    if found is None:
        found = predict_with(saved, X, scores=True)
    if found is None:
        raise ValueError("The model has neither probabilities nor scores: omit --top.")
    return found


def _check_output_name(output: str | None) -> None:
    """Raise an error if the name of the output stands for a compressed file."""
    suffix = Path(output or "").suffix
    if suffix in COMPRESSED:
        raise UsageError(
            f"predictions are written as plain text, not as {suffix}: choose another name, or "
            "compress them in a pipe: eigenlabel predict ... -o - | gzip > FILE"
        )


def _find_separator(saved: SavedModel, names: list[str]) -> str:
    """Return what separates labels: what did in the training file, if no label contains it."""
    known = saved.options.get("separator")
    for separator in (known, *SEPARATORS):
        if isinstance(separator, str) and not any(separator in name for name in names):
            return separator
    raise ValueError("Names of labels contain '|' and ';': use --format jsonl.")


def predict_with(saved: SavedModel, X: Any, *, scores: bool) -> Any:
    """Return the scores or the label sets of X, with a column for each label.

    The result is None if scores are requested and the model has none. A model file whose parts do
    not fit together raises ValueError or TypeError and nothing else.
    """
    return _predict(
        saved, lambda model, count: scores_of(model, X, count) if scores else _decided(model, X)
    )


def _decided(model: Any, X: Any) -> Any:
    """Return the label sets of X as a matrix, also of a model that predicts sets or frames."""
    found = model.predict(X)
    if sp.issparse(found):  # it may have too many labels to be dense
        return found
    return predicted_matrix(found, getattr(model, "classes_", None))


def probabilities_with(saved: SavedModel, X: Any) -> Any:
    """Return the probabilities of X, with a column for each label, or None if there are none."""
    return _predict(saved, lambda model, count: probabilities_of(model, X, count))


def _predict(saved: SavedModel, call: Callable[[Any, int], Any]) -> Any:
    count = len(saved.label_names)
    try:
        found = call(saved.model, count)
    except BROKEN as error:
        what = f"{type(error).__name__}: {error}"
        raise ValueError(f"The model cannot predict; its file may be damaged ({what}).") from error
    width = 0 if found is None else found.shape[1] if found.ndim == 2 else 1
    if found is not None and width != count:
        raise ValueError(
            f"The model predicts {width} labels, but its file names {count}; it may be damaged."
        )
    return found


def chosen_labels(saved: SavedModel, X: Any, values: Any, top: int | None) -> list[list[int]]:
    """Return the labels of each sample: the predicted ones, or the ``top`` best ones in order."""
    if top:
        best: list[list[int]] = top_labels(values, top).tolist()
        return best
    decided = sp.csr_array(predict_with(saved, X, scores=False))
    decided.sort_indices()
    return [part.tolist() for part in np.split(decided.indices, decided.indptr[1:-1])]


@contextlib.contextmanager
def _opened(output: str | None) -> Iterator[TextIO]:
    """Yield standard output, or a file that appears only after it is complete."""
    if output is None and sys.stdout is None:
        raise UsageError("standard output is closed; pass -o FILE")
    if output is None:
        yield sys.stdout
        return
    with writing(output, "utf-8") as stream:
        yield stream


def _writer(
    form: str, stream: TextIO, names: list[str], values: str | None, separator: str
) -> Writer:
    """Return the function that writes one sample in a format."""
    if form == "csv":
        return _csv_writer(stream, names, values, separator)
    return _libsvm_writer(stream) if form == "libsvm" else _json_writer(stream, names, values)


def _csv_writer(stream: TextIO, names: list[str], values: str | None, separator: str) -> Writer:
    """Write ``sample,labels``, with the separator between labels, and a column for each value."""
    out = csv.writer(stream, lineterminator="\n")
    prefix = {"scores": "score", "probabilities": "probability"}.get(values or "")
    out.writerow(["sample", "labels", *(f"{prefix}:{n}" for n in names if values)])

    def write(sample: str | int, labels: list[int], numbers: Any) -> None:
        cells = [] if numbers is None else [f"{s:.6g}" for s in numbers]
        out.writerow([sample, separator.join(names[j] for j in labels), *cells])

    return write


def _libsvm_writer(stream: TextIO) -> Writer:
    """Write labels numbered from 0, values as features from 1, and sample names as comments."""

    def write(sample: str | int, labels: list[int], numbers: Any) -> None:
        cells = [] if numbers is None else [f"{j}:{s:.6g}" for j, s in enumerate(numbers, 1)]
        if isinstance(sample, str):  # a name, which must not contain a line break
            cells += ["#", *sample.split()]
        stream.write(" ".join([",".join(map(str, labels)), *cells]) + "\n")

    return write


def _json_writer(stream: TextIO, names: list[str], values: str | None) -> Writer:
    """Write one object per line: the sample, its labels, and its values by label."""

    def write(sample: str | int, labels: list[int], numbers: Any) -> None:
        found: dict[str, Any] = {"sample": str(sample), "labels": [names[j] for j in labels]}
        if values is not None and numbers is not None:
            rounded = (float(f"{s:.6g}") for s in numbers)
            found[values] = dict(zip(names, rounded, strict=True))
        stream.write(json.dumps(found, ensure_ascii=False) + "\n")

    return write
