"""The papers' tables: what is listed, how figures are put side by side."""

from dataclasses import replace

import numpy as np
import pytest

from eigenlabel import catalogue
from eigenlabel.comparison import wilcoxon
from eigenlabel.datasets import known
from eigenlabel.experiment import plan, run
from eigenlabel.metrics import METRICS
from eigenlabel.reproduce import TABLES, compare, get_table, published


def test_every_published_table_is_listed():
    assert set(TABLES) == set(published())
    for table in TABLES.values():
        datasets = {f.dataset for f in published()[table.name]}
        assert datasets == set(table.data) | set(table.lacking)
        assert not set(table.data) & set(table.lacking)
        if table.kind == "figures" and table.data:
            methods = {f.method for f in published()[table.name]}
            assert methods == set(table.methods)
            assert {f.metric for f in published()[table.name]} == set(table.metrics)
        assert set(table.metrics.values()) <= set(METRICS)
        assert table.status()


def test_the_registry_knows_the_tables_data():
    files = {f.path for entry in known().values() for f in entry.files}
    for table in TABLES.values():
        for data in (d for group in table.data.values() for d in group):
            sources = [data.source] if isinstance(data.source, str) else data.source
            assert set(sources) <= files


def record(data, method, split, **metrics):
    return {"data": data, "method": method, "split": split, "metrics": metrics}


def test_figures_side_by_side():
    table = get_table("mlls-table3")
    values = [0.70, 0.72, 0.77]
    records = [record("Arts", "ML_LS", k, auc_macro=v) for k, v in enumerate(values)]
    records += [record("Arts", "shared-subspace", 0, auc_macro=0.9)]
    rows = {(r.dataset, r.metric, r.method): r for r in compare(table, records)}
    row = rows["Arts", "auc_macro", "ML_LS"]
    assert row.paper == 0.7611
    assert row.ours == pytest.approx(0.73)
    assert row.ours_std == pytest.approx(np.std(values, ddof=1))
    assert row.difference == pytest.approx(0.73 - 0.7611)
    assert row.outside is False, "the paper prints no deviation, ours is 0.036"
    assert rows["Arts", "auc_macro", "SVM"].why == "not run"
    assert rows["Arts", "auc_macro", "ASO_SVM"].why == "method not there yet"
    assert "word counts" in rows["Computers", "auc", "ML_LS"].why
    best = rows["Arts", "auc_macro", "shared-subspace (paper: its best)"]
    assert (best.paper, best.ours, best.outside) == (0.7678, 0.9, None)
    shifted = [record("Arts", "ML_LS", k, auc_macro=v - 0.1) for k, v in enumerate(values)]
    outside = {(r.dataset, r.metric, r.method): r.outside for r in compare(table, shifted)}
    assert outside["Arts", "auc_macro", "ML_LS"] is True


def test_the_papers_own_deviation_goes_first():
    figure = next(f for f in published()["kdd-table3"] if f.method == "SVM" and f.metric == "auc")
    for step, outside in ((0.9, False), (1.1, True)):
        value = figure.mean + step * figure.std
        records = [record(figure.dataset, "SVM", k, auc_macro=value) for k in range(2)]
        rows = compare(get_table("kdd-table3"), records)
        row = next(
            r
            for r in rows
            if (r.dataset, r.method, r.metric) == (figure.dataset, "SVM", "auc_macro")
        )
        assert row.outside is outside


def test_means_over_several_sets():
    table = get_table("mddm-table2")
    sets = [d.name for d in table.data["Yahoo web pages (11 sets)"]]
    records = [
        record(name, "mddm:ORI+SVM", 0, hamming_loss=0.01 * k) for k, name in enumerate(sets)
    ]
    row = next(
        r for r in compare(table, records) if (r.method, r.metric) == ("ORI", "hamming_loss")
    )
    assert (row.ours, row.n) == (pytest.approx(0.05), 11)
    assert row.ours_std == pytest.approx(np.std(0.01 * np.arange(11), ddof=1))


def test_p_values_by_the_papers_approximation(rng):
    a, b = rng.uniform(size=(2, 30))
    records = [record("Health", "ML_LS", k, f1_macro=v) for k, v in enumerate(a)]
    records += [record("Health", "SVM", k, f1_macro=v) for k, v in enumerate(b)]
    rows = compare(get_table("mlls-table5"), records)
    row = next(
        r
        for r in rows
        if (r.dataset, r.metric, r.method) == ("Health", "p of f1_macro", "ML_LS vs SVM")
    )
    assert row.ours == wilcoxon(a, b, method="approx")
    assert row.outside == ((row.ours < 0.05) != (row.paper < 0.05))
    assert get_table("mlls-table5").protocol().name == get_table("mlls-table3").protocol().name


