"""The kernel of each view: bandwidths and approximations."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.kernel_approximation import Nystroem

from eigenlabel import (
    KGHA,
    MEKA,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.kernels.bandwidth import mean_distance


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("chunk", [2**22, 64, 1])
def test_mean_distance_is_that_of_all_pairs(rng, form, chunk, monkeypatch):
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * chunk)
    X = rng.standard_normal((23, 4)) * (rng.random((23, 4)) < 0.6)
    X[3] = X[4]
    assert mean_distance(form(X)) == pytest.approx(cdist(X, X).mean(), rel=1e-8)
    model = KGHA().fit(form(X), rng.integers(0, 2, (23, 3)))
    assert model.views_["X"].kernel.gamma == pytest.approx(1 / (2 * cdist(X, X).mean() ** 2))
    far = np.abs(X) + 1e6  # distances do not change, digits of squares would
    if form is np.asarray:
        assert mean_distance(X + 1e6) == pytest.approx(cdist(X, X).mean(), rel=1e-8)
        assert mean_distance(far.astype(np.float32)) > 0


@pytest.fixture
def data(rng):
    """Two views of planted scores, and labels."""
    n, m = 60, 6
    S = rng.standard_normal((n, 3))
    tall = S @ rng.standard_normal((3, 5)) + 0.5 * rng.standard_normal((n, 5)) + 2.0
    wide = S @ rng.standard_normal((3, 90)) + 0.5 * rng.standard_normal((n, 90)) - 1.0
    scores = S @ rng.standard_normal((3, m)) + 0.3 * rng.standard_normal((n, m))
    Y = (scores > np.quantile(scores, 0.6, axis=0)).astype(int)
    return {"tall": tall, "wide": wide}, Y


def test_an_approximation_replaces_the_kernel(data):
    """With as many landmarks as samples Nystrom's features are the kernel itself."""
    views, Y = data
    features = Nystroem("linear", n_components=60, random_state=0)

    exact = KGHA(gamma=0.02).fit(views, Y)
    mapped = KGHA(gamma=0.02, approximation=features).fit(views, Y)
    new = {k: X[:5] + 0.1 for k, X in views.items()}
    np.testing.assert_allclose(
        mapped.decision_function(new), exact.decision_function(new), atol=1e-8
    )
    assert features.kernel == "linear", "what the user passed is not changed"
    assert mapped.views_["wide"].features.gamma == 0.02
    assert mapped.views_["tall"].X is None


@pytest.mark.parametrize(
    "features",
    [
        *("nystrom", "meka", MEKA(60, n_blocks=1, n_landmarks=60), MEKA(60, n_landmarks=60)),
        {"tall": "meka", "wide": Nystroem(n_components=60)},
    ],
    ids=["nystrom", "meka", "one block", "ten blocks", "by view"],
)
def test_a_map_of_full_rank_is_the_kernel(data, features):
    views, Y = data
    kernel = {"gamma": 0.5, "random_state": 0}  # well conditioned: nothing is cut off
    exact = KGHA(**kernel).fit(views, Y)
    mapped = KGHA(**kernel, approximation=features).fit(views, Y)
    np.testing.assert_allclose(mapped.eigenvalues_, exact.eigenvalues_, atol=1e-8)
    np.testing.assert_allclose(
        mapped.decision_function(views), exact.decision_function(views), atol=1e-8
    )
    assert mapped.views_["tall"].X is None


def test_a_map_of_low_rank_is_near_the_kernel():
    data = make_shared_subspace(400, 12, 6, 3, noise=0.1, random_state=0)
    views = {"left": slice(0, 6), "right": slice(6, None)}
    kernel = {"views": views, "gamma": 0.01, "random_state": 0}
    exact = KGHA(**kernel).fit(data.X[:300], data.Y[:300]).decision_function(data.X[300:])
    errors = []
    for rank in (10, 40, 150):
        model = KGHA(**kernel, approximation=MEKA(rank, n_blocks=3, random_state=0))
        found = model.fit(data.X[:300], data.Y[:300]).decision_function(data.X[300:])
        errors.append(np.linalg.norm(found - exact) / np.linalg.norm(exact))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.01


def test_named_maps_are_those_of_meka(data):
    views, Y = data
    for name, blocks in (("nystrom", 1), ("meka", 10)):
        model = KGHA(approximation=name, gamma=0.3, random_state=3).fit(views, Y)
        features = model.views_["wide"].features
        assert isinstance(features, MEKA)
        assert (features.n_blocks, features.gamma, features.random_state) == (blocks, 0.3, 3)
        again = KGHA(approximation=name, gamma=0.3, random_state=3).fit(views, Y)
        np.testing.assert_array_equal(
            again.decision_function(views), model.decision_function(views)
        )
