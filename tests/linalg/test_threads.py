"""Threads of BLAS: idle cores only, never more than the user has set, and restored afterwards."""

import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_info, threadpool_limits

from eigenlabel import SharedSubspaceClassifier
from eigenlabel.datasets import Dataset
from eigenlabel.experiment import Data, Method, Protocol, Splits, run
from eigenlabel.linalg import machine, threads
from eigenlabel.linalg.solvers import shifted as ridge
from eigenlabel.linalg.threads import (
    LARGE,
    adapt_threads,
    at_most,
    blas_threads,
    idle_threads,
)

MANY = 3  # threads that BLAS is set to in these tests, whatever the machine has


def numbers():
    return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def several(monkeypatch):
    for name in threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "n_threads", lambda: MANY)
    monkeypatch.setattr(threads.os, "cpu_count", lambda: MANY)
    with threadpool_limits(MANY):
        yield


def occupy(monkeypatch, count):
    monkeypatch.setattr(threads, "runnable_elsewhere", lambda looks=1: count)
    monkeypatch.setattr(threads, "PATIENCE", -1.0)


@pytest.mark.parametrize(("busy", "wanted"), [(0, 3), (1, 2), (2, 1), (9, 1)])
def test_only_idle_cores_are_used(monkeypatch, busy, wanted):
    occupy(monkeypatch, busy)
    with idle_threads():
        assert set(numbers()) == {1}
        adapt_threads(LARGE)
        assert set(numbers()) == {wanted}
        assert blas_threads() == wanted
        adapt_threads(LARGE - 1)
        assert set(numbers()) == {1}, "small matrices"
        adapt_threads(LARGE)
        assert set(numbers()) == {wanted}
    assert set(numbers()) == {MANY}


@pytest.mark.parametrize("variable", threads.VARIABLES)
def test_an_environment_variable_is_left_alone(monkeypatch, variable):
    occupy(monkeypatch, 9)
    monkeypatch.setenv(variable, "2")
    with idle_threads():
        adapt_threads(LARGE)
        assert set(numbers()) == {MANY}


def test_an_outer_limit_is_never_exceeded(monkeypatch):
    occupy(monkeypatch, 0)
    with threadpool_limits(2), idle_threads():
        adapt_threads(LARGE)
        assert set(numbers()) == {2}
    with threadpool_limits(1), at_most(2):
        assert set(numbers()) == {1}
    with at_most(2):
        assert set(numbers()) == {2}
    assert set(numbers()) == {MANY}


def test_a_large_step_looks_again(monkeypatch):
    occupy(monkeypatch, 0)
    seen = []
    original = ridge.lapack.dsytrd

    def reduce(*args, **kwargs):
        seen.append(max(numbers()))
        return original(*args, **kwargs)

    monkeypatch.setattr(ridge.lapack, "dsytrd", reduce)
    monkeypatch.setattr(threads, "LARGE", 4)
    with idle_threads():
        ridge.tridiagonalise(np.eye(4))
        occupy(monkeypatch, 1)
        ridge.tridiagonalise(np.eye(4))
        ridge.tridiagonalise(np.eye(3))
    assert seen == [MANY, MANY - 1, 1]
    adapt_threads(LARGE)
    assert set(numbers()) == {MANY}, "outside a fit nothing changes"


def test_every_fit_is_limited_and_restores(monkeypatch, rng):
    occupy(monkeypatch, 2)
    seen = []
    original = ridge.sl.cho_factor

    def factor(*args, **kwargs):
        seen.append(max(numbers()))
        return original(*args, **kwargs)

    monkeypatch.setattr(ridge.sl, "cho_factor", factor)
    X = rng.standard_normal((20, 5))
    SharedSubspaceClassifier().fit(X, (X[:, :2] > 0).astype(int))
    assert set(seen) == {1}
    with pytest.raises(ValueError, match="alpha"):
        SharedSubspaceClassifier(alpha=-1).fit(X, (X[:, :2] > 0).astype(int))
    assert set(numbers()) == {MANY}


