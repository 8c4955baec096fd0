"""The runner: plans, workers, failures, and continuation after SIGKILL."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

from eigenlabel.datasets import DataError, save_npz
from eigenlabel.experiment import Data, Method, Splits, plan, read_records, run
from eigenlabel.linalg.machine import n_threads
from protocols import planted, small_protocol, stable


def test_a_recorded_task_is_not_repeated_and_a_changed_one_is_run(tmp_path):
    protocol = small_protocol()
    first = run(protocol, tmp_path)
    before = (tmp_path / "records.jsonl").read_bytes()
    assert plan(protocol, tmp_path).pending == []
    assert run(protocol, tmp_path) == first
    assert (tmp_path / "records.jsonl").read_bytes() == before
    for changed in (
        small_protocol(seed=1),
        small_protocol(metrics=("f1_macro",)),
        small_protocol(splits=Splits("shuffle", 3, 0.5)),
        small_protocol(data=[Data("one", planted(0)), Data("two", planted(2))]),
        small_protocol(
            methods=[Method("ridge", parameters={"betas": [0.1]}), Method("linear-svm-plain")]
        ),
    ):
        assert 0 < len(plan(changed, tmp_path).pending) <= 12
    more = small_protocol(methods=[*protocol.methods, Method("logistic")])
    assert {t.method for t in plan(more, tmp_path).pending} == {"logistic"}


def test_workers_make_the_same_records(tmp_path):
    protocol = small_protocol()
    alone, together = run(protocol, tmp_path / "a"), run(protocol, tmp_path / "b", workers=2)
    a, b = (
        [{k: v for k, v in r.items() if k != "machine"} for r in stable(records)]
        for records in (alone, together)
    )
    assert a == b
    assert {r["machine"]["threads"] for r in together} == {max(1, n_threads() // 2)}


class Failing(ClassifierMixin, BaseEstimator):
    """Fail while a file exists."""

    def __init__(self, flag=""):
        self.flag = flag

    def fit(self, X, y):
        if os.path.exists(self.flag):
            raise RuntimeError("not today")
        self.model_ = DummyClassifier(strategy="constant", constant=np.ones(y.shape[1])).fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_a_failure_is_recorded_and_repeated_the_next_time(tmp_path):
    flag = tmp_path / "flag"
    flag.touch()
    protocol = small_protocol(methods=[Method("failing", Failing(str(flag)))])
    records = run(protocol, tmp_path)
    assert {r["error"] for r in records} == {"RuntimeError: not today"}
    flag.unlink()
    again = run(protocol, tmp_path)
    assert not any("error" in r for r in again)
    assert set(again[0]["metrics"]) == {"f1_macro", "f1_micro"}, "metrics of scores need scores"


SCRIPT = """
import sys
from eigenlabel.experiment import Data, Method, Protocol, Splits, run
protocol = Protocol(
    [Data("one", sys.argv[1])],
    [Method("ridge", parameters={"betas": [0.1, 1.0]}), Method("linear-svm-plain")],
    Splits("shuffle", 20),
    name="killed",
)
if __name__ == "__main__":
    run(protocol, sys.argv[2], workers=int(sys.argv[3]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_is_killed_at_random_points_ends_with_the_same_records(tmp_path, workers):
    save_npz(planted(), tmp_path / "one.npz")
    (tmp_path / "script.py").write_text(SCRIPT)

    def start(folder):
        command = [sys.executable, "script.py", tmp_path / "one.npz", folder, str(workers)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.Popen(
            list(map(str, command)), cwd=tmp_path, env=environment, start_new_session=True
        )

    whole = start(tmp_path / "whole")
    assert whole.wait(120) == 0
    rng = random.Random(workers)
    file = tmp_path / "killed" / "records.jsonl"
    kills, seen = 0, set()
    while True:
        process = start(tmp_path / "killed")
        goal = len(read_records(tmp_path / "killed")) + rng.randint(6, 14)
        while process.poll() is None and len(read_records(tmp_path / "killed")) < goal:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.05))
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        seen.add(len(read_records(tmp_path / "killed")))
        with file.open("ab") as stream:  # what a kill within a write can leave behind
            stream.write(b'{"key": "cut o')
    assert process.returncode == 0
    assert kills >= 3
    assert len(seen) >= 3

    def sorted_records(folder):
        found = stable(read_records(tmp_path / folder))
        return sorted(found, key=lambda r: (r["method"], r["split"]))

    assert sorted_records("killed") == sorted_records("whole")
    assert len(sorted_records("whole")) == 40


@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(tmp_path):
    save_npz(planted(n=400), tmp_path / "one.npz")
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "script.py", tmp_path / "one.npz", tmp_path / "out", "2"]
    process = subprocess.Popen(list(map(str, command)), cwd=tmp_path, start_new_session=True)
    while not read_records(tmp_path / "out"):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    def left():
        listing = subprocess.run(
            ["ps", "-ww", "-eo", "sid,args"], capture_output=True, text=True, check=True
        )
        return [
            line
            for line in listing.stdout.splitlines()
            if line.split()[0] == str(process.pid) and "resource_tracker" not in line
        ]

    for _ in range(100):
        if not left():
            break
        time.sleep(0.1)
    assert left() == []


