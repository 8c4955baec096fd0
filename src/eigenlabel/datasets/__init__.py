"""Data sets: readers and writers of all common forms, known data sets, synthetic data."""

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.debtags import load_debtags
from eigenlabel.datasets.fetching import fetch
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.arff.reader import load_mulan
from eigenlabel.datasets.forms.detection import find_form
from eigenlabel.datasets.forms.hvecs import load_hvecs
from eigenlabel.datasets.forms.jsonlines.reader import load_jsonlines
from eigenlabel.datasets.forms.libsvm.reader import load_svmlight
from eigenlabel.datasets.forms.matlab.reader import load_mat
from eigenlabel.datasets.forms.npz.reader import load_npz
from eigenlabel.datasets.forms.npz.writer import save_npz
from eigenlabel.datasets.forms.table import load_table
from eigenlabel.datasets.forms.xmc import load_xmc
from eigenlabel.datasets.iterating import iterate
from eigenlabel.datasets.loading import load
from eigenlabel.datasets.registry import data_folder, find, known
from eigenlabel.datasets.saving import save
from eigenlabel.datasets.synthetic import make_shared_subspace
from eigenlabel.datasets.tables.frames import from_frame

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
