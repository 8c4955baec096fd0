"""Data files as users name them: the options of the readers, and checks of inputs and outputs."""

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel import datasets
from eigenlabel.cli.options import BooleanOnce, words
from eigenlabel.datasets import DataError, Dataset
from eigenlabel.datasets.files.atomic import check_target, find_place, is_standard_output
from eigenlabel.estimators.subspace.many_labels import MANY
from eigenlabel.persistence import SavedModel, load_model
from eigenlabel.persistence.table_models import for_files

READER_OPTIONS = (
    "labels",
    "separator",
    "text",
    "samples",
    "drop",
    "encoding",
    "xml",
    "missing_labels",
    "n_features",
    "n_labels",
    "zero_based",
)


def open_model(path: str) -> SavedModel:
    """Return the model of a file, in the form that reads data files."""
    saved = load_model(path)
    try:
        return for_files(saved)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise DataError(path, f"the model cannot read data files ({error})") from error


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that specify how a data file is read."""
    group = parser.add_argument_group(
        "reading the data",
        "The format of the file is detected. These options specify what the format leaves open.",
    )
    group.add_argument(
        "--labels",
        metavar="COLUMNS",
        action="append",
        help="tables: the column(s) with the labels, such as tags, or a,b,c, or topic_*",
    )
    group.add_argument(
        "--separator", metavar="C", help="tables: what separates the labels in a cell"
    )
    group.add_argument(
        "--text", metavar="COLUMNS", action="append", help="tables: column(s) whose words to count"
    )
    group.add_argument(
        "--samples", metavar="COLUMN", help="tables: the column with the names of the samples"
    )
    group.add_argument(
        "--drop", metavar="COLUMNS", action="append", help="tables: column(s) to leave out"
    )
    group.add_argument("--xml", metavar="FILE", help="ARFF: the file that names the labels")
    group.add_argument(
        "--missing-labels",
        choices=("error", "nan"),
        help="tables, ARFF: with nan, empty label cells and ? are not observed; by default they "
        "are errors, or samples without labels if the cells of one column name the labels",
    )
    group.add_argument("--encoding", help="encoding of text files (default UTF-8)")
    group.add_argument("--n-features", type=int, metavar="N", help="LIBSVM: number of features")
    group.add_argument("--n-labels", type=int, metavar="N", help="LIBSVM: number of labels")
    group.add_argument(
        "--zero-based",
        action=BooleanOnce,
        help="LIBSVM: whether features are numbered from 0 (detected by default)",
    )


def reader_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the reader that were passed."""
    found: dict[str, Any] = {}
    for name in READER_OPTIONS:
        value = getattr(arguments, name, None)
        if isinstance(value, list):  # columns, from one option or several
            names = [column for part in value for column in words(part) or [part]]
            several = len(value) > 1 or "," in value[0] or name == "drop"
            value = names if several else value[0]
        if value is not None:
            found[name] = value
    return found


def read_data(name: str, options: dict[str, Any], like: Any = None) -> Dataset:
    """Return the data of a file, of a known data set, or of the embedded data "debtags"."""
    if name == "debtags" and not Path(name).exists():
        return datasets.load_debtags(**options)
    data = datasets.load(data_path(name), like=like, **options)
    check_finite(name, data)
    return data


def data_path(name: str) -> Path:
    """Return the path of a data file, or of the first file of a known data set."""
    path = Path(name)
    if not path.exists() and name in datasets.known():
        return datasets.find(name)[0]
    return path


def check_finite(path: Any, data: Dataset, first: int = 0) -> None:
    """Raise DataError for infinite features, and for missing ones that cannot be imputed.

    Missing values of a sparse X are imputed only if their column is a column of a table.

    Parameters
    ----------
    path : str or Path
        The file, for the message.
    data : Dataset
        The samples to check.
    first : int
        The number of samples of the file before these ones.
    """
    sparse = sp.issparse(data.X)
    values = data.X.data if sparse else data.X
    odd = np.isinf(values)
    if sparse and np.isnan(values).any():
        imputed = {*data.column_types, *data.categories}
        known = np.array([str(name) in imputed for name in data.feature_names])
        odd |= np.isnan(values) & ~known[data.X.indices]
    if not odd.any():
        return
    if sparse:
        at = int(np.argmax(odd))
        row = int(np.searchsorted(data.X.indptr, at, side="right")) - 1
        column, value = data.X.indices[at], values[at]
    else:
        row, column = np.argwhere(odd)[0]
        value = values[row, column]
    why = "sparse features must be finite numbers" if sparse else "features must be finite"
    name = str(data.feature_names[column])
    raise DataError(path, f"feature {name!r} of sample {first + row + 1} is {value}; {why}")


def dense(Y: Any) -> Any:
    """Return a dense label matrix, unless it has so many labels that it must stay sparse."""
    sparse: Any = Y
    return sparse.toarray() if sp.issparse(Y) and sparse.shape[1] < MANY else Y


def check_output(path: str | None, *inputs: str) -> None:
    """Raise DataError before the work begins if an output cannot be written or is an input."""
    if path is None:
        return
    if is_standard_output(path):
        raise DataError(path, "is standard output, which is used for messages; write to a file")
    try:
        special, place = check_target(path), find_place(path)
    except OSError as error:
        raise DataError(path, f"cannot be written ({error.strerror})") from error
    if special:
        return
    if not place.parent.is_dir():
        raise DataError(path, "its folder does not exist")
    if not os.access(place.parent, os.W_OK):
        raise DataError(path, "its folder is not writable")
    if place in [Path(name).resolve() for name in inputs]:
        raise DataError(path, "is also another file of this command; write to a different file")
