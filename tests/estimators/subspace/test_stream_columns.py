"""Columns of a stream: learnt from the first block, and the same in all others."""

import numpy as np
import pandas as pd
import pytest

from eigenlabel import SharedSubspaceClassifier
from eigenlabel.estimators.subspace.stream import Columns, placed


def learn(X, y, classes=None):
    model = SharedSubspaceClassifier()
    return model, Columns.learn(model, X, y, classes)


def test_another_estimator_remembers_the_features():
    X = pd.DataFrame(np.eye(3), columns=list("abc"))
    _, columns = learn(X, np.eye(3, 2, dtype=int))
    other = SharedSubspaceClassifier()
    columns.store(other)
    assert other.n_features_in_ == 3
    assert other.feature_names_in_.tolist() == list("abc")
    learn(np.eye(2), np.eye(2, dtype=int))[1].store(other)
    assert other.n_features_in_ == 2
    assert not hasattr(other, "feature_names_in_")


def test_blocks_are_encoded_and_checked():
    model, columns = learn(np.eye(3), ["a", "b", "a"], ["a", "b", "c"])
    block = columns.check_block(model, np.eye(3), ["c", "a", "b"], None)
    np.testing.assert_array_equal(block.Y, np.eye(3)[[2, 0, 1]].astype(bool))
    with pytest.raises(ValueError, match="X has 2 features"):
        columns.check_block(model, np.eye(2), ["a", "b"], None)


def test_columns_of_other_widths_names_or_labels_differ():
    Y = np.eye(3, 2, dtype=int)
    _, columns = learn(np.eye(3), Y)
    columns.check_same(learn(np.eye(3), Y)[1])
    with pytest.raises(ValueError, match="other model has 2 features, this one 3"):
        columns.check_same(learn(np.eye(3, 2), Y)[1])
    with pytest.raises(ValueError, match="different labels or classes"):
        columns.check_same(learn(np.eye(3), np.eye(3, dtype=int))[1])


def test_an_error_is_placed_at_its_row():
    X = np.eye(3)
    X[1, 0] = np.nan
    with pytest.raises(ValueError, match="Block 7, row 1: wrong"), placed("Block 7", X):
        raise ValueError("wrong")
    with pytest.raises(TypeError, match="Block 7: wrong"), placed("Block 7", np.eye(2)):
        raise TypeError("wrong")
