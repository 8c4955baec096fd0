"""NPZ files keep everything that a Dataset has."""

from eigenlabel.datasets import load, save
from forms import mixed_data, same


def test_npz_keeps_what_columns_are(write, tmp_path):
    data = mixed_data(write)
    save(data, tmp_path / "it.npz")
    again = load(tmp_path / "it.npz")
    same(again, data)
    assert again.column_types == data.column_types
    assert again.words == data.words
