"""Low-rank factors of kernel matrices against dense algebra, and MEKA as a transformer."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline

from eigenlabel import CCA, MDDM, MEKA, SharedSubspaceClassifier
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.linalg import lowrank, operators
from eigenlabel.linalg.lowrank import BlockKernel, meka, nystrom


def kernel(A, B):
    return rbf_kernel(A, B, gamma=0.3)


@pytest.fixture
def data(rng):
    return rng.standard_normal((60, 4))


@pytest.fixture
def cluster(data):
    return (data[:, 0] > 0).astype(int) + (data[:, 1] > 0.5)


@pytest.fixture(params=["nystrom", "meka"])
def factor(request, data, cluster, rng):
    if request.param == "nystrom":
        return nystrom(kernel, data, 20, 15, rng)
    return meka(kernel, data, cluster, 25, 20, rng)


def dense(factor):
    return factor.matmat(np.eye(factor.n))


@pytest.mark.parametrize("sparse", [False, True])
def test_nystrom_is_its_textbook_formula(data, rng, sparse):
    X = sp.csr_array(data) if sparse else data
    factor = nystrom(kernel, X, 12, 60, rng)
    C, W = kernel(X, factor.blocks[0].landmarks), kernel(*[factor.blocks[0].landmarks] * 2)
    np.testing.assert_allclose(dense(factor), C @ np.linalg.pinv(W) @ C.T, atol=1e-9)


def test_truncation_keeps_the_best_rank(data):
    whole = nystrom(kernel, data, 30, 60, np.random.default_rng(3))
    cut = nystrom(kernel, data, 30, 7, np.random.default_rng(3))
    lam, V = np.linalg.eigh(dense(whole))
    np.testing.assert_allclose(dense(cut), V[:, -7:] * lam[-7:] @ V[:, -7:].T, atol=1e-10)
    np.testing.assert_allclose(cut.values, lam[-7:][::-1])


@pytest.mark.parametrize("blocks", [1, 3])
def test_every_sample_a_landmark_is_exact(data, cluster, rng, blocks):
    factor = meka(kernel, data, cluster if blocks > 1 else 0 * cluster, 60, 60, rng)
    assert len(factor.blocks) == blocks
    np.testing.assert_allclose(dense(factor), kernel(data, data), atol=1e-9)
    assert factor.error(data, rng) < 1e-9


def test_meka_is_the_nearest_psd_matrix_on_its_bases(data, cluster, monkeypatch):
    monkeypatch.setattr(lowrank, "OVERSAMPLING", 1)  # few samples: S gets a negative part
    S = {}
    link = lowrank._link
    monkeypatch.setattr(lowrank, "_link", lambda *a: S.setdefault("S", link(*a)))
    factor = meka(kernel, data, cluster, 40, 40, np.random.default_rng(0))
    Q = np.zeros((60, len(S["S"])))
    column = 0
    for block in factor.blocks:
        Q[block.rows, column : column + block.Q.shape[1]] = block.Q
        column += block.Q.shape[1]
    lam, V = np.linalg.eigh(Q @ S["S"] @ Q.T)
    assert lam[0] < -1e-3
    np.testing.assert_allclose(dense(factor), (V * np.maximum(lam, 0)) @ V.T, atol=1e-9)
    share = np.linalg.norm(lam[lam < 0]) / np.linalg.norm(lam)
    np.testing.assert_allclose(factor.clipped, share)


def test_blocks_are_nystrom_inside(data, cluster, rng):
    factor = meka(kernel, data, cluster, 30, 60, rng)
    for block in factor.blocks:
        C = kernel(data[block.rows], block.landmarks)
        W = kernel(block.landmarks, block.landmarks)
        wanted = C @ np.linalg.pinv(W) @ C.T
        np.testing.assert_allclose(block.Q * block.values @ block.Q.T, wanted, atol=1e-9)
        np.testing.assert_allclose(block.Q.T @ block.Q, np.eye(len(block.values)), atol=1e-12)
        np.testing.assert_allclose(C @ block.A, block.Q, atol=1e-7)  # cond(W) is 1e10 or so


def test_solve_is_the_dense_solution(factor, rng):
    K, B = dense(factor), rng.standard_normal((60, 3))
    shifts = [1e-6, 0.1, 10.0]
    for s, Y in zip(shifts, factor.solve(B, shifts), strict=True):
        np.testing.assert_allclose(K @ Y + s * Y, B, atol=1e-8)
    least = np.linalg.pinv(K, rcond=1e-11) @ B  # its smallest eigenvalues are known to 1e-6
    found = factor.solve(B, [0.0])[0]
    np.testing.assert_allclose(found, least, atol=1e-6 * abs(least).max())


def test_centred_is_centred_in_feature_space(factor, rng):
    H = np.eye(60) - 1 / 60
    centred = factor.centred()
    K = H @ dense(factor) @ H
    np.testing.assert_allclose(dense(centred), K, atol=1e-10)
    B = H @ rng.standard_normal((60, 2))
    Y = centred.solve(B, [0.01])[0]
    np.testing.assert_allclose(K @ Y + 0.01 * Y, B, atol=1e-10)
    np.testing.assert_allclose(centred.features().mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(centred.features() @ centred.features().T, K, atol=1e-10)


def test_centring_drops_a_constant_that_the_basis_holds(data, rng):
    factor = nystrom(lambda A, B: linear_kernel(A, B) + 1.0, data, 30, 10, rng)
    H = np.eye(60) - 1 / 60
    np.testing.assert_allclose(dense(factor.centred()), H @ data @ data.T @ H, atol=1e-9)
    assert len(factor.centred().values) == 4


def test_features_and_maps_are_the_same(factor, data):
    Z = factor.features()
    np.testing.assert_allclose(Z @ Z.T, dense(factor), atol=1e-10)
    for block, M in zip(factor.blocks, factor.maps(), strict=True):
        found = kernel(data[block.rows], block.landmarks) @ M
        np.testing.assert_allclose(found, Z[block.rows], atol=1e-7)  # cond(W) as above


def test_error_is_that_of_frobenius_on_all_entries(factor, data, rng):
    K = kernel(data, data)
    wanted = np.linalg.norm(K - dense(factor)) / np.linalg.norm(K)
    assert wanted > 1e-3
    np.testing.assert_allclose(factor.error(data, rng, size=60), wanted)
    np.testing.assert_allclose(factor.error(data, rng, size=59), wanted, rtol=0.2)  # an estimate


def test_memory_is_that_of_the_arrays(data, cluster, rng):
    factor = meka(kernel, data, cluster, 20, 10, rng)
    assert sum(len(b.values) for b in factor.blocks) == 10  # the strongest of all blocks
    values = sum(b.Q.size + b.A.size + len(b.values) + len(b.chosen) for b in factor.blocks)
    assert factor.nbytes == 8 * (values + 60 + factor.E.size + 2 * len(factor.values))


def test_rows_that_a_basis_rests_on_are_always_drawn():
    Q = np.zeros((1000, 3))
    Q[7, 0] = Q[500, 1] = 1.0
    Q[[i for i in range(1000) if i not in (7, 500)], 2] = 1 / np.sqrt(998)
    for seed in range(20):
        block = lowrank.NystromBlock(np.arange(1000), np.array([40]), None, Q, None, np.ones(3))
        picks, inverse = lowrank._sampled_rows(block, np.random.default_rng(seed))
        assert {7, 40, 500} <= set(picks)
        assert len(picks) < 50
        np.testing.assert_allclose(inverse @ Q[picks], np.eye(3), atol=1e-12)


def test_sampled_regression_is_that_on_all_rows_in_the_mean(rng):
    Q = np.linalg.qr(rng.standard_normal((300, 2)) * np.exp(2 * rng.standard_normal((300, 1))))[0]
    y = 1 / (0.1 + np.linalg.norm(Q, axis=1)) * np.sign(Q[:, 0])  # not in its span
    block = lowrank.NystromBlock(np.arange(300), np.array([0]), None, Q, None, np.ones(2))
    found = []
    for seed in range(400):
        picks, inverse = lowrank._sampled_rows(block, np.random.default_rng(seed))
        found.append(inverse @ y[picks])
    # The mean of 400 draws, and the small bias of a ratio.
    np.testing.assert_allclose(np.mean(found, axis=0), Q.T @ y, atol=0.1 * np.linalg.norm(Q.T @ y))


@pytest.mark.parametrize("seed", range(5))
def test_rare_kinds_of_samples_get_their_landmark(rng, seed):
    kinds = rng.standard_normal((9, 3))
    X = kinds[np.repeat(np.arange(9), [900, 60, 30, 1, 2, 1, 900, 1, 5])]
    factor = meka(kernel, X, np.repeat([0, 1], [994, 906]), 80, 20, np.random.default_rng(seed))
    assert factor.error(X, rng, size=1900) < 1e-9
    assert len(factor.values) == 9


def test_blocks_that_a_kernel_does_not_see(rng):
    X = np.vstack([np.zeros((10, 3)), rng.standard_normal((20, 3))])
    factor = meka(linear_kernel, X, np.repeat([0, 1], [10, 20]), 12, 10, rng)
    np.testing.assert_allclose(dense(factor), X @ X.T, atol=1e-12)
    nothing = meka(linear_kernel, 0 * X, np.repeat([0, 1], [10, 20]), 12, 10, rng)
    np.testing.assert_array_equal(dense(nothing), 0)
    assert nothing.error(0 * X, rng) == 0


@pytest.mark.parametrize("sparse", [False, True])
def test_block_kernel_holds_one_strip_at_a_time(data, rng, monkeypatch, sparse):
    monkeypatch.setattr(operators, "BLOCK_BYTES", 8 * 60 * 7)
    X, B, shapes = sp.csr_array(data) if sparse else data, rng.standard_normal((60, 3)), []

    def recorded(A, C):
        shapes.append((A.shape[0], C.shape[0]))
        return kernel(A, C)

    np.testing.assert_allclose(BlockKernel(recorded, X).matmat(B), kernel(data, data) @ B)
    assert max(a * b for a, b in shapes) <= 7 * 60
    assert sum(a * b for a, b in shapes) < 0.6 * 60 * 60  # each pair of samples once, nearly


@pytest.fixture
def labelled():
    return make_shared_subspace(150, 10, 5, random_state=1)


@pytest.mark.parametrize("method", [SharedSubspaceClassifier, MDDM, CCA])
def test_linear_methods_behind_an_exact_map_are_kernel_methods(labelled, method):
    X, Y = labelled.X, labelled.Y
    exact = method(kernel="rbf", gamma=0.05, n_components=2).fit(X[:100], Y[:100])
    mapped = make_pipeline(
        MEKA(100, n_blocks=4, n_landmarks=100, gamma=0.05, random_state=0), method(n_components=2)
    ).fit(X[:100], Y[:100])
    if method is SharedSubspaceClassifier:
        found, wanted = (m.decision_function(X[:100]) for m in (mapped, exact))
    else:
        found, wanted = (abs(m.transform(X[:100])) for m in (mapped, exact))
    # The map leaves out eigenvalues below 1e-12 of the largest.
    np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("method", [SharedSubspaceClassifier, MDDM, CCA])
@pytest.mark.parametrize("n_blocks", [1, 4])
def test_maps_serve_every_kernel_method(labelled, method, n_blocks):
    X, Y = labelled.X[:100], labelled.Y[:100]

    def found(rank, gamma):
        features = MEKA(rank, n_blocks=n_blocks, n_landmarks=rank, gamma=gamma, random_state=0)
        return projected(make_pipeline(features, method(n_components=2)).fit(X, Y), X)

    def wanted(gamma):
        return projected(method(kernel="rbf", gamma=gamma, n_components=2).fit(X, Y), X)

    # Full rank, well conditioned: the kernel itself. Low rank of a smooth kernel: near it, less so
    # with blocks, which are joined by what a sample of entries tells.
    np.testing.assert_allclose(found(100, 0.5), wanted(0.5), atol=1e-8)
    exact = wanted(1e-3)
    errors = [np.linalg.norm(found(r, 1e-3) - exact) / np.linalg.norm(exact) for r in (8, 60)]
    assert errors[1] < min(0.05 if n_blocks == 1 else 0.3, errors[0])


def projected(model, X):
    """Give scores, or coordinates up to their sign."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return abs(model.transform(X))


