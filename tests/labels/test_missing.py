import numpy as np
import pandas as pd
import scipy.sparse as sp

from eigenlabel.labels.missing import find_missing, is_missing, to_dense


def test_missing_values_of_every_kind():
    assert [is_missing(v) for v in (None, pd.NA, pd.NaT, 0, "", float("nan"))] == [
        *[True] * 3,
        *[False] * 3,
    ]
    mixed = np.array([1, None, float("nan"), pd.NA, "a"], dtype=object)
    np.testing.assert_array_equal(find_missing(mixed), [False, True, True, True, False])
    dates = np.array(["2024-01-01", "NaT"], dtype="datetime64[D]")
    np.testing.assert_array_equal(find_missing(dates), [False, True])
    np.testing.assert_array_equal(find_missing(np.array([[1.0, np.nan]])), [False, True])
    assert not find_missing(np.array([1, 2])).any()


def test_sparse_matrices_become_arrays():
    np.testing.assert_array_equal(to_dense(sp.csr_array([[0, 2]])), [[0, 2]])
    np.testing.assert_array_equal(to_dense([[0, 2]]), [[0, 2]])
