"""Low-rank approximations of kernel matrices against dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

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


def test_rows_that_determine_a_basis_vector_are_always_drawn():
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
