"""The best label set among all label sets."""

import numpy as np
import pytest

from eigenlabel.estimators.discriminant.base import best_label_sets


def test_twenty_labels_are_accepted_and_more_raise_an_error(rng):
    theta = rng.standard_normal((20, 20))
    Y = rng.integers(0, 2, (3, 20)) == 1
    assert (best_label_sets(theta, Y @ theta) == Y).all()
    with pytest.raises(ValueError, match="at most 20 labels, there are 21"):
        best_label_sets(np.eye(21), np.zeros((1, 21)))
