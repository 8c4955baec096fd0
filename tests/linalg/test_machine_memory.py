"""The memory that a fit states, compared with the memory that it uses."""

import tracemalloc

import numpy as np
import pytest
from sklearn.model_selection import RepeatedKFold

from eigenlabel import LPP, MLSI, SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.estimators.subspace import solve, tuning
from eigenlabel.linalg import machine, operators
from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.gram import LinearGramFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.heldout import tuning_arrays
from eigenlabel.linalg.machine import check_memory


def problem(rng, n, d, m=3):
    X = rng.standard_normal((n, d))
    return X, (X[:, :m] + 0.5 * rng.standard_normal((n, m)) > 0.5).astype(int)


def peak(model, X, Y):
    """Return the peak of what numpy allocates in a fit, in bytes, after one to warm up."""
    model.fit(X[:40], Y[:40])
    tracemalloc.start()
    try:
        model.fit(X, Y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


SMALL_GRID = {"alphas": [0.0, 1e-3, np.inf], "betas": [0.0, 1e-3, 1.0]}


SHAPES = {
    "wide": lambda rng: problem(rng, 300, 500),
    "tall": lambda rng: problem(rng, 360, 300),
    "very tall": lambda rng: problem(rng, 1600, 300),
    "singular": lambda rng: _singular(*problem(rng, 360, 300)),
}


def _singular(X, Y):
    X[:, 150:] = X[:, :150]
    return X, Y


def test_five_arrays_must_fit(monkeypatch):
    monkeypatch.setattr(machine, "memory_limit", lambda: 5 * 8.0 * 100**2)
    check_memory(100, "problem")
    with pytest.raises(MemoryError, match="101 x 101"):
        check_memory(101, "problem")


@pytest.mark.parametrize("solver", ["gram", "covariance"])
@pytest.mark.parametrize("model", [SharedSubspaceClassifier, SharedSubspaceClassifierCV])
def test_a_solver_that_does_not_fit_raises_memory_error(rng, model, solver):
    X, Y = problem(rng, 60, 50)
    arrays = 5 if model is SharedSubspaceClassifier else 7 + 60 / 50
    side = 60 if solver == "gram" else 50
    enough = arrays * 8 * side**2 + 1
    model(solver=solver, max_memory=enough).fit(X, Y)
    with pytest.raises(MemoryError, match=r"needs about .* but the limit is .* solver='krylov'"):
        model(solver=solver, max_memory=enough - 2).fit(X, Y)


def test_a_kernel_that_does_not_fit_raises_memory_error(rng):
    X, Y = problem(rng, 60, 5)
    model = SharedSubspaceClassifier(kernel="rbf", max_memory=5 * 8 * 60**2 - 1)
    with pytest.raises(MemoryError, match=r"kernel matrix needs about 141 KiB .* limit is 141 KiB"):
        model.fit(X, Y)
    model.set_params(max_memory=5 * 8 * 60**2).fit(X, Y)


@pytest.mark.parametrize("shape", [(60, 80), (80, 60)])
def test_auto_takes_products_before_memory_ends(rng, monkeypatch, shape):
    X, Y = problem(rng, *shape)
    kinds = []

    def factorise(model, *args):
        kinds.append(type(found := original(model, *args)))
        return found

    original = solve.factorise
    monkeypatch.setattr(solve, "factorise", factorise)
    arrays = 7 + max(1, shape[0] / shape[1])
    room = arrays * 8 * 60**2
    grid = {"alphas": [0.1], "betas": [0.1, 1.0], "cv": 3}
    for limit in (room + 1, room - 1):
        SharedSubspaceClassifierCV(max_memory=limit, **grid).fit(X, Y)
    assert kinds == [LinearGramFactor if shape[0] < shape[1] else CovarianceFactor, KrylovFactor]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_fit_takes_no_more_than_it_states(rng, monkeypatch, shape, kernel):
    # Blocks of rows and chunks of scores have a fixed size; here they are small, as the data are.
    monkeypatch.setattr(operators, "BLOCK_BYTES", 2**16)
    X, Y = (part[: 400 if kernel == "rbf" else None] for part in SHAPES[shape](rng))
    n, d = X.shape
    p = min(n, d) if kernel == "linear" else n
    plain = SharedSubspaceClassifier(beta=0.0, kernel=kernel)
    assert peak(plain, X, Y) < 5.2 * 8 * p**2  # 0.2 for n x m arrays and the like
    tuned = SharedSubspaceClassifierCV(**SMALL_GRID, kernel=kernel)
    monkeypatch.setattr(tuning, "CHUNK", 2**13)
    folds = [(None, test) for test in np.array_split(np.arange(n), tuned.cv)]
    stated = tuning_arrays(n, d if kernel == "linear" else n, folds)
    stored = tuned.cv if kernel == "linear" and n > 2 * d else 0
    assert peak(tuned, X, Y) < (stated + stored + 0.5) * 8 * p**2


@pytest.mark.parametrize(("n", "d"), [(240, 200), (200, 240)])
def test_samples_that_are_tested_often_count_each_time(rng, monkeypatch, n, d):
    monkeypatch.setattr(operators, "BLOCK_BYTES", 2**16)
    monkeypatch.setattr(tuning, "CHUNK", 2**13)
    X, Y = problem(rng, n, d, 12)
    solver, repeats = "covariance" if d < n else "gram", 6
    model = SharedSubspaceClassifierCV(
        [0.0, 1e-3, 1.0],
        [1e-3, 1e-2, 0.1, 1.0, 10.0],
        cv=RepeatedKFold(n_splits=5, n_repeats=repeats, random_state=0),
        solver=solver,
    )
    room = (7 + repeats * n / 200) * 8 * 200**2
    model.set_params(max_memory=room + 1)
    assert peak(model, X, Y) < room + 0.5 * 8 * 200**2  # for n x m arrays and the like
    with pytest.raises(MemoryError, match="needs about"):
        model.set_params(max_memory=room - 1).fit(X, Y)


def test_the_bound_holds_where_products_replace_a_factor(rng, monkeypatch):
    monkeypatch.setattr(operators, "BLOCK_BYTES", 2**16)
    X, Y = problem(rng, 360, 300)
    limit = 2.5 * 8 * 300**2
    grid = {"alphas": [0.1], "betas": [0.1, 1.0]}
    found = SharedSubspaceClassifierCV(max_memory=limit, tol=1e-10, **grid)
    assert peak(found, X, Y) < limit
    exact = SharedSubspaceClassifierCV(**grid).fit(X, Y)
    np.testing.assert_allclose(found.score_grid_, exact.score_grid_, atol=1e-8)
    # The residuals of products are 1e-10 of the right side.
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=1e-8)


@pytest.mark.parametrize("n", [700, 1600])
def test_statistics_read_again_are_those_read_once(rng, n):
    X, Y = problem(rng, n, 300)
    few = SharedSubspaceClassifierCV(**SMALL_GRID, max_memory=13 * 8 * 300**2).fit(X, Y)
    many = SharedSubspaceClassifierCV(**SMALL_GRID).fit(X, Y)
    np.testing.assert_allclose(few.oof_scores_, many.oof_scores_, atol=1e-8)


@pytest.mark.parametrize("projection", [MLSI, LPP])
def test_projections_in_the_row_space_state_more_arrays(rng, monkeypatch, projection):
    monkeypatch.setattr(operators, "BLOCK_BYTES", 2**16)
    X, Y = problem(rng, 200, 300)
    assert peak(projection(n_components=2), X, Y) < 12 * 8 * 200**2
    monkeypatch.setattr("eigenlabel.kernels.factor.memory_limit", lambda: 12 * 8.0 * 200**2 - 1)
    with pytest.raises(MemoryError, match="principal axes"):
        projection().fit(X, Y)