@pytest.mark.parametrize("kind", ["folds", "shuffle", "random"])
def test_only_the_first_splits_are_run_on_request(kind, tmp_path):
    all_three = small_protocol(splits=Splits(kind, 3))
    first = small_protocol(splits=Splits(kind, 3, at_most=1))
    records = run(first, tmp_path)
    assert {r["split"] for r in records} == {0}
    assert {t.split for t in plan(all_three, tmp_path).pending} == {1, 2}
    assert {t.split for t in plan(replace(first, splits=Splits(kind, 3, at_most=9))).tasks} == {
        0,
        1,
        2,
    }


def test_the_plan_shows_the_expected_cost(tmp_path):
    protocol = small_protocol(methods=[Method("ridge")])
    fresh = plan(protocol, tmp_path)
    assert np.isnan(fresh.seconds).all()
    assert "6 of 6 runs to do; how long they take is not known" in str(fresh)
    records = run(
        small_protocol(methods=[Method("ridge")], data=[Data("one", planted(0))]), tmp_path
    )
    known = plan(protocol, tmp_path)
    assert "one, ridge  3/3 done\ntwo, ridge  0/3 done" in str(known)
    each = np.mean([sum(r["seconds"].values()) for r in records])
    np.testing.assert_allclose(known.seconds, [each] * 3)
    assert f"3 of 6 runs to do, about {3 * each:.0f} s of work" in str(known)
    run(protocol, tmp_path)
    assert str(plan(protocol, tmp_path)).endswith("0 of 6 runs to do")


def test_expected_times_come_from_the_same_data_if_possible(tmp_path):
    def line(data, seconds):
        record = {"key": data, "data": data, "method": "ridge", "split": 0}
        return json.dumps({**record, "seconds": {"fit": seconds}})

    (tmp_path / "records.jsonl").write_text(line("one", 90) + "\n" + line("far", 7500) + "\n")
    known = plan(small_protocol(methods=[Method("ridge"), Method("logistic")]), tmp_path)
    expected = dict(zip(((t.data, t.method) for t in known.pending), known.seconds, strict=True))
    assert expected["one", "ridge"] == 90
    assert expected["two", "ridge"] == (90 + 7500) / 2
    text = str(known)
    assert "one, logistic  0/3 done, time unknown" in text
    assert "about 3.2 h of work, and 6 runs of methods not timed yet" in text
    assert known.done == []
    alone = plan(small_protocol(methods=[Method("ridge")], data=[Data("one", planted())]), tmp_path)
    assert "about 4 min of work" in str(alone) or "about 5 min of work" in str(alone)


def test_a_protocol_that_cannot_run_raises_before_the_first_run():
    with pytest.raises(ValueError, match="No method 'ridgy'; perhaps: ridge"):
        plan(small_protocol(methods=[Method("ridgy")]))
    with pytest.raises(ValueError, match="Invalid parameter 'betaz'"):
        plan(small_protocol(methods=[Method("ridge", parameters={"betaz": [1]})]))
    with pytest.raises(DataError, match="no such file, neither"):
        plan(small_protocol(data=[Data("one", "nowhere.npz")]))


def test_a_run_that_fails_at_once_leaves_no_files(tmp_path):
    (tmp_path / "old").mkdir()
    wrong = small_protocol(data=[Data("one", "nowhere.npz")])
    for place in ("new/deep", "old"):
        with pytest.raises(DataError, match="no such file"):
            run(wrong, tmp_path / place)
    assert [p.name for p in tmp_path.rglob("*")] == ["old"]
    run(small_protocol(), tmp_path / "new" / "deep")
    before = read_records(tmp_path / "new" / "deep")
    with pytest.raises(DataError, match="no such file"):
        run(wrong, tmp_path / "new" / "deep")
    assert read_records(tmp_path / "new" / "deep") == before


def test_the_number_of_workers_must_be_positive(tmp_path):
    with pytest.raises(ValueError, match="workers must be an integer >= 1"):
        run(small_protocol(), tmp_path, workers=0)
