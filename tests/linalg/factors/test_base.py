"""What every factor promises, on data of every shape and scale."""

import inspect
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import eigenlabel.linalg.factors
from conftest import SHAPES, make_matrix
from eigenlabel.linalg.factors.base import Factor
from eigenlabel.linalg.factors.covariance import CovarianceFactor, StatisticsFactor
from eigenlabel.linalg.factors.gram import GramFactor, LinearGramFactor
from eigenlabel.linalg.factors.kernel_krylov import KernelKrylovFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.factors.masked import MaskedFactor
from eigenlabel.linalg.observed_cells import Cells
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.statistics import Statistics
from helpers import ridge

TIGHT = {"tol": 1e-13, "max_iter": 5000}
# Factors by name: a function of X, sample weights and whether there is an intercept. Those of a
# kernel see X through its inner products, so that X'c are the weights of exported coefficients.
FACTORS = {
    "gram": lambda X, w, centre: GramFactor(X @ X.T, w, centre, d=X.shape[1]),
    "linear gram": lambda X, w, centre: LinearGramFactor(CentredOperator(X, w, centre), centre),
    "covariance": lambda X, w, centre: CovarianceFactor(CentredOperator(X, w, centre), centre),
    "krylov": lambda X, w, centre: KrylovFactor(CentredOperator(X, w, centre), centre, **TIGHT),
    "kernel krylov": lambda X, w, centre: KernelKrylovFactor(
        lambda A, B: A @ B.T, X, w, centre, **TIGHT
    ),
    "masked": lambda X, w, centre: MaskedFactor(
        CovarianceFactor(CentredOperator(X, w, centre), centre), np.ones((len(X), 3), dtype=bool)
    ),
}
KERNELS = ("gram", "kernel krylov")


def weights_of(name, factor, X, c):
    exported = factor.export(c)
    return X.T @ exported if name in KERNELS else exported


@pytest.fixture(params=SHAPES)
def shape(request):
    return request.param


@pytest.fixture(params=FACTORS)
def name(request):
    return request.param


def draw(shape, rng, scale=1.0):
    X = scale * make_matrix(shape, rng)
    return X, rng.standard_normal((len(X), 3)), rng.uniform(0.5, 2, len(X))


def test_every_class_of_the_folder_is_a_factor_with_all_verbs():
    folder = Path(eigenlabel.linalg.factors.__file__).parent
    classes = {
        kind
        for path in folder.glob("*.py")
        for kind in vars(import_module(f"eigenlabel.linalg.factors.{path.stem}")).values()
        if inspect.isclass(kind) and kind.__name__.endswith("Factor")
    }
    complete = {kind for kind in classes if not inspect.isabstract(kind)}
    assert all(issubclass(kind, Factor) for kind in classes)
    assert {kind.__name__ for kind in complete} == {
        "CovarianceFactor",
        "GramFactor",
        "KernelKrylovFactor",
        "KrylovFactor",
        "LinearGramFactor",
        "MaskedFactor",
        "StatisticsFactor",
    }


def test_no_module_asks_for_the_class_of_a_factor():
    for path in Path(eigenlabel.__file__).parent.rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not ("isinstance" in line and "Factor" in line), f"{path}: {line}"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centre", [False, True])
def test_the_variance_is_the_mean_squared_distance_from_the_mean(
    name, shape, centre, weighted, rng
):
    X, T, w = draw(shape, rng)
    weights = w if weighted else None
    mean = np.average(X, axis=0, weights=weights) if centre else 0.0
    expected = np.average(((X - mean) ** 2).sum(axis=1), weights=weights)
    assert FACTORS[name](X, weights, centre).variance() == pytest.approx(expected, abs=1e-12)
    statistics = Statistics.of(CentredOperator(X, weights), T)
    found = StatisticsFactor(statistics, centre).variance()
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("centre", [False, True])
def test_solutions_are_ridge_regressions(name, shape, scale, centre, rng):
    X, T, w = draw(shape, rng, scale)
    factor = FACTORS[name](X, w, centre)
    shifts = [s * scale**2 for s in (0.1, 2.0)]
    solution = factor.solve(T, shifts)
    assert solution.shortfall is None
    for s, c in zip(shifts, solution.coefficients, strict=True):
        U, b = ridge(X, T, s, w, centre)
        atol = 1e-8 * max(np.abs(U).max(), 1e-300)
        np.testing.assert_allclose(weights_of(name, factor, X, c), U, atol=atol)
        np.testing.assert_allclose(factor.intercept(T, c, factor.export(c)), b, atol=1e-7)


def test_the_gradient_is_the_limit_of_growing_shifts(name, shape, rng):
    X, T, w = draw(shape, rng)
    factor = FACTORS[name](X, w, True)
    limit = 1e9 * factor.solve(T, [1e9]).coefficients[0]
    found = weights_of(name, factor, X, factor.gradient(T))
    # The next term of the limit is |X'X| / 1e9 of the first.
    np.testing.assert_allclose(found, weights_of(name, factor, X, limit), atol=1e-5)


