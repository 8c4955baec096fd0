"""Han et al. (2010): metric, splits and grids."""

import numpy as np
import pytest

from eigenlabel import LDA, MtSDA, MtSDACV, catalogue
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.experiment import Data, Method, Protocol, Splits, draw_splits, fit_split
from eigenlabel.reproduce import get_table
from eigenlabel.reproduce.paper_estimators import LabelLDA


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
    rhos = [float(m.remake({}).rho) for m in figure.points.values()]
    np.testing.assert_allclose(rhos, [0, *(1 / k for k in range(10, 0, -1))])


def test_lda_is_applied_to_each_label():
    model = catalogue.make("LDA+SVM")
    assert isinstance(model.projection, LabelLDA)
    assert model.classifier.estimator.kernel == "linear"
    assert isinstance(catalogue.make("LDA+SVM-joint").projection, LDA)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_mtsda_is_tuned_on_the_first_split_and_kept(monkeypatch):
    fitted = []
    fit = MtSDACV.fit
    monkeypatch.setattr(MtSDACV, "fit", lambda self, X, y: fitted.append(len(X)) or fit(self, X, y))
    data = make_shared_subspace(90, 8, 4, 2, prevalence=0.3, random_state=0)
    methods = [Method("MtSDA(Delta)"), Method("rho = 1/3", "MtSDA(Delta)", {"rho": 1 / 3})]
    protocol = Protocol([Data("d", data, prepare="none")], methods, Splits("shuffle", 3))
    runs = [fit_split(protocol, "d", "MtSDA(Delta)", k) for k in (2, 0)]
    other = fit_split(protocol, "d", "rho = 1/3", 1)
    assert len(fitted) == 1, "tuned once for all splits and points"
    train, _ = draw_splits(data, protocol.splits, 0)[0]
    tuned = catalogue.make("MtSDA(Delta)-tuned").fit(data.X[train], data.Y[train])
    for run in (*runs, other):
        assert type(run.model) is MtSDA
        assert (run.model.l1, run.model.l2) == (tuned.l1_, tuned.l2_)
        assert run.parameters == tuned.best_params_
    assert (runs[0].model.rho, other.model.rho) == (tuned.rho_, 1 / 3)
    first = runs[1]
    np.testing.assert_allclose(first.model.thresholds_, tuned.thresholds_)
    np.testing.assert_allclose(first.scores, tuned.decision_function(data.X[first.test]), atol=1e-8)
