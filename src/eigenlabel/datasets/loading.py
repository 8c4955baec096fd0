"""Read a data file of any form."""

from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.pipes import regular_file, source_of
from eigenlabel.datasets.forms.detection import find_form
from eigenlabel.datasets.forms.index import READERS
from eigenlabel.datasets.readers import Reader, option_names


def check_options(path: Path, form: str, options: dict[str, Any]) -> Reader:
    """Return the reader of a form; raise DataError for an option that it does not have."""
    reader = READERS[form]
    known = option_names(reader)
    wrong = next((name for name in options if name not in known), None)
    if wrong is not None:
        raise DataError(
            path,
            f"{reader.__name__}, which reads this form ({form}), has no option {wrong!r}; it has "
            f"{', '.join(known) or 'none'}",
        )
    return reader


def load(path: Any, *, like: Any = None, **options: Any) -> Dataset:
    """Read a data file of any known form, found by its content, compressed or not.

    A pipe, such as /dev/stdin, is copied into a temporary file first.

    Parameters
    ----------
    path : str or Path
        The file.
    like : Dataset, default=None
        A data set whose features and labels the file must have. The columns of tables and JSON
        lines are put into its order, LIBSVM and repository text gets its widths and names, and for
        other forms a difference is an error. The file is read with the options that ``like`` was
        read with (``like.options``) unless they are passed again. If the file has no labels at
        all, Y is zero, with a note.
    **options : dict
        Options of the reader of the form: :func:`load_mulan`, :func:`load_svmlight`,
        :func:`load_xmc`, :func:`load_mat`, :func:`load_npz`, :func:`load_table`,
        :func:`load_jsonlines` or :func:`load_hvecs`. All of them have ``labelled``; with
        ``labelled=False``, as in prediction, the labels in the file are not read.

    Returns
    -------
    data : Dataset
        The content of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import load
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pages.txt"
    >>> _ = path.write_text("0,2 1:0.5 3:1\\n1 2:1\\n")
    >>> load(path)
    Dataset(2 samples, 3 features, 3 labels; pages.txt)
    """
    with regular_file(path, options.get("max_bytes")) as file:
        read = check_options(file, find_form(file), options)
        return source_of(path, read(file, like=like, **options))
