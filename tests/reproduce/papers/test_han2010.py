"""Han et al. (2010): metric, splits and grids."""

import numpy as np

from eigenlabel import catalogue
from eigenlabel.reproduce import get_table


def test_the_protocol_is_that_of_the_paper():
    table = get_table("mtsda-table2")
    assert table.metrics == {"auc": "auc_micro"}
    assert (table.splits.n_splits, table.splits.train_size) == (5, 1000)


def test_six_sets_of_web_pages_are_available():
    assert len(get_table("mtsda-table2").data) == 6
    assert list(get_table("mtsda-figure1").data) == ["Education", "Science"]


def test_rho_is_tuned_with_the_equicorrelation_penalty_only():
    assert catalogue.make("MtSDA(I)").rhos == (0.0,)
    assert catalogue.make("MtSDA(Delta)").rhos == (0.5, 0.2, 0.1)
    figure = get_table("mtsda-figure1")
    rhos = [float(m.make().rho) for m in figure.points.values()]
    np.testing.assert_allclose(rhos, [0, *(1 / k for k in range(10, 0, -1))])
