"""The runner: records, resumption under SIGKILL, and that it measures what it says."""

import itertools
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from eigenlabel import MDDM, SharedSubspaceClassifierCV, catalogue, metrics
from eigenlabel.catalogue import METHODS, chosen_parameters, make
from eigenlabel.datasets import DataError, make_shared_subspace, save, save_npz
from eigenlabel.experiment import (
    Data,
    Method,
    Protocol,
    Splits,
    draw_splits,
    load_data,
    plan,
    read_records,
    run,
    scores_of,
)
from eigenlabel.linalg.machine import n_threads
from eigenlabel.linalg.threads import blas_threads

VOLATILE = ("seconds", "peak_mib")


def planted(seed=0, n=120):
    return make_shared_subspace(n, 8, 5, 2, prevalence=0.3, random_state=seed)


def small_protocol(**changes):
    protocol = Protocol(
        [Data("one", planted(0)), Data("two", planted(1))],
        [Method("ridge", parameters={"betas": [0.1, 1.0]}), Method("linear-svm-plain")],
        Splits("shuffle", 3),
        name="small",
    )
    return replace(protocol, **changes)


def stable(records):
    return [{k: v for k, v in r.items() if k not in VOLATILE} for r in records]


def test_a_record_has_the_figures_of_the_run_by_hand(tmp_path):
    protocol = small_protocol()
    records = run(protocol, tmp_path)
    assert [(r["data"], r["method"], r["split"]) for r in records] == [
        (d, m, s) for d in ("one", "two") for m in ("ridge", "linear-svm-plain") for s in range(3)
    ]
    data = planted(1)
    train, test = draw_splits(data, protocol.splits, 0)[2]
    scale = StandardScaler().fit(data.X[train])
    model = SharedSubspaceClassifierCV([0.0], betas=[0.1, 1.0])
    model.fit(scale.transform(data.X[train]), data.Y[train])
    X = scale.transform(data.X[test])
    expected = metrics.evaluate(data.Y[test], model.decision_function(X), model.predict(X))
    record = records[8]
    assert record["metrics"] == pytest.approx({k: expected[k] for k in protocol.metrics})
    assert record["parameters"] == {k: pytest.approx(v) for k, v in model.best_params_.items()}
    assert (record["train_size"], record["test_size"]) == (80, 40)
    assert record["seconds"]["fit"] > 0
    assert record["versions"]["numpy"] == np.__version__
    assert read_records(tmp_path) == records


def test_nothing_is_run_twice_and_changes_are_run_anew(tmp_path):
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


