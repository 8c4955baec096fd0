"""ASO against the problem it solves: exact steps, monotone rounds, and the limits."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import helpers
from eigenlabel import ASOClassifier, SharedSubspaceClassifier
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.margin import aso
from eigenlabel.estimators.margin.alternation import LOSSES
from helpers import draw_labels


@pytest.fixture
def data():
    return make_shared_subspace(150, n_features=12, n_labels=6, n_components=2, random_state=0)


@pytest.fixture(params=["all labels at once", "LIBLINEAR"])
def solver(request, monkeypatch):
    """Use one of the solvers of the hinge loss whatever alpha and beta are."""
    monkeypatch.setattr(aso, "ILL", 0.0 if request.param == "LIBLINEAR" else np.inf)


def naive_objective(X, Y, model):
    """Eq. 28 with both penalties, label by label, v = Theta u."""
    total = 0.0
    for u, b, y in zip(model.coef_, model.intercept_, Y.T, strict=True):
        margin = (2 * y - 1) * (X @ u + b)
        hinge = np.maximum(0, 1 - margin)
        loss = {"hinge": hinge, "squared_hinge": hinge**2, "squared": (1 - margin) ** 2}[model.loss]
        off = u - model.components_.T @ (model.components_ @ u)
        total += loss.mean() + model.alpha * off @ off + model.beta_ * u @ u
        total += 0 if model.loss == "squared" else model.beta_ * b**2
    return total


@pytest.mark.usefixtures("solver")
# 40 rounds need not be enough, nor 10,000 iterations for noise.
@pytest.mark.filterwarnings("ignore:.*ASO stopped:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("beta", [0.0, 1e-3])
def test_the_objective_is_the_papers_and_never_rises(X, rng, loss, beta):
    Y = draw_labels(len(X), rng)
    model = ASOClassifier(1e-2, beta, 2, loss=loss, tol=1e-6, max_iter=40, random_state=0)
    model.fit(X, Y)
    # Only the rounding of sums may go up.
    rounding = 1e-13 * model.objective_[0]
    assert (np.diff(model.objective_) <= rounding).all()
    assert model.objective_[-1] == pytest.approx(naive_objective(X, Y, model), rel=1e-10)
    np.testing.assert_allclose(
        model.components_ @ model.components_.T, np.eye(model.n_components_), atol=1e-12
    )
    for Theta in (np.linalg.qr(rng.standard_normal((X.shape[1], 2)))[0].T for _ in range(3)):
        other = pickle.loads(pickle.dumps(model))
        other.components_ = Theta
        assert naive_objective(X, Y, other) >= model.objective_[-1] - rounding


@pytest.mark.parametrize("alpha", [1e-2, 1.0])
@pytest.mark.parametrize("beta", [0.0, 1e-2])
@pytest.mark.parametrize("r", [1, 3])
def test_the_squared_loss_converges_to_the_closed_form(X_informative, rng, alpha, beta, r):
    X, Y = X_informative, draw_labels(len(X_informative), rng)
    model = ASOClassifier(alpha, beta, r, loss="squared", tol=1e-12, max_iter=10**5).fit(X, Y)
    exact = SharedSubspaceClassifier(alpha, beta, r).fit(X, Y)
    Xc, Tc = X - X.mean(axis=0), 2.0 * (Y - Y.mean(axis=0))
    best = helpers.objective(Xc, Tc, exact.coef_.T, exact.components_, alpha, beta)
    assert model.objective_[-1] >= best - 1e-10
    # Rounds that gain less than 1e-12 may still have a way to go: convergence is linear.
    assert model.objective_[-1] == pytest.approx(best, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("case", ["alpha = 0", "r = 0", "r = m"])
def test_limits_of_the_squared_loss_are_ridge_regression(X_informative, rng, case):
    X, Y = X_informative, draw_labels(len(X_informative), rng)
    alpha, r, shift = {"alpha = 0": (0.0, 2, 0.1), "r = 0": (0.3, 0, 0.4), "r = m": (0.3, 5, 0.1)}[
        case
    ]
    model = ASOClassifier(alpha, 0.1, r, loss="squared", tol=1e-15, max_iter=10**4).fit(X, Y)
    U, b = helpers.ridge(X, 2.0 * Y - 1, shift)
    # r = m gets there in many rounds; gains of 1e-15 leave 1e-6 or so.
    atol = 1e-6 if case == "r = m" else 1e-10
    np.testing.assert_allclose(model.coef_.T, U, atol=atol)
    np.testing.assert_allclose(model.intercept_, b, atol=atol)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_limits_of_the_margin_losses_are_single_svms(data, loss):
    X, Y = data.X, data.Y
    for alpha, beta, r in ((0.0, 0.02, 3), (0.03, 0.02, 0)):
        model = ASOClassifier(alpha, beta, r, loss=loss, random_state=0).fit(X, Y)
        for label in range(6):
            svm = LinearSVC(
                C=1 / (2 * len(X) * (alpha + beta)),
                loss=loss,
                intercept_scaling=np.sqrt((alpha + beta) / beta),
                tol=1e-8,
                max_iter=10**6,
            ).fit(X, Y[:, label])
            # The rounds end with LIBLINEAR's tolerance 1e-3 or a gap of 1e-3, so that weights are
            # good to the root of that.
            atol = 5e-3 if loss == "squared_hinge" else 2e-2
            np.testing.assert_allclose(model.coef_[label], svm.coef_[0], atol=atol)
            np.testing.assert_allclose(model.intercept_[label], svm.intercept_, atol=atol)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("loss", LOSSES)
def test_the_planted_subspace_is_found(loss):
    data = make_shared_subspace(
        800, n_features=15, n_labels=12, n_components=2, noise=0.1, random_state=3
    )
    model = ASOClassifier(1.0, 1e-3, 2, loss=loss, random_state=0).fit(data.X, data.Y)
    found, true = helpers.projector(model.components_.T), data.truth["components"]
    assert np.trace(true @ found @ true.T) > 1.95  # of 2


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_x_and_permuted_labels_change_nothing(data, loss):
    X, Y = np.where(np.abs(data.X) > 1, data.X, 0), data.Y
    model = ASOClassifier(1e-2, 1e-2, 2, loss=loss, random_state=0).fit(X, Y)
    sparse = ASOClassifier(1e-2, 1e-2, 2, loss=loss, random_state=0)
    sparse.fit(sp.csr_matrix(X), sp.csr_matrix(Y))
    np.testing.assert_allclose(sparse.coef_, model.coef_, atol=1e-8)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_matrix(X)), model.decision_function(X), atol=1e-8
    )
    order = [3, 1, 5, 0, 2, 4]
    other = ASOClassifier(1e-2, 1e-2, 2, loss=loss, random_state=0).fit(X, Y[:, order])
    np.testing.assert_allclose(other.coef_, model.coef_[order], atol=1e-8)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_constant_and_duplicated_labels_are_accepted(data, loss, fit_intercept):
    X = data.X
    Y = np.column_stack([data.Y[:, :2], data.Y[:, 0], np.zeros(150), np.ones(150)]).astype(int)
    model = ASOClassifier(loss=loss, fit_intercept=fit_intercept, n_components=4, random_state=0)
    model.fit(X, Y)
    np.testing.assert_allclose(model.coef_[2], model.coef_[0], atol=1e-10)
    if fit_intercept:
        np.testing.assert_array_equal(model.predict(X)[:, 3:], Y[:, 3:])
        # LIBLINEAR stops at 1e-3; the exact weights of a constant label are zero.
        np.testing.assert_allclose(model.coef_[3:], 0, atol=1e-2)
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_one_label_and_one_feature_are_enough(data, loss):
    one = ASOClassifier(loss=loss, random_state=0).fit(data.X, data.Y[:, [0]])
    assert one.coef_.shape == (1, 12)
    assert one.n_components_ == 1
    assert one.predict(data.X).shape == (150, 1)
    x = np.arange(-9.5, 10)[:, None]
    y = (x > 0).astype(int)
    model = ASOClassifier(1e-4, 1e-4, loss=loss, random_state=0).fit(x, np.hstack([y, 1 - y]))
    np.testing.assert_array_equal(model.predict(x), np.hstack([y, 1 - y]))


def test_stopping_early_warns(data):
    with pytest.warns(ConvergenceWarning, match="after max_iter = 1 rounds, too few to tell"):
        ASOClassifier(1e-2, 0, 2, max_iter=1, random_state=0).fit(data.X, data.Y)
    with pytest.warns(ConvergenceWarning, match="after max_iter = 3 rounds, the last of which low"):
        model = ASOClassifier(1e-2, 0, 2, max_iter=3, tol=1e-9, random_state=0).fit(data.X, data.Y)
    assert model.n_iter_ == len(model.objective_) == 3
    assert model.beta_ == pytest.approx(1e-6)  # what LIBLINEAR needs


def test_both_solvers_of_the_hinge_loss_find_the_same_objective(data, monkeypatch):
    for X in (data.X, data.X[:30] @ np.random.default_rng(0).standard_normal((12, 50))):
        Y = data.Y[: len(X)]
        monkeypatch.setattr(aso, "ILL", np.inf)
        found = ASOClassifier(1e-2, 1e-2, 2).fit(X, Y).objective_[-1]
        monkeypatch.setattr(aso, "ILL", 0.0)
        expected = ASOClassifier(1e-2, 1e-2, 2, random_state=0).fit(X, Y).objective_[-1]
        assert found == pytest.approx(expected, rel=5e-3)  # rounds end at gains of 1e-3


def test_rounds_use_more_iterations_and_warn_if_they_are_not_enough(monkeypatch):
    monkeypatch.setattr(aso, "ILL", 0.0)  # LIBLINEAR
    data = make_shared_subspace(100, 20, 5, 2, noise=0.5, random_state=0)
    few = ASOClassifier(n_components=2, svm_max_iter=1000, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"svm_max_iter = 1000 .* [1-5] of 5 labels"):
        few.fit(10 * data.X, data.Y)
    many = ASOClassifier(n_components=2, svm_max_iter=10**6, random_state=0)
    many.fit(10 * data.X, data.Y)  # no warning
    assert few.n_unsolved_ > 0
    assert many.objective_[-1] < 0.9 * few.objective_[-1]
    np.testing.assert_array_equal(many.objective_[: few.n_iter_], few.objective_)
    short = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    assert ASOClassifier(random_state=0).fit(short, data.Y).n_unsolved_ == 0


def test_float32_and_classes_are_accepted_and_input_is_not_changed(data):
    X, Y = data.X.astype(np.float32), data.Y.copy()
    copy = X.copy()
    model = ASOClassifier(random_state=0).fit(X, Y)
    assert model.coef_.dtype == model.components_.dtype == model.decision_function(X).dtype == "f4"
    np.testing.assert_array_equal(X, copy)
    y = np.array(list("abcdef"))[Y.argmax(axis=1)]
    model = ASOClassifier(random_state=0).fit(X, y)
    assert model.decision_function(X).shape == (150, len(np.unique(y)))
    assert (model.predict(X) == y).mean() > 0.5


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alpha": -1}, "alpha must be"),
        ({"alpha": np.inf}, "alpha must be"),
        ({"beta": -1}, "beta must be"),
        ({"alpha": 0, "beta": 0}, "needs alpha"),
        ({"n_components": 7}, "n_components must be an integer between 0 and 6"),
        ({"loss": "logistic"}, "loss must be one of 'hinge'"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"tol": -1}, "tol must be"),
    ],
)
def test_wrong_parameters_raise_an_error(data, parameters, words):
    with pytest.raises(ValueError, match=words):
        ASOClassifier(**parameters).fit(data.X, data.Y)


def test_wrong_data_raise_an_error(data):
    with pytest.raises(ValueError, match="NaN"):
        ASOClassifier().fit(np.where(data.X > 1, np.nan, data.X), data.Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ASOClassifier().fit(data.X, data.Y[:-1])


# 200 rounds need not be enough.
@pytest.mark.filterwarnings("ignore:.*ASO stopped:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
def test_a_linear_kernel_is_linear_aso(data, loss):
    settings = {"loss": loss, "random_state": 0, "tol": 1e-6, "max_iter": 200}
    linear = ASOClassifier(1e-2, 1e-2, 2, **settings).fit(data.X, data.Y)
    K = data.X @ data.X.T
    dual = ASOClassifier(1e-2, 1e-2, 2, kernel="precomputed", **settings).fit(K, data.Y)
    # The features differ by a rotation, so that LIBLINEAR stops elsewhere within its tolerance.
    atol = 1e-8 if loss == "squared" else 2e-2
    assert dual.objective_[-1] == pytest.approx(linear.objective_[-1], rel=1e-3)
    np.testing.assert_allclose(data.X.T @ dual.dual_coef_, linear.coef_.T, atol=atol)
    np.testing.assert_allclose(
        dual.decision_function(K), linear.decision_function(data.X), atol=5 * atol
    )
    Theta = dual.dual_components_.T @ data.X
    np.testing.assert_allclose(Theta @ Theta.T, np.eye(2), atol=1e-9)
    projector = linear.components_.T @ linear.components_
    np.testing.assert_allclose(Theta.T @ Theta, projector, atol=5 * atol)
    called = ASOClassifier(1e-2, 1e-2, 2, kernel=lambda A, B: A @ B.T, **settings)
    called.fit(data.X, data.Y)
    np.testing.assert_allclose(called.decision_function(data.X), dual.decision_function(K))


def test_kernel_aso_with_the_squared_loss_is_kernel_ml_ls(data):
    kernel = {"kernel": "rbf", "gamma": 0.05}
    aso = ASOClassifier(
        0.05, 0.01, 3, loss="squared", fit_intercept=False, tol=0, max_iter=3000, **kernel
    )
    aso.fit(data.X, data.Y)
    exact = SharedSubspaceClassifier(0.05, 0.01, n_components=3, fit_intercept=False, **kernel)
    exact.fit(data.X, data.Y)
    new = data.X[:20] + 0.1
    found, expected = aso.decision_function(new), exact.decision_function(new)
    np.testing.assert_allclose(found, expected, atol=1e-6)  # rounds converge linearly


def test_a_fit_with_another_kernel_leaves_nothing_behind(data):
    model = ASOClassifier(1e-2, 1e-2, 1, loss="squared", kernel="rbf").fit(data.X, data.Y)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "components_")
    assert model.dual_coef_.shape == (150, 6)
    model.set_params(kernel="linear").fit(data.X, data.Y)
    assert not hasattr(model, "dual_coef_")
    assert model.coef_.shape == (6, 12)
