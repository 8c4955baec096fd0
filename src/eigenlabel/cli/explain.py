"""``eigenlabel explain``: why a saved model predicts its labels for a sample."""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eigenlabel import report
from eigenlabel.cli.data_files import (
    add_data_options,
    check_finite,
    check_output,
    data_path,
    open_model,
    read_data,
    reader_options,
)
from eigenlabel.cli.messages import print_notes
from eigenlabel.cli.options import Command, UsageError, choose, positive
from eigenlabel.cli.pages import about
from eigenlabel.cli.predictions import chosen_labels, predict_with
from eigenlabel.datasets import Dataset, iterate
from eigenlabel.datasets.sample_texts import read_texts
from eigenlabel.datasets.tables.texts import OF_TEXT, SUFFIX, WORD
from eigenlabel.inspection import Explanation, explain
from eigenlabel.inspection.contributions.base import FEATURE
from eigenlabel.inspection.explanation import label_text
from eigenlabel.inspection.words import TextColumn, Tokeniser
from eigenlabel.persistence import SavedModel
from eigenlabel.thresholds import top_labels

ROWS = 4096  # samples in memory at once
BEST = 3  # labels that are explained if none is predicted


class Chosen(NamedTuple):
    """A sample of a file.

    Attributes
    ----------
    name : str
        Its name, or its number.
    X : (1, d) array or sparse matrix
        Its features.
    row : int
        Its position in the file.
    notes : tuple of str
        The notes of the reader.
    """

    name: str
    X: Any
    row: int
    notes: tuple[str, ...]


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="the model file")
    parser.add_argument("data", metavar="DATA", help="the file with the sample")
    parser.add_argument(
        "--sample",
        metavar="ID",
        required=True,
        help="the name of the sample, or its number from 0, as 'predict' writes it; a name comes "
        "before a number",
    )
    parser.add_argument(
        "--label",
        metavar="L",
        action="append",
        help="the label to explain; may be repeated (default: the predicted labels, or the "
        f"{BEST} with the best scores if none is predicted)",
    )
    parser.add_argument(
        "--top",
        type=positive,
        default=10,
        metavar="K",
        help="number of features or training samples in each list (default 10)",
    )
    parser.add_argument("-o", "--output", metavar="PAGE", help="write an HTML page to this file")
    parser.add_argument("--json", action="store_true", help="print the explanation as JSON")
    parser.add_argument(
        "--training",
        metavar="DATA",
        help="the training file, to name the training samples that a model with a kernel or "
        "neighbours compares with; it is read with the same options as DATA",
    )
    add_data_options(parser)


def _explain(arguments: argparse.Namespace) -> None:
    files = [arguments.data, arguments.model, *filter(None, [arguments.training])]
    check_output(arguments.output, *files)
    saved = open_model(arguments.model)
    names = saved.label_names.tolist()
    wanted = [choose("label", name, names, "'predict --scores'") for name in arguments.label or ()]
    options = reader_options(arguments)
    sample = _find_sample(arguments.data, arguments.sample, saved, options)
    print_notes(sample.notes)
    labels = [names.index(name) for name in wanted] or _labels_worth_reading(saved, sample)
    # Only a page shows the texts, which are read from the file again.
    texts = _texts(arguments.data, sample.row, saved, options) if arguments.output else ()
    found = _explanation(saved, sample, labels, texts, arguments)
    short = found.top(arguments.top)
    if arguments.json:
        print(json.dumps(short.to_dict()))
    else:
        print(f"sample {sample.name}")
        print("\n".join(label_text(short, 0, j) for j in range(len(labels))))
        print_notes(found.notes, stream=sys.stdout)
    if arguments.output:
        path = report.write(_page(found, sample, arguments), arguments.output)
        print(f"page: {path}", file=sys.stderr if arguments.json else sys.stdout)


def _explanation(
    saved: SavedModel,
    sample: Chosen,
    labels: list[int],
    texts: tuple[TextColumn, ...],
    arguments: argparse.Namespace,
) -> Explanation:
    """Return the explanation; all words are kept if the page marks them in a text."""
    found = explain(
        saved.model,
        sample.X,
        labels=labels,
        n_top=None if texts else arguments.top,
        feature_names=saved.feature_names,
        label_names=saved.label_names,
        sample_names=[sample.name],
        training_names=_training_names(arguments.training, saved, reader_options(arguments)),
    )
    shown = texts if found.kind == FEATURE else ()
    return replace(found, texts=shown)