def test_nystrom_predicts_new_samples_by_its_formula(labelled):
    X = labelled.X
    model = MEKA(80, n_blocks=1, n_landmarks=40, gamma=0.05, random_state=0).fit(X[:100])
    L = model.landmarks_[0]
    C, C_new, W = (rbf_kernel(A, L, gamma=0.05) for A in (X[:100], X[100:], L))
    found = model.transform(X[100:]) @ model.transform(X[:100]).T
    np.testing.assert_allclose(found, C_new @ np.linalg.pinv(W) @ C.T, atol=1e-8)


def test_new_samples_approximate_the_kernel(labelled):
    X = labelled.X
    model = MEKA(100, n_blocks=3, n_landmarks=100, gamma=0.02, random_state=0).fit(X[:100])
    found = model.transform(X[100:]) @ model.transform(X[:100]).T
    wanted = rbf_kernel(X[100:], X[:100], gamma=0.02)
    assert np.linalg.norm(found - wanted) < 0.1 * np.linalg.norm(wanted)
    assert model.error_ < 1e-6  # on the samples that all are landmarks


def test_sparse_and_dense_samples_map_alike(labelled):
    X = labelled.X * (abs(labelled.X) > 0.5)
    models = [MEKA(30, n_blocks=3, random_state=0).fit(A) for A in (X, sp.csr_array(X))]
    assert models[1].landmarks_[0].format == "csr"
    found = [m.transform(A) for m, A in zip(models, (X, sp.csr_matrix(X)), strict=True)]
    np.testing.assert_allclose(found[0] @ found[0].T, found[1] @ found[1].T, atol=1e-8)


