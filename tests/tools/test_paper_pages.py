"""The pages of the papers contain what the records say."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from eigenlabel.comparison import collect
from eigenlabel.reproduce import get_table, read_csv, read_ledger

ROOT = Path(__file__).parents[2]
RECORDS = sorted(
    path
    for path in (ROOT / "results" / "papers").glob("*.csv")
    if path.stem not in ("kdd-table2", "mlls-table2")
)


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("pages", ROOT / "tools" / "paper_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "papers").glob("*.md")), ids=lambda p: p.stem
)
def test_a_page_equals_the_records(tool, page):
    assert tool.renew(page.read_text()) == page.read_text(), "run tools/paper_pages.py"


def test_the_list_of_runs_equals_the_records(tool):
    page = tool.RESULTS / "README.md"
    assert tool.renew(page.read_text()) == page.read_text(), "run tools/paper_pages.py"


def share_of_runs(progress):
    """Return the share of the runs that "3 of 20 runs" states; earlier means are all of them."""
    words = progress.split()
    return int(words[0]) / int(words[2]) if words[1] == "of" else 1.0


def test_tables_with_few_records_are_still_to_run(tool):
    for entry in read_ledger():
        names = [p.removeprefix("table:") for p in entry.places if p.startswith("table:")]
        shares = [share_of_runs(found) for name in names if (found := tool.progress(name))]
        few = bool(shares) and max(shares) < 0.1
        assert (entry.state == "to run") == few, entry


def test_records_are_restored_once(tool, tmp_path):
    before = tool.read_csv(tool.RESULTS / "mtsda-figure1.csv")
    tool.restore(tmp_path / "runs")
    restored = tool.read_records(tmp_path / "runs" / "mtsda-figure1")
    assert restored == before
    tool.restore(tmp_path / "runs")  # adds nothing twice
    assert tool.read_records(tmp_path / "runs" / "mtsda-figure1") == before


def test_the_ledger_counts_the_records(tool):
    assert tool.renewed_ledger() == tool.LEDGER.read_text(), "run tools/paper_pages.py"


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
def test_records_belong_to_their_table_and_occur_once(path):
    table, records = get_table(path.stem), read_csv(path)
    protocol = table.protocol()
    assert records
    assert {r["data"] for r in records} <= {d.name for d in protocol.data}
    assert {r["method"] for r in records} <= {m.name for m in protocol.methods}
    assert max(r["split"] for r in records) < protocol.splits.n_splits
    assert len({r["key"] for r in records}) == len(records)
    assert all(r["versions"]["eigenlabel"] for r in records)


def test_a_cell_is_the_mean_of_its_records(tool):
    records = read_csv(ROOT / "results" / "papers" / "mlls-table3.csv")
    values = list(collect(records, "f1_macro")["Arts"]["ML_LS"].values())
    lines = tool.generated("mlls-table3", "f1_macro")
    row = next(line for line in lines if line.startswith("| ML_LS |"))
    assert f"/ {sum(values) / len(values):.3f}".replace("0.", ".") in row.split("|")[2]
    assert f"{len(values)} of 30" in row or "to" in row


def test_only_generated_parts_change(tool):
    text = "before\n<!-- begin ledger -->\nold\n<!-- end -->\nafter\n"
    new = tool.renew(text)
    assert new.startswith("before\n<!-- begin ledger -->\n\nThe ledger has")
    assert new.endswith("\n<!-- end -->\nafter\n")
    assert "old" not in new
    assert tool.renew(new) == new


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1234, ".123"), (1.5, "1.50"), (97.123, "97.1"), (None, ""), (-0.5, "-.500")],
)
def test_numbers_are_short(tool, value, text):
    assert tool.number(value) == text


def means(name, metric):
    """Return the means of all methods by data set."""
    found = collect(read_csv(ROOT / "results" / "papers" / f"{name}.csv"), metric)
    return {
        data: {method: float(np.mean(list(v.values()))) for method, v in by_method.items()}
        for data, by_method in found.items()
    }


def test_what_the_pages_say_about_web_pages_holds():
    """docs/papers/ji2008.md and ji2010.md."""
    by_metric = {
        metric: means("kdd-table3", metric) | means("kdd-table4", metric)
        for metric in ("f1_macro", "f1_micro", "auc_macro")
    }
    assert len(by_metric["f1_macro"]) == 6
    for data, macro in by_metric["f1_macro"].items():
        assert macro["CCA+SVM"] > macro["ML_LS"]
        assert (macro["SVM"] > macro["ML_LS"]) == (data != "Health")
        best = sorted(macro, key=macro.__getitem__)[-2:]
        assert set(best) == {"shared-subspace", "linear-svm"}
        for metric in ("f1_micro", "auc_macro"):
            values = by_metric[metric][data]
            assert values["ML_LS"] > max(values["SVM"], values["SVM_C"])


def test_what_the_pages_say_about_kernels_holds():
    """docs/papers/ji2010.md."""
    auc, macro = means("mlls-table7", "auc_macro"), means("mlls-table7", "f1_macro")
    for data in ("emotions", "yeast"):
        assert auc[data]["ML_LS"] > max(auc[data]["CCA+Ridge"], auc[data]["SVM"])
        own = [value for name, value in auc[data].items() if name.startswith("ML_LS")]
        assert auc[data]["ML_LS, learnt weights"] == max(own)
        rivals = max(macro[data]["CCA+Ridge"], macro[data]["SVM"])
        assert (macro[data]["ML_LS"] > rivals) == (data == "emotions")
    assert macro["yeast"]["ML_LS, learnt weights"] < macro["yeast"]["ML_LS"]


def test_what_the_pages_say_about_sparse_discriminant_analysis_holds():
    """docs/papers/han2010.md."""
    for values in means("mtsda-table2", "auc_micro").values():
        if {"HSML", "LDA+SVM", "MtSDA(I)"} <= set(values):
            assert values["MtSDA(I)"] > max(values.values()) - 0.005
            assert values["MtSDA(I)"] - min(values["LDA+SVM"], values["HSML"]) < 0.03
            assert values["shared-subspace"] > values["MtSDA(I)"] - 0.01
    for values in means("mtsda-table2", "auc_micro_of_sets").values():
        assert max(values["MtSDA(I)"], values["MtSDA(Delta)"]) < values["SVM"]


def test_what_the_pages_say_about_scene_holds():
    """docs/papers/han2010.md."""
    found = collect(read_csv(ROOT / "results" / "papers" / "mtsda-table3.csv"), "f1_micro")["scene"]
    for split in range(5):
        own = min(found["MtSDA(I)"][split], found["MtSDA(Delta)"][split])
        assert own > max(found["LDA+SVM"][split], found["HSML"][split])


def test_what_the_pages_say_about_time_holds():
    """docs/papers/ji2010.md: ML_LS is the fastest, with fixed parameters and tuned."""
    for letter in "nmd":
        table = get_table(f"mlls-time-{letter}")
        found = table.means(read_csv(ROOT / "results" / "papers" / f"{table.name}.csv"))["Science"]
        for size in {x for _, x in found}:
            fixed = {c: found[f"{c}, fixed", size] for c in ("ML_LS", "SVM", "ASO_SVM")}
            assert min(fixed, key=fixed.__getitem__) == "ML_LS"
            assert found["ML_LS, tuned", size] < found["SVM, tuned", size]
