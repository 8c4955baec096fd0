"""The shared part of ML-LS is A W W', by the papers' formulas and by those of the model alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import eigenlabel as el
from eigenlabel.inspection import explain, explain_label
from eigenlabel.inspection.contributions.linear import Coefficients
from explained import make_data
from helpers import ridge


@pytest.fixture
def data(rng):
    return make_data(rng, m=5)


@pytest.mark.parametrize("alpha", [0.1, 3.0])
def test_the_shared_part_is_the_light_regression_of_the_eigenlabels(alpha, data):
    X, Y = data
    beta, r, T = 0.02, 2, 2.0 * Y - 1.0
    A, B = ridge(X, T, beta)[0], ridge(X, T, alpha + beta)[0]
    _, E = np.linalg.eigh((A.T @ B + B.T @ A) / 2)
    W = E[:, ::-1][:, :r]
    shared, own = A @ W @ W.T, B @ (np.eye(5) - W @ W.T)
    model = el.SharedSubspaceClassifier(alpha, beta, r).fit(X, Y)
    found = explain(model, X[:4], n_top=None)
    np.testing.assert_allclose(found.shared, X[:4] @ shared, atol=1e-10)
    np.testing.assert_allclose(found.own, X[:4] @ own, atol=1e-10)
    for i in range(4):
        for j in range(5):
            names = found.names[i, j]
            at = [int(name[1:]) for name in names if name]
            part = found.shared_contributions[i, j, : len(at)]
            np.testing.assert_allclose(part, X[i, at] * shared[at, j], atol=1e-10)


def test_the_shared_part_is_the_projection_of_the_weights_on_the_shared_subspace(data):
    """The model of Ji et al. is u = Theta'v + w: what explain calls shared is Theta'Theta u."""
    X, Y = data
    model = el.SharedSubspaceClassifier(0.5, 0.1, 3).fit(X, Y)
    Theta = model.components_
    found = explain(model, X[:4])
    np.testing.assert_allclose(found.shared, X[:4] @ Theta.T @ Theta @ model.coef_.T, atol=1e-10)
    aso = el.ASOClassifier(0.5, 0.1, 3, loss="squared").fit(X, Y)
    Theta = aso.components_
    found = explain(aso, X[:4])
    np.testing.assert_allclose(found.shared, X[:4] @ Theta.T @ Theta @ aso.coef_.T, atol=1e-10)
    assert found.borrowed is None


def test_the_shared_part_of_a_kernel_model_is_the_projection_too(data):
    X, Y = data
    model = el.SharedSubspaceClassifier(0.5, 0.1, 3, kernel="rbf", gamma=0.2).fit(X, Y)
    K = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    V = model.dual_components_.T @ K @ model.dual_coef_  # coordinates of the weights
    found = explain(model, X[:4], n_top=None)
    np.testing.assert_allclose(found.shared, K[:4] @ model.dual_components_ @ V, atol=1e-9)
    naive = {f"training sample {t}": K[1, t] * model.dual_coef_[t, 2] for t in range(len(X))}
    assert found.terms(1, 2) == pytest.approx(naive, rel=1e-9, abs=1e-12)
    assert found.kind == "training sample"
    named = explain(model, X[:4], training_names=[f"t{t}" for t in range(len(X))])
    assert named.names[0, 0, 0].startswith("t")


def test_lenders_add_their_weight_times_their_score(data):
    X, Y = data
    names = list("abcde")
    model = el.SharedSubspaceClassifier(0.5, 0.1, 2).fit(X, Y)
    W = model.eigenlabels_
    F = model.decision_function(X[:3]) - model.intercept_
    found = explain(model, X[:3], labels=[1, 4], n_top=2, label_names=names)
    for i in range(3):
        for q, j in enumerate((1, 4)):
            naive = {names[k]: (W @ W.T)[j, k] * F[i, k] for k in range(5)}
            assert found.borrowed.itself[i, q] == pytest.approx(naive.pop(names[j]))
            order = sorted(naive, key=lambda name: -abs(naive[name]))
            listed = list(found.lenders(i, q))
            assert [name for name, _, _ in listed] == order[:2]
            for name, weight, contribution in listed:
                assert contribution == pytest.approx(naive[name])
                assert weight == pytest.approx((W @ W.T)[j, names.index(name)])
            assert found.borrowed.remainder[i, q] == pytest.approx(
                sum(naive[name] for name in order[2:])
            )


def test_everything_is_shared_or_nothing_in_the_limits(data):
    X, Y = data
    every = explain(el.SharedSubspaceClassifier(0.5, 0.1, 5).fit(X, Y), X[:3])
    np.testing.assert_allclose(every.own, 0.0, atol=1e-12)
    np.testing.assert_allclose(every.borrowed.contributions, 0.0, atol=1e-10)
    nothing = explain(el.SharedSubspaceClassifier(0.5, 0.1, 0).fit(X, Y), X[:3])
    np.testing.assert_allclose(nothing.shared, 0.0, atol=1e-12)


def test_precomputed_kernels(data):
    X, Y = data
    K = X @ X.T
    model = el.SharedSubspaceClassifier(0.5, 0.1, 2, kernel="precomputed").fit(K, Y)
    found = explain(model, K[:3], n_top=None)
    linear = el.SharedSubspaceClassifier(0.5, 0.1, 2).fit(X, Y)
    np.testing.assert_allclose(found.score, linear.decision_function(X[:3]), atol=1e-9)
    np.testing.assert_allclose(found.shared, explain(linear, X[:3]).shared, atol=1e-8)


def test_coefficients_of_models_of_every_form(data):
    X, Y = data
    assert Coefficients.of(el.MLkNN().fit(X, Y)) is None
    plain = Coefficients.of(RidgeClassifier(fit_intercept=False).fit(X, Y))
    assert plain.intercept.tolist() == [0.0] * 5
    sparse = el.MtSDA(l1=5.0).fit(X, Y).sparsify()
    found = Coefficients.of(sparse)
    columns, labels = np.array([1, 3]), np.array([2, 0])
    weights, shared = found.at(None, columns, labels)
    np.testing.assert_array_equal(weights, sparse.coef_.toarray()[np.ix_(labels, columns)])
    assert shared is None
    M = sp.csr_array(np.arange(24.0).reshape(8, 3))
    weights, _ = found.at(M, np.array([2]), labels)
    np.testing.assert_allclose(weights, (sparse.coef_.toarray() @ M.toarray())[labels][:, [2]])
    assert found.width == 8


def test_support_vectors_add_dual_coefficient_times_kernel(data):
    X, Y = data
    model = SVC(gamma=0.3).fit(X, Y[:, 0])
    found = explain(model, X[:2], n_top=None)
    K = np.exp(-0.3 * ((X[1] - X) ** 2).sum(axis=1))
    naive = {
        f"training sample {t}": c * K[t]
        for t, c in zip(model.support_, model.dual_coef_[0], strict=True)
    }
    assert found.terms(1, 0) == pytest.approx(naive)
    assert found.label_names.tolist() == ["1"]
    pairs = OneVsRestClassifier(SVC(kernel="precomputed")).fit(X @ X.T, Y)
    found = explain(pairs, X[:2] @ X.T)
    np.testing.assert_allclose(found.score, pairs.decision_function(X[:2] @ X.T), atol=1e-10)
    with pytest.raises(TypeError, match="SVC cannot be explained"):
        explain(SVC().fit(X, Y[:, 0] + Y[:, 1]), X[:2])
    with pytest.raises(TypeError, match="SVC cannot be explained"):
        explain(SVC(kernel=lambda A, B: A @ B.T).fit(X, Y[:, 0]), X[:2])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_model_whose_labels_share_nothing_says_nothing_of_a_subspace(kernel, data):
    X, Y = data
    for model in (
        el.SharedSubspaceClassifier(0.0, 0.1, kernel=kernel).fit(X, Y),
        el.SharedSubspaceClassifierCV([0.0], kernel=kernel).fit(X, Y),
    ):
        found = explain(model, X[:3])
        assert found.shared is None
        assert found.borrowed is None
        assert "subspace" not in str(found)
        assert explain_label(model, 0).lenders == []
    sharing = el.SharedSubspaceClassifier(0.1, 0.1, 2, kernel=kernel).fit(X, Y)
    assert explain(sharing, X[:3]).shared is not None
