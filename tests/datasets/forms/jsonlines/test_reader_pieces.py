"""JSON lines are read in pieces."""

import numpy as np

from eigenlabel.datasets import iterate, load
from forms import check_equal


def test_json_lines_without_a_field(tmp_path):
    path = tmp_path / "it.jsonl"
    path.write_text(
        '{"a": 1, "b": 2, "labels": ["x"]}\n\n{"b": 3, "labels": ["x"]}\n{"a": 4, "labels": []}\n'
    )
    whole = load(path)
    np.testing.assert_array_equal(whole.X, [[1, 2], [np.nan, 3], [4, np.nan]])
    check_equal(list(iterate(path, rows=1)), whole, 1)
