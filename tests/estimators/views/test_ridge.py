"""Ridge regression on each view."""

import numpy as np
import pytest

from eigenlabel import (
    KGHA,
    KernelRidgeTagger,
)


@pytest.fixture
def data(rng):
    n = 50
    S = rng.standard_normal((n, 2))
    left = S @ rng.standard_normal((2, 4)) + rng.standard_normal((n, 4))
    right = S @ rng.standard_normal((2, 6)) + rng.standard_normal((n, 6))
    scores = S @ rng.standard_normal((2, 5))
    return left, right, (scores > 0.2).astype(int)


def test_flags_are_true_or_false(data):
    for model in (KGHA(repair="no"), KernelRidgeTagger(repair=1)):
        with pytest.raises(TypeError, match="repair must be True or False"):
            model.fit(list(data[:2]), data[2])


def test_predictions_do_not_depend_on_the_size_of_strips(data, monkeypatch):
    left, right, Y = data
    model = KGHA().fit([left, right], Y)
    wanted = model.decision_function([left, right])
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * 120)
    np.testing.assert_allclose(model.decision_function([left, right]), wanted, atol=1e-12)
