"""The forms of data files: the reader, the reader in pieces and the writer of each.

A new form is a module or folder in this package, an entry here, and a test of its content in
``eigenlabel.datasets.forms.detection``.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write
from eigenlabel.datasets.forms.arff.reader import arff_pieces, load_mulan
from eigenlabel.datasets.forms.arff.writer import write_arff
from eigenlabel.datasets.forms.csv.writer import write_csv, write_tsv
from eigenlabel.datasets.forms.hvecs import load_hvecs
from eigenlabel.datasets.forms.jsonlines.reader import json_pieces, load_jsonlines
from eigenlabel.datasets.forms.jsonlines.writer import write_jsonl
from eigenlabel.datasets.forms.libsvm.reader import load_svmlight, svmlight_pieces
from eigenlabel.datasets.forms.libsvm.writer import write_svmlight
from eigenlabel.datasets.forms.matlab.reader import load_mat
from eigenlabel.datasets.forms.matlab.writer import write_mat
from eigenlabel.datasets.forms.npz.reader import load_npz
from eigenlabel.datasets.forms.npz.writer import write_npz
from eigenlabel.datasets.forms.parquet import write_parquet
from eigenlabel.datasets.forms.table import load_table, table_pieces
from eigenlabel.datasets.forms.xmc import load_xmc, write_xmc, xmc_pieces
from eigenlabel.datasets.readers import Reader

PieceReader: TypeAlias = Callable[[Path, int, Any, dict[str, Any]], Iterator[Dataset]]
Writer: TypeAlias = Callable[[Dataset, Path], dict[Path, Write]]

READERS: dict[str, Reader] = {
    "arff": load_mulan,
    "xmc": load_xmc,
    "svmlight": load_svmlight,
    "mat": load_mat,
    "npz": load_npz,
    "table": load_table,
    "jsonl": load_jsonlines,
    "hvecs": load_hvecs,
}
# Files of other forms are read as a whole and then split.
PIECES: dict[str, PieceReader] = {
    "arff": arff_pieces,
    "svmlight": svmlight_pieces,
    "xmc": xmc_pieces,
    "table": table_pieces,
    "jsonl": json_pieces,
}
WRITERS: dict[str, Writer] = {
    "npz": write_npz,
    "arff": write_arff,
    "svmlight": write_svmlight,
    "xmc": write_xmc,
    "mat": write_mat,
    "csv": write_csv,
    "tsv": write_tsv,
    "parquet": write_parquet,
    "jsonl": write_jsonl,
}
# What a form keeps beside X, Y and the names of features and labels; "npz" keeps everything.
KEPT: dict[str, tuple[str, ...]] = {
    "npz": ("sample_names", "views", "splits", "words", "categories"),
    "arff": ("categories",),
    "svmlight": (),
    "xmc": (),
    "mat": (),
    "csv": ("sample_names", "categories"),
    "tsv": ("sample_names", "categories"),
    "parquet": ("sample_names", "categories"),
    "jsonl": ("sample_names", "categories"),
}
# The form that is written for each suffix; "xmc" has no suffix of its own.
SUFFIXES = {f".{form}": form for form in WRITERS if form not in ("svmlight", "xmc")}
SUFFIXES |= {".svm": "svmlight", ".libsvm": "svmlight", ".ndjson": "jsonl"}
BINARY = ("npz", "mat", "parquet")
