"""Cells of a table that are not what the rest of their column is."""

import numpy as np
import pandas as pd
import pytest

from eigenlabel.datasets import DataError, from_frame, iterate, load_table

both = pytest.mark.usefixtures("engine")


# One label column with holes


@both
@pytest.mark.parametrize("hole", ["", "NA", "n/a"])
def test_a_label_column_of_0_and_1_with_a_hole_is_one_label(write, hole):
    path = write(f"x,y\n1,0\n2,1\n3,{hole}\n4,1\n")
    with pytest.raises(DataError, match=r"line 4.*must be 0 or 1, found nothing; pass missing_la"):
        load_table(path, labels="y")
    data = load_table(path, labels="y", missing_labels="nan")
    assert data.label_names.tolist() == ["y"]
    np.testing.assert_array_equal(data.Y.toarray(), [[0], [1], [np.nan], [1]])
    (piece,) = iterate(path, labels="y", missing_labels="nan")
    np.testing.assert_array_equal(piece.Y.toarray(), data.Y.toarray())


@pytest.mark.parametrize("cells", [[0, 1, None], ["0", "1", None], ["0", "1", "missing"]])
def test_a_label_column_of_a_frame_with_a_hole_is_one_label(cells):
    frame = pd.DataFrame({"x": [1.0, 2, 3], "y": pd.Series(cells, dtype=object)})
    with pytest.raises(DataError, match="found nothing; pass missing_labels='nan'"):
        from_frame(frame, labels="y")
    data = from_frame(frame, labels="y", missing_labels="nan")
    np.testing.assert_array_equal(data.Y.toarray(), [[0], [1], [np.nan]])
    again = from_frame(frame, labels="y", missing_labels="nan", like=data)
    np.testing.assert_array_equal(again.Y.toarray(), data.Y.toarray())


@both
@pytest.mark.parametrize("hole", ["-1", ""])
def test_a_label_column_of_minus_1_and_1_is_refused(write, hole):
    path = write(f"x,y\n1,-1\n2,1\n3,{hole}\n")
    with pytest.raises(DataError, match=r"label 'y' holds -1 and 1; write 0 for -1"):
        load_table(path, labels="y")


@both
def test_a_column_of_other_numbers_still_names_labels(write):
    assert load_table(write("x,y\n1,0\n2,1\n3,2\n"), labels="y").label_names.tolist() == list("012")
