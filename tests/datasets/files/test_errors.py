"""Messages quote names, but only the beginning of long ones."""

import pickle

import pytest

from eigenlabel.datasets import (
    DataError,
    load,
)


def test_long_names_in_errors_are_cut(write):
    train = load(write(f"x,labels\n1,{'ab' * 10**5}\n"))
    with pytest.raises(
        DataError, match=r"no label '(ba)+\.\.\.'; there are '(ab)+\.\.\.'"
    ) as caught:
        load(write(f"x,labels\n1,{'ba' * 10**5}\n", "new.csv"), like=train)
    assert len(str(caught.value)) < 1000


def test_an_error_survives_the_way_from_a_worker():
    error = DataError("films.csv", "no rows", 3)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.path, copy.reason, copy.line) == ("films.csv", "no rows", 3)
    assert str(copy) == str(error) == "films.csv, line 3: no rows"
