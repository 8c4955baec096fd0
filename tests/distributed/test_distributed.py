"""Dask: the same models from statistics of blocks, whatever happens to workers."""

import os
import signal
import sys

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import PredefinedSplit

from eigenlabel import MLkNN, SharedSubspaceClassifier, SharedSubspaceClassifierCV, distributed
from eigenlabel.cli import main
from eigenlabel.datasets import load, make_shared_subspace, save
from eigenlabel.distributed import cluster as _cluster
from eigenlabel.distributed import fitting as _fit
from eigenlabel.distributed import krylov as _krylov
from eigenlabel.estimators.subspace.stream import draw
from eigenlabel.persistence import load_model

SMALL = {"alphas": [0.1, np.inf], "betas": [1e-3, 0.1], "n_components": [1, 3]}


@pytest.fixture(autouse=True)
def synchronous():
    """Run tasks in this thread unless a test has a cluster."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def data():
    return make_shared_subspace(120, 9, 6, 2, prevalence=0.3, random_state=0)


def assert_equal_models(found, expected):
    for name in ("coef_", "intercept_", "eigenvalues_"):
        wanted = getattr(expected, name)
        tolerance = 1e-8 * np.abs(wanted).max()
        np.testing.assert_allclose(getattr(found, name), wanted, atol=tolerance)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("columns", [9, 4])
def test_arrays_equal_a_local_fit(data, rng, sparse, columns):
    w = rng.uniform(0.5, 2, 120)
    X, Y = da.from_array(data.X, chunks=(17, columns)), da.from_array(data.Y, chunks=(50, 2))
    if sparse and columns == 9:
        X = X.map_blocks(sp.csr_matrix)
    weights = da.from_array(w, chunks=31)
    model = distributed.fit(SharedSubspaceClassifier(0.1), X, Y, weights)
    expected = SharedSubspaceClassifier(0.1).fit(data.X, data.Y, w)
    assert_equal_models(model, expected)
    assert model.n_samples_seen_ == 120
    for name in ("predict", "decision_function", "transform"):
        found = getattr(distributed, name)(model, X)
        assert isinstance(found, da.Array)
        assert found.chunks[0] == X.chunks[0]
        wanted = getattr(expected, name)(data.X)
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(found.compute(), wanted, atol=1e-8)


def test_partitions_and_plain_arrays(data, monkeypatch):
    monkeypatch.setattr(_cluster, "LOCAL_ROWS", 50)
    expected = SharedSubspaceClassifier().fit(data.X, data.Y)
    cuts = [slice(0, 10), slice(10, 10), slice(10, 90), slice(90, 120)]
    Xs, Ys = ([dask.delayed(A[cut]) for cut in cuts] for A in (data.X, data.Y))
    for X, Y in ((Xs, Ys), (data.X, data.Y), (sp.csr_array(data.X), sp.csr_array(data.Y))):
        model = distributed.fit(SharedSubspaceClassifier(), X, Y)
        assert_equal_models(model, expected)
    found = distributed.decision_function(model, Xs)
    assert found.chunks[1] == (6,)
    np.testing.assert_allclose(found.compute(), expected.decision_function(data.X), atol=1e-8)
    predicted = distributed.predict(model, sp.csr_array(data.X)).compute()  # y was sparse
    np.testing.assert_array_equal(predicted, expected.predict(data.X))


def test_a_model_goes_on_after_it(data):
    model = SharedSubspaceClassifier().fit(data.X[:9, :4], data.Y[:9, :3])
    assert distributed.fit(model, data.X[:80], data.Y[:80]) is model
    model.partial_fit(data.X[80:], data.Y[80:]).forget(data.X[:20], data.Y[:20])
    assert_equal_models(model, SharedSubspaceClassifier().fit(data.X[20:], data.Y[20:]))


@pytest.mark.parametrize("centres", [2, 3])
def test_classes_are_found(centres):
    X, y = make_blobs(60, centers=centres, random_state=1)
    order = np.argsort(y)  # most blocks do not see all classes
    X, y = X[order], np.array(["b", "c", "a"])[y[order]]
    expected = SharedSubspaceClassifier().fit(X, y)
    for given in (None, np.unique(y)):
        model = distributed.fit(
            SharedSubspaceClassifier(), da.from_array(X, chunks=7), da.from_array(y), classes=given
        )
        assert_equal_models(model, expected)
    found = distributed.predict(model, da.from_array(X, chunks=7)).compute()
    np.testing.assert_array_equal(found, expected.predict(X))


def test_tuned_as_on_one_machine(data):
    X, Y = da.from_array(data.X, chunks=(17, -1)), da.from_array(data.Y, chunks=(17, -1))
    model = distributed.fit(SharedSubspaceClassifierCV(**SMALL), X, Y)
    cv = PredefinedSplit(draw(0, 120, 5)[0])
    expected = SharedSubspaceClassifierCV(**SMALL, cv=cv).fit(data.X, data.Y)
    np.testing.assert_allclose(model.score_grid_, expected.score_grid_, atol=1e-8)
    np.testing.assert_allclose(model.thresholds_, expected.thresholds_, atol=1e-8)
    assert_equal_models(model, expected)
    np.testing.assert_array_equal(distributed.predict(model, X).compute(), expected.predict(data.X))


def test_tuned_on_blocks_of_unknown_length(data):
    X, Y = (da.from_array(A, chunks=(40, -1)) for A in (data.X, data.Y))
    some = da.from_array(np.arange(120) % 3 > 0, chunks=40)
    X, Y, w = X[some], Y[some], da.ones(120, chunks=40)[some]
    model = distributed.fit(SharedSubspaceClassifierCV(**SMALL), X, Y, w)
    kept = np.arange(120) % 3 > 0
    counts = kept.reshape(3, 40).sum(axis=1)
    folds = [draw(k * _fit.APART, n, 5)[0] for k, n in enumerate(counts)]
    cv = PredefinedSplit(np.concatenate(folds))
    expected = SharedSubspaceClassifierCV(**SMALL, cv=cv).fit(data.X[kept], data.Y[kept])
    np.testing.assert_allclose(model.score_grid_, expected.score_grid_, atol=1e-8)
    assert_equal_models(model, expected)
    with pytest.raises(ValueError, match="lengths of the partitions of X are not known"):
        distributed.fit(SharedSubspaceClassifier(), X, data.Y[kept])


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
    assert_equal_models(distributed.fit(model, data.X, data.Y), plain)  # begins anew


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


def test_what_cannot_be_is_said(data):
    X, Y = (da.from_array(A, chunks=(40, -1)) for A in (data.X, data.Y))
    model = SharedSubspaceClassifier().fit(data.X, data.Y)
    before = dict(vars(model))
    broken = data.X.copy()
    broken[90, 3] = np.nan
    for given, labels, message in (
        (da.from_array(broken, chunks=(40, -1)), Y, "Partition 3, row 10: Input X contains NaN"),
        (X, Y[:80], "X has 120 samples, y has 80"),
        (X, data.Y[:80], "X has 120 samples, y has 80"),
        (X.to_delayed().ravel(), Y.to_delayed().ravel()[:2], "X has 3 partitions, y has 2"),
        ([], [], "X has no partitions"),
        ([dask.delayed(data.X[:0])], [dask.delayed(data.Y[:0])], "No partition of X has samples"),
        (
            [dask.delayed(data.X), dask.delayed(data.X[:, :4])],
            [dask.delayed(data.Y)] * 2,
            "Partition 2 beside partition 1: The other model has 4 features, this one 9",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            distributed.fit(model, given, labels)
        assert vars(model) == before
    with pytest.raises(TypeError, match="MLkNN cannot be fitted from statistics"):
        distributed.fit(MLkNN(), X, Y)
    with pytest.raises(AttributeError, match="kernel='linear' only"):
        distributed.fit(SharedSubspaceClassifier(kernel="rbf"), X, Y)


@pytest.mark.parametrize("model", [SharedSubspaceClassifier(), MLkNN()])
def test_estimators_send_dask_arrays_to_the_right_place(data, model):
    X = da.from_array(data.X, chunks=(40, -1))
    with pytest.raises(TypeError, match=r"X is a Dask collection: use eigenlabel.distributed.fit"):
        model.fit(X, data.Y)
    model.fit(data.X, data.Y)
    with pytest.raises(TypeError, match=r"X is a Dask collection: use eigenlabel.distributed.fit"):
        model.predict(X)


def test_partitions_of_other_labels_are_named(data):
    X = [dask.delayed(data.X)] * 7
    Y = [dask.delayed(data.Y)] * 5 + [dask.delayed(data.Y[:, :3])] * 2
    message = "Partition 6 beside partition 5: The two models have different labels"
    for solver in ("auto", "krylov"):
        with pytest.raises(ValueError, match=message):
            distributed.fit(SharedSubspaceClassifier(solver=solver), X, Y)


def test_dask_is_an_extra(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"pip install 'eigenlabel\[dask\]'"):
        distributed.fit(SharedSubspaceClassifier(), data.X, data.Y)


# Clusters


@pytest.fixture
def cluster(tmp_path):
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path),
        ) as made,
    ):
        yield made


def test_a_scheduler_without_workers_is_told(data, tmp_path, monkeypatch, capsys):
    from distributed import LocalCluster

    save(data, tmp_path / "it.svm")
    wait = distributed.wait_for_workers
    monkeypatch.setattr(distributed, "wait_for_workers", lambda client: wait(client, 0.2))
    with LocalCluster(n_workers=0, dashboard_address=None, local_directory=str(tmp_path)) as made:
        words = ["fit", tmp_path / "it.svm", "-o", tmp_path / "m.skops", "--cluster"]
        assert main([str(w) for w in (*words, made.scheduler_address)]) == 1
    said = capsys.readouterr()
    assert "waiting for workers to connect to the scheduler at tcp://" in said.out
    assert "has no workers after 0.2 s. Start some: dask worker tcp://" in said.err


def rows_that_kill(X, flag):
    """Give X, the first time at the price of the process that asks."""
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return X


def test_a_killed_worker_costs_time_only(data, cluster, tmp_path):
    from distributed import Client

    parts = np.array_split(np.arange(120), 10)
    X = [dask.delayed(data.X[rows]) for rows in parts]
    X[6] = dask.delayed(rows_that_kill)(data.X[parts[6]], tmp_path / "killed")
    Y = [dask.delayed(data.Y[rows]) for rows in parts]
    with Client(cluster) as client, dask.config.set(scheduler=client):
        model = distributed.fit(SharedSubspaceClassifier(), X, Y)
        assert (tmp_path / "killed").exists()
        expected = SharedSubspaceClassifier().fit(data.X, data.Y)
        assert_equal_models(model, expected)
        found = distributed.predict(model, data.X).compute()
        np.testing.assert_array_equal(found, expected.predict(data.X))


def test_the_command_line_fits_on_a_cluster(data, cluster, tmp_path, capsys):
    save(data, tmp_path / "it.svm")
    words = ["fit", tmp_path / "it.svm", "-o", tmp_path / "m.skops", "--set", "betas=[0.01, 1]"]
    assert main([str(w) for w in (*words, "--cluster", cluster.scheduler_address)]) == 0
    assert "chosen: alpha" in capsys.readouterr().out
    assert len(cluster.scheduler.transition_log) > 0  # the work was done there
    saved = load_model(tmp_path / "m.skops").model
    read = load(tmp_path / "it.svm")
    cv = PredefinedSplit(draw(0, 120, 5)[0])
    expected = SharedSubspaceClassifierCV(betas=[0.01, 1], cv=cv)
    expected.fit(saved[:-1].transform(read.X), read.Y.toarray())
    assert_equal_models(saved[-1], expected)
    np.testing.assert_array_equal(
        saved.predict(read.X), expected.predict(saved[0].transform(read.X))
    )
    assert not hasattr(saved[-1], "_stream")  # a file holds no samples
    words = [*words[:-2], "--method", "linear-svm", "--cluster", cluster.scheduler_address]
    assert main([str(w) for w in words]) == 1
    assert "cannot be fitted from statistics of blocks" in capsys.readouterr().err


def wait(X, seconds):
    import time

    time.sleep(seconds)
    return X


def test_a_scheduler_that_goes_away_is_told_of(data, tmp_path):
    import subprocess
    import threading

    from distributed import Client

    code = (
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    c = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol='tcp',"
        " dashboard_address=None)\n"
        "    print(c.scheduler_address, flush=True)\n"
        "    input()\n"
    )
    script = tmp_path / "scheduler.py"
    script.write_text(code)
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline().strip()
        model = SharedSubspaceClassifier()
        settings = {
            "distributed.comm.timeouts.connect": "2s",
            "distributed.comm.retry.count": 0,
        }
        with dask.config.set(settings):
            client = Client(address, timeout=30)
            with dask.config.set(scheduler=client):
                threading.Timer(1.0, process.kill).start()
                X = [dask.delayed(wait)(data.X, 60)]
                with pytest.raises(ConnectionError, match=r"The Dask scheduler at .* went away"):
                    distributed.fit(model, X, [dask.delayed(data.Y)])
            client.close(timeout=1)
        assert vars(model) == vars(SharedSubspaceClassifier())
        process.kill()


def test_no_scheduler_at_an_address():
    with pytest.raises(ConnectionError, match=r"No Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        distributed.connect("tcp://127.0.0.1:9", timeout=1)


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