def test_workers_give_the_same_records(tmp_path):
    protocol = small_protocol()
    alone, together = run(protocol, tmp_path / "a"), run(protocol, tmp_path / "b", workers=2)
    a, b = (
        [{k: v for k, v in r.items() if k != "machine"} for r in stable(records)]
        for records in (alone, together)
    )
    assert a == b
    assert {r["machine"]["threads"] for r in together} == {max(1, n_threads() // 2)}


class Failing(ClassifierMixin, BaseEstimator):
    """Fail while a file is there."""

    def __init__(self, flag=""):
        self.flag = flag

    def fit(self, X, y):
        if os.path.exists(self.flag):
            raise RuntimeError("not today")
        self.model_ = DummyClassifier(strategy="constant", constant=np.ones(y.shape[1])).fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_a_failure_is_told_and_tried_again(tmp_path):
    flag = tmp_path / "flag"
    flag.touch()
    protocol = small_protocol(methods=[Method("failing", Failing(str(flag)))])
    records = run(protocol, tmp_path)
    assert {r["error"] for r in records} == {"RuntimeError: not today"}
    flag.unlink()
    again = run(protocol, tmp_path)
    assert not any("error" in r for r in again)
    assert set(again[0]["metrics"]) == {"f1_macro", "f1_micro"}, "no scores, no metrics of scores"


def test_an_undefined_figure_is_null(tmp_path):
    data = planted()
    data.Y[:] = 1  # every label everywhere: no AUC
    protocol = Protocol(
        [Data("all", data)],
        [Method("dummy", OneVsRestClassifier(DummyClassifier()))],
        Splits("folds", 2),
        metrics=("auc_macro", "f1_macro"),
    )
    record = run(protocol, tmp_path)[0]
    assert record["metrics"] == {"auc_macro": None, "f1_macro": 1.0}
    assert any("Label" in w or "AUC" in w or w for w in record["warnings"])


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


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_random_points_it_ends_with_the_same_records(tmp_path, workers):
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


def test_workers_leave_with_their_parent(tmp_path):
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


def test_two_runs_in_one_folder_are_refused(tmp_path):
    from eigenlabel.experiment.records import appending

    with appending(tmp_path), pytest.raises(DataError, match="another run is writing"):
        run(small_protocol(), tmp_path)


def test_records_that_are_none_are_told_with_their_line(tmp_path):
    for text in ("nonsense\n", '{"key": 1}\n', "[]\n"):
        (tmp_path / "records.jsonl").write_text('{"key":1,"data":1,"method":1,"split":1}\n' + text)
        with pytest.raises(DataError, match="line 2: not a record"):
            read_records(tmp_path)


def test_a_full_disk_leaves_whole_records(tmp_path, monkeypatch):
    from eigenlabel.experiment import records as _records

    write = os.write
    with _records.appending(tmp_path) as records:
        records.add({"key": "a", "data": "d", "method": "m", "split": 0})
        monkeypatch.setattr(os, "write", lambda stream, line: write(stream, line[:5]))
        with pytest.raises(OSError, match=r"No space left.*kept: .*records\.jsonl"):
            records.add({"key": "b", "data": "d", "method": "m", "split": 0})
        monkeypatch.undo()
        records.add({"key": "c", "data": "d", "method": "m", "split": 0})
    assert [r["key"] for r in read_records(tmp_path)] == ["a", "c"]


def test_the_plan_tells_the_cost(tmp_path):
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


TOML = """
name = "mine"
metrics = ["f1_macro"]
seed = 3
methods = ["ridge", {name = "svm", method = "linear-svm-plain", grid = {estimator__C = [0.1, 1.0]}}]
[splits]
kind = "folds"
n_splits = 2
[[data]]
name = "one"
source = "one.npz"
prepare = "standard"
"""


def test_a_protocol_from_toml(tmp_path):
    save_npz(planted(), tmp_path / "one.npz")
    (tmp_path / "p.toml").write_text(TOML)
    records = run(Protocol.from_toml(tmp_path / "p.toml"), tmp_path / "out")
    assert [(r["method"], r["split"], r["seed"]) for r in records] == [
        ("ridge", 0, 3), ("ridge", 1, 3), ("svm", 0, 3), ("svm", 1, 3)
    ]  # fmt: skip
    assert records[2]["parameters"]["estimator__C"] in (0.1, 1.0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 3", "sead = 3", "Unknown 'sead' in the protocol; known are: data, methods"),
        ('name = "one"', "", "'name' is missing in data"),
        ('kind = "folds"', 'kind = "fold"', "kind must be one of"),
        ("n_splits = 2", "n_splits = 1", "n_splits must be an integer >= 2"),
        ('["f1_macro"]', '["f1"]', "metric must be one of"),
        ("[splits]", "[splits", "not TOML"),
        ('"ridge",', "1,", "must be a table, got 1"),
        ('"ridge",', '"svm",', "a name of its own"),
    ],
)
def test_a_wrong_protocol_says_what_is_wrong(tmp_path, old, new, message):
    (tmp_path / "p.toml").write_text(TOML.replace(old, new))
    with pytest.raises(DataError, match=message):
        Protocol.from_toml(tmp_path / "p.toml")


def test_what_cannot_run_is_found_before_it_runs():
    with pytest.raises(ValueError, match="No method 'ridgy'; perhaps: ridge"):
        plan(small_protocol(methods=[Method("ridgy")]))
    with pytest.raises(ValueError, match="Invalid parameter 'betaz'"):
        plan(small_protocol(methods=[Method("ridge", parameters={"betaz": [1]})]))
    with pytest.raises(DataError, match="no such file, neither"):
        plan(small_protocol(data=[Data("one", "nowhere.npz")]))


def test_splits():
    data = planted(n=200)
    for kind in ("shuffle", "random"):
        for size, count in ((50, 50), (0.25, 50), (None, 133)):
            drawn = draw_splits(data, Splits(kind, 4, size), seed=5)
            assert len(drawn) == 4
            for train, test in drawn:
                assert len(train) == count
                assert sorted([*train, *test]) == list(range(200))
                assert data.Y[train].any(axis=0).all()
            assert any((drawn[0][0] != other[0]).any() for other in drawn[1:])
    folds = draw_splits(data, Splits("folds", 4), seed=5)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(200))
    published = replace(data, splits={"a": (np.arange(5), np.arange(5, 9))})
    assert len(draw_splits(published, Splits("published", 3), 0)) == 1
    with pytest.raises(ValueError, match="No published splits"):
        draw_splits(data, Splits("published"), 0)
    rare = replace(data, Y=np.eye(200, 5, dtype=int))
    with pytest.raises(ValueError, match="some label never had a positive"):
        draw_splits(rare, Splits("random", 1, 2), 0)
    with pytest.raises(ValueError, match="leaves one side empty"):
        draw_splits(data, Splits("random", 1, 200), 0)


