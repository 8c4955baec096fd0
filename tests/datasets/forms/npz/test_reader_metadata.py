"""The metadata of NPZ files are read and checked."""

import numpy as np
import pytest

from eigenlabel.datasets import DataError, load
from forms import npz

X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 4, 5]])


Y = np.array([[1, 0], [0, 1], [1, 1]])


WHOLE = {"X": X, "Y": Y}


ABOUT = {
    "source": "here",
    "notes": ["a note"],
    "views": {"left": [0, 2], "right": [2, 4]},
    "categories": {"1": ["no", "a", "b", "c"]},
    "splits": ["first"],
}


SPLIT = {"split0_train": np.array([0, 2]), "split0_test": np.array([1])}


def test_npz_metadata_are_read(tmp_path):
    data = load(npz(tmp_path / "a.npz", ABOUT, **WHOLE, **SPLIT))
    assert (data.source, data.notes) == ("here", ("a note",))
    assert data.views == {"left": slice(0, 2), "right": slice(2, 4)}
    assert data.categories == {"1": ("no", "a", "b", "c")}
    assert [rows.tolist() for rows in data.splits["first"]] == [[0, 2], [1]]


BAD_ABOUT = {
    "not JSON": (b"{", "is not JSON"),
    "not text": (b"\xff\xfe{}", "is not JSON"),
    "nested deeply": (b"[" * 100_000, "is not JSON"),
    "no object": ([1], "an object is expected, found"),
    "a source of numbers": ({"source": 3}, "'source' must be text, found 3"),
    "notes as text": ({"notes": "abc"}, "'notes' must be a list, found 'abc'"),
    "notes of numbers": ({"notes": [1]}, "'notes' must be a list of text"),
    "views as a list": ({"views": [1]}, "'views' must be an object"),
    "a view of one number": ({"views": {"a": [1]}}, "'a' in 'views' must be two column numbers"),
    "a view beyond X": ({"views": {"a": [0, 9]}}, "column numbers from 0 to 4, found .0, 9."),
    "a view that falls": ({"views": {"a": [3, 1]}}, "'a' in 'views'"),
    "a view of halves": ({"views": {"a": [0, 1.5]}}, "'a' in 'views'"),
    "a view of nothing": ({"views": {"a": None}}, "'a' in 'views'"),
    "words beyond X": ({"words": {"a": [0, 9]}}, "'a' in 'words' must be two column numbers"),
    "an unknown type": ({"column_types": {"1": "sound"}}, "'1' is of type 'sound'; types are"),
    "a type of no feature": ({"column_types": {"zz": "date"}}, "the column 'zz' is of type"),
    "a category of no feature": ({"categories": {"zz": ["a"]}}, "category 'zz' is not a feature"),
    "a category of numbers": ({"categories": {"1": [1]}}, "must be a list of text"),
    "a category as text": ({"categories": {"1": "abcd"}}, "must be a list of text"),
    "splits as an object": ({"splits": {"a": 1}}, "'splits' must be a list"),
    "a split twice": ({"splits": ["a", "a"]}, "a split occurs twice"),
    "a split that is not there": ({"splits": ["a", "b"]}, "no array 'split1_train'"),
}


@pytest.mark.parametrize("case", list(BAD_ABOUT))
def test_npz_metadata_are_checked(tmp_path, case):
    about, message = BAD_ABOUT[case]
    with pytest.raises(DataError, match=message):
        load(npz(tmp_path / "a.npz", about, **WHOLE, **SPLIT))


def test_positions_beyond_the_values_of_a_category_raise(tmp_path):
    like = load(npz(tmp_path / "a.npz", ABOUT, **WHOLE, **SPLIT))
    path = npz(tmp_path / "b.npz", {"categories": {"1": ["no", "a"]}}, **WHOLE)
    with pytest.raises(DataError, match="'1' holds 3, which is not a position in its 2 values"):
        load(path, like=like)
