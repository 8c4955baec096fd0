"""The selector of features against its definition."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import (
    DiscriminativeSelector,
)
from eigenlabel.estimators.projection.discriminative_selector import scatter_ratios
from helpers import labels_of


def test_the_ratios_equal_their_definition(rng):
    X = np.abs(rng.standard_normal((30, 6)))
    Y = labels_of(X, rng, 3)
    figure = []
    for k in range(6):
        sets = [X[Y[:, m] == 1, k] for m in range(3)]
        overall = sum(s.sum() for s in sets) / sum(len(s) for s in sets)
        within = sum(((s - s.mean()) ** 2).sum() for s in sets)
        figure.append(within / sum((s.mean() - overall) ** 2 for s in sets))
    for form in (X, sp.csr_array(X)):
        model = DiscriminativeSelector(2).fit(form, Y)
        np.testing.assert_allclose(model.scatter_ratio_, figure)
        assert sorted(np.flatnonzero(model.get_support())) == sorted(np.argsort(figure)[:2])
    constant = np.column_stack([X, np.ones(30)])
    assert DiscriminativeSelector().fit(constant, Y).scatter_ratio_[-1] == np.inf


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_ratios_do_not_depend_on_the_origin(form, rng):
    X = rng.standard_normal((50, 7))
    Y = (X @ rng.standard_normal((7, 4)) > 0).astype(int)
    near = DiscriminativeSelector(3).fit(X, Y)
    far = DiscriminativeSelector(3).fit(form(X + 1e8), Y)
    np.testing.assert_allclose(far.scatter_ratio_, near.scatter_ratio_, rtol=1e-6)  # X + 1e8 rounds
    with pytest.raises(ValueError, match="rescale X"):
        DiscriminativeSelector().fit(X * 1e155, Y)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_ratios_and_their_rounding_do_not_depend_on_the_scale(form, scale, rng):
    X = rng.standard_normal((50, 7))
    Y = X @ rng.standard_normal((7, 4)) > 0
    ratio, bound = scatter_ratios(form(X), Y)
    scaled_ratio, scaled_bound = scatter_ratios(form(scale * X), Y)
    np.testing.assert_allclose(scaled_ratio, ratio)
    np.testing.assert_allclose(scaled_bound, bound)
    assert (bound > 0).all()
    assert (bound < 1e-11 * ratio).all()
