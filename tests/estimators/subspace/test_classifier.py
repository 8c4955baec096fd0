import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import KFold, LeaveOneOut

import helpers
from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.subspace import many_labels
from helpers import labels


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("beta", [1e-4, 1e-1])
@pytest.mark.parametrize("r", [1, 3, 5])
def test_equal_to_the_papers_algorithm(X_informative, rng, alpha, beta, r):
    X = X_informative
    Y = labels(len(X), 6, rng)
    T = 2.0 * Y - 1
    if r > np.linalg.matrix_rank(X):
        pytest.skip("the paper's algorithm has no more directions than X has rank")
    Theta, U = helpers.paper_ml_ls(X, T, alpha, beta, r)
    model = SharedSubspaceClassifier(alpha, beta, r, fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(model.coef_.T, U, atol=1e-8 * np.abs(U).max())
    np.testing.assert_allclose(
        helpers.projector(model.components_.T), helpers.projector(Theta.T), atol=1e-8
    )
    ours = helpers.objective(X, T, model.coef_.T, model.components_, alpha, beta)
    assert ours == pytest.approx(helpers.objective(X, T, U, Theta, alpha, beta), rel=1e-10)


@pytest.mark.parametrize("alpha", [1e-2, 1.0])
@pytest.mark.parametrize("r", [1, 3])
def test_centring_is_the_papers_algorithm_on_centred_data(X_informative, rng, alpha, r):
    X, Y = X_informative, labels(len(X_informative), 4, rng)
    T = 2.0 * Y - 1
    _, U = helpers.paper_ml_ls(X - X.mean(axis=0), T - T.mean(axis=0), alpha, 0.01, r)
    model = SharedSubspaceClassifier(alpha, 0.01, r).fit(X, Y)
    np.testing.assert_allclose(model.coef_.T, U, atol=1e-8 * np.abs(U).max())
    np.testing.assert_allclose(model.decision_function(X).mean(axis=0), T.mean(axis=0), atol=1e-10)


@pytest.mark.parametrize("r", [1, 2, 4])
def test_equal_to_theorem_5_1(rng, r):
    X, Y = rng.standard_normal((20, 5)), labels(20, 5, rng)
    K = pairwise_kernels(X, metric="rbf", gamma=0.3)
    fitted, B = helpers.theorem_5_1(K, 2.0 * Y - 1, 0.1, 0.01, r)
    kernel = SharedSubspaceClassifier(0.1, 0.01, r, kernel="rbf", gamma=0.3, fit_intercept=False)
    kernel.fit(X, Y)
    np.testing.assert_allclose(kernel.decision_function(X), fitted, atol=1e-8)
    np.testing.assert_allclose(
        helpers.projector(kernel.transform(X)), helpers.projector(K @ B), atol=1e-8
    )


def test_the_minimiser_is_one(rng):
    # No nearby (U, Theta) does better: stationarity of the objective over both.
    X, Y = rng.standard_normal((30, 8)), labels(30, 6, rng)
    T = 2.0 * Y - 1
    model = SharedSubspaceClassifier(0.3, 0.05, 2, fit_intercept=False).fit(X, Y)
    U, Theta = model.coef_.T, model.components_
    best = helpers.objective(X, T, U, Theta, 0.3, 0.05)
    for _ in range(50):
        moved = np.linalg.qr((Theta + 1e-3 * rng.standard_normal(Theta.shape)).T)[0].T
        step = 1e-3 * rng.standard_normal(U.shape)
        assert helpers.objective(X, T, U + step, moved, 0.3, 0.05) >= best


KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.5},
    {"kernel": "rbf", "gamma": 0.2},
    {"kernel": "cosine"},
    {"kernel": "laplacian", "gamma": 0.2},
]


