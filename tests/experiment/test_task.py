"""A single run: its figures, and what its record contains."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from eigenlabel import SharedSubspaceClassifierCV, metrics
from eigenlabel.experiment import (
    Data,
    Method,
    Protocol,
    Splits,
    draw_splits,
    fit_split,
    read_records,
    run,
)
from eigenlabel.linalg.machine import n_threads
from eigenlabel.linalg.threads import blas_threads
from protocols import planted, small_protocol, stable


def test_a_record_has_the_figures_of_a_run_by_hand(tmp_path):
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


def test_probabilities_and_propensities_have_figures_where_models_have_them(tmp_path):
    names = ("log_loss", "propensity_ndcg_at_3", "f1_macro")
    methods = [Method("MLkNN"), Method("plain", RidgeClassifier())]
    protocol = Protocol([Data("d", planted())], methods, Splits("folds", 2), metrics=names)
    records = run(protocol, tmp_path)
    assert [set(r["metrics"]) for r in records] == [set(names)] * 2 + [set(names[1:])] * 2
    fitted = fit_split(protocol, "d", "MLkNN", 1)
    Y, found = fitted.data.Y, records[1]["metrics"]
    assert found["log_loss"] == metrics.log_loss(Y[fitted.test], fitted.probabilities)
    assert found["propensity_ndcg_at_3"] == metrics.propensity_ndcg_at_k(
        Y[fitted.test], fitted.scores, 3, propensities=metrics.label_propensities(Y[fitted.train])
    )
    assert fit_split(protocol, "d", "plain", 1).probabilities is None
    other = replace(protocol, metrics=("f1_macro",))
    assert fit_split(other, "d", "MLkNN", 1).probabilities is None


def test_records_are_plain_json(tmp_path):
    run(small_protocol(methods=[Method("shared-subspace")]), tmp_path)
    for line in (tmp_path / "records.jsonl").read_text().splitlines():
        record = json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        assert isinstance(record["parameters"]["alpha"], (float, str))


def test_the_cache_distinguishes_data_and_splits(tmp_path):
    base = small_protocol(methods=[Method("ridge", parameters={"betas": [1.0]})])
    few = run(replace(base, splits=Splits("random", 1)), tmp_path / "a")
    more = run(replace(base, splits=Splits("random", 3)), tmp_path / "b")
    assert not any("error" in r for r in more), "a longer run draws more splits"
    assert stable(few[:1]) == stable(more[:1])
    other = replace(base, data=[Data("one", planted(7))], splits=Splits("random", 1))
    assert run(other, tmp_path / "c")[0]["metrics"] != few[0]["metrics"]


class Recorder(ClassifierMixin, BaseEstimator):
    """Record the number of BLAS threads, and take a while."""

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


def test_a_record_contains_sizes_threads_times_and_memory(tmp_path):
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
        assert record["metrics"]["ranking_loss"] == 1.0, "ties count as errors"
