"""Names of columns: numbered, or as arrays of bounded size."""

import numpy as np
import pytest

from eigenlabel.datasets import (
    DataError,
    load,
)
from eigenlabel.datasets.files.names import number_names


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 100, 1234])
def test_numbered_names_are_those_of_numpy(count):
    np.testing.assert_array_equal(number_names("a", count), np.arange(count).astype(str))


def test_one_long_name_does_not_fill_memory(write, monkeypatch):
    monkeypatch.setattr("eigenlabel.datasets.files.limits.memory_limit", lambda: 2**30)
    long = "x" * 10**5
    rows = "".join(f"{i},1,a\n" for i in range(10**4))
    text = f"id,x,labels\n{long},1,a\n{rows}"
    with pytest.raises(DataError, match="10,001 names, one of 100,000 characters, are too long"):
        load(write(text), samples="id")
    assert load(write(text), drop="id").X.shape == (10_001, 1)
    with pytest.raises(DataError, match="names, one of 100,000 characters") as caught:
        load(write(text), labels="id", drop="labels")
    assert len(str(caught.value)) < 1000