@pytest.mark.parametrize("kind", ["shuffle", "random"])
def test_more_splits_begin_with_the_same_ones(kind, tmp_path):
    few, many = (draw_splits(planted(), Splits(kind, n), 1) for n in (2, 5))
    for a, b in zip(few, many[:2], strict=True):
        np.testing.assert_array_equal(a[0], b[0])
    run(small_protocol(splits=Splits(kind, 2)), tmp_path)
    assert {t.split for t in plan(small_protocol(splits=Splits(kind, 3)), tmp_path).pending} == {2}


@pytest.mark.parametrize("kind", ["folds", "shuffle", "random"])
def test_the_first_splits_alone(kind, tmp_path):
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


def test_at_most_so_many_published_splits():
    several = replace(planted(), splits={str(k): (np.arange(5), np.arange(5, 9)) for k in range(4)})
    for at_most, count in ((None, 4), (2, 2), (7, 4)):
        splits = Splits("published", 5, at_most=at_most)
        protocol = Protocol([Data("several", several)], [Method("ridge")], splits)
        assert len(plan(protocol).tasks) == count


def test_rare_labels_and_words_are_dropped_before_splits():
    data = planted()
    rare = replace(data, Y=np.c_[data.Y, np.eye(120, 1, dtype=int)], X=sp.csr_array(data.X > 1.2))
    rare = replace(rare, label_names=np.array(list("abcdef")))
    kept = load_data(Data("x", rare, min_positives=2, min_documents=10))
    assert kept.label_names.tolist() == list("abcde")
    documents = (rare.X.toarray()[data.Y.any(axis=1)] != 0).sum(axis=0)
    assert kept.X.shape[1] == (documents >= 10).sum() < 8
    assert kept.Y.any(axis=1).all()
    with pytest.raises(ValueError, match="Nothing is left of x"):
        load_data(Data("x", rare, min_positives=1000))


SLOW = ("+SVM", "ASO_SVM")  # grids of SVMs, made of the same parts as those below
SOME = ("mddm:MDDM_p+SVM", "mddm:ORI+SVM-rbf")
QUICK = [n for n in METHODS if n in SOME or not any(part in n for part in SLOW)]


@pytest.mark.parametrize("name", QUICK)
def test_every_method_of_the_catalogue_learns(name):
    data = make_shared_subspace(150, 10, 4, 2, prevalence=0.3, noise=0.1, random_state=0)
    quick = {
        "SVM": {"estimator__param_grid": {"C": [0.1, 1.0]}},
        "CCA+Ridge": {"param_grid": {"estimator__projection__reg": [0.1, 1.0]}},
        "many-labels": {"n_components": 3},
    }
    if METHODS[name].grid:  # a tagger that gives five labels to every sample, and here are four
        quick[name] = {"threshold": "mixed"}
    model = make(name, quick.get(name)).fit(data.X[:100], data.Y[:100])
    if METHODS[name].grid:
        assert metrics.auc_micro(data.Y[100:], model.decision_function(data.X[100:])) > 0.85
    assert metrics.f1_micro(data.Y[100:], model.predict(data.X[100:])) > 0.7
    assert METHODS[name].about


def test_chosen_parameters_are_found_inside():
    data = planted()
    model = make("ML_LS").fit(data.X, data.Y)
    assert chosen_parameters(model) == model[-1].best_params_
    tuned = make("linear-svm", grid={"estimator__estimator__C": [1.0, 2.0]}).fit(data.X, data.Y)
    assert chosen_parameters(tuned) == tuned.best_params_
    assert chosen_parameters(LinearSVC()) == {}
    by_label = make("SVM", {"estimator__param_grid": {"C": [0.1, 1.0]}}).fit(data.X, data.Y)
    inside = by_label.estimator_.best_params_
    assert chosen_parameters(by_label) == {"C": [one["C"] for one in inside]}


def test_records_are_plain_json(tmp_path):
    run(small_protocol(methods=[Method("shared-subspace")]), tmp_path)
    for line in (tmp_path / "records.jsonl").read_text().splitlines():
        record = json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        assert isinstance(record["parameters"]["alpha"], (float, str))


