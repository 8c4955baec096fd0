"""The ledger of the papers: places exist, and nothing is missing."""

import importlib

import pytest

from commands import run_command
from eigenlabel import catalogue
from eigenlabel.reproduce import CONTESTS, FIGURES, TABLES, get_table, read_ledger
from eigenlabel.reproduce.ledger import KINDS, STATES
from eigenlabel.reproduce.papers import PAPERS

LEDGER = read_ledger()
PLACES = sorted({place for entry in LEDGER for place in entry.places})


@pytest.mark.parametrize("place", PLACES)
def test_every_place_exists(place):
    kind, _, name = place.partition(":")
    if kind == "table":
        assert get_table(name).name == name
    elif kind == "method":
        assert name in catalogue.METHODS
    else:
        module = importlib.import_module(kind)
        assert not name or hasattr(module, name)


def test_entries_are_complete():
    assert len({(e.paper, e.kind, e.item) for e in LEDGER}) == len(LEDGER)
    for entry in LEDGER:
        assert entry.kind in KINDS
        assert entry.state in STATES
        assert entry.places, entry
        assert entry.what
        assert entry.state == "done" or entry.reason, entry


def test_every_table_and_figure_is_in_the_ledger():
    listed = {place.removeprefix("table:") for place in PLACES if place.startswith("table:")}
    assert listed == {*TABLES, *CONTESTS, *FIGURES}


def test_every_system_of_a_paper_is_in_the_ledger():
    listed = {place.removeprefix("method:") for place in PLACES if place.startswith("method:")}
    ours = ("-squared", "-joint", "-tuned", "-ML", "-RK")  # variants that no paper has
    methods = {name for paper in PAPERS for name in paper.methods if not name.endswith(ours)}
    assert listed == methods


def test_states_agree_with_the_data_that_are_available():
    for entry in LEDGER:
        tables = [get_table(p.removeprefix("table:")) for p in entry.places if "table:" in p]
        if entry.kind != "table" or not tables:
            continue
        state = {
            "done": all(t.data and not t.lacking for t in tables),
            "part": all(t.data for t in tables) and any(t.lacking for t in tables),
            "stand-in": any(isinstance(t, type(CONTESTS["kgha-table4"])) for t in tables),
            "to run": all(t.data for t in tables),
            "not run": not any(t.data for t in tables),
        }
        assert state[entry.state], entry


def test_at_most_five_entries_are_not_run():
    not_run = [entry for entry in LEDGER if entry.state == "not run"]
    assert len(not_run) <= 5
    for entry in not_run:
        assert "public" in entry.reason or "available" in entry.reason


def test_the_command_prints_the_ledger(capsys):
    assert run_command("reproduce", "--ledger", "--format", "markdown") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(LEDGER)
    assert any("Figure 4" in line and "not run" in line for line in lines)
