"""The tables of views: transformers, widths and precomputed pairs."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from eigenlabel import (
    KGHA,
)
from eigenlabel.estimators.views.tables import FittedTable, fresh_transformers
from eigenlabel.inputs.views import Part


@pytest.fixture
def data(rng):
    n = 50
    S = rng.standard_normal((n, 2))
    left = S @ rng.standard_normal((2, 4)) + rng.standard_normal((n, 4))
    right = S @ rng.standard_normal((2, 6)) + rng.standard_normal((n, 6))
    scores = S @ rng.standard_normal((2, 5))
    return left, right, (scores > 0.2).astype(int)


def test_transformers_are_fitted_to_each_view_alone(data):
    left, right, Y = data
    scaled = [StandardScaler().fit(A) for A in (left, right)]
    wanted = KGHA().fit([scaled[0].transform(left), right], Y)
    model = KGHA(transformers={"a": StandardScaler()}).fit({"a": left, "b": right}, Y)
    new = {"a": left[:5] + 1, "b": right[:5]}
    np.testing.assert_allclose(
        model.decision_function(new),
        wanted.decision_function([scaled[0].transform(new["a"]), new["b"]]),
        atol=1e-10,
    )
    both = KGHA(transformers=StandardScaler()).fit([left, right], Y)
    assert both.views_["view0"].transformer.mean_[0] == pytest.approx(left[:, 0].mean())
    assert both.views_["view1"].transformer.mean_[0] == pytest.approx(right[:, 0].mean())


def test_a_new_table_must_have_the_columns_of_fit():
    table = FittedTable(3)
    here = np.ones(2, dtype=bool)
    with pytest.raises(ValueError, match="View 'a' has 2 columns, but 3 in fit"):
        table.prepare(Part("a", np.ones((2, 2)), here, np.arange(2)))


def test_pairs_are_cut_to_the_training_samples():
    table = FittedTable(4, columns=np.array([0, 3]))
    K = np.arange(8.0).reshape(2, 4)
    part = Part("a", K, np.ones(2, dtype=bool), np.arange(2))
    np.testing.assert_array_equal(table.prepare(part), K[:, [0, 3]])
    K[1, 3] = np.inf
    with pytest.raises(ValueError, match="View 'a' has infinity or NaN"):
        table.prepare(part)


def test_transformers_must_be_transformers_of_known_views():
    assert fresh_transformers({"a": None}, ["a"]) == {}
    with pytest.raises(ValueError, match="transformers has 'b'"):
        fresh_transformers({"b": StandardScaler()}, ["a"])
    with pytest.raises(TypeError, match="must be a transformer"):
        fresh_transformers(StandardScaler, ["a"])
