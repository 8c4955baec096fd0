"""Vectors of 16-bit numbers are read with their labels and names."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenlabel.datasets import (
    DataError,
    find_form,
    load,
    load_hvecs,
)
from forms import hvecs
from noise import damage, noisy, read_or_refuse


@noisy
@given(data=st.data())
def test_noise_in_hvecs(data, tmp_path):
    (tmp_path / "a_annot.hvecs").write_bytes(hvecs([0, 1], [1, 0]))
    path = tmp_path / "a_x.hvecs"
    path.write_bytes(damage(data.draw, hvecs([1, 2, 3], [4, 5, 6])))
    read_or_refuse(load_hvecs, path)


def test_hvecs_are_read(write):
    path = write(hvecs([1, -2, 300], [4, 5, 6]), "set_train_Dense_Hue.hvecs")
    write(hvecs([0, 1], [1, 1]), "set_train_annot.hvecs")
    assert find_form(path) == "hvecs"
    data = load(path)
    assert data.X.tolist() == [[1, -2, 300], [4, 5, 6]]
    assert data.Y.toarray().tolist() == [[0, 1], [1, 1]]
    assert data.label_names.tolist() == ["0", "1"]
    write("sky\nsea\n", "set_dictionary.txt")
    write("1/1\n2/2\n", "set_train_list.txt")
    data = load(path)
    assert data.label_names.tolist() == ["sky", "sea"]
    assert data.sample_names.tolist() == ["1/1", "2/2"]
    write("sky\n", "set_dictionary.txt")  # of something else
    other = write(hvecs([1, 0], [0, 0]), "other.hvecs")
    data = load_hvecs(path, labels=other)
    assert data.Y.toarray().tolist() == [[1, 0], [0, 0]]
    assert data.label_names.tolist() == ["0", "1"]
    packed = write(gzip.compress(path.read_bytes()), "set_train_x.hvecs.gz")
    assert load(packed).X.tolist() == data.X.tolist()


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (hvecs([1, 2], [3]), hvecs([1], [0]), "cut off: 5 numbers are not rows of 1 . 2"),
        (
            hvecs([1, 2, 3], [3], [4]),
            hvecs([1], [0]),
            "row 1 says it has 1 values, the first has 3",
        ),
        (hvecs([1, 2])[:-1], hvecs([1]), "5 bytes are not rows of 16-bit numbers"),
        (b"\x00\x00", hvecs([1]), "the first row says it has 0 values"),
        (b"\xff\xff\x01\x00", hvecs([1]), "the first row says it has -1 values"),
        (b"\xff\x7f\x01\x00", hvecs([1]), "cut off: 2 numbers are not rows of 1 . 32767"),
        (hvecs([1, 2]), hvecs([1], [0]), "labels of 2 samples, features of 1"),
        (hvecs([1, 2]), hvecs([1, 7]), "labels must be 0 or 1, found 7"),
        (hvecs([1, 2]), None, r"no labels found: .*pass labels="),
    ],
)
def test_broken_hvecs_raise_an_error(write, features, labels, message):
    path = write(features, "set_test_x.hvecs")
    if labels is not None:
        write(labels, "set_test_annot.hvecs")
    with pytest.raises(DataError, match=message):
        load(path)
