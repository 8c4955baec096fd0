"""The memory and the cores that this process may use."""

import numpy as np
import pytest

from eigenlabel.linalg import machine

GIB = 2.0**30


def tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")


MEMINFO = {"proc/meminfo": f"MemTotal: {2**24} kB\nMemAvailable: {2**22} kB\n"}


CASES = {
    "free memory": ({}, 4.0),
    "version 2": (
        {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/b/memory.max": "max\n",
            "sys/fs/cgroup/a/memory.max": f"{2**30}\n",
            "sys/fs/cgroup/a/memory.current": f"{2**29}\n",
            "sys/fs/cgroup/a/memory.stat": f"anon 5\ninactive_file {2**28}\n",
        },
        0.75,
    ),
    "version 2 in a container": (
        {
            "proc/self/cgroup": "0::/../outside\n",
            "sys/fs/cgroup/memory.max": f"{2**30}\n",
            "sys/fs/cgroup/memory.current": "0\n",
        },
        1.0,
    ),
    "version 1": (
        {
            "proc/self/cgroup": "5:cpu,cpuacct:/\n4:memory:/own\n0::/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2**63 - 4096}\n",
            "sys/fs/cgroup/memory/own/memory.limit_in_bytes": f"{2**31}\n",
            "sys/fs/cgroup/memory/own/memory.usage_in_bytes": f"{2**29}\n",
            "sys/fs/cgroup/memory/own/memory.stat": "total_inactive_file 0\n",
        },
        1.5,
    ),
    "overdrawn": (
        {
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/memory.max": "1000\n",
            "sys/fs/cgroup/memory.current": "2000\n",
        },
        0.0,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_limit_is_the_least_of_what_the_system_states(tmp_path, monkeypatch, case):
    files, wanted = CASES[case]
    tree(tmp_path, MEMINFO | files)
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    assert machine.memory_limit() == wanted * GIB


def test_the_limit_of_address_space_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (50 * 2**40, resource.RLIM_INFINITY))
    assert 0 < machine._address_space() < 50 * 2**40
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY, 0))
    assert machine._address_space() == np.inf


def test_a_system_that_states_nothing_has_no_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    monkeypatch.setattr(machine.os, "sysconf", lambda name: _refuse())
    assert machine.memory_limit() == np.inf


def _refuse():
    raise ValueError("no such name")


def test_threads_are_as_many_as_asked_for(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert machine.n_threads() == 5
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    assert machine.n_threads() >= 1
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert machine.n_threads() == 1


def test_peak_memory_counts_an_array_that_is_gone():
    if machine.peak_memory() is None:
        pytest.skip("this system does not count peak memory")
    np.ones(2**25).sum()  # 256 MiB
    assert machine.peak_memory() >= 256


def test_peak_memory_comes_from_the_status_of_the_process(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/status").write_text("Name:\tpython\nVmHWM:\t    3072 kB\n")
    assert machine.peak_memory() == 3.0
    machine.reset_peak_memory()
    assert (tmp_path / "proc/self/clear_refs").read_text() == "5"
