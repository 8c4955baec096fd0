"""The pages of the papers contain what the records say."""

import importlib.util
from pathlib import Path

import pytest

from eigenlabel.comparison import collect
from eigenlabel.reproduce import get_table, read_csv

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
