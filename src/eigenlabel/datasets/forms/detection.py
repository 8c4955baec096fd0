"""Recognise the form of a data file by its content."""

import codecs
import re
from pathlib import Path
from typing import Any

from eigenlabel.datasets.files.decompression import check_file, plain_name, read_head
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.text import UTF16
from eigenlabel.datasets.forms.csv.reader import DELIMITERS
from eigenlabel.datasets.forms.hvecs import SUFFIX as HVECS
from eigenlabel.datasets.forms.matlab.version73 import HDF5
from eigenlabel.datasets.forms.parquet import MAGIC

SUFFIXES = {".csv": "table", ".tsv": "table", ".jsonl": "jsonl", ".ndjson": "jsonl"}


HEAD = 4096


EXCEL = b"[Content_Types].xml"


# Each digit can belong to one part only; otherwise a long line takes exponential time.
NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"


LABELS = re.compile(rb"%s(?:,%s)*" % (NUMBER, NUMBER))


JSON_LIST = re.compile(rb"\[\s*(?:$|[{\[\]])")


PAIR = re.compile(rb"\d+:(?:%s|[+-]?(?:nan|inf))" % NUMBER, re.IGNORECASE)


def find_form(path: Any) -> str:
    """Return the form of a data file, found by its content.

    Parameters
    ----------
    path : str or Path
        The file, compressed or not.

    Returns
    -------
    form : str
        "arff", "xmc", "svmlight", "mat", "npz", "table" (text with commas, tabs or semicolons, and
        Parquet), "jsonl" or "hvecs". Only "hvecs" is found by the name of the file, as its content
        has no mark.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import find_form
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "posts.txt"
    >>> _ = path.write_text('{"text": "Hot tea", "labels": ["drink"]}')
    >>> find_form(path)
    'jsonl'
    """
    path = Path(path)
    check_file(path)
    head = read_head(path, HEAD)
    if not head:
        raise DataError(path, "empty")
    if plain_name(path).endswith(HVECS):  # its content has no mark
        return "hvecs"
    if head.startswith(b"PK\x03\x04"):
        if EXCEL in head:
            raise DataError(path, "an Excel file; save the sheet as CSV, or use from_frame")
        return "npz"
    if head.startswith(b"MATLAB") or HDF5 in head[:520]:
        return "mat"
    if head.startswith(MAGIC):
        return "table"
    return _text_form(path, head)


def _text_form(path: Path, head: bytes) -> str:
    text = head.decode("utf-16", "ignore").encode() if head.startswith(UTF16) else head
    text = text.removeprefix(codecs.BOM_UTF8)
    lines = [line.strip(b" \r\n") for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith((b"%", b"#"))]
    first = lines[0] if lines else b""
    words = first.partition(b"#")[0].split()
    if JSON_LIST.match(first):
        raise DataError(path, "a list in JSON; write one object per line instead (JSON lines)")
    by_name = SUFFIXES.get(Path(plain_name(path)).suffix.lower(), "")
    plain = b"\x00" not in text
    tests = (
        ("arff", first[:10].lower().startswith((b"@relation", b"@attribute"))),
        ("jsonl", first.startswith(b"{")),
        ("xmc", _is_xmc(lines)),
        ("svmlight", _is_svmlight(first, cut_off=len(lines) == 1 and len(head) == HEAD)),
        ("svmlight", len(lines) > 1 and all(_has_pairs(line, False) for line in lines[:2])),
        ("table", plain and any(d.encode() in first for d in DELIMITERS)),
        ("svmlight", plain and _is_nearly_svmlight(words)),
        (by_name, plain and bool(by_name)),
    )
    form = next((form for form, found in tests if found), None)
    if form is not None:
        return form
    raise DataError(
        path,
        f"the form of the data is unknown (the file begins with {head[:40]!r}); known are ARFF, "
        "LIBSVM and Extreme Classification Repository text, tables with commas, tabs or "
        "semicolons, JSON lines, Parquet, MATLAB files and .npz",
    )


def _is_xmc(lines: list[bytes]) -> bool:
    """Return True if the first line consists of three counts, and is not the header of a table."""
    words = lines[0].split() if lines else []
    counts = len(words) == 3 and all(word.isdigit() for word in words)
    return counts and (b"\t" not in lines[0] or any(b":" in line for line in lines[1:2]))


def _is_svmlight(line: bytes, cut_off: bool) -> bool:
    """Return True if a line is ``label,label index:value ...``; its last word may be cut off."""
    words = line.split()
    numbered = bool(words) and (b":" in words[0] or LABELS.fullmatch(words[0]) is not None)
    return numbered and _has_pairs(line, cut_off)


def _has_pairs(line: bytes, cut_off: bool) -> bool:
    """Return True if a line is ``index:value ...``, after a first word of any kind."""
    words = line.partition(b"#")[0].split()
    pairs = words[1:] if words and b":" not in words[0] else words
    complete = pairs[:-1] if cut_off else pairs
    return bool(complete) and all(map(PAIR.fullmatch, complete))


def _is_nearly_svmlight(words: list[bytes]) -> bool:
    """Return True if a line resembles LIBSVM text, so that its reader can say what is wrong."""
    pairs = words[1:] if words and b":" not in words[0] else words
    return bool(pairs and b":" in pairs[0] and all(b":" in word for word in pairs[:-1]))