def test_of_fits_at_the_same_time_the_first_one_sets_and_restores(monkeypatch):
    occupy(monkeypatch, 2)
    seen = []

    def other():
        with idle_threads(), idle_threads():
            occupy(monkeypatch, 0)
            adapt_threads(LARGE)
        seen.extend(numbers())

    thread = threading.Thread(target=other)
    with idle_threads():
        thread.start()
        thread.join()
        assert set(seen) == set(numbers()) == {1}
        with idle_threads():
            assert set(numbers()) == {1}
        adapt_threads(LARGE)
        assert set(numbers()) == {MANY}
        occupy(monkeypatch, 2)
        adapt_threads(LARGE)
    assert set(numbers()) == {MANY}


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


QUOTAS = {
    "none": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 8),
    "version 2, above": (
        {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
            "sys/fs/cgroup/a/cpu.max": "250000 100000\n",
        },
        2,
    ),
    "version 1": (
        {
            "proc/self/cgroup": "3:cpu,cpuacct:/own\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/cpu/own/cpu.cfs_quota_us": "50000\n",
            "sys/fs/cgroup/cpu/own/cpu.cfs_period_us": "100000\n",
        },
        1,
    ),
}


@pytest.mark.parametrize("case", QUOTAS)
def test_quotas_of_control_groups_count(tmp_path, monkeypatch, case):
    files, wanted = QUOTAS[case]
    write(tmp_path, files)
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    assert machine.usable_cores() == wanted


def test_own_threads_are_not_counted_as_others(tmp_path, monkeypatch):
    write(
        tmp_path,
        {
            "proc/loadavg": "0.5 0.4 0.3 5/200 4242\n",
            "proc/self/task/1/stat": "1 (a) R) R 0 0",
            "proc/self/task/2/stat": "2 (b) R 0 0",
            "proc/self/task/3/stat": "3 (R) S 0 0",
        },
    )
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    assert machine.runnable_elsewhere(2) == 3
    write(tmp_path, {"proc/loadavg": "?\n"})
    assert machine.runnable_elsewhere() == 0


class Recorder(ClassifierMixin, BaseEstimator):
    """Note how many BLAS threads there are."""

    def fit(self, X, y):  # noqa: ARG002
        self.best_params_ = {"threads": max(numbers())}
        self.width_ = y.shape[1]
        return self

    def predict(self, X):
        return np.ones((X.shape[0], self.width_), dtype=int)


def test_compare_keeps_the_number_of_threads_that_the_user_has_set(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", str(MANY))  # the cores that a run may use
    Y = np.tile(np.eye(3, dtype=int), (10, 1))
    names = np.array(["a", "b", "c"])
    data = Dataset(np.random.default_rng(0).random((30, 3)), Y, names, names)
    protocol = Protocol([Data("d", data)], [Method("note", Recorder())], Splits("random", 1))
    for limit in (1, 2):
        with threadpool_limits(limit):  # as OPENBLAS_NUM_THREADS does before BLAS is loaded
            (record,) = run(protocol, tmp_path / str(limit))
        assert record["parameters"]["threads"] == record["machine"]["threads"] == limit


@pytest.mark.parametrize("early", [False, True])
def test_an_interrupt_while_a_fit_begins_leaves_nothing_behind(monkeypatch, early):
    occupy(monkeypatch, 1)

    def interrupt(*_):
        raise KeyboardInterrupt

    where, name = (threads._blas, "libraries" if early else "_set")
    with monkeypatch.context() as patch:
        patch.setattr(where, name, interrupt)
        with pytest.raises(KeyboardInterrupt), idle_threads():
            pytest.fail("the fit begins in spite of the interrupt")
    assert (threads._blas.owner, threads._blas.depth) == (None, 0)
    occupy(monkeypatch, 2)
    with idle_threads():
        assert set(numbers()) == {1}
    assert set(numbers()) == {MANY}


def test_an_interrupt_while_threads_are_lowered_restores_them(monkeypatch):
    libraries = threads._blas.libraries()
    lowered = []

    class Interrupting:
        def get_num_threads(self):
            return 2

        def set_num_threads(self, threads):
            lowered.append(threads)
            if len(lowered) == 1:
                raise KeyboardInterrupt

    monkeypatch.setattr(threads._blas, "_libraries", [*libraries, Interrupting()])
    with pytest.raises(KeyboardInterrupt), at_most(1):
        pytest.fail("the block begins in spite of the interrupt")
    assert set(numbers()) == {MANY}
    assert lowered == [1, 2]