def test_map_does_not_depend_on_how_new_samples_are_cut(labelled, monkeypatch):
    model = MEKA(30, n_blocks=3, random_state=0).fit(labelled.X)
    whole = model.transform(labelled.X)
    monkeypatch.setattr(operators, "BLOCK_BYTES", 8 * 100)
    np.testing.assert_allclose(model.transform(labelled.X), whole, atol=1e-12)


def test_figures_of_the_map(labelled):
    model = MEKA(50, n_blocks=4, random_state=0).fit(labelled.X)
    assert 0 < model.error_ < 0.5
    assert 0 <= model.clipped_ < 0.2
    assert model.n_components_ <= 50
    assert model.transform(labelled.X).shape == (150, model.n_components_)
    assert model.nbytes_ < 8 * 150**2
    assert len(model.landmarks_) == len(model.centres_) == len(model.maps_) == 4
    assert sum(len(L) for L in model.landmarks_) <= 100


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"n_blocks": 0}, "n_blocks must be an integer >= 1, got 0"),
        ({"n_landmarks": 0}, "n_landmarks must be an integer >= 1, got 0"),
        ({"kernel": "precomputed"}, "fits in memory"),
        ({"kernel": "what"}, "kernel must be one of"),
        ({"kernel": lambda A, B: np.full((A.shape[0], B.shape[0]), np.nan)}, "NaN or infinity"),
        ({"kernel": lambda A, B: np.zeros((A.shape[0], B.shape[0]))}, "no positive part"),
        ({"kernel": lambda A, B: np.zeros((1, 1))}, "expected shape"),
    ],
)
def test_what_cannot_be_mapped(labelled, parameters, message):
    with pytest.raises(ValueError, match=message):
        MEKA(**parameters).fit(labelled.X)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_samples(rng, n):
    X = rng.standard_normal((n, 3))
    Z = MEKA(gamma=0.3, random_state=0).fit(X).transform(X)
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X, gamma=0.3), atol=1e-9)


def test_duplicated_samples(rng):
    X = np.repeat(rng.standard_normal((5, 3)), 8, axis=0)
    Z = MEKA(n_blocks=8, gamma=0.3, random_state=0).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X, gamma=0.3), atol=1e-9)