@pytest.mark.parametrize("setting", KERNELS, ids=lambda s: s["kernel"])
@pytest.mark.parametrize("alpha", [0.0, 0.1, np.inf])
@pytest.mark.parametrize("intercept", [False, True])
def test_every_kernel_equals_its_precomputed_form_on_new_samples(rng, setting, alpha, intercept):
    X, Z, Y = rng.standard_normal((25, 4)), rng.standard_normal((7, 4)), labels(25, 6, rng)
    params = {k: v for k, v in setting.items() if k != "kernel"}
    K = pairwise_kernels(X, metric=setting["kernel"], **params)
    Kz = pairwise_kernels(Z, X, metric=setting["kernel"], **params)
    common = {"fit_intercept": intercept, "n_components": 2}
    direct = SharedSubspaceClassifier(alpha, 0.01, **common, **setting).fit(X, Y)
    given = SharedSubspaceClassifier(alpha, 0.01, **common, kernel="precomputed").fit(K, Y)

    def half(A, B, factor):
        return factor * pairwise_kernels(A, B, metric=setting["kernel"], **params) / 2

    called = SharedSubspaceClassifier(
        alpha, 0.01, **common, kernel=half, kernel_params={"factor": 2.0}
    ).fit(X, Y)
    expected = direct.decision_function(Z)
    np.testing.assert_allclose(given.decision_function(Kz), expected, atol=1e-8)
    np.testing.assert_allclose(called.decision_function(Z), expected, atol=1e-8)
    np.testing.assert_allclose(given.transform(Kz), direct.transform(Z), atol=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
def test_embedding_is_orthonormal_in_feature_space(rng, intercept):
    X, Y = rng.standard_normal((25, 4)), labels(25, 6, rng)
    linear = SharedSubspaceClassifier(0.1, 0.01, 3, fit_intercept=intercept).fit(X, Y)
    np.testing.assert_allclose(linear.components_ @ linear.components_.T, np.eye(3), atol=1e-12)
    centred = X - X.mean(axis=0) if intercept else X
    np.testing.assert_allclose(linear.transform(X), centred @ linear.components_.T, atol=1e-12)
    kernel = SharedSubspaceClassifier(
        0.1, 0.01, 3, kernel="rbf", gamma=0.25, fit_intercept=intercept
    )
    kernel.fit(X, Y)
    K = pairwise_kernels(X, metric="rbf", gamma=0.25)
    H = np.eye(25) - intercept / 25
    B = kernel.dual_components_
    np.testing.assert_allclose(B.T @ (H @ K @ H) @ B, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(kernel.transform(X), (H @ K @ H) @ B, atol=1e-10)


# The special cases of the papers' Section 4.


@pytest.mark.parametrize(("alpha", "r", "shift"), [(0.0, 2, 0.03), (0.5, 6, 0.03), (0.5, 0, 0.53)])
@pytest.mark.parametrize("intercept", [False, True])
def test_special_cases_are_ridge_regression(X_informative, rng, alpha, r, shift, intercept):
    X, Y = X_informative, labels(len(X_informative), 6, rng)
    ridge = Ridge(alpha=len(X) * shift, fit_intercept=intercept).fit(X, 2 * Y - 1)
    model = SharedSubspaceClassifier(alpha, 0.03, r, fit_intercept=intercept).fit(X, Y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-9)
    if intercept:
        np.testing.assert_allclose(model.intercept_, ridge.intercept_, atol=1e-9)


def test_a_special_case_is_kernel_ridge_regression(rng):
    X, Y = rng.standard_normal((20, 3)), labels(20, 4, rng)
    ridge = KernelRidge(alpha=20 * 0.1, kernel="rbf", gamma=0.5).fit(X, 2 * Y - 1)
    model = SharedSubspaceClassifier(0, 0.1, kernel="rbf", gamma=0.5, fit_intercept=False)
    np.testing.assert_allclose(model.fit(X, Y).dual_coef_, ridge.dual_coef_, atol=1e-10)


# Invariances.


@pytest.fixture
def data():
    return make_shared_subspace(120, 10, 8, random_state=3)


def fit(X, Y, **kw):
    return SharedSubspaceClassifier(0.1, 0.01, 3, **kw).fit(X, Y)


def test_label_order_does_not_matter(data, rng):
    shuffle = rng.permutation(8)
    before, after = fit(data.X, data.Y), fit(data.X, data.Y[:, shuffle])
    np.testing.assert_allclose(after.coef_, before.coef_[shuffle], atol=1e-10)
    np.testing.assert_allclose(after.eigenlabels_, before.eigenlabels_[shuffle], atol=1e-8)


def test_duplicated_samples_do_not_matter(data):
    twice = fit(np.repeat(data.X, 2, axis=0), np.repeat(data.Y, 2, axis=0))
    np.testing.assert_allclose(twice.coef_, fit(data.X, data.Y).coef_, atol=1e-11)


def test_rotating_the_features_rotates_the_weights(data, rng):
    Q = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    rotated = fit(data.X @ Q, data.Y)
    np.testing.assert_allclose(rotated.coef_, fit(data.X, data.Y).coef_ @ Q, atol=1e-10)


def test_shifting_the_features_moves_the_intercept_only(data):
    shifted = fit(data.X + 7, data.Y)
    np.testing.assert_allclose(shifted.coef_, fit(data.X, data.Y).coef_, atol=1e-10)
    np.testing.assert_allclose(
        shifted.decision_function(data.X + 7), fit(data.X, data.Y).decision_function(data.X)
    )


def test_both_solvers_agree(data):
    np.testing.assert_allclose(
        fit(data.X, data.Y, solver="gram").coef_,
        fit(data.X, data.Y, solver="covariance").coef_,
        atol=1e-11,
    )


def test_sample_weights_count_like_copies(data, rng):
    w = rng.integers(0, 4, 120)
    copies = np.repeat(np.arange(120), w)
    for kernel in ("linear", "rbf"):
        model = SharedSubspaceClassifier(0.1, 0.01, 3, kernel=kernel)
        weighted = model.fit(data.X, data.Y, sample_weight=w).decision_function(data.X)
        repeated = model.fit(data.X[copies], data.Y[copies]).decision_function(data.X)
        np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def test_a_penalised_constant_feature_is_the_bias_of_the_authors(data):
    ones = np.column_stack([data.X, np.ones(120)])
    _, U = helpers.paper_ml_ls(ones, 2.0 * data.Y - 1, 0.1, 0.01, 3)
    np.testing.assert_allclose(fit(ones, data.Y, fit_intercept=False).coef_.T, U, atol=1e-9)


def test_the_planted_subspace_is_found():
    data = make_shared_subspace(4000, 20, 15, 3, noise=0.1, random_state=0)
    model = SharedSubspaceClassifier(np.inf, 1e-3, 3).fit(data.X, data.Y)
    cosines = np.linalg.svd(model.components_ @ data.truth["components"].T)[1]
    assert cosines.min() > 0.99
    assert model.eigenvalues_[2] > 20 * model.eigenvalues_[3]


# Forms of input and output.


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_form_of_x_has_the_same_scores(data, kernel):
    model = SharedSubspaceClassifier(0.1, 0.01, 3, kernel=kernel)
    expected = model.fit(data.X, data.Y).decision_function(data.X)
    names = [f"f{i}" for i in range(10)]
    int64 = sp.csr_array(data.X)
    int64.indices, int64.indptr = int64.indices.astype(np.int64), int64.indptr.astype(np.int64)
    forms = [
        *(make(data.X) for make in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.lil_matrix)),
        *(make(data.X) for make in (sp.csr_array, sp.csc_array, sp.coo_array, sp.dok_array)),
        int64,
        pd.DataFrame(data.X, columns=names),
        pl.DataFrame(data.X, schema=names),
        np.asfortranarray(data.X),
        data.X.tolist(),
    ]
    for form in forms:
        found = model.fit(form, data.Y).decision_function(form)
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_duplicate_sparse_entries_are_summed_and_the_argument_kept():
    X = sp.coo_array(([1.0, 2.0, 3.0, 1.0], ([0, 0, 1, 2], [0, 0, 1, 0])), shape=(3, 2))
    raw = sp.csr_array((X.data, X.coords[1], [0, 2, 3, 4]), shape=(3, 2))
    Y = np.array([[1, 0], [0, 1], [1, 1]])
    expected = SharedSubspaceClassifier().fit(X.toarray(), Y).coef_
    np.testing.assert_allclose(SharedSubspaceClassifier().fit(raw, Y).coef_, expected, atol=1e-12)
    assert raw.nnz == 4


def test_wide_sparse_x_is_never_densified(rng, monkeypatch):
    X = sp.random_array((30, 6000), density=0.01, rng=rng, format="csr")
    Y = labels(30, 4, rng)

    def refuse(self, *args, **kwargs):
        # 30 x 30 products may become dense, anything with 6000 columns may not
        assert max(self.shape) < 6000, "densified"
        return original(self, *args, **kwargs)

    original = sp.csr_array.toarray
    monkeypatch.setattr(sp.csr_array, "toarray", refuse)
    monkeypatch.setattr(sp.csr_array, "todense", refuse)
    model = SharedSubspaceClassifier(0.1, 0.01, 2).fit(X, Y)
    model.predict(X), model.transform(X)
    with pytest.raises(AssertionError, match="densified"):
        X.toarray()


@pytest.mark.parametrize(
    ("shape", "way"),
    [
        *itertools.product([(600, 40), (40, 600)], ["fit", "many", "tuned", "tuned by one"]),
        ((600, 40), "blocks"),
    ],
)
def test_float32_far_from_zero_without_intercept(shape, way, rng, monkeypatch):
    # The offset's eigenvalue is 4e9 times the others, which are still above rounding of float32.
    X = (rng.standard_normal(shape) + 10000).astype(np.float32)
    Y = (X[:, :3] > 10000).astype(int)
    if way == "many":
        monkeypatch.setattr(many_labels, "MANY", 2)
    solver = "gram" if way != "blocks" and shape[0] < shape[1] else "covariance"
    options = {"fit_intercept": False, "solver": solver}
    if "tuned" in way:
        cv = LeaveOneOut() if way == "tuned by one" else KFold(3)
        model = SharedSubspaceClassifierCV(
            alphas=[np.inf], betas=[1e-3, 1e-2], n_components=[2], cv=cv, **options
        )
    else:
        model = SharedSubspaceClassifier(np.inf, 1e-3, 2, **options)
    fit = "partial_fit" if way == "blocks" else "fit"
    single = getattr(clone(model), fit)(X, Y)
    double = getattr(model, fit)(X.astype(float), Y)
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-5, atol=1e-5)  # float32
    if "tuned" in way:
        np.testing.assert_allclose(single.oof_scores_, double.oof_scores_, atol=1e-4)  # float32