def keys(**changes):
    return {t.key for t in plan(small_protocol(**changes)).tasks}


def test_everything_that_decides_figures_is_in_the_key(tmp_path):
    data, other = planted(0), planted(0)
    svm = Method("svm", OneVsRestClassifier(LinearSVC()), {}, {"estimator__C": [1.0]})
    base = {"data": [Data("d", data)], "methods": [svm]}
    first = keys(**base)
    assert first == keys(**base)
    other.Y[0, 0] = 1 - other.Y[0, 0]
    sparse = replace(data, X=sp.csr_array(data.X * (data.X > 0)))
    moved = replace(sparse, X=sp.csr_array(np.roll(sparse.X.toarray(), 1, axis=1)))
    variants = [
        {"data": [Data("d", other)]},
        {"data": [Data("d", data, prepare="none")]},
        {"data": [Data("d", data, min_positives=2)]},
        {"data": [Data("d", data, min_documents=2)]},
        {"data": [Data("d", data, {"anything": 1})]},
        {"data": [Data("d", sparse)]},
        {"data": [Data("d", moved)]},
        {"methods": [replace(svm, grid={"estimator__C": [2.0]})]},
        {"methods": [replace(svm, scoring="f1_micro")]},
        {"methods": [replace(svm, method=OneVsRestClassifier(LinearSVC(C=3)))]},
        {"methods": [replace(svm, parameters={"estimator__C": 3.0})]},
    ]
    found = [keys(**{**base, **variant}) for variant in variants]
    for one, two in itertools.combinations([first, *found], 2):
        assert not one & two
    folds = [keys(**base, splits=Splits("folds", n)) for n in (2, 3)]
    assert not folds[0] & folds[1], "folds of another number are other folds"
    path = tmp_path / "d.npz"
    save_npz(data, path)
    before = keys(data=[Data("d", str(path))])
    save_npz(other, path)
    assert not before & keys(data=[Data("d", str(path))]), "the content counts, not the name"
    csr, csc = (replace(data, X=form(data.X)) for form in (sp.csr_array, sp.csc_array))
    assert keys(data=[Data("d", csr)]) == keys(data=[Data("d", csc)])


def test_the_scoring_of_a_grid_is_used():
    data = planted()
    model = make("ridge", {"betas": [0.1]}).fit(data.X, data.Y)
    scores, decided = model.decision_function(data.X), model.predict(data.X)
    by_loss = Method("ridge", grid={"cv": [2, 3]}, scoring="ranking_loss").make().scoring
    assert by_loss(model, data.X, data.Y) == -metrics.ranking_loss(data.Y, scores) < 0
    by_default = Method("ridge", grid={"cv": [2, 3]}).make().scoring
    assert by_default(model, data.X, data.Y) == metrics.f1_macro(data.Y, decided) > 0


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: Data("d", "x", prepare="tidy"), "prepare must be one of"),
        (lambda: Data("d", "x", min_positives=-1), "min_positives must be"),
        (lambda: Splits(train_size=-0.5), "train_size must be"),
        (lambda: Protocol([], [Method("ridge")]), "needs data"),
        (lambda: Protocol([Data("d", "x")], []), "needs methods"),
        (lambda: small_protocol(seed=-1), "seed must be"),
        (lambda: Protocol.from_dict({"folder": "x"}), "Unknown 'folder'"),
        (lambda: Protocol.from_dict({"splits": {"sort": 1}}), "Unknown 'sort' in splits"),
    ],
)
def test_wrong_parts_are_refused(make_it, message):
    with pytest.raises(ValueError, match=message):
        make_it()


def test_files_beside_the_protocol_come_first(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    for name, seed in (("here", 0), ("there", 1)):
        save_npz(planted(seed), tmp_path / name / "d.npz")
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path / "there"))
    np.testing.assert_array_equal(load_data(Data("d", "d.npz"), tmp_path / "here").X, planted(0).X)
    np.testing.assert_array_equal(load_data(Data("d", "d.npz"), tmp_path).X, planted(1).X)
    with pytest.raises(DataError, match=r"a file of emotions\. Run: eigenlabel datasets fetch emo"):
        load_data(Data("d", "mulan/emotions/emotions.arff"), tmp_path)
    with pytest.raises(DataError, match=r"a file of yahoo-arts\. Take additional-data/yahoo_arts"):
        load_data(Data("d", "yahoo/Arts.svm.gz"), tmp_path)


