"""Comma-separated text is written with quoted names and exact numbers."""

import numpy as np

from eigenlabel.datasets import Dataset, save


def test_names_are_quoted_and_missing_numbers_are_empty(tmp_path):
    names = np.array(['a"b', "c"]), np.array(["y"])
    X = np.array([[0.1, np.nan], [1, 2]])
    save(Dataset(X, np.array([[1], [0]]), *names), tmp_path / "it.csv")
    text = (tmp_path / "it.csv").read_text()
    assert text == '"a""b","c","label:y"\n0.1,,1\n1.0,2.0,0\n'
    save(Dataset(X, np.array([[1], [0]]), *names), tmp_path / "it.tsv")
    assert (tmp_path / "it.tsv").read_text() == text.replace(",", "\t")