def test_float32_is_kept_and_agrees(data):
    for kernel in ("linear", "rbf"):
        single = SharedSubspaceClassifier(0.1, 0.01, 3, kernel=kernel)
        single.fit(data.X.astype(np.float32), data.Y)
        double = SharedSubspaceClassifier(0.1, 0.01, 3, kernel=kernel).fit(data.X, data.Y)
        assert single.decision_function(data.X.astype(np.float32)).dtype == np.float32
        assert single.transform(data.X.astype(np.float32)).dtype == np.float32
        np.testing.assert_allclose(
            single.decision_function(data.X.astype(np.float32)),
            double.decision_function(data.X),
            atol=2e-5,  # float32 data and coefficients
        )


def test_names_and_output_containers(data):
    frame = pd.DataFrame(data.X, columns=data.feature_names)
    target = pd.DataFrame(data.Y, columns=data.label_names)
    model = SharedSubspaceClassifier(n_components=2).fit(frame, target)
    np.testing.assert_array_equal(model.classes_, data.label_names)
    names = ["sharedsubspaceclassifier0", "sharedsubspaceclassifier1"]
    assert model.get_feature_names_out().tolist() == names
    assert model.set_output(transform="pandas").transform(frame).columns.tolist() == names
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"feature_0": "other"}))


