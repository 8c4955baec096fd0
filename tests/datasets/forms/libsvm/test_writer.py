"""LIBSVM text is written with features from 1 and the names beside."""

import numpy as np

from eigenlabel.datasets import Dataset, save


def test_a_sample_without_features_is_still_a_sample(tmp_path):
    names = np.array(["a", "b"]), np.array(["x", "y"])
    X, Y = np.array([[0, 2.5], [0, 0]]), np.array([[1, 1], [0, 1]])
    save(Dataset(X, Y, *names), tmp_path / "it.svm")
    assert (tmp_path / "it.svm").read_text() == "0,1 2:2.5\n1 1:0\n"
    assert (tmp_path / "it.labels.txt").read_text() == "x\ny\n"
    assert (tmp_path / "it.features.txt").read_text() == "a\nb\n"
