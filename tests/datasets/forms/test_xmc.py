"""Text of the Extreme Classification Repository is read with its splits."""

import numpy as np
import pytest

from eigenlabel.datasets import (
    DataError,
    load,
)


def test_xmc_by_hand(tmp_path):
    path = tmp_path / "d.txt"
    path.write_text("4 5 3\n0,2 0:1.5 4:1\n 1:1\n\n1 2:1\n")
    (tmp_path / "d_trSplit.txt").write_text("1 2\n3 4\n")
    (tmp_path / "d_tstSplit.txt").write_text("2 1\n4 3\n")
    data = load(path)
    expected = np.zeros((4, 5))
    expected[[0, 0, 1, 3], [0, 4, 1, 2]] = [1.5, 1, 1, 1]
    np.testing.assert_array_equal(data.X.toarray(), expected)
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0]])
    assert {k: [p.tolist() for p in v] for k, v in data.splits.items()} == {
        "0": [[0, 2], [1, 3]],
        "1": [[1, 3], [0, 2]],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10000000000 5 3\n1 1:1\n", "promises 10000000000 samples, there are 1"),
        ("1 5 99999999999\n1 1:1\n", "too many"),
        ("1 5 3\n1 7:1\n", "line 2: feature 7 beyond the 5 features"),
        ("1 5 3\n4 1:1\n", "label 4 is not between 0 and 2"),
        ("2 5 3\n1 1:1\n1 1:\n", "line 3: value '' is not a number"),
    ],
)
def test_broken_xmc_raises_an_error(tmp_path, text, message):
    path = tmp_path / "e.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        load(path)


def test_broken_splits_raise_an_error(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("2 5 3\n1 1:1\n1 1:1\n")
    (tmp_path / "e_trSplit.txt").write_text("1\n")
    (tmp_path / "e_tstSplit.txt").write_text("3\n")
    with pytest.raises(
        DataError, match=r"tstSplit.txt, line 1: row numbers must lie between 1 and 2"
    ):
        load(path)