def test_a_pickled_model_predicts_the_same(data):
    model = fit(data.X, data.Y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(data.X), model.predict(data.X))


def test_zero_components_are_accepted(data):
    model = SharedSubspaceClassifier(n_components=0).fit(data.X, data.Y)
    assert model.components_.shape == (0, 10)
    assert model.transform(data.X).shape == (120, 0)
    constant = SharedSubspaceClassifier(np.inf, n_components=0).fit(data.X, data.Y)
    assert not constant.coef_.any()


def test_directions_without_information_are_left_out(data):
    Y = np.column_stack([data.Y[:, :3], data.Y[:, :2], np.zeros(120), np.ones(120)]).astype(int)
    model = SharedSubspaceClassifier(n_components=7).fit(data.X, Y)
    assert model.n_components_ == 3
    assert model.eigenlabels_.shape == (7, 3)
    decided = model.predict(data.X)
    assert not decided[:, 5].any()
    assert decided[:, 6].all()
    np.testing.assert_allclose(model.decision_function(data.X)[:, 5:], [[-1, 1]] * 120, atol=1e-12)


def test_kernel_parameters_reach_the_kernel(rng):
    X, Y = rng.standard_normal((20, 3)), labels(20, 4, rng)
    params = {"gamma": 0.5, "degree": 2, "coef0": 3.0}
    model = SharedSubspaceClassifier(0.1, 0.1, kernel="poly", **params).fit(X, Y)
    K = pairwise_kernels(X, metric="poly", **params)
    given = SharedSubspaceClassifier(0.1, 0.1, kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(model.dual_coef_, given.dual_coef_, atol=1e-10)


def test_weak_directions_stay_in_the_weights():
    # The second label hangs on a feature of spread 1e-8: its eigenvalue is rounding of the first.
    y1, y2 = np.repeat([0, 1], 50), np.tile([0, 1], 50)
    X, Y = np.c_[y1, 1e-8 * y2], np.c_[y1, y2]
    with pytest.warns(UserWarning, match="Standardise X"):
        model = SharedSubspaceClassifier(np.inf, 1.0, 2).fit(X, Y)
    np.testing.assert_allclose(model.coef_, Ridge(alpha=100.0).fit(X, 2 * Y - 1).coef_, rtol=1e-6)


def test_features_of_very_different_spread_work_and_warn(rng):
    y = rng.integers(0, 2, 300)
    seconds = 1.6e9 + rng.uniform(0, 1e8, 300)
    X = np.c_[seconds, y[:, None] + 0.3 * rng.standard_normal((300, 3))]
    Y = np.c_[y, 1 - y]
    for form in (X, sp.csr_array(X)):
        with pytest.warns(UserWarning, match=r"differ by a factor of .* Standardise X"):
            model = SharedSubspaceClassifier(0.1, 1e-3, 1).fit(form, Y)
        assert ((model.decision_function(form)[:, 0] > 0) == y).mean() > 0.98


def test_an_earlier_fit_leaves_nothing_behind(data):
    model = SharedSubspaceClassifier().fit(data.X, data.Y)
    model.set_params(kernel="rbf").fit(data.X, data.Y)
    assert not hasattr(model, "coef_")
    model.set_params(kernel="linear").fit(data.X, data.Y)
    assert not hasattr(model, "dual_coef_")
