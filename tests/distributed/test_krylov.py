"""Fits by products alone equal local fits, and partitions are built as rarely as possible."""

import os
import signal

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV, distributed
from eigenlabel.distributed import cluster as _cluster
from eigenlabel.distributed import krylov as _krylov
from streams import assert_equal_models


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [0.1, np.inf])
def test_products_alone_equal_a_local_fit(data, rng, sparse, intercept, alpha):
    w = rng.uniform(0, 2, 120)
    w[:7] = 0
    setting = {"solver": "krylov", "tol": 1e-12, "fit_intercept": intercept}
    model = SharedSubspaceClassifier(alpha, 0.1, **setting)
    cuts = [slice(0, 30), slice(30, 30), slice(30, 120)]
    X, Y, weights = ([dask.delayed(A[cut]) for cut in cuts] for A in (data.X, data.Y, w))
    if sparse:
        X = [dask.delayed(sp.csr_array)(part) for part in X]
    assert distributed.fit(model, X, Y, weights) is model
    expected = SharedSubspaceClassifier(alpha, 0.1, fit_intercept=intercept).fit(data.X, data.Y, w)
    assert_equal_models(model, expected)
    assert model.n_iter_ > 1
    scores = distributed.decision_function(model, data.X).compute()
    np.testing.assert_allclose(scores, expected.decision_function(data.X), atol=1e-8)
    assert set(vars(model)) == set(vars(SharedSubspaceClassifier(**setting).fit(data.X, data.Y)))
    plain = SharedSubspaceClassifier(alpha, 0.1, fit_intercept=intercept).fit(data.X, data.Y)
    assert_equal_models(distributed.fit(model, data.X, data.Y), plain)  # starts again


def test_products_alone_of_classes_and_of_bad_partitions(data):
    X, y = make_blobs(60, centers=3, random_state=1)
    model = SharedSubspaceClassifier(0.1, 0.1, solver="krylov", tol=1e-12)
    distributed.fit(model, da.from_array(X, chunks=25), da.from_array(y, chunks=25))
    assert_equal_models(model, SharedSubspaceClassifier(0.1, 0.1).fit(X, y))
    broken = data.X.copy()
    broken[90, 3] = np.nan
    with pytest.raises(ValueError, match="Partition 3, row 10: Input X contains NaN"):
        distributed.fit(model, da.from_array(broken, chunks=(40, -1)), data.Y)
    narrow = [dask.delayed(data.X), dask.delayed(data.X[:, :4])]
    with pytest.raises(
        ValueError,
        match="Partition 2 beside partition 1: The other model has 4 features, this one 9",
    ):
        distributed.fit(model, narrow, [dask.delayed(data.Y)] * 2)
    assert model.n_features_in_ == 2
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations"):
        distributed.fit(SharedSubspaceClassifier(solver="krylov", max_iter=1), data.X, data.Y)
    with pytest.raises(ValueError, match="Tuning on blocks works on their statistics"):
        distributed.fit(SharedSubspaceClassifierCV(solver="krylov"), data.X, data.Y)


def rows_that_count(X, Y, folder):
    """Return a partition and leave a file for each call."""
    import tempfile

    os.close(tempfile.mkstemp(dir=folder)[0])
    return X, Y


def counted_partitions(data, tmp_path, vector=False):
    """Return delayed partitions and a function that counts how often each was built."""
    folders = [tmp_path / f"part{k}" for k in range(4)]
    parts = []
    for folder, rows in zip(folders, np.array_split(np.arange(120), 4), strict=True):
        folder.mkdir()
        Y = data.Y[rows, 0] if vector else data.Y[rows]
        parts.append(dask.delayed(rows_that_count)(data.X[rows], Y, folder))
    X, Y = [part[0] for part in parts], [part[1] for part in parts]
    return X, Y, lambda: [len(list(folder.iterdir())) for folder in folders]


@pytest.mark.parametrize("vector", [False, True])
def test_partitions_are_built_once_for_all_iterations(data, tmp_path, vector):
    X, Y, counts = counted_partitions(data, tmp_path, vector)
    model = SharedSubspaceClassifier(0.1, 0.1, solver="krylov", tol=1e-12)
    distributed.fit(model, X, Y)
    assert model.n_iter_ > 3
    assert counts() == [1, 1, 1, 1]
    expected = SharedSubspaceClassifier(0.1, 0.1).fit(data.X, data.Y[:, 0] if vector else data.Y)
    assert_equal_models(model, expected)


def test_partitions_that_do_not_fit_are_not_kept(data, tmp_path, monkeypatch):
    monkeypatch.setattr(_krylov, "workers_memory", lambda: 1e3)
    X, Y, counts = counted_partitions(data, tmp_path)
    model = SharedSubspaceClassifier(0.1, 0.1, solver="krylov", tol=1e-12)
    with pytest.warns(UserWarning, match="need about .* built again in every iteration"):
        distributed.fit(model, X, Y)
    assert min(counts()[1:]) > model.n_iter_
    assert_equal_models(model, SharedSubspaceClassifier(0.1, 0.1).fit(data.X, data.Y))


@pytest.mark.slow
def test_a_killed_worker_loses_its_partitions_once(data, cluster, tmp_path, monkeypatch):
    from distributed import Client

    X, Y, counts = counted_partitions(data, tmp_path)
    rounds, normal = [], _krylov.Partitions.normal

    def killing(self, P):
        rounds.append(counts())
        if len(rounds) == 3:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return normal(self, P)

    monkeypatch.setattr(_krylov.Partitions, "normal", killing)
    model = SharedSubspaceClassifier(0.1, 0.1, solver="krylov", tol=1e-12)
    with Client(cluster) as client, dask.config.set(scheduler=client):
        assert 1e8 < _cluster.workers_memory() < np.inf
        distributed.fit(model, X, Y)
    assert len(rounds) > 5
    assert rounds[2] == [1, 1, 1, 1]
    assert max(counts()) <= 2
    assert_equal_models(model, SharedSubspaceClassifier(0.1, 0.1).fit(data.X, data.Y))
