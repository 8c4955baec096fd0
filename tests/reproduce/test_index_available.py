"""Which data sets are on this machine."""

from dataclasses import replace

import pytest

from eigenlabel.datasets import DataError
from eigenlabel.experiment import plan, run
from eigenlabel.reproduce import at_hand, data_sets, get_table
from protocols import small_figure


def test_data_in_memory_and_embedded_data_are_always_available(tmp_path, monkeypatch):
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    for figure in (small_figure(), get_table("kgha-claims-debtags")):
        assert at_hand(figure) == (figure, {})
        assert data_sets(figure) == []
    with pytest.raises(DataError, match="none of its data is there"):
        at_hand(get_table("kgha-claims"))


def test_a_contest_runs_on_the_data_that_are_available(data_folder, tmp_path, monkeypatch):
    contest = get_table("kgha-table7")
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    there, missing = at_hand(contest)
    assert list(there.data) == ["debtags"]
    assert list(missing) == ["yeast", "emotions"]
    assert "corel5k-guillaumin" in data_sets(get_table("kgha-table4"))
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    protocol = contest.protocol(n_splits=1, methods=["TMEC"])
    small = [d for d in protocol.data if d.name == "emotions"]
    found = run(replace(protocol, data=small), tmp_path)
    assert len(plan(protocol).tasks) == 3
    for record in found:
        assert "error" not in record, record
        assert record["metrics"]["ranking_accuracy"] > 0.8
        assert record["parameters"]
