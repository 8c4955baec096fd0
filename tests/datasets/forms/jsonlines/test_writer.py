"""JSON lines are written with the names of labels and sparse features beside."""

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets import Dataset, save

NAMES = np.array(["a", "b"]), np.array(["x", "y"])
Y = np.array([[1, 0], [0, 0]])


def test_dense_features_are_fields(tmp_path):
    save(Dataset(np.array([[0.5, np.nan], [1, 2]]), Y, *NAMES), tmp_path / "it.jsonl")
    assert (tmp_path / "it.jsonl").read_text() == (
        '{"a": 0.5, "b": null, "labels": ["x"]}\n{"a": 1.0, "b": 2.0, "labels": []}\n'
    )
    assert (tmp_path / "it.labels.txt").read_text() == "x\ny\n"
    assert not (tmp_path / "it.features.txt").exists()


def test_sparse_features_are_one_field(tmp_path):
    save(Dataset(sp.csr_array([[0, 2.0], [0, 0]]), Y, *NAMES), tmp_path / "it.jsonl")
    assert (tmp_path / "it.jsonl").read_text() == (
        '{"features": {"b": 2.0}, "labels": ["x"]}\n{"features": {}, "labels": []}\n'
    )
    assert (tmp_path / "it.features.txt").read_text() == "a\nb\n"
