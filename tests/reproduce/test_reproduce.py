"""The papers' tables: what is listed, how figures are put side by side."""

from dataclasses import replace

import numpy as np
import pytest

from eigenlabel import (
    KGHA,
    MDDM,
    PCA,
    DiscriminativeSelector,
    SharedSubspaceClassifier,
    ThresholdedClassifier,
    catalogue,
)
from eigenlabel.cli import main
from eigenlabel.comparison import wilcoxon
from eigenlabel.datasets import DataError, known, make_shared_subspace
from eigenlabel.experiment import Data, Method, Protocol, Splits, fit_split, plan, run
from eigenlabel.metrics import METRICS
from eigenlabel.reproduce import (
    CONTESTS,
    FIGURES,
    TABLES,
    Curves,
    at_hand,
    compare,
    data_sets,
    get_table,
    published,
)
from eigenlabel.reproduce.steps import AtShare, ViewChoice


def test_every_published_table_is_listed():
    assert set(TABLES) | set(CONTESTS) == set(published())
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
    for table in (*TABLES.values(), *CONTESTS.values()):
        for data in (d for group in table.data.values() for d in group):
            sources = [data.source] if isinstance(data.source, str) else data.source
            assert set(sources) <= files | {"debtags"}


def record(data, method, split, **metrics):
    return {"data": data, "method": method, "split": split, "metrics": metrics}


def test_figures_side_by_side(monkeypatch):
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
    method = catalogue.METHODS["ASO_SVM"]
    monkeypatch.delitem(catalogue.METHODS, "ASO_SVM")
    assert "ASO_SVM" in get_table("mlls-table3").missing()
    monkeypatch.setitem(catalogue.METHODS, "ASO_SVM", method)
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
    with pytest.raises(ValueError, match="mlls-table7 cannot be run: the data are not available"):
        get_table("mlls-table7").protocol()
    with pytest.raises(ValueError, match="mlls-table5 contains p-values, which need two methods"):
        get_table("mlls-table5").protocol(methods=["ML_LS"])
    nothing = replace(table, methods={"A": "nowhere", "B": "never"}, beyond=())
    with pytest.raises(ValueError, match="cannot be run: the catalogue has no method of A, B"):
        nothing.protocol()
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
    assert get_table("mlls-table3").status() == "4 of 6 data sets, 6 of 6 methods"


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
        "ML_LS vs CCA+SVM": "no such method in the catalogue",
        "ML_LS vs SVM": "not run",
    }


def small_figure(y="hamming_loss"):
    data = {k: Data(f"planted {k}", planted(k)) for k in range(3)}
    points = {
        (curve, str(r)): Method(f"{curve} @ {r}", SharedSubspaceClassifier(n_components=r))
        for curve, r in (("a", 1), ("a", 2), ("b", 2))
    }
    panels = {"two": (data[0], data[1]), "one": (data[2],)}
    return Curves("f", "F", "r", y, points, panels, Splits("shuffle", 2))


def planted(seed):
    return make_shared_subspace(60, 6, 4, 2, prevalence=0.3, random_state=seed)


def test_a_figure_averages_splits_and_then_sets(tmp_path):
    figure = small_figure()
    records = run(figure.protocol(), tmp_path)
    assert len(records) == 3 * 3 * 2
    means = figure.means(records)
    assert list(means) == ["two", "one"]
    assert list(means["two"]) == [("a", "1"), ("a", "2"), ("b", "2")]
    loss = {(r["data"], r["method"], r["split"]): r["metrics"]["hamming_loss"] for r in records}
    expected = np.mean([loss[f"planted {k}", "a @ 1", s] for k in (0, 1) for s in (0, 1)])
    assert means["two"]["a", "1"] == pytest.approx(expected, rel=1e-12)
    alone = figure.protocol(n_splits=1, methods=["b"])
    assert [m.name for m in alone.methods] == ["b @ 2"]
    assert len(plan(alone).tasks) == 3
    only = figure.means([r for r in records if r["method"] == "b @ 2"])
    assert list(only["one"]) == [("b", "2")]
    point = next(iter(figure.points.values()))
    assert [m.name for m in figure.protocol(methods=[point.name]).methods] == [point.name]
    with pytest.raises(ValueError, match="No curve 'c' in f; there are: a, b"):
        figure.protocol(methods=["c"])


