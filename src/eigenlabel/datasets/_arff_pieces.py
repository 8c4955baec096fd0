"""ARFF in pieces: the header once, then some rows at a time, read as in a whole file."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets._arff import _dense, _header, _label_columns, _rows, _sparse
from eigenlabel.datasets._dataset import Dataset
from eigenlabel.datasets._files import LONGEST, DataError


class ArffRows:
    """The columns of an ARFF file, which turn lines of its data into a Dataset."""

    def __init__(self, path: Path, lines: Iterator[str], xml: Any) -> None:
        self.path, self.sparse = path, None
        relation, self.columns, _, self.first = _header(path, "\n".join(_head(path, lines)))
        self.names = np.array(self.columns.names)
        ((double, count),) = Counter(self.columns.names).most_common(1)
        if count > 1:
            raise DataError(path, f"attribute {double!r} stands twice")
        self.is_label, self.notes = _label_columns(path, xml, relation, self.columns.names)

    def read(self, lines: list[str], first: int) -> Dataset:
        """Read lines, the first of a given number."""
        rows, numbers = _rows("\n".join(lines), first - 1)
        if self.sparse is None:  # the first row decides for all, as in a whole file
            self.sparse = rows[0].startswith("{")
        values = (_sparse if self.sparse else _dense)(self.path, self.columns, rows, numbers)
        Y = sp.csr_array(values[:, self.is_label])
        Y.eliminate_zeros()
        if not (Y.data == 1).all():
            raise DataError(self.path, f"labels must be 0 or 1, found {Y.data[Y.data != 1][0]:g}")
        kinds = dict(zip(self.names.tolist(), self.columns.kinds, strict=True))
        features = self.names[~self.is_label]
        return Dataset(
            X=values[:, ~self.is_label],
            Y=Y,
            feature_names=features,
            label_names=self.names[self.is_label],
            categories={name: kinds[name].values for name in features if kinds[name].named},
            source=self.path.name,
            notes=self.notes,
        )


def _head(path: Path, lines: Iterator[str]) -> Iterator[str]:
    """Yield lines up to the one that says the data begin."""
    length = 0
    for line in lines:
        yield line
        length += len(line) + 1
        if length > LONGEST:
            raise DataError(path, "no @data line among the first 64 Mi characters")
        if line.lstrip().lower().startswith("@data"):
            yield ""
            return


def is_row(line: str) -> bool:
    """Tell whether a line of the data holds a sample."""
    line = line.strip()
    return bool(line) and not line.startswith("%")
