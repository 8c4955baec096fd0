"""The factor of training samples: which one is chosen, and that it solves the same equations."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from eigenlabel import CCA, MDDM, PCA, SharedSubspaceClassifier
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.kernels.factor import Solver, factorise_samples, warn_shortfall
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.gram import GramFactor, LinearGramFactor
from eigenlabel.linalg.factors.kernel_krylov import KernelKrylovFactor
from eigenlabel.linalg.factors.krylov import Bounds, KrylovFactor
from eigenlabel.linalg.factors.solution import Shortfall
from helpers import ridge

LINEAR, GAUSSIAN = Kernel("linear"), Kernel("rbf", gamma=0.3)


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(120, 15, 6, random_state=2)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("name", ["auto", "gram", "covariance", "krylov"])
def test_every_solver_fits_the_same_ridge_regression(rng, name, centre, weighted, sparse):
    X, T = rng.standard_normal((25, 6)) + 1.0, rng.standard_normal((25, 2))
    w = rng.uniform(0.5, 2, 25) if weighted else None
    solver = Solver(name, tol=1e-12, fit_intercept=centre)
    factor = factorise_samples(LINEAR, sp.csr_array(X) if sparse else X, w, solver)
    U = factor.export(factor.solve(T, [0.1]).coefficients[0])
    np.testing.assert_allclose(U, ridge(X, T, 0.1, w, centre)[0], atol=1e-8)


@pytest.mark.parametrize("name", ["auto", "gram", "krylov"])
def test_every_solver_fits_the_same_kernel_ridge_regression(rng, name):
    X, T = rng.standard_normal((25, 3)), rng.standard_normal((25, 2))
    solver = Solver(name, tol=1e-12, fit_intercept=False)
    factor = factorise_samples(GAUSSIAN, X, None, solver)
    found = factor.scores(factor.solve(T, [0.1]).coefficients[0])
    K = rbf_kernel(X, gamma=0.3)
    np.testing.assert_allclose(found, K @ np.linalg.solve(K + 2.5 * np.eye(25), T), atol=1e-8)


@pytest.mark.parametrize(
    ("kernel", "shape", "name", "kind"),
    [
        (LINEAR, (9, 5), "auto", CovarianceFactor),
        (LINEAR, (5, 9), "auto", LinearGramFactor),
        (LINEAR, (9, 5), "gram", LinearGramFactor),
        (LINEAR, (5, 9), "covariance", CovarianceFactor),
        (LINEAR, (9, 5), "krylov", KrylovFactor),
        (GAUSSIAN, (9, 5), "auto", GramFactor),
        (GAUSSIAN, (9, 5), "krylov", KernelKrylovFactor),
    ],
)
def test_kernel_shape_and_name_choose_the_factor(rng, kernel, shape, name, kind):
    factor = factorise_samples(kernel, rng.standard_normal(shape), None, Solver(name))
    assert type(factor) is kind


def test_the_limit_of_memory_is_the_free_memory_by_default(monkeypatch, rng):
    assert Solver(max_memory=7.0).limit == 7.0
    monkeypatch.setattr("eigenlabel.kernels.factor.memory_limit", lambda: 500.0)
    assert Solver().limit == 500.0
    with pytest.raises(MemoryError, match="20 x 20"):
        factorise_samples(GAUSSIAN, rng.standard_normal((20, 3)))


@pytest.mark.parametrize(
    ("name", "kernel", "message"),
    [
        (
            "krylov",
            Kernel("precomputed"),
            "solver='krylov' computes kernel values",
        ),
        ("covariance", GAUSSIAN, "works with kernel='linear' only, got kernel='rbf'"),
    ],
)
def test_solvers_that_do_not_suit_the_kernel_raise_an_error(name, kernel, message):
    with pytest.raises(ValueError, match=message):
        Solver(name).check_kernel(kernel)
    Solver("auto").check_kernel(kernel)
    Solver(name).check_kernel(LINEAR)


def test_only_a_shortfall_warns():
    warn_shortfall(None)  # warnings are errors in tests
    with pytest.warns(ConvergenceWarning, match="Too few"):
        warn_shortfall(Shortfall(0.1, 1e-6, "Too few iterations."))


@pytest.mark.parametrize("projection", [CCA(), MDDM(projection="uncorrelated")])
def test_projections_run_on_products(data, projection, monkeypatch):
    wanted = projection.fit(data.X, data.Y).transform(data.X)
    monkeypatch.setattr("eigenlabel.kernels.factor.memory_limit", lambda: 5000.0)
    monkeypatch.setattr(Bounds, "group", lambda *a: 10)
    found = projection.fit(data.X, data.Y).transform(data.X)
    np.testing.assert_allclose(found, wanted, atol=1e-4 * abs(wanted).max())  # tol = 1e-6
    assert abs(found - wanted).max() > 0
    with pytest.raises(MemoryError, match="principal axes"):
        PCA().fit(data.X)


def test_estimators_warn_of_an_early_stop(data):
    with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
        model = SharedSubspaceClassifier(solver="krylov", max_iter=2).fit(data.X, data.Y)
    assert model.n_iter_ == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tol": -1.0}, "tol must be a number >= 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"max_memory": 0}, "max_memory must be a number >= 1"),
        ({"solver": "what"}, "'krylov', got 'what'"),
        ({"kernel": "precomputed"}, "computes kernel values"),
        ({"kernel": lambda A, B: np.full((A.shape[0], B.shape[0]), np.nan)}, "NaN or infinity"),
        ({"max_memory": 1000}, None),
    ],
)
def test_invalid_settings_raise(data, parameters, message):
    X = data.X @ data.X.T if parameters.get("kernel") == "precomputed" else data.X
    with pytest.raises(MemoryError if message is None else ValueError, match=message or "Krylov"):
        SharedSubspaceClassifier(**{"solver": "krylov", **parameters}).fit(X, data.Y)
