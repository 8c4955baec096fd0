"""Dask: the same models from statistics of blocks, whatever happens to workers."""

import os
import signal

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.model_selection import PredefinedSplit

from eigenlabel import MLkNN, SharedSubspaceClassifier, SharedSubspaceClassifierCV, distributed
from eigenlabel.cli import main
from eigenlabel.datasets import load, save
from eigenlabel.distributed import cluster as _cluster
from eigenlabel.distributed import fitting as _fit
from eigenlabel.estimators.subspace.stream import draw
from eigenlabel.persistence import load_model
from streams import assert_equal_models

SMALL = {"alphas": [0.1, np.inf], "betas": [1e-3, 0.1], "n_components": [1, 3]}


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


def test_wrong_partitions_raise_an_error(data):
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


def rows_that_kill(X, flag):
    """Return X; the first call ends the process that makes it."""
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return X


@pytest.mark.slow
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
    assert saved[-1]._stream is None  # a file holds no samples
    words = [*words[:-2], "--method", "linear-svm", "--cluster", cluster.scheduler_address]
    assert main([str(w) for w in words]) == 1
    assert "cannot be fitted from statistics of blocks" in capsys.readouterr().err


def test_calibration_on_blocks_is_that_of_a_stream(data):
    X, Y = (da.from_array(A, chunks=(17, -1)) for A in (data.X, data.Y))
    for make in (
        lambda: SharedSubspaceClassifier(0.1, calibration="auto"),
        lambda: SharedSubspaceClassifierCV(**SMALL),
    ):
        found, expected = distributed.fit(make(), X, Y), make().partial_fit(data.X, data.Y)
        np.testing.assert_allclose(
            found.predict_proba(data.X), expected.predict_proba(data.X), rtol=1e-6
        )  # statistics are summed in another order
    model = SharedSubspaceClassifier(solver="krylov", calibration="auto")
    with pytest.raises(ValueError, match=r"use solver='auto', or calibration=None"):
        distributed.fit(model, X, Y)
