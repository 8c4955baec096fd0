"""Errors of a cluster: no Dask, no scheduler, no workers."""

import sys
import time

import dask
import pytest

from eigenlabel import SharedSubspaceClassifier, distributed
from eigenlabel.cli import main
from eigenlabel.datasets import save


def test_dask_is_an_extra(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"pip install 'eigenlabel\[dask\]'"):
        distributed.fit(SharedSubspaceClassifier(), data.X, data.Y)


def test_a_scheduler_without_workers_is_reported(data, tmp_path, monkeypatch, capsys):
    from distributed import LocalCluster

    save(data, tmp_path / "it.svm")
    wait = distributed.wait_for_workers
    monkeypatch.setattr(distributed, "wait_for_workers", lambda client: wait(client, 0.2))
    with LocalCluster(n_workers=0, dashboard_address=":0", local_directory=str(tmp_path)) as made:
        words = ["fit", tmp_path / "it.svm", "-o", tmp_path / "m.skops", "--cluster"]
        assert main([str(w) for w in (*words, made.scheduler_address)]) == 1
    said = capsys.readouterr()
    assert "waiting for workers to connect to the scheduler at tcp://" in said.out
    assert "has no workers after 0.2 s. Start some: dask worker tcp://" in said.err


def test_a_scheduler_that_stops_is_reported(data, tmp_path):
    import subprocess
    import threading

    from distributed import Client

    code = (
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    c = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol='tcp',"
        " dashboard_address=':0')\n"
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
                # The scheduler cannot import this module; a lambda is sent as code.
                X = [dask.delayed(lambda X: time.sleep(60) or X)(data.X)]
                with pytest.raises(ConnectionError, match=r"The Dask scheduler at .* went away"):
                    distributed.fit(model, X, [dask.delayed(data.Y)])
            client.close(timeout=1)
        assert vars(model) == vars(SharedSubspaceClassifier())
        process.kill()


def test_no_scheduler_at_an_address():
    with pytest.raises(ConnectionError, match=r"No Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        distributed.connect("tcp://127.0.0.1:9", timeout=1)