def test_a_figure_of_times_shows_seconds(tmp_path):
    figure = small_figure("seconds")
    records = run(figure.protocol(n_splits=1), tmp_path)
    fits = {(r["data"], r["method"]): r["seconds"]["fit"] for r in records}
    assert figure.means(records)["one"]["b", "2"] == fits["planted 2", "b @ 2"]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_methods_for_its_points(name):
    figure = get_table(name)
    protocol = figure.protocol()
    assert len({m.name for m in protocol.methods}) == len(figure.points)
    for method in protocol.methods[:: max(1, len(protocol.methods) // 5)]:
        assert hasattr(method.make(), "fit")
    assert str(len(figure.curves())) in figure.status()


def test_a_share_of_the_dimension_is_the_projection_fitted_at_it(monkeypatch):
    data, fits = planted(0), []
    fit = PCA.fit
    monkeypatch.setattr(PCA, "fit", lambda self, X, y=None: fits.append(1) or fit(self, X, y))
    for share, r in ((0.5, 3), (0.01, 1), (1.0, 6)):
        Z = AtShare(PCA(), share).fit(data.X, data.Y).transform(data.X)
        assert Z.shape == (60, r)
    assert len(fits) == 1
    direct = PCA(n_components=3).fit(data.X).transform(data.X)
    half = AtShare(PCA(), 0.5).fit(data.X, data.Y).transform(data.X)
    np.testing.assert_allclose(half, direct, atol=1e-12)
    assert AtShare(PCA(), 0.5, 0.6).fit(data.X, data.Y).projection_.n_components_ == 4
    selected = AtShare(DiscriminativeSelector(), 0.5).fit(data.X, data.Y).transform(data.X)
    expected = DiscriminativeSelector(3).fit(data.X, data.Y).transform(data.X)
    np.testing.assert_array_equal(selected, expected)


def test_the_rbf_methods_tune_every_width():
    tuned = catalogue.make("mddm:MDDM_f^k+MLkNN-rbf")
    assert tuned.estimator["projection"].kernel == "rbf"
    assert {k: len(v) for k, v in tuned.param_grid.items()} == {
        "projection__gamma": 5,
        "projection__label_gamma": 5,
    }
    np.testing.assert_allclose(tuned.param_grid["projection__gamma"], [50, 5, 0.5, 0.05, 0.005])
    tuned = catalogue.make("mddm:MDDM_f^k+SVM-rbf")  # one width for projection and SVM
    assert {k: len(v) for k, v in tuned.param_grid.items()} == {
        "kernel__projection__label_gamma": 5,
        "kernel__gamma": 5,
        "svm__estimator__C": 5,
    }
    assert set(tuned.param_grid) <= set(tuned.estimator.get_params())
    for name in ("MLSI", "LPP", "SEL"):
        assert "projection" in catalogue.make(f"mddm:{name}+MLkNN-rbf").named_steps


def test_other_projections_take_the_dimension_of_kernel_mddm():
    data = planted(1)
    for kernel in ({"kernel": "rbf", "gamma": 3.0}, {"kernel": "linear"}):
        wrapped = catalogue.AtDimensionOfMDDM(PCA(**kernel)).fit(data.X, data.Y)
        expected = MDDM(**kernel).fit(data.X, data.Y).n_components_
        assert wrapped.projection_.n_components_ == expected


def test_the_command_prints_a_figure_and_writes_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(FIGURES, "f", small_figure())
    page = tmp_path / "page.html"
    assert main(["reproduce", "f", "-o", str(tmp_path / "runs"), "--report", str(page)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["r", "a", "b"] in lines
    numbers = [line for line in lines if line[:1] in (["1"], ["2"])]
    assert [len(n) for n in numbers] == [2, 3, 2, 3]  # b has no point at 1
    assert page.read_text(encoding="utf-8").count('<svg class="diagram lines"') == 2


def test_a_figure_tests_its_points_against_a_reference(tmp_path):
    figure = replace(small_figure(), reference=("a", "1"), splits=Splits("shuffle", 3))
    records = run(figure.protocol(), tmp_path)
    p_values = figure.tests(records)
    assert list(p_values["two"]) == [("a", "2"), ("b", "2")]
    loss = {(r["data"], r["method"], r["split"]): r["metrics"]["hamming_loss"] for r in records}
    keys = [(f"planted {k}", s) for k in (0, 1) for s in range(3)]
    a, b = ([loss[d, name, s] for d, s in keys] for name in ("a @ 2", "a @ 1"))
    assert p_values["two"]["a", "2"] == pytest.approx(min(1, 2 * wilcoxon(a, b)))
    assert small_figure().tests(records) == {}


def test_views_of_the_data_reach_the_model():
    data = replace(planted(0), views={"left": slice(0, 2), "right": slice(2, 6)})
    model = ViewChoice(KGHA(random_state=0), -1)
    methods = [
        Method("all", KGHA(random_state=0)),
        Method("tuned", ThresholdedClassifier(KGHA(random_state=0), cv=2)),
        Method("right", model),
        Method("joined", ViewChoice(KGHA(random_state=0), "joined")),
    ]
    protocol = Protocol([Data("d", data, prepare="none")], methods, Splits("shuffle", 1))
    fitted = {m.name: fit_split(protocol, "d", m.name, 0) for m in methods}
    assert list(fitted["all"].model.view_names_) == ["left", "right"]
    assert list(fitted["tuned"].model.estimator_.view_names_) == ["left", "right"]
    train, test = fitted["all"].train, fitted["all"].test
    alone = KGHA(random_state=0).fit(data.X[train][:, 2:], data.Y[train])
    np.testing.assert_allclose(
        fitted["right"].scores, alone.decision_function(data.X[test][:, 2:]), rtol=1e-8
    )
    joined = KGHA(random_state=0).fit(data.X[train], data.Y[train])
    np.testing.assert_allclose(
        fitted["joined"].scores, joined.decision_function(data.X[test]), rtol=1e-8
    )
    assert model.estimator.views is None


def test_data_that_comes_along_is_at_hand(tmp_path, monkeypatch):
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    for figure in (small_figure(), get_table("kgha-claims-debtags")):
        assert at_hand(figure) == (figure, {})
        assert data_sets(figure) == []
    with pytest.raises(DataError, match="none of its data is there"):
        at_hand(get_table("kgha-claims"))
