from dataclasses import replace

import pytest

from eigenlabel.estimators.meta.blend import member_costs as costs
from eigenlabel.estimators.meta.blend.member_costs import judging_seconds, second_forest_seconds
from eigenlabel.estimators.meta.blend.members import RECIPES
from eigenlabel.estimators.meta.blend.task import Form

TABLE = Form(2000, 50, 20, 50.0, False, False, False, False)
TEXT = Form(2000, 5000, 20, 60.0, True, False, False, False)


@pytest.mark.parametrize("form", [TABLE, TEXT], ids=["table", "text"])
@pytest.mark.parametrize("name", list(RECIPES))
def test_more_samples_take_longer(name, form):
    few, many = (RECIPES[name].seconds(replace(form, n=n)) for n in (2000, 8000))
    assert 0 < few < many


@pytest.mark.parametrize("name", ["linear", "forest", "words", "margin", "labels"])
def test_more_labels_take_longer(name):
    few, many = (RECIPES[name].seconds(replace(TEXT, m=m)) for m in (20, 200))
    assert few < many


def test_the_second_forest_reads_labels_and_has_a_third_of_the_trees():
    same = replace(TABLE, d=TABLE.m, stored=TABLE.m)
    assert second_forest_seconds(TEXT) == pytest.approx(costs.forest_seconds(same) / 3)


def test_judging_counts_cells():
    assert judging_seconds(TABLE) == pytest.approx(40_000 / costs.JUDGED)
    assert judging_seconds(replace(TABLE, m=40)) == pytest.approx(2 * judging_seconds(TABLE))