def test_a_source_may_be_a_known_data_set(tmp_path, monkeypatch, data_folder):
    protocol = small_protocol(data=[Data("music", "emotions")])
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    assert load_data(protocol.data[0]).X.shape == (593, 72)
    plan(protocol)
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"a file of emotions\. Run: eigenlabel datasets fetch emo"):
        plan(protocol)
    with pytest.raises(DataError, match=r"did you mean the data set emotions\?"):
        plan(small_protocol(data=[Data("music", "emotion")]))


def test_a_run_that_fails_at_once_leaves_nothing(tmp_path):
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


def test_sources_of_every_kind(tmp_path):
    train, test = (planted(0).subset(samples=list(rows)) for rows in (range(80), range(80, 120)))
    save(train, tmp_path / "train.svm")
    save(test, tmp_path / "test.svm")
    both = Data("d", ["train.svm", "test.svm"], {"n_features": 8})
    found = load_data(both, tmp_path)
    np.testing.assert_allclose(found.X.toarray(), planted(0).X)
    assert [rows.tolist() for rows in found.splits["published"]] == [
        list(range(80)), list(range(80, 120))
    ]  # fmt: skip
    assert found.sample_names is None
    with pytest.raises(ValueError, match="one file, or two for training and test"):
        load_data(Data("d", ["train.svm"]), tmp_path)
    tags = load_data(Data("tags", "debtags", {"min_positives": 2000}))
    assert tags.Y.sum(axis=0).min() >= 2000
    assert load_data(Data("d", planted(), min_documents=1)).X.shape == (planted().Y.any(1).sum(), 8)
    wide = load_data(Data("d", "train.svm", {"n_features": 20}), tmp_path)
    assert wide.X.shape[1] == 20
    several = replace(planted(), splits={str(k): (np.arange(5), np.arange(5, 9)) for k in range(4)})
    assert len(draw_splits(several, Splits("published", 2), 0)) == 2


def test_a_cut_off_line_is_cut_away_before_more_is_written(tmp_path):
    from eigenlabel.experiment.records import appending

    file = tmp_path / "deep" / "er" / "records.jsonl"
    with appending(file.parent) as records:
        records.add({"key": "a", "data": "d", "method": "m", "split": 0})
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"key": "cut o')
    with appending(file.parent) as records:
        assert file.read_bytes() == whole
        with pytest.raises(ValueError, match="JSON"):
            records.add({"key": "b", "data": "d", "method": "m", "split": 0, "x": float("nan")})
    assert len(read_records(file.parent)) == 1


def test_times_are_expected_from_the_same_data_first(tmp_path):
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


def test_workers_must_be_a_number(tmp_path):
    with pytest.raises(ValueError, match="workers must be an integer >= 1"):
        run(small_protocol(), tmp_path, workers=0)


def test_seeds_and_shares_of_splits():
    data = planted(n=201)
    for kind in ("folds", "shuffle", "random"):
        a, b = (draw_splits(data, Splits(kind, 3), seed) for seed in (1, 2))
        assert any(
            len(x[0]) != len(y[0]) or (x[0] != y[0]).any() for x, y in zip(a, b, strict=True)
        )
    first, second = (draw_splits(data, Splits("random", 2), seed) for seed in (4, 5))
    np.testing.assert_array_equal(first[1][0], second[0][0], "split k has the seed plus k")
    sizes = [len(draw_splits(data, Splits("random", 1, s), 0)[0][0]) for s in (0.252, 51)]
    assert sizes == [51, 51], "0.252 of 201 samples are 50.65"


def test_the_cache_knows_data_and_splits_apart(tmp_path):
    base = small_protocol(methods=[Method("ridge", parameters={"betas": [1.0]})])
    few = run(replace(base, splits=Splits("random", 1)), tmp_path / "a")
    more = run(replace(base, splits=Splits("random", 3)), tmp_path / "b")
    assert not any("error" in r for r in more), "splits drawn for one run serve no longer one"
    assert stable(few[:1]) == stable(more[:1])
    other = replace(base, data=[Data("one", planted(7))], splits=Splits("random", 1))
    assert run(other, tmp_path / "c")[0]["metrics"] != few[0]["metrics"]


