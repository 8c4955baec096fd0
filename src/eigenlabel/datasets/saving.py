"""Write a Dataset in the form that the file name asks for."""

from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import write_files
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.index import BINARY, KEPT, SUFFIXES, WRITERS
from eigenlabel.datasets.forms.writing import check_data
from eigenlabel.inputs.warning import warn

DESCRIPTIONS = {
    "sample_names": "the names of samples",
    "views": "the views",
    "splits": "the splits",
    "words": "which texts the words are of",
}


def save(data: Dataset, path: Any, form: str | None = None) -> None:
    """Write a Dataset in the form of the suffix; text is compressed if ``.gz`` follows.

    ===============================  ==============================================================
    suffix or form                   content
    ===============================  ==============================================================
    ``.npz``                         everything but ``options`` and ``truth``
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
    :func:`load` to keep the order.

    Values that a form cannot store are an error, such as categories in a form without words. Names
    of samples, views, splits and the texts of words that a form has no place for are left out, with
    a warning; ``.npz`` stores them all. The files are complete or do not exist.

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
    lost = _find_losses(path, data, form)
    write_files(WRITERS[form](data, path))
    if lost:
        warn(f"{path}: {form} files do not contain {', '.join(lost)}; save as .npz to keep them.")


def _find_losses(path: Path, data: Dataset, form: str) -> list[str]:
    """Return what a form leaves out; raise DataError for categories that would become numbers."""
    if data.categories and "categories" not in KEPT[form]:
        name = next(iter(data.categories))
        keeping = [f".{other}" for other, kept in KEPT.items() if "categories" in kept]
        raise DataError(
            path,
            f"{form} files do not contain the words of categories, such as {name!r}; save as "
            f"{', '.join(keeping)}",
        )
    present = [part for part in DESCRIPTIONS if _is_present(getattr(data, part))]
    return [DESCRIPTIONS[part] for part in present if part not in KEPT[form]]


def _is_present(part: Any) -> bool:
    return part is not None and len(part) > 0
