"""ARFF is written dense or sparse, with an XML file of labels."""

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets import Dataset, save

NAMES = np.array(["it's", "c"]), np.array(["y"])
HEAD = "@relation 'it'\n@attribute 'it\\'s' numeric\n@attribute 'c' {}\n@attribute 'y' {{0,1}}\n"


def test_dense_rows_have_words_for_categories(tmp_path):
    X = np.array([[0.5, 1], [np.nan, 0]])
    data = Dataset(X, np.array([[1], [0]]), *NAMES, categories={"c": ("u", "v")})
    save(data, tmp_path / "it.arff")
    head = HEAD.format("{'u','v'}")
    assert (tmp_path / "it.arff").read_text() == f"{head}@data\n0.5,'v',1\n?,'u',0\n"
    assert '<label name="y" />' in (tmp_path / "it.xml").read_text()


def test_sparse_rows_have_indices(tmp_path):
    X = sp.csr_array([[0, 2.5], [0, 0]])
    save(Dataset(X, np.array([[1], [0]]), *NAMES), tmp_path / "it.arff")
    assert (
        tmp_path / "it.arff"
    ).read_text() == f"{HEAD.format('numeric')}@data\n{{1 2.5,2 1}}\n{{}}\n"
