"""Find out what a file is by its content, and read it."""

from pathlib import Path
from typing import Any

from eigenlabel.datasets._arff import load_mulan
from eigenlabel.datasets._dataset import Dataset
from eigenlabel.datasets._files import DataError, read_head
from eigenlabel.datasets._matlab import HDF5, load_mat
from eigenlabel.datasets._npz import load_npz
from eigenlabel.datasets._sparse_text import load_svmlight, load_xmc

READERS = {
    "arff": load_mulan,
    "xmc": load_xmc,
    "svmlight": load_svmlight,
    "mat": load_mat,
    "npz": load_npz,
}


def find_form(path: Any) -> str:
    """Name the form of a data file, "arff", "xmc", "svmlight", "mat" or "npz", by its content."""
    path = Path(path)
    if not path.is_file():
        reason = "a folder, not a file" if path.is_dir() else "no such file"
        raise DataError(path, reason)
    head = read_head(path)
    if not head:
        raise DataError(path, "empty")
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if head.startswith(b"MATLAB") or HDF5 in head[:520]:
        return "mat"
    return _text_form(path, head)


def _text_form(path: Path, head: bytes) -> str:
    lines = [line.strip() for line in head.removeprefix(b"\xef\xbb\xbf").splitlines()]
    lines = [line for line in lines if line and not line.startswith((b"%", b"#"))]
    first = lines[0] if lines else b""
    if first[:10].lower().startswith((b"@relation", b"@attribute")):
        return "arff"
    words = first.split()
    if len(words) == 3 and all(word.isdigit() for word in words):
        return "xmc"
    pairs = words[1:] if words and b":" not in words[0] else words
    if pairs and all(b":" in word for word in pairs[:-1]) and b":" in pairs[0]:
        return "svmlight"
    raise DataError(
        path,
        f"cannot tell what form of data this is (it begins with {head[:40]!r}); known are ARFF, "
        "LIBSVM and Extreme Classification Repository text, MATLAB files and .npz. Read tables "
        "with pandas or polars and pass X and Y",
    )


def load(path: Any, **options: Any) -> Dataset:
    """Read a data file of any known form, found by its content, compressed or not.

    ``options`` go to the form's own reader: :func:`load_mulan`, :func:`load_svmlight`,
    :func:`load_xmc`, :func:`load_mat`, :func:`load_npz`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import load
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pages.txt"
    >>> _ = path.write_text("0,2 1:0.5 3:1\\n1 2:1\\n")
    >>> load(path)
    Dataset(2 samples, 3 features, 3 labels; pages.txt)
    """
    return READERS[find_form(path)](path, **options)
