"""Tables and figures by name."""

import pytest

from eigenlabel.datasets import known
from eigenlabel.metrics import METRICS
from eigenlabel.reproduce import CONTESTS, FIGURES, TABLES, get_table, published


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


def test_the_registry_has_the_data_of_all_tables():
    files = {f.path for entry in known().values() for f in entry.files}
    for table in (*TABLES.values(), *CONTESTS.values()):
        for data in (d for group in table.data.values() for d in group):
            sources = [data.source] if isinstance(data.source, str) else data.source
            assert set(sources) <= files | {"debtags"}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_methods_for_its_points(name):
    figure = get_table(name)
    protocol = figure.protocol()
    assert len({m.name for m in protocol.methods}) == len(figure.points)
    for method in protocol.methods[:: max(1, len(protocol.methods) // 5)]:
        assert hasattr(method.make(), "fit")
    assert str(len(figure.curves())) in figure.status()


def test_the_error_of_an_unknown_table_suggests_similar_names():
    with pytest.raises(ValueError, match="No table 'mlls-table33'; perhaps: mlls-table3"):
        get_table("mlls-table33")