class Recorder(ClassifierMixin, BaseEstimator):
    """Note how many BLAS threads there are, and take its time."""

    def fit(self, X, y):
        from threadpoolctl import threadpool_info

        self.width_, self.shape_ = X.shape[1], y.shape
        threads = [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]
        self.best_params_ = {"threads": max(threads), "big": np.inf, "kind": np.float32(2)}
        time.sleep(0.05)
        return self

    def predict(self, X):
        return np.ones((len(X), self.shape_[1]), dtype=int)

    def predict_proba(self, X):
        return [np.c_[np.full(len(X), 0.9), np.full(len(X), 0.1)] for _ in range(self.shape_[1])]


def test_a_record_tells_sizes_threads_times_and_memory(tmp_path):
    table = replace(
        planted(n=90),
        X=np.c_[np.tile([0.0, 1.0, 2.0], 30), planted(n=90).X[:, 0]],
        feature_names=np.array(["kind", "x"]),
        categories={"kind": ("a", "b", "c")},
    )
    protocol = Protocol([Data("d", table)], [Method("note", Recorder())], Splits("shuffle", 1))
    for workers in (1, 2):
        (record,) = run(protocol, tmp_path / str(workers), workers=workers)
        assert (record["train_size"], record["test_size"]) == (60, 30)
        assert (record["n_features"], record["n_labels"]) == (4, 5), "a column for each value"
        limit = max(1, min(blas_threads(), n_threads() // workers))
        assert record["parameters"]["threads"] <= limit == record["machine"]["threads"]
        assert record["parameters"]["big"] == "inf"
        assert record["parameters"]["kind"] == 2.0
        assert record["seconds"]["fit"] > 0.05 > record["seconds"]["predict"]
        if record["peak_mib"] is not None:
            assert 20 < record["peak_mib"] < 20_000
        assert record["metrics"]["ranking_loss"] == 1.0, "ties are errors"


def test_probabilities_of_each_label_become_scores():
    model = Recorder().fit(np.zeros((3, 2)), np.zeros((3, 4)))
    np.testing.assert_allclose(scores_of(model, np.zeros((6, 2))), np.full((6, 4), 0.1))
    assert scores_of(Failing(), np.zeros((2, 2))) is None


class Counting(StandardScaler):
    """A transformer that counts its fits."""

    fits = 0

    def fit(self, X, y=None):
        type(self).fits += 1
        return super().fit(X, y)


def test_a_grid_over_the_classifier_fits_the_projection_once_a_fold():
    data, Counting.fits = planted(), 0
    memory = catalogue.LastFits()
    pipeline = make_pipeline(Counting(), RidgeClassifier(), memory=memory)
    tuned = catalogue.search(pipeline, {"ridgeclassifier__alpha": [0.1, 1.0, 10.0]}, cv=3)
    tuned.fit(data.X, data.Y)
    assert Counting.fits == 3 + 1  # folds, and all samples
    plain = catalogue.search(
        make_pipeline(Counting(), RidgeClassifier()),
        {"ridgeclassifier__alpha": [0.1, 1.0, 10.0]},
        cv=3,
    ).fit(data.X, data.Y)
    np.testing.assert_array_equal(
        tuned.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    again = pickle.loads(pickle.dumps(tuned))
    assert not again.estimator.memory._kept
    np.testing.assert_array_equal(again.predict(data.X), tuned.predict(data.X))


def test_one_kernel_matrix_for_all_labels_equals_an_svc_for_each():
    data = planted()
    train, test = data.X[:80], data.X[80:]
    step = catalogue.OnGaussianKernel(MDDM(kernel="rbf"), 0.05)
    model = make_pipeline(step, OneVsRestClassifier(SVC(C=10.0, kernel="precomputed")))
    model.fit(train, data.Y[:80])
    projection = MDDM(kernel="rbf", gamma=0.05).fit(train, data.Y[:80])
    svm = SVC(C=10.0, gamma=0.05).fit(projection.transform(train), data.Y[:80, 1])
    found = svm.decision_function(projection.transform(test))
    # libsvm computes kernels its own way, and stops at 1e-3
    np.testing.assert_allclose(model.decision_function(test)[:, 1], found, atol=2e-3)
    widest = (
        make("mddm:PCA+SVM-rbf").estimator.set_params(kernel__gamma=0.3).fit(train, data.Y[:80])
    )
    assert widest[0].projection_.projection_.gamma == 0.3


def test_last_fits_forget_the_oldest():
    calls = []

    def note(x, by):
        calls.append((x, by))

    remembered = catalogue.LastFits(2).cache(note, ignore=["by"])
    for x in (1, 2, 1, 3, 1, 2):
        remembered(x, by=len(calls))
    assert calls == [(1, 0), (2, 1), (3, 2), (2, 3)]
