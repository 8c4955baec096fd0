"""Published figures next to ours."""

from dataclasses import replace

import numpy as np
import pytest

from eigenlabel import catalogue
from eigenlabel.comparison import paired_t, wilcoxon
from eigenlabel.experiment import plan, run
from eigenlabel.reproduce import compare, get_table, published
from protocols import record


def test_published_figures_are_compared_with_ours(monkeypatch):
    monkeypatch.delitem(catalogue.METHODS, "ASO_SVM")
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
    assert rows["Arts", "auc_macro", "ASO_SVM"].why == "no such method in the catalogue"
    assert "word counts" in rows["Computers", "auc", "ML_LS"].why
    best = rows["Arts", "auc_macro", "shared-subspace (paper: its best)"]
    assert (best.paper, best.ours, best.outside) == (0.7678, 0.9, None)
    shifted = [record("Arts", "ML_LS", k, auc_macro=v - 0.1) for k, v in enumerate(values)]
    outside = {(r.dataset, r.metric, r.method): r.outside for r in compare(table, shifted)}
    assert outside["Arts", "auc_macro", "ML_LS"] is True


def test_the_standard_deviation_of_the_paper_is_used_first():
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


def test_figures_of_several_sets_are_averaged():
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


def test_each_set_counts_once_however_many_splits_it_has():
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


def test_our_figure_is_shown_where_the_published_one_is_lost():
    table = get_table("mddm-table1")
    name = table.data["Yahoo web pages (11 sets)"][0].name
    assert not [r for r in compare(table, []) if r.paper is None]
    records = [record(name, "mddm:ORI+MLkNN", 0, one_error=0.47)]
    (row,) = [r for r in compare(table, records) if r.paper is None]
    assert (row.metric, row.method, row.ours, row.n) == ("one_error", "ORI", 0.47, 1)
    assert (row.difference, row.outside) == (None, None)


def test_rows_of_a_data_set_and_metric_are_adjacent():
    records = [record("Arts", "shared-subspace", 0, auc_macro=0.9, f1_macro=0.4, f1_micro=0.5)]
    pairs = [(r.dataset, r.metric) for r in compare(get_table("mlls-table3"), records)]
    runs = [pair for k, pair in enumerate(pairs) if k == 0 or pairs[k - 1] != pair]
    assert len(runs) == len(set(runs))


def test_p_values_use_the_approximation_of_the_papers(rng):
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
    few = [r for r in records if r["split"] < 6]
    row = next(r for r in compare(get_table("mlls-table5"), few) if r.ours is not None)
    assert (row.n, row.outside) == (6, None), "six pairs are not compared with thirty"


def test_p_values_need_both_methods(monkeypatch):
    monkeypatch.delitem(catalogue.METHODS, "CCA+SVM")
    rows = compare(get_table("mlls-table5"), [])
    why = {r.method: r.why for r in rows if r.dataset == "Arts"}
    assert why == {
        "ML_LS vs CCA+Ridge": "not run",
        "ML_LS vs CCA+SVM": "no such method in the catalogue",
        "ML_LS vs SVM": "not run",
    }


def test_sizes_of_the_web_pages_equal_the_published_ones_except_business(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    rows = compare(get_table("mlls-table2"), [])
    outside = {r.dataset for r in rows if r.outside}
    assert outside == {"Business"}
    assert sum(r.outside is False for r in rows) == 5 * 5 + 2


@pytest.mark.slow
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
            assert abs(row.difference) < 0.2  # one of several sets against the mean of all


def test_methods_that_no_t_test_separates_from_the_best_are_marked():
    table = get_table("mddm-table7")
    names = list(table.methods.values())
    levels = {"MDDM_p^l": 0.30, "MDDM_p^k": 0.301, "MDDM_f^l": 0.4, "MDDM_f^k": 0.2}
    data = table.data["Yahoo web pages (11 sets)"]
    noise = np.random.default_rng(0).normal(0, 0.004, (len(names), len(data)))
    records = [
        {
            **{"key": "k", "data": d.name, "method": name, "split": 0},
            "metrics": dict.fromkeys(table.recorded, 0.5)
            | {"hamming_loss": level + noise[k, j], "f1_macro": level + noise[k, j]},
        }
        for k, (name, level) in enumerate(zip(names, levels.values(), strict=True))
        for j, d in enumerate(data)
    ]
    rows = compare(table, records)
    loss = {r.method: r.best for r in rows if r.metric == "hamming_loss"}
    assert loss == {"MDDM_p^l": False, "MDDM_p^k": False, "MDDM_f^l": False, "MDDM_f^k": True}
    score = {r.method: r.best for r in rows if r.metric == "f1_macro"}
    assert score == {"MDDM_p^l": False, "MDDM_p^k": False, "MDDM_f^l": True, "MDDM_f^k": False}
    best = next(r for r in rows if r.metric == "hamming_loss" and r.method == "MDDM_f^k")
    near = [r for r in records if r["method"] != table.methods["MDDM_f^k"]]
    marked = {r.method: r.best for r in compare(table, near) if r.metric == "hamming_loss"}
    pair = [[r["metrics"]["hamming_loss"] for r in records if r["method"] == n] for n in names[:2]]
    alike = bool(paired_t(*pair) >= 0.05)
    assert (marked["MDDM_p^l"], marked["MDDM_p^k"]) == (True, True) if alike else (True, False)
    assert marked["MDDM_f^k"] is None
    assert best.n == 11


def test_the_convention_of_a_paper_is_compared_beside_the_usual_one():
    table = get_table("mtsda-table2")
    records = [
        {
            **{"key": "k", "data": "Arts", "method": "MtSDA(I)", "split": 0},
            "metrics": {"auc_micro": 0.84, "auc_micro_of_sets": 0.76},
        }
    ]
    rows = [r for r in compare(table, records) if (r.dataset, r.method) == ("Arts", "MtSDA(I)")]
    assert [(r.metric, r.ours) for r in rows] == [("auc_micro", 0.84), ("auc_micro_of_sets", 0.76)]
    assert len({r.paper for r in rows}) == 1