def test_a_method_appears_once_it_is_registered(monkeypatch):
    assert "ASO_SVM" in get_table("mlls-table3").missing()
    monkeypatch.setitem(catalogue.METHODS, "ASO_SVM", catalogue.METHODS["ridge"])
    table = get_table("mlls-table3")
    assert "ASO_SVM" not in table.missing()
    assert "ASO_SVM" in [m.name for m in table.protocol().methods]


def test_fewer_splits_and_methods():
    table = get_table("mlls-table3")
    assert table.protocol().splits.n_splits == 30
    small = table.protocol(n_splits=2, methods=["SVM"])
    assert (small.splits.at_most, [m.name for m in small.methods]) == (2, ["SVM"])
    assert small.splits.n_splits == 30
    with pytest.raises(ValueError, match="No method 'SWM' in mlls-table3; there are: ML_LS"):
        table.protocol(methods=["SWM"])
    with pytest.raises(ValueError, match="kgha-table7 cannot be run: the data cannot be had"):
        get_table("kgha-table7").protocol()
    with pytest.raises(ValueError, match="No table 'mlls-table33'; perhaps: mlls-table3"):
        get_table("mlls-table33")


def test_sizes_of_the_web_pages(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    rows = compare(get_table("mlls-table2"), [])
    outside = {r.dataset for r in rows if r.outside}
    assert outside == {"Business"}
    assert sum(r.outside is False for r in rows) == 5 * 3 + 2


@pytest.mark.parametrize("name", ["mlls-table3", "mddm-table2", "mddm-table6"])
def test_a_table_runs_on_real_data(name, data_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    table = get_table(name)
    method = "mddm:ORI+SVM" if name.startswith("mddm") else "ML_LS"
    protocol = table.protocol(n_splits=1, methods=[method])
    assert {t.data for t in plan(protocol).tasks} == {d.name for d in protocol.data}
    one = [d for d in protocol.data if d.name in ("Health", "rcv1-2")]
    records = run(replace(protocol, data=one), tmp_path)
    assert len(records) == 1
    assert "error" not in records[0], records[0]
    for row in compare(table, records):
        if row.ours is not None and row.metric in ("auc_macro", "one_error", "average_precision"):
            assert abs(row.difference) < 0.1


def test_the_protocols_are_the_papers():
    web = get_table("mlls-table3").protocol()
    assert (web.splits.kind, web.splits.n_splits, web.splits.train_size) == ("random", 30, 1000)
    small = get_table("mlls-table3").protocol(n_splits=2).splits
    assert (small.at_most, small.train_size) == (2, 1000)
    assert {(d.min_positives, d.min_documents, d.prepare) for d in web.data} == {(100, 5, "tfidf")}
    text = get_table("mddm-table5").protocol()
    assert {(d.min_positives, d.min_documents, d.prepare) for d in text.data} == {(50, 5, "none")}
    images = get_table("mddm-table3")
    assert (images.splits.kind, images.splits.n_splits) == ("folds", 5)
    assert images.data["Corel5K image annotation"][0].min_positives == 5
    assert not images.missing()
    assert get_table("mtsda-table2").metrics == {"auc": "auc_micro"}
    assert get_table("mlls-table3").status() == "4 of 6 data sets, 4 of 6 methods"


def test_rows_of_a_data_set_and_metric_stand_together():
    records = [record("Arts", "shared-subspace", 0, auc_macro=0.9, f1_macro=0.4, f1_micro=0.5)]
    pairs = [(r.dataset, r.metric) for r in compare(get_table("mlls-table3"), records)]
    runs = [pair for k, pair in enumerate(pairs) if k == 0 or pairs[k - 1] != pair]
    assert len(runs) == len(set(runs))


def test_several_splits_of_several_sets_count_by_set():
    table = get_table("mddm-table2")
    sets = [d.name for d in table.data["Yahoo web pages (11 sets)"]]
    records = [
        record(name, "mddm:ORI+SVM", s, hamming_loss=0.1 if k else 0.3)
        for k, name in enumerate(sets)
        for s in range(1 if k else 9)
    ]
    row = next(
        r for r in compare(table, records) if (r.method, r.metric) == ("ORI", "hamming_loss")
    )
    assert row.ours == pytest.approx((0.3 + 10 * 0.1) / 11)


def test_p_values_need_both_methods(monkeypatch):
    monkeypatch.delitem(catalogue.METHODS, "CCA+SVM")
    rows = compare(get_table("mlls-table5"), [])
    why = {r.method: r.why for r in rows if r.dataset == "Arts"}
    assert why == {
        "ML_LS vs CCA+Ridge": "not run",
        "ML_LS vs CCA+SVM": "method not there yet",
        "ML_LS vs SVM": "not run",
    }
