"""What a table runs."""

from dataclasses import replace

import pytest

from eigenlabel import catalogue
from eigenlabel.reproduce import get_table


def test_a_table_runs_the_methods_that_the_catalogue_contains(monkeypatch):
    method = catalogue.METHODS["ASO_SVM"]
    monkeypatch.delitem(catalogue.METHODS, "ASO_SVM")
    assert "ASO_SVM" in get_table("mlls-table3").missing()
    monkeypatch.setitem(catalogue.METHODS, "ASO_SVM", method)
    table = get_table("mlls-table3")
    assert "ASO_SVM" not in table.missing()
    assert "ASO_SVM" in [m.name for m in table.protocol().methods]


def test_a_table_runs_fewer_splits_and_methods_on_request():
    table = get_table("mlls-table3")
    assert table.protocol().splits.n_splits == 30
    small = table.protocol(n_splits=2, methods=["SVM"])
    assert (small.splits.at_most, [m.name for m in small.methods]) == (2, ["SVM"])
    assert small.splits.n_splits == 30
    with pytest.raises(ValueError, match="No method 'SWM' in mlls-table3; there are: ML_LS"):
        table.protocol(methods=["SWM"])
    with pytest.raises(ValueError, match="mlls-table9 cannot be run: the data are not available"):
        get_table("mlls-table9").protocol()
    with pytest.raises(ValueError, match="mlls-table5 contains p-values, which need two methods"):
        get_table("mlls-table5").protocol(methods=["ML_LS"])
    nothing = replace(table, methods={"A": "nowhere", "B": "never"}, beyond=())
    with pytest.raises(ValueError, match="cannot be run: the catalogue has no method of A, B"):
        nothing.protocol()
