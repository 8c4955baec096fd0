import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler, normalize

from eigenlabel import MultilabelBlend, SharedSubspaceClassifierCV, metrics
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta.blend import kernel_subspace as module
from eigenlabel.estimators.meta.blend.kernel_subspace import KernelSubspace, Presence
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.thresholds import held_out_probabilities


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(120, 6, 4, prevalence=0.3, noise=0.3, random_state=0)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_it_is_the_tuned_model_with_the_chosen_bandwidth(kernel, data):
    model = KernelSubspace(kernel, random_state=0).fit(data.X, data.Y)
    scaler = StandardScaler().fit(data.X)
    Z = scaler.transform(data.X)
    plain = SharedSubspaceClassifierCV(kernel=kernel, gamma=model.gamma_).fit(Z, data.Y)
    np.testing.assert_allclose(model.oof_scores_, plain.oof_scores_, atol=1e-8)
    new = data.X[:9] + 0.2
    expected = plain.decision_function(scaler.transform(new))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-8)


def test_the_bandwidth_has_the_lowest_held_out_log_loss_of_three(rng):
    X = rng.uniform(-3, 3, (120, 2))
    Y = (np.sin(3 * X) > 0).astype(int)  # which needs a narrow kernel
    model = KernelSubspace(random_state=0).fit(X, Y)
    Z = StandardScaler().fit_transform(X)
    rule = Kernel("rbf").settle(Z, None).gamma
    order = np.random.RandomState(0).permutation(120)
    Z, Y = Z[order], Y[order]
    losses = {}
    for gamma in (rule / 4, rule, rule * 4):
        one = SharedSubspaceClassifierCV(module.ALPHAS, module.BETAS, kernel="rbf", gamma=gamma)
        P = held_out_probabilities(one.fit(Z, Y).oof_scores_, Y, method="sigmoid")
        losses[gamma] = metrics.log_loss(Y, P)
    assert min(losses, key=losses.get) == rule * 4
    assert model.gamma_ == pytest.approx(rule * 4, rel=1e-12)


def test_bandwidths_are_compared_on_some_samples(data, monkeypatch):
    sizes = []
    fit = SharedSubspaceClassifierCV.fit
    monkeypatch.setattr(
        SharedSubspaceClassifierCV,
        "fit",
        lambda self, X, y, **k: sizes.append(X.shape[0]) or fit(self, X, y, **k),
    )
    KernelSubspace(n_compared=40, random_state=0).fit(data.X, data.Y)
    assert sizes == [40, 40, 40, 120]


def test_samples_that_cannot_compare_bandwidths_use_the_rule():
    X = np.random.default_rng(0).standard_normal((30, 3))
    Y = np.zeros((30, 2), dtype=int)
    Y[:4, 0] = 1
    model = KernelSubspace(n_compared=3, random_state=0).fit(X, Y)  # fewer samples than folds
    rule = Kernel("rbf").settle(StandardScaler().fit_transform(X), None).gamma
    assert model.gamma_ == pytest.approx(rule, rel=1e-12)


def test_a_kernel_matrix_that_is_too_large_becomes_features(data, monkeypatch):
    exact = KernelSubspace(random_state=0).fit(data.X, data.Y)
    monkeypatch.setattr(module, "MOST_EXACT", 100)
    model = KernelSubspace(random_state=0).fit(data.X, data.Y)
    assert [name for name, _ in model.pipeline_.steps] == ["scaler", "meka", "model"]
    assert model.decision_function(data.X).shape == data.Y.shape
    # MEKA approximates the kernel.
    correlation = np.corrcoef(model.oof_scores_.ravel(), exact.oof_scores_.ravel())[0, 1]
    assert correlation > 0.9
    monkeypatch.setattr(module, "MOST_EXACT", 4000)
    monkeypatch.setattr(module, "memory_limit", lambda: 1000.0)
    assert module.needs_features(120)


def test_sparse_rows_have_unit_length(rng):
    X = rng.poisson(0.7, (60, 9)).astype(float)
    Y = (X[:, :2] > 1).astype(int)
    model = KernelSubspace(random_state=0).fit(sp.csr_array(X), Y)
    plain = SharedSubspaceClassifierCV(kernel="rbf", gamma=model.gamma_).fit(normalize(X), Y)
    np.testing.assert_allclose(model.oof_scores_, plain.oof_scores_, atol=1e-8)


def test_presence_forgets_how_much(rng):
    X = rng.poisson(0.7, (60, 9)).astype(float)
    Y = (X[:, :2] > 0).astype(int)
    model = Presence().fit(sp.csr_array(X), Y)
    plain = SharedSubspaceClassifierCV().fit(normalize((X > 0).astype(float)), Y)
    np.testing.assert_allclose(model.oof_scores_, plain.oof_scores_, atol=1e-8)
    new = X[:5] * 7.0
    np.testing.assert_allclose(
        model.decision_function(sp.csr_array(new)),
        model.decision_function(sp.csr_array(X[:5])),
        atol=1e-10,
    )


def test_large_sparse_samples_are_solved_by_products(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((120, 60), density=0.2, rng=rng, format="csr")
    Y = (X @ rng.standard_normal((60, 3)) > 0.3).astype(int)
    exact = MultilabelBlend(["linear", "presence"], weights="equal").fit(X, Y)
    monkeypatch.setattr(module, "MOST_EXACT_SIDE", 50)
    monkeypatch.setattr(module, "TOLERANCE", 1e-10)
    found = MultilabelBlend(["linear", "presence"], weights="equal").fit(X, Y)
    solvers = [found.members_["linear"].solver, found.members_["presence"].model_.solver]
    assert solvers == ["krylov", "krylov"]
    np.testing.assert_allclose(found.oof_scores_, exact.oof_scores_, atol=1e-5)
    dense = MultilabelBlend(["linear"]).fit(X.toarray(), Y)
    assert dense.members_["linear"].solver == "auto"


def test_bandwidths_are_compared_by_the_given_folds(data, monkeypatch):
    groups = np.arange(120) // 4
    folds = [(np.flatnonzero(groups % 3 != k), np.flatnonzero(groups % 3 == k)) for k in range(3)]
    seen = []
    tuned = module.tuned_subspace
    monkeypatch.setattr(
        module, "tuned_subspace", lambda m, **p: seen.append(p["cv"]) or tuned(m, **p)
    )
    KernelSubspace(n_compared=50, cv=folds, random_state=0).fit(data.X, data.Y)
    rows = np.random.RandomState(0).permutation(120)[:50]
    for compared in seen[:3]:
        for (train, test), (every, held_out) in zip(compared, folds, strict=True):
            assert set(rows[train]) == set(rows) & set(every)
            assert set(rows[test]) == set(rows) & set(held_out)
