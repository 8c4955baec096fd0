"""Write a Dataset in the form that the file name asks for."""

from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import write_files
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.index import BINARY, SUFFIXES, WRITERS
from eigenlabel.datasets.forms.writing import check_data


def save(data: Dataset, path: Any, form: str | None = None) -> None:
    """Write a Dataset in the form of the suffix; text is compressed if ``.gz`` follows.

    ===============================  ==============================================================
    suffix or form                   content
    ===============================  ==============================================================
    ``.npz``                         everything that a Dataset has
    ``.arff``                        and ``<stem>.xml``, which names the labels
    ``.svm``, ``.libsvm``            and ``<stem>.labels.txt``, ``<stem>.features.txt``
    ``.mat``                         X, Y and their names
    ``.csv``, ``.tsv``,              labels as columns ``label:...``, names of samples as
    ``.parquet``                     ``sample:name``
    ``.jsonl``                       and ``<stem>.labels.txt``, ``<stem>.features.txt``
    ``form="xmc"``                   Extreme Classification Repository text, without names
    ===============================  ==============================================================

    :func:`load` reads the same numbers, labels and names back. Tables and JSON lines contain the
    words of a category, but not the order of its list of values; pass ``like=data`` to
    :func:`load` to keep the order. Data that a form cannot store are an error. The files are
    complete or do not exist.

    Parameters
    ----------
    data : Dataset
        The data to write.
    path : str or Path
        The file, which is replaced if it exists.
    form : str, default=None
        The form: "npz", "arff", "svmlight", "xmc", "mat", "csv", "tsv", "parquet" or "jsonl". None
        chooses it by the suffix.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import load, make_shared_subspace, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "planted.csv.gz"
    >>> save(make_shared_subspace(30, 4, 3, 2, random_state=0), path)
    >>> load(path)
    Dataset(30 samples, 4 features, 3 labels; planted.csv.gz)
    """
    path = Path(path)
    packed = path.suffix == ".gz"
    suffix = (path.with_suffix("") if packed else path).suffix.lower()
    form = SUFFIXES.get(suffix) if form is None else form
    if form not in WRITERS:
        known, named = ", ".join(SUFFIXES), "" if form is None else f" {form!r}"
        raise DataError(
            path,
            f"unknown form{named}; the suffixes are {known} (.gz may follow those of text); or "
            f"pass form=, one of {', '.join(WRITERS)}",
        )
    if packed and form in BINARY:
        raise DataError(path, f"{form} files are already compressed; leave out .gz")
    check_data(path, data)
    write_files(WRITERS[form](data, path))
