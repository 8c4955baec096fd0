"""Files that would fill the memory raise DataError."""

import pytest

from eigenlabel.datasets import (
    DataError,
    load,
)

SHORT = {
    "it.svm": "0 1:1\n" + "0\n" * 5000,
    "commas.svm": "0 1:1\n0" + ",0" * 20_000 + " 1:1\n",
    "it.txt": "5000 1 1\n" + "0\n" * 5000,
    "it.arff": "@relation 'r: -C -1'\n@attribute a numeric\n@attribute y {0,1}\n@data\n"
    + "{}\n" * 5000,
    "it.jsonl": '{"x": 1, "labels": ["a"]}\n' + "{}\n" * 5000,
}


@pytest.mark.parametrize("name", list(SHORT))
def test_very_many_short_lines_do_not_fill_the_memory(write, monkeypatch, name):
    path = write(SHORT[name], name)
    load(path)
    monkeypatch.setattr("eigenlabel.datasets.files.limits.memory_limit", lambda: 1e6)
    with pytest.raises(DataError, match=r"lines need about .* more than half of the memory"):
        load(path)
    load(path, max_bytes=10**6)
