"""Data sets: files of every common form, and planted data with a known answer."""

from eigenlabel.datasets._arff import load_mulan
from eigenlabel.datasets._dataset import Dataset
from eigenlabel.datasets._debtags import load_debtags
from eigenlabel.datasets._fetch import fetch
from eigenlabel.datasets._files import DataError
from eigenlabel.datasets._hvecs import load_hvecs
from eigenlabel.datasets._jsonlines import load_jsonlines
from eigenlabel.datasets._load import find_form, load
from eigenlabel.datasets._matlab import load_mat
from eigenlabel.datasets._npz import load_npz, save_npz
from eigenlabel.datasets._pieces import iterate
from eigenlabel.datasets._registry import data_folder, find, known
from eigenlabel.datasets._sparse_text import load_svmlight, load_xmc
from eigenlabel.datasets._synthetic import make_shared_subspace
from eigenlabel.datasets._table import from_frame, load_table
from eigenlabel.datasets._write import save

__all__ = [
    "DataError",
    "Dataset",
    "data_folder",
    "fetch",
    "find",
    "find_form",
    "from_frame",
    "iterate",
    "known",
    "load",
    "load_debtags",
    "load_hvecs",
    "load_jsonlines",
    "load_mat",
    "load_mulan",
    "load_npz",
    "load_svmlight",
    "load_table",
    "load_xmc",
    "make_shared_subspace",
    "save",
    "save_npz",
]