def _find_sample(file: str, wanted: str, saved: SavedModel, options: dict[str, Any]) -> Chosen:
    """Return the sample of a name or, if no sample has this name, of a number.

    UsageError is raised if there is none.
    """
    before = 0
    by_number: Chosen | None = None
    for piece in _pieces(file, saved, options):
        n = piece.X.shape[0]
        known = None if piece.sample_names is None else piece.sample_names.tolist()
        if known is not None and wanted in known:
            return _take(file, piece, known.index(wanted), before)
        if wanted.isdecimal() and before <= int(wanted) < before + n:
            by_number = _take(file, piece, int(wanted) - before, before)
            if known is None:
                return by_number
        before += n
    if by_number is not None:
        return by_number
    best = _similar_names(file, wanted, saved, options)
    hint = f"did you mean {' or '.join(best)}?" if best else f"there are {before:,} samples"
    raise UsageError(f"no sample {wanted!r} in {file}; {hint}")


def _similar_names(file: str, wanted: str, saved: SavedModel, options: dict[str, Any]) -> list[str]:
    """Return the three names of samples that are most similar; none of a pipe, read only once."""
    best: list[str] = []
    if data_path(file).is_fifo():
        return best
    for piece in _pieces(file, saved, options):
        if piece.sample_names is not None:
            best = get_close_matches(wanted, sorted({*best, *piece.sample_names.tolist()}), n=3)
    return best


def _pieces(file: str, saved: SavedModel, options: dict[str, Any]) -> Iterator[Dataset]:
    if file == "debtags" and not Path(file).exists():
        return iter([read_data(file, options)])
    return iterate(data_path(file), rows=ROWS, like=saved, labelled=False, **options)


def _take(path: str, piece: Dataset, i: int, before: int) -> Chosen:
    one = piece.subset(samples=[i])
    check_finite(path, one, before + i)
    name = str(before + i) if piece.sample_names is None else str(piece.sample_names[i])
    return Chosen(name, one.X, before + i, piece.notes)


def _labels_worth_reading(saved: SavedModel, sample: Chosen) -> list[int]:
    """Return the predicted labels, the best first, or the labels with the best scores."""
    scores = predict_with(saved, sample.X, scores=True)
    predicted = chosen_labels(saved, sample.X, scores, None)[0]
    if scores is not None:
        order = top_labels(scores, scores.shape[1])[0].tolist()
        chosen = set(predicted)
        return [j for j in order if j in chosen] or order[:BEST]
    if not predicted:
        raise UsageError(
            f"the model has no scores and predicts no label for sample {sample.name}; pass --label"
        )
    return predicted


def _texts(
    file: str, row: int, saved: SavedModel, options: dict[str, Any]
) -> tuple[TextColumn, ...]:
    """Return the texts of a sample, with the words that are features of the model."""
    path = data_path(file)
    if not saved.words or not path.exists():
        return ()
    found = read_texts(path, row, like=saved, rows=ROWS, **options)
    features = {text: saved.feature_names[columns] for text, columns in saved.words.items()}
    together = np.concatenate(list(features.values()))
    return tuple(
        TextColumn(
            text, [content], Tokeniser(WORD), words=_words(features.get(text, together), text)
        )
        for text, content in found.items()
    )


def _words(features: np.ndarray, text: str) -> dict[str, str]:
    """Return the word that each feature counts, without the name of the text before it."""
    names = [str(name) for name in features]
    return {name: name.removesuffix(SUFFIX).removeprefix(text + OF_TEXT) for name in names}


def _training_names(file: str | None, saved: SavedModel, options: dict[str, Any]) -> Any:
    """Return the names of the samples of the training file, or None."""
    if file is None:
        return None
    names = read_data(file, options, like=saved).sample_names
    if names is None:
        print_notes([f"{file} has no names of samples; a column is named by --samples"])
    return names


def _page(found: Explanation, sample: Chosen, arguments: argparse.Namespace) -> dict[str, Any]:
    sections = [
        report.explanation(found, label=j, n_top=arguments.top)
        for j in range(len(found.label_names))
    ]
    predicted = [str(name) for name in found.label_names[found.predicted[0]]]
    subtitle = f"Predicted: {', '.join(predicted)}" if predicted else "No label is predicted."
    model = Path(arguments.model).name
    return report.page(
        f"Why sample {sample.name} has its labels",
        sections,
        subtitle=f"{subtitle} ({model} on {Path(arguments.data).name})",
        about=about(arguments),
    )


EXPLAIN = Command(_add_options, _explain)
