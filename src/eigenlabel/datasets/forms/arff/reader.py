"""Read MULAN and MEKA ARFF files, dense and sparse, whole or in pieces."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.decompression import read_bytes
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import LONGEST, check_room
from eigenlabel.datasets.files.text import decode, read_lines
from eigenlabel.datasets.forms.arff.attributes import read_header
from eigenlabel.datasets.forms.arff.labels import find_labels
from eigenlabel.datasets.forms.arff.rows import list_rows, read_dense, read_sparse
from eigenlabel.datasets.forms.batches import batches
from eigenlabel.datasets.matching import about_labels, match, no_labels, skips_labels
from eigenlabel.datasets.readers import reader
from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.inputs.parameters import check_choice
from eigenlabel.linalg._types import Matrix

# Bytes of memory that each line and value takes while the file is read.
WEIGHTS = {b"\n": 200, b",": 24}
MAX_CELLS = 2**31


class ArffReader:
    """Reads rows of an ARFF file, of which the header is known.

    Parameters
    ----------
    path : Path
        The file.
    head : str
        Its text, at least up to the ``@data`` line.
    xml : str, Path or None
        The XML file that names the labels.
    like : Dataset, default=None
        A data set whose features and labels the file must have.
    labelled : bool, default=True
        Whether labels are read.
    missing_labels : {"error", "nan"}, default="error"
        The meaning of ``?`` for a label.

    Attributes
    ----------
    first : int
        The number of the ``@data`` line.
    """

    def __init__(
        self,
        path: Path,
        head: str,
        xml: Any,
        like: Any = None,
        labelled: bool = True,
        missing_labels: str = "error",
    ) -> None:
        check_choice("missing_labels", missing_labels, ("error", "nan"))
        self.path, self.like, self.labelled = path, like, labelled
        self.sparse: bool | None = None
        self.missing = missing_labels == "nan"
        relation, self.attributes, self.first = read_header(path, head)
        self.names = np.array(self.attributes.names)
        ((double, count),) = Counter(self.attributes.names).most_common(1)
        if count > 1:
            raise DataError(path, f"attribute {double!r} occurs twice")
        self.is_label, self.notes = find_labels(path, xml, relation, self.attributes.names, like)
        self.skips = skips_labels(path, like, labelled, there=bool(self.is_label.any()))

    def read(self, rows: list[str], numbers: list[int]) -> Dataset:
        """Return rows, which are on the lines of the given numbers, as a Dataset."""
        if self.sparse is None:  # the first row decides for all others
            self.sparse = rows[0].startswith("{")
        if not self.sparse and len(rows) * len(self.attributes) > MAX_CELLS:
            raise DataError(self.path, f"{len(rows)} x {len(self.attributes)} values are too many")
        read = read_sparse if self.sparse else read_dense
        values = read(self.path, self.attributes, rows, numbers)
        Y, label_names, notes = self._labels(values)
        types = dict(zip(self.names.tolist(), self.attributes.types, strict=True))
        features = self.names[~self.is_label]
        data = Dataset(
            X=values[:, ~self.is_label],
            Y=Y,
            feature_names=features,
            label_names=label_names,
            categories={n: types[n].values or () for n in features.tolist() if types[n].named},
            source=self.path.name,
            notes=(*self.notes, *notes),
        )
        return match(self.path, data, self.like)

    def _labels(self, values: Matrix) -> tuple[Matrix, np.ndarray, tuple[str, ...]]:
        """Return the label matrix of rows, the names of the labels, and notes."""
        if self.skips:
            Y = no_labels(values.shape[0], self.like)
            return Y, self.like.label_names, about_labels(self.labelled)
        Y = sp.csr_array(values[:, self.is_label])
        Y.eliminate_zeros()
        odd = Y.data[(Y.data != 1) & ~(np.isnan(Y.data) & self.missing)]
        if odd.size:
            reason = Message(f"labels must be 0 or 1, found {odd[0]:g}")
            if np.isnan(odd[0]):
                observe = Parameter("missing_labels", "nan")
                reason += Message("; pass ", observe, " if '?' means not observed")
            raise DataError(self.path, reason)
        return Y, self.names[self.is_label], ()


@reader("missing_labels", "encoding")
def load_mulan(
    path: Any,
    *,
    xml: Any = None,
    like: Any = None,
    labelled: bool = True,
    missing_labels: str = "error",
    encoding: str = "utf-8",
    max_bytes: int | None = None,
) -> Dataset:
    """Read a MULAN or MEKA ARFF file, dense or sparse.

    Labels are the attributes that a MULAN XML file names. Without one, MEKA's ``-C n`` in the
    relation name counts them: they are the first n attributes, or the last for negative n. Labels
    keep the order of the ARFF file. Values of a nominal attribute become their positions in its
    list (``categories``) unless all of them are numbers; a value that is not in the list is an
    error. A missing value ``?`` is NaN. Label hierarchies are ignored, with a note.

    Parameters
    ----------
    path : str or Path
        The file, compressed or not.
    xml : str or Path, default=None
        The XML file that names the labels. By default it is ``<stem>.xml``, or the only XML file in
        the same folder.
    like : Dataset, default=None
        A data set whose features, categories and labels this one must have. Labels are the
        attributes that are labels of ``like``. If the file has no
        labels, Y is zero, with a note.
    labelled : bool, default=True
        Whether labels are read. With False, as in prediction, the labels in the file are ignored;
        this needs ``like``.
    missing_labels : {"error", "nan"}, default="error"
        The meaning of ``?`` for a label: an error, or a label that was not observed, which is NaN
        in Y.
    encoding : str, default="utf-8"
        The encoding of the text. A byte-order mark of UTF-16 overrides UTF-8.
    max_bytes : int, default=None
        The largest decompressed size to read. By default it is a quarter of the memory.

    Returns
    -------
    data : Dataset
        The content of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import load_mulan
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.arff"
    >>> _ = path.write_text(
    ...     "@relation 'films: -C 1'\\n@attribute crime {0,1}\\n@attribute length numeric\\n"
    ...     "@data\\n1,95\\n0,120\\n"
    ... )
    >>> load_mulan(path)
    Dataset(2 samples, 1 features, 1 labels; films.arff)
    """
    path = Path(path)
    content = read_bytes(path, max_bytes)
    check_room(path, content, WEIGHTS, max_bytes)
    text = decode(path, content, encoding)
    del content
    reader = ArffReader(path, text, xml, like, labelled, missing_labels)
    rows, numbers = list_rows(text, reader.first)
    if not rows:
        raise DataError(path, "no data after @data")
    return reader.read(rows, numbers)


def arff_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    """Yield Datasets of at most ``rows`` samples."""
    options = dict(options)
    xml, labelled = options.pop("xml", None), options.pop("labelled", True)
    missing = options.pop("missing_labels", "error")
    lines = read_lines(path, **options)
    reader = ArffReader(path, "\n".join(_head(path, lines)), xml, like, labelled, missing)
    for batch in batches(path, lines, reader.first + 1, rows, _is_row):
        found, numbers = list_rows("\n".join(batch.lines), 0)
        yield reader.read(found, [batch.first - 1 + number for number in numbers])


def _head(path: Path, lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines up to the one after which the data begin."""
    length = 0
    for line in lines:
        yield line
        length += len(line) + 1
        if length > LONGEST:
            raise DataError(path, "no @data line among the first 64 Mi characters")
        if line.lstrip().lower().startswith("@data"):
            yield ""
            return


def _is_row(line: str) -> bool:
    """Return True if a line of the data is a sample, not blank and not a comment."""
    line = line.strip()
    return bool(line) and not line.startswith("%")
