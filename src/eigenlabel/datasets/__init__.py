"""Data sets: files of every common form, and planted data with a known answer."""

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.debtags import load_debtags
from eigenlabel.datasets.fetching import fetch
from eigenlabel.datasets.files import DataError
from eigenlabel.datasets.forms.arff.reader import load_mulan
from eigenlabel.datasets.forms.hvecs import load_hvecs
from eigenlabel.datasets.forms.jsonlines import load_jsonlines
from eigenlabel.datasets.forms.matlab.reader import load_mat
from eigenlabel.datasets.forms.npz.reader import load_npz, save_npz
from eigenlabel.datasets.forms.sparse_text import load_svmlight, load_xmc
from eigenlabel.datasets.loading import find_form, load
from eigenlabel.datasets.pieces import iterate
from eigenlabel.datasets.registry import data_folder, find, known
from eigenlabel.datasets.saving import save
from eigenlabel.datasets.synthetic import make_shared_subspace
from eigenlabel.datasets.tables.table import from_frame, load_table

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