def test_inner_products_are_those_of_the_weights(name, shape, rng):
    X, T, w = draw(shape, rng)
    factor = FACTORS[name](X, w, True)
    a, b = factor.solve(T, [0.1, 1.0]).coefficients
    A, B = (weights_of(name, factor, X, c) for c in (a, b))
    np.testing.assert_allclose(factor.inner(a, b), A.T @ B, atol=1e-9)


@pytest.mark.parametrize("centre", [False, True])
def test_scores_and_adjoint_pass_the_dot_test(name, shape, centre, rng):
    X, T, w = draw(shape, rng)
    factor = FACTORS[name](X, w, centre)
    c, t = factor.gradient(T), rng.standard_normal((len(X), 2))
    left = factor.scores(c).T @ t
    right = factor.inner(c, factor.adjoint(t))
    np.testing.assert_allclose(left, right, atol=1e-10 * max(1.0, np.abs(left).max()))


def test_an_orthonormal_basis_spans_the_directions(name, rng):
    X, T, w = draw("tall", rng)
    factor = FACTORS[name](X, w, True)
    directions = factor.gradient(T)
    basis, R = factor.orthonormalise(directions)
    Q = X.T @ basis if name in KERNELS else basis
    np.testing.assert_allclose(Q.T @ Q, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(Q @ R, weights_of(name, factor, X, directions), atol=1e-10)
    assert (np.diag(R) > 0).all()
    np.testing.assert_array_equal(np.tril(R, -1), 0)


@pytest.mark.parametrize("centre", [False, True])
def test_a_restricted_factor_is_that_of_the_rows(name, shape, centre, rng):
    X, T, w = draw(shape, rng)
    rows = np.sort(rng.permutation(len(X))[: len(X) * 2 // 3])
    part = FACTORS[name](X, w, centre).restrict(rows)
    c = part.solve(T[rows], [0.1]).coefficients[0]
    U, b = ridge(X[rows], T[rows], 0.1, w[rows], centre)
    np.testing.assert_allclose(weights_of(name, part, X[rows], c), U, atol=1e-8)
    np.testing.assert_allclose(part.intercept(T[rows], c, part.export(c)), b, atol=1e-8)


@pytest.mark.parametrize("centre", [False, True])
def test_a_fold_scores_the_rows_left_out(name, shape, centre, rng):
    X, T, w = draw(shape, rng)
    order = rng.permutation(len(X))
    train, test = np.sort(order[3:]), np.sort(order[:3])
    part, predict = FACTORS[name](X, w, centre).fold(train, test)
    c = part.solve(T[train], [0.1]).coefficients[0]
    U, b = ridge(X[train], T[train], 0.1, w[train], centre)
    found = predict(c) + part.target_means(T[train])
    if name == "masked":  # the origin of its scores is the mean of all training rows
        found -= part.offsets(c)
    np.testing.assert_allclose(found, X[test] @ U + b, atol=1e-8)


def test_a_total_weight_replaces_that_of_the_rows(name, rng):
    X, T, _ = draw("tall", rng)
    rows = np.arange(20)
    part = FACTORS[name](X, None, True).restrict(rows, total=40.0)
    c = part.solve(T[rows], [0.1]).coefficients[0]
    U, _ = ridge(X[rows], T[rows], 0.2)  # 40 * 0.1 = 20 * 0.2
    np.testing.assert_allclose(weights_of(name, part, X[rows], c), U, atol=1e-8)


@pytest.mark.parametrize("name", ["gram", "linear gram", "covariance", "krylov", "kernel krylov"])
def test_masked_solves_are_those_of_the_observed_rows(name, rng):
    X, T, w = draw("tall", rng)
    observed = rng.random(T.shape) < 0.7
    observed[:, 1] = observed[:, 0]
    factor = FACTORS[name](X, w, True)
    cells = Cells(observed, w)
    solution = factor.solve_masked(T, [0.1], cells, cells.total)
    found = weights_of(name, factor, X, solution.coefficients[0])
    for j in range(3):
        o = observed[:, j]
        shift = 0.1 * cells.total / w[o].sum()
        U, _ = ridge(X[o], T[o, j : j + 1], shift, w[o])
        np.testing.assert_allclose(found[:, j], U[:, 0], atol=1e-8)
    assert (solution.residuals is None) == (factor.accuracy == 0)


def test_statistics_without_samples_solve_the_same(shape, rng):
    X, T, w = draw(shape, rng)
    for centre in (False, True):
        whole = CovarianceFactor(CentredOperator(X, w, centre), centre)
        part = StatisticsFactor(Statistics.of(CentredOperator(X, w), T), centre)
        V = rng.standard_normal((3, 2))  # combinations of the targets
        a, b = whole.solve(T @ V, [0.1]).coefficients[0], part.solve(V, [0.1]).coefficients[0]
        np.testing.assert_allclose(b, a, atol=1e-8)
        np.testing.assert_allclose(part.origin, whole.origin, atol=1e-12)
        np.testing.assert_allclose(part.intercept(V, b, b), whole.intercept(T @ V, a, a), atol=1e-8)
        np.testing.assert_allclose(part.gradient(V), whole.gradient(T @ V), atol=1e-10)
