"""Read LIBSVM multi-label text in pieces."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.names import names_beside
from eigenlabel.datasets.forms.batches import LATIN, batches, byte_lines
from eigenlabel.datasets.forms.libsvm.parsing import FileSizes, Lines, is_sample, parse_svmlight
from eigenlabel.datasets.forms.libsvm.reader import name_svmlight
from eigenlabel.datasets.like import match
from eigenlabel.inputs.messages import Message, Parameter


def svmlight_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    """Yield Datasets of at most ``rows`` samples, all as wide as the first."""
    beside = names_beside(path, "features"), names_beside(path, "labels")
    given = FileSizes(**{k: v for k, v in options.items() if k in FileSizes._fields}).or_those_of(
        like
    )
    sizes, labelled = given, options.get("labelled", True)
    lines = byte_lines(path, options.get("max_bytes"))
    for batch in batches(path, lines, 1, rows, lambda line: is_sample(line.encode(LATIN))):
        piece = Lines(batch.encode(LATIN), batch.first)
        try:
            X, Y, zero_based = parse_svmlight(path, piece, sizes, like, labelled)
        except DataError as error:
            if None not in given or not batch.before:
                raise
            hint = Message(
                "as in the first piece; pass ",
                Parameter("n_features", ...),
                " and ",
                Parameter("n_labels", ...),
                ", or ",
                Parameter("like", ...),
            )
            raise DataError(path, Message(error.reason, " (", hint, ")"), error.line) from error
        data = name_svmlight(path, X, Y, beside, given, zero_based)
        sizes = FileSizes(data.X.shape[1], data.Y.shape[1], zero_based)  # of all later pieces
        yield match(path, data, like)
