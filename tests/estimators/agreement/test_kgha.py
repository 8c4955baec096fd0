"""KGHA: the eigenproblem, its constraints, decoding, missing views and difficult data."""

import warnings

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from eigenlabel import KGHA
from eigenlabel.linalg import sum_of_hats
from eigenlabel.thresholds import Top
from helpers import projector


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


def hide(view, rows):
    view = view.copy()
    view[rows] = np.nan
    return view


def naive_hat(K, c, centre=True):
    """Fit every unit vector by kernel ridge regression, through the bordered system."""
    n = len(K)
    if not centre:
        return K @ np.linalg.solve(K + c * np.eye(n), np.eye(n))
    system = np.block([[K + c * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solved = np.linalg.solve(system, np.vstack([np.eye(n), np.zeros((1, n))]))
    return K @ solved[:-1] + solved[-1]


def naive_terms(kernels, Y, ridge, trade_off, label_ridge, centre=True):
    """List (weight, rows, hat matrix) of the views and of the labels."""
    terms = [
        (trade_off, rows, naive_hat(K, c, centre))
        for (K, rows), c in zip(kernels, ridge, strict=True)
    ]
    return [*terms, (1.0, np.arange(len(Y)), naive_hat(Y @ Y.T * 1.0, label_ridge, centre))]


def naive_solution(terms, n, p):
    """Solve the generalised eigenproblem of the sum, off the constant vector, densely."""
    P, D = np.zeros((n, n)), np.zeros(n)
    total = sum(weight for weight, _, _ in terms)
    for weight, rows, H in terms:
        P[np.ix_(rows, rows)] += weight * H
        D[rows] += weight / total
    E = sl.null_space(np.atleast_2d(D))  # 1'D E = 0
    values, V = sl.eigh(E.T @ P @ E, E.T @ (D[:, None] * E))
    return values[::-1][:p], (E @ V)[:, ::-1][:, :p], D


def objective(X, kernels, Y, ridge, trade_off, label_ridge):
    """Return the paper's f at its best weights, by regressions in explicit feature maps."""

    def one(Phi, X, c):
        """min |X - Phi W - 1b'|^2 + c |W|^2 as least squares with c as extra rows."""
        d = Phi.shape[1]
        A = np.vstack([np.c_[Phi, np.ones(len(Phi))], np.sqrt(c) * np.eye(d, d + 1)])
        B = np.vstack([X, np.zeros((d, X.shape[1]))])
        return np.sum((A @ np.linalg.lstsq(A, B, rcond=None)[0] - B) ** 2)

    total = one(Y * 1.0, X, label_ridge)
    for (K, rows), c in zip(kernels, ridge, strict=True):
        lam, Q = np.linalg.eigh(K)
        total += trade_off * one(Q * np.sqrt(np.maximum(lam, 0)), X[rows], c)
    return total


def case(data, missing):
    """Return views, labels, and (kernel matrix, rows) of both, some samples missing or none."""
    views, Y = data
    lost = {"tall": [3, 4, 50], "wide": [4, 10, 11]} if missing else {"tall": [], "wide": []}
    rows = {k: np.setdiff1d(np.arange(len(Y)), lost[k]) for k in views}
    kernels = [
        (linear_kernel(views["tall"][rows["tall"]]), rows["tall"]),
        (rbf_kernel(views["wide"][rows["wide"]], gamma=0.01), rows["wide"]),
    ]
    return {k: hide(views[k], lost[k]) for k in views}, Y, kernels


SETTING = {
    "kernel": {"tall": "linear", "wide": "rbf"},
    "gamma": 0.01,
    "ridge": {"tall": 0.5, "wide": 0.02},
    "trade_off": 0.7,
    "label_ridge": 0.3,
}


NUMBERS = ([0.5, 0.02], 0.7, 0.3)


@pytest.mark.parametrize("dense", [0, 800], ids=["Lanczos", "LAPACK"])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("centre", [True, False])
def test_scores_solve_the_dense_eigenproblem(data, missing, dense, centre, monkeypatch):
    monkeypatch.setattr(sum_of_hats, "DENSE", dense)
    views, Y, kernels = case(data, missing)
    values, X, D = naive_solution(naive_terms(kernels, Y, *NUMBERS, centre), len(Y), 3)
    model = KGHA(3, **SETTING, fit_intercept=centre).fit(views, Y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-10)
    np.testing.assert_allclose(model.coverage_, D, rtol=1e-14)
    root = np.sqrt(D)[:, None]
    np.testing.assert_allclose(
        projector(root * model.object_scores_), projector(root * X), atol=1e-9
    )


@pytest.mark.parametrize("centre", [True, False])
def test_views_of_few_features_are_solved_through_roots(data, centre, monkeypatch, rng):
    """Dense linear views with few features need no n x n matrix and no Lanczos."""
    tall, Y = data[0]["tall"], data[1][:, :4]
    other = hide(tall[:, :3] @ rng.standard_normal((3, 4)) + rng.standard_normal((60, 4)), [1, 8])
    rows = np.setdiff1d(np.arange(60), [1, 8])
    kernels = [(linear_kernel(tall), np.arange(60)), (linear_kernel(other[rows]), rows)]
    values, X, D = naive_solution(naive_terms(kernels, Y, *NUMBERS, centre), 60, 3)
    monkeypatch.setattr(sum_of_hats.HatSum, "matmat", None)
    setting = {"ridge": [0.5, 0.02], "trade_off": 0.7, "label_ridge": 0.3}
    model = KGHA(3, kernel="linear", fit_intercept=centre, **setting).fit([tall, other], Y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-10)
    root = np.sqrt(D)[:, None]
    np.testing.assert_allclose(
        projector(root * model.object_scores_), projector(root * X), atol=1e-9
    )


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("solver", ["eigen", "als"])
def test_the_constraints_hold_to_the_last_digit(data, missing, solver):
    views, Y, _ = case(data, missing)
    model = KGHA(4, **SETTING, solver=solver, n_sweeps=30, tol=0).fit(views, Y)
    X, D = model.object_scores_, model.coverage_
    assert np.abs(D @ X).max() < 1e-14  # Eq. 11
    np.testing.assert_allclose(X.T @ (D[:, None] * X), np.eye(4), atol=1e-14)  # Eq. 12
    assert (D == 1).all() != missing


@pytest.mark.parametrize("missing", [False, True])
def test_scores_minimise_the_objective(data, missing, rng):
    views, Y, kernels = case(data, missing)
    model = KGHA(3, **SETTING).fit(views, Y)
    best = objective(model.object_scores_, kernels, Y, *NUMBERS)
    assert best == pytest.approx((2 * 0.7 + 1) * 3 - model.eigenvalues_.sum(), rel=1e-10)
    root = np.sqrt(model.coverage_)[:, None]
    for step in (1e-3, 1e-1, 10.0):
        for _ in range(5):
            Z = root * (
                model.object_scores_ + step * rng.standard_normal(model.object_scores_.shape)
            )
            Q = np.linalg.qr(np.hstack([root, Z]))[0][:, 1:]
            assert objective(Q / root, kernels, Y, *NUMBERS) > best


@pytest.mark.parametrize("missing", [False, True])
def test_als_falls_to_the_same_minimum(data, missing):
    views, Y, kernels = case(data, missing)
    eigen = KGHA(3, **SETTING).fit(views, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        als = KGHA(3, **SETTING, solver="als", n_sweeps=5000, tol=1e-12).fit(views, Y)
    assert (np.diff(als.objective_) <= 1e-12).all()
    assert als.objective_[0] > als.objective_[-1] + 0.1
    assert als.objective_[-1] == pytest.approx(
        objective(als.object_scores_, kernels, Y, *NUMBERS), rel=1e-10
    )
    np.testing.assert_allclose(als.eigenvalues_, eigen.eigenvalues_, rtol=1e-10)
    # The angle left is the square root of what the objective can resolve.
    np.testing.assert_allclose(
        als.decision_function(views), eigen.decision_function(views), atol=1e-6
    )


def paper_als(kernels, Y, ridge, trade_off, label_ridge, X, n_sweeps):
    """Eqs. 26, 27 and 15 to the letter, centred by Eq. 11, no view missing."""
    n = len(Y)
    pairs = [*zip(kernels, ridge, strict=True), (Y @ Y.T * 1.0, label_ridge)]
    everything = [(K, np.linalg.inv(K + c * np.eye(n))) for K, c in pairs]
    for _ in range(n_sweeps):
        fits = [K @ (inverse @ X) for K, inverse in everything]
        X = (trade_off * sum(fits[:-1]) + fits[-1]) / (trade_off * len(kernels) + 1)
        X = np.linalg.qr(X - X.mean(axis=0))[0]
    return X, [inverse @ X for _, inverse in everything]


def test_the_paper_to_the_letter(data, rng):
    (tall, wide), Y = data[0].values(), data[1]
    train, new = slice(0, 45), slice(45, 60)
    kernels = [linear_kernel(tall[train]), rbf_kernel(wide[train], gamma=0.01)]
    start = rng.standard_normal((45, 3))
    X, alpha = paper_als(kernels, Y[train], *NUMBERS, start, 3000)
    cross = [linear_kernel(tall[new], tall[train]), rbf_kernel(wide[new], wide[train], gamma=0.01)]
    X_new = sum(K @ a for K, a in zip(cross, alpha[:-1], strict=True)) / 2  # Eq. 30
    Q = Y[train].T @ alpha[-1]
    T_new = X_new @ Q.T @ np.linalg.pinv(Q @ Q.T, rcond=1e-10)  # Eq. 31
    for solver in ("eigen", "als"):
        model = KGHA(
            3,
            **SETTING,
            decoding="pseudo-inverse",
            fit_intercept=False,
            solver=solver,
            n_sweeps=3000,
            tol=0,
        )
        model.fit({"tall": tall[train], "wide": wide[train]}, Y[train])
        np.testing.assert_allclose(projector(model.object_scores_), projector(X), atol=1e-9)
        scores = model.decision_function({"tall": tall[new], "wide": wide[new]})
        np.testing.assert_allclose((scores + 1) / 2, T_new, atol=1e-8)


def test_als_that_does_not_converge_warns_with_its_change(data):
    views, Y = data
    with pytest.warns(ConvergenceWarning, match=r"by \d.*wanted 1e-12.*after 3 sweeps"):
        model = KGHA(**SETTING, solver="als", n_sweeps=3, tol=1e-12).fit(views, Y)
    assert model.objective_.shape == (4,)
    early = KGHA(1, **SETTING, solver="als", n_sweeps=500, tol=1e-2).fit(views, Y)
    assert 4 < len(early.objective_) < 400, "it ends when the subspace rests"
    assert KGHA(**SETTING, solver="als", n_sweeps=3, tol=0).fit(views, Y).objective_.shape == (4,)
    assert not hasattr(model.set_params(solver="eigen").fit(views, Y), "objective_")


@pytest.mark.parametrize("decoding", ["regression", "pseudo-inverse"])
def test_without_trade_off_it_is_the_mean_of_ridge_regressions(data, decoding):
    """r-MLR and r-KMLR of the paper."""
    views, Y = data
    model = KGHA(1.0, kernel="linear", ridge=0.7, trade_off=0, label_ridge=0, decoding=decoding)
    scores = model.fit(views, Y).decision_function(views)
    fits = [Ridge(alpha=0.7).fit(X, Y).predict(X) for X in views.values()]
    np.testing.assert_allclose((scores + 1) / 2, np.mean(fits, axis=0), atol=1e-9)

    model.set_params(kernel="precomputed")
    H, Yc, kernels, fits = np.eye(60) - 1 / 60, Y - Y.mean(axis=0), [], []
    for X in views.values():
        K = H @ rbf_kernel(X, gamma=0.02) @ H  # KernelRidge has no intercept
        kernels.append(K)
        fits.append(KernelRidge(alpha=0.7, kernel="precomputed").fit(K, Yc).predict(K))
    scores = model.fit(kernels, Y).decision_function(kernels)
    wanted = np.mean(fits, axis=0) + Y.mean(axis=0)
    np.testing.assert_allclose((scores + 1) / 2, wanted, atol=1e-9)


def test_two_sets_without_ridge_are_canonical_correlation_analysis(data):
    """Section 3: the eigenvalues are 1 + canonical correlations, the scores the variates' mean."""
    X, Y = data[0]["tall"], data[1]
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    Qx, Qy = np.linalg.qr(Xc)[0], np.linalg.qr(Yc)[0]
    U, correlations, Vt = np.linalg.svd(Qx.T @ Qy)
    model = KGHA(4, kernel="linear", ridge=0, trade_off=1, label_ridge=0).fit(X, Y)
    np.testing.assert_allclose(model.eigenvalues_, 1 + correlations[:4], rtol=1e-10)
    variates = Qx @ U[:, :4] + Qy @ Vt.T[:, :4]
    cosines = np.abs(np.sum(variates * model.object_scores_, axis=0))
    np.testing.assert_allclose(cosines / np.linalg.norm(variates, axis=0), 1, rtol=1e-10)


def test_lemma_3_1_of_the_paper_holds(rng):
    """Pairwise differences are 2 J times those from the mean (the paper's J^2 is a slip)."""
    Z = rng.standard_normal((5, 20, 3))
    pairs = sum(np.sum((a - b) ** 2) for a in Z for b in Z)
    assert pairs == pytest.approx(2 * 5 * np.sum((Z - Z.mean(axis=0)) ** 2), rel=1e-12)


def test_indicator_tables_without_ridge_are_homogeneity_analysis(rng):
    """Eq. 10: views and labels that are indicator matrices."""
    table = rng.integers(0, 3, (50, 3))
    G = [np.eye(3)[table[:, j]] for j in range(3)]
    model = KGHA(2, kernel="linear", ridge=0, trade_off=1, label_ridge=0).fit(G[:2], G[2])
    everything = np.hstack(G)
    B = everything / np.sqrt(everything.sum(axis=0))
    s = np.linalg.svd(B, compute_uv=False)
    np.testing.assert_allclose(model.eigenvalues_, s[1:3] ** 2, rtol=1e-10)


@pytest.mark.parametrize("share", [1, 0.5, 1 / 6, 1e-9, 1.0, 0.75])
def test_dimension_is_a_number_or_a_share(data, share):
    views, Y = data
    expected = {1: 1, 0.5: 3, 1 / 6: 1, 1e-9: 1, 0.75: 4}
    model = KGHA(share).fit(views, Y)
    assert model.n_components_ == (
        6 if isinstance(share, float) and share == 1 else expected[share]
    )
    assert model.transform(views).shape == (60, model.n_components_)
    assert model.get_feature_names_out()[0] == "kgha0"


def test_a_float_one_is_all_labels_and_an_int_one_is_one(data):
    views, Y = data
    assert KGHA(1.0).fit(views, Y).n_components_ == 6
    assert KGHA(1).fit(views, Y).n_components_ == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 7}, "between 1 and 6, got 7"),
        ({"n_components": 0}, "between 1 and 6, got 0"),
        ({"n_components": 1.5}, "got 1.5"),
        ({"n_components": 0.0}, "got 0.0"),
        ({"ridge": -1}, "ridge must be a number >= 0, got -1"),
        ({"ridge": [0.1]}, "ridge has 1 values for 2 views"),
        ({"ridge": {"tall": 1}}, "missing .'wide'."),
        ({"ridge": {"tall": 1, "wide": 1, "odd": 1}}, "unknown .'odd'."),
        ({"trade_off": -0.1}, "trade_off"),
        ({"label_ridge": np.nan}, "label_ridge"),
        ({"kernel": "gauss"}, "'intersection', 'precomputed', got 'gauss'"),
        ({"gamma": -1}, "gamma"),
        ({"decoding": "other"}, "decoding"),
        ({"solver": "other"}, "solver"),
        ({"n_sweeps": 0}, "n_sweeps"),
        ({"tol": -1}, "tol"),
        ({"threshold": "other"}, "Unknown threshold rule"),
        ({"transformers": {"odd": None}}, "transformers has 'odd'"),
        ({"view_weights": "other"}, "view_weights"),
        ({"view_weights": [1, -1]}, "view_weights"),
        ({"view_weights": [0, 0]}, "all zero"),
    ],
)
def test_parameters_out_of_range_raise_an_error(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        KGHA(**parameters).fit(*data)


def test_wrong_types_of_parameters_raise_an_error(data):
    with pytest.raises(TypeError, match="'meka' or a transformer with a parameter kernel"):
        KGHA(approximation=3).fit(*data)
    with pytest.raises(ValueError, match=r"approximation must be one of .*nystrom.*, got 'other'"):
        KGHA(approximation="other").fit(*data)
    with pytest.raises(TypeError, match="views must be a dict"):
        KGHA(views=["a"]).fit(data[0]["tall"], data[1])


@pytest.mark.parametrize("view", ["tall", "wide"])
@pytest.mark.parametrize("ridge", [0.0, 1e-9, 0.3])
def test_linear_views_equal_their_kernel(data, view, ridge):
    """Covariance, Gram matrix and kernel are three ways to one hat matrix."""
    X, Y = data[0][view], data[1]
    linear = KGHA(kernel="linear", ridge=ridge).fit(X, Y)
    # The rank of the kernel follows from the precision of the features.
    kernel = KGHA(kernel="precomputed", ridge=ridge).fit(X @ X.T, Y)
    np.testing.assert_allclose(linear.eigenvalues_, kernel.eigenvalues_, rtol=1e-8)
    new = X[:7] + 0.1
    np.testing.assert_allclose(
        linear.decision_function(new), kernel.decision_function(new @ X.T), atol=1e-6
    )


def test_sparse_views_are_never_densified(data, monkeypatch):
    views, Y = data
    views = {k: np.where(np.abs(X) > 1.5, X, 0.0) for k, X in views.items()}
    setting = {"kernel": {"tall": "linear", "wide": "rbf"}}
    dense = KGHA(**setting).fit(views, Y)
    sparse = {k: sp.csr_array(X) for k, X in views.items()}
    before = {k: X.copy() for k, X in sparse.items()}

    def fail_to_densify(self, *args, **kwargs):
        if self.shape in {X.shape for X in views.values()}:
            raise AssertionError("densified")
        return to_array(self, *args, **kwargs)

    to_array = sp.csr_array.toarray
    monkeypatch.setattr(sp.csr_array, "toarray", fail_to_densify)
    model = KGHA(**setting).fit(sparse, Y)
    scores = model.decision_function(sparse)
    np.testing.assert_allclose(scores, dense.decision_function(views), atol=1e-9)
    for k, X in sparse.items():
        assert (X.data == before[k].data).all()


def embed(model, part):
    """Return the scores that one view predicts."""
    return model.views_[part.name].embed(part)


def test_missing_views_of_new_samples_leave_the_others(data):
    views, Y = data
    model = KGHA(**SETTING).fit(views, Y)
    alone = {part.name: embed(model, part) for part in model._layout.read(model, views)}
    lost = {"tall": hide(views["tall"], [0, 2]), "wide": hide(views["wide"], [1, 2])}
    embedded = model.transform(lost)
    np.testing.assert_allclose(embedded[0], alone["wide"][0], atol=1e-12)
    np.testing.assert_allclose(embedded[1], alone["tall"][1], atol=1e-12)
    assert not embedded[2].any()
    scores = model.decision_function(lost)
    np.testing.assert_allclose(scores[2], 2 * Y.mean(axis=0) - 1, atol=1e-12)
    np.testing.assert_allclose(embedded[3], (alone["tall"][3] + alone["wide"][3]) / 2, atol=1e-12)
    for whole in ({"wide": views["wide"]}, {"wide": views["wide"], "tall": None}):
        np.testing.assert_allclose(model.transform(whole), alone["wide"], atol=1e-12)


def test_a_sample_without_any_view_is_known_by_its_labels(data):
    views, Y = data
    views = {k: hide(X, [7]) for k, X in views.items()}
    model = KGHA(**SETTING).fit(views, Y)
    assert model.coverage_[7] == pytest.approx(1 / (2 * 0.7 + 1))
    assert np.isfinite(model.object_scores_).all()


def test_training_scores_are_fits_of_the_present_samples(data):
    """The stored coefficients reproduce H_j X, kernel and linear, with and without intercept."""
    views, Y, kernels = case(data, True)
    for centre in (True, False):
        model = KGHA(3, **SETTING, fit_intercept=centre).fit(views, Y)
        for (K, rows), c, name in zip(kernels, NUMBERS[0], views, strict=True):
            fit = naive_hat(K, c, centre) @ model.object_scores_[rows]
            parts = model._layout.read(model, {name: views[name][rows]})
            embedded = embed(model, next(part for part in parts if part.name == name))
            np.testing.assert_allclose(embedded, fit, atol=1e-10)


@pytest.mark.parametrize("missing", [False, True])
def test_decoding_is_a_regression_of_the_labels(data, missing):
    """Weighted by coverage; Eq. 31 inverts the label regression around both means instead."""
    views, Y, _ = case(data, missing)
    model = KGHA(3, **SETTING).fit(views, Y)
    root = np.sqrt(model.coverage_)[:, None]
    design = np.c_[np.ones(60), model.object_scores_]
    solved = np.linalg.lstsq(root * design, root * Y, rcond=None)[0]
    np.testing.assert_allclose(model.label_intercept_, solved[0], atol=1e-12)
    np.testing.assert_allclose(model.decoder_, solved[1:], atol=1e-12)
    model.set_params(decoding="pseudo-inverse").fit(views, Y)
    X, Yc = model.object_scores_, Y - Y.mean(axis=0)
    P = np.linalg.solve(Yc.T @ Yc + 0.3 * np.eye(6), Yc.T @ X)
    np.testing.assert_allclose(model.label_projection_, P, atol=1e-10)
    np.testing.assert_allclose(model.decoder_, np.linalg.pinv(P), rtol=1e-8)
    wanted = Y.mean(axis=0) - X.mean(axis=0) @ np.linalg.pinv(P)
    np.testing.assert_allclose(model.label_intercept_, wanted, atol=1e-8)


def test_order_of_samples_labels_and_views_does_not_matter(data, rng):
    views, Y = data
    scores = KGHA(**SETTING).fit(views, Y).decision_function(views)
    order, labels = rng.permutation(60), rng.permutation(6)
    turned = {k: views[k][order] for k in ("wide", "tall")}
    model = KGHA(**SETTING).fit(turned, Y[order][:, labels])
    np.testing.assert_allclose(model.decision_function(turned), scores[order][:, labels], atol=1e-9)


@pytest.mark.parametrize("decoding", ["regression", "pseudo-inverse"])
def test_labels_that_never_or_always_occur_are_predicted_so(data, decoding):
    """Duplicated, empty, full labels have finite scores; equal labels have equal ones."""
    views, Y = data
    Y = np.column_stack([Y, Y[:, 0], np.zeros(60, int), np.ones(60, int)])
    model = KGHA(1.0, decoding=decoding).fit(views, Y)
    scores = model.decision_function(views)
    assert np.isfinite(scores).all()
    assert np.abs(scores).max() < 20
    assert np.linalg.matrix_rank(model.decoder_) <= 7, "what labels do not reach is not decoded"
    np.testing.assert_allclose(scores[:, 0], scores[:, 6], atol=1e-7)
    predicted = model.predict(views)
    if decoding == "regression":
        np.testing.assert_allclose(scores[:, 7:], np.tile([-1.0, 1.0], (60, 1)), atol=1e-9)
        assert (predicted[:, 7] == 0).all()
        assert (predicted[:, 8] == 1).all()


def test_eigenvalues_that_are_all_equal(rng, monkeypatch):
    """A view that fits everything leaves the labels to decide, however many directions tie."""
    monkeypatch.setattr(sum_of_hats, "DENSE", 10)
    X = rng.standard_normal((120, 200))
    Y = rng.integers(0, 2, (120, 4))
    Y = np.hstack([Y, Y])
    model = KGHA(1.0, kernel="linear", ridge=0, label_ridge=0).fit(X, Y)
    np.testing.assert_allclose(model.eigenvalues_[:4], 1.1, rtol=1e-10)
    np.testing.assert_allclose(model.eigenvalues_[4:], 0.1, rtol=1e-10)
    np.testing.assert_allclose((model.decision_function(X) + 1) / 2, Y, atol=1e-7)


def test_lanczos_that_does_not_converge_leaves_it_to_lapack(data, monkeypatch):
    views, Y = data
    wanted = KGHA(**SETTING).fit(views, Y).decision_function(views)

    def fail(*_, **__):
        raise ArpackNoConvergence("no", np.zeros(0), np.zeros((60, 0)))

    monkeypatch.setattr(sum_of_hats, "DENSE", 10)
    monkeypatch.setattr(sum_of_hats, "eigsh", fail)
    scores = KGHA(**SETTING).fit(views, Y).decision_function(views)
    np.testing.assert_allclose(scores, wanted, atol=1e-9)


def test_fewer_samples_than_labels_are_enough(data):
    views, Y = data
    few = {k: X[:4] for k, X in views.items()}
    for kernel in ("linear", "rbf"):
        model = KGHA(1.0, kernel=kernel).fit(few, Y[:4])
        assert model.n_components_ <= 3
        assert np.isfinite(model.decision_function(few)).all()


def test_one_label_and_sparse_labels(data):
    views, Y = data
    one = KGHA().fit(views, Y[:, :1])
    assert one.predict(views).shape == (60, 1)
    sparse = KGHA().fit(views, sp.csr_array(Y))
    assert sp.issparse(sparse.predict(views))
    np.testing.assert_array_equal(
        sparse.predict(views).toarray(), KGHA().fit(views, Y).predict(views)
    )


def test_constant_features_predict_the_shares_of_labels(data):
    Y = data[1]
    for kernel in ("linear", "rbf"):
        for ridge in (0, 0.1):
            model = KGHA(kernel=kernel, ridge=ridge).fit(np.ones((60, 3)), Y)
            scores = model.decision_function(np.ones((2, 3)))
            np.testing.assert_allclose(scores, np.tile(2 * Y.mean(axis=0) - 1, (2, 1)), atol=1e-9)


def test_float32_stays_float32(data):
    views, Y = data
    small = {k: X.astype(np.float32) for k, X in views.items()}
    model = KGHA(**SETTING).fit(small, Y)
    assert model.transform(small).dtype == model.decision_function(small).dtype == np.float32
    exact = KGHA(**SETTING).fit(views, Y).decision_function(views)
    np.testing.assert_allclose(model.decision_function(small), exact, atol=1e-4)  # float32


def test_top_labels_and_thresholds_of_training_scores(data):
    views, Y = data
    model = KGHA(threshold=Top(2)).fit(views, Y)
    scores, chosen = model.decision_function(views), model.predict(views)
    assert (chosen.sum(axis=1) == 2).all()
    assert (
        np.where(chosen, scores, np.inf).min(axis=1)
        >= np.where(chosen, -np.inf, scores).max(axis=1)
    ).all()
    tuned = KGHA(threshold="f1").fit(views, Y)
    assert (tuned.thresholds_ != 0).all()
    np.testing.assert_array_equal(tuned.predict(views), scores > tuned.thresholds_)


def test_more_samples_than_fit_in_memory_raise_an_error(data, monkeypatch):
    monkeypatch.setattr("eigenlabel.linalg.machine.memory_limit", lambda: 1000.0)
    with pytest.raises(MemoryError, match="kernel matrix of view 'tall'"):
        KGHA().fit(*data)


def test_kernels_that_are_not_positive_semidefinite(data, rng):
    X, Y = data[0]["tall"], data[1]
    Q = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    lam = np.linspace(-3, 5, 60)
    K = (Q * lam) @ Q.T
    with pytest.raises(ValueError, match=r"view 'X'.*smallest eigenvalue -0.6.*repair=True"):
        KGHA(kernel="precomputed", repair=False).fit(K, Y)
    with pytest.warns(UserWarning, match="negative part is left out"):
        model = KGHA(kernel="precomputed").fit(K, Y)
    clipped = (Q * np.maximum(lam, 0)) @ Q.T
    same = KGHA(kernel="precomputed").fit(clipped, Y)
    np.testing.assert_allclose(
        model.decision_function(K), same.decision_function(clipped), atol=1e-9
    )
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        KGHA(kernel="precomputed", repair=True).fit(-clipped, Y)
    with pytest.raises(ValueError, match="not symmetric"):
        KGHA(kernel="precomputed").fit(K + np.triu(np.ones_like(K)), Y)
    with pytest.raises(ValueError, match="square"):
        KGHA(kernel="precomputed").fit(X, Y)
