"""Frames with two columns of the same name raise an error."""

import numpy as np
import pytest

import eigenlabel as el

X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 4, 5]])


Y = np.array([[1, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize(
    "estimator",
    [el.SharedSubspaceClassifier(), el.MLkNN(), el.preprocessing.DocumentFrequencySelector()],
)
def test_two_columns_of_a_frame_with_the_same_name_raise(estimator):
    pd = pytest.importorskip("pandas", reason="pandas is an extra")
    frame = pd.DataFrame(X, columns=["a", "b", "a", "c"])
    with pytest.raises(ValueError, match="Two columns of X are called 'a'; rename one of them"):
        estimator.fit(frame, Y)
