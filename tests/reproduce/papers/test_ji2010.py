"""Ji et al. (2010): protocols and methods."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from eigenlabel import catalogue
from eigenlabel.experiment import Data, Method, Protocol, Splits, fit_split
from eigenlabel.reproduce import get_table, published
from eigenlabel.reproduce.papers import ji2008, ji2010
from protocols import planted_views


def test_the_protocol_is_that_of_the_paper():
    web = get_table("mlls-table3").protocol()
    assert (web.splits.kind, web.splits.n_splits, web.splits.train_size) == ("random", 30, 1000)
    small = get_table("mlls-table3").protocol(n_splits=2).splits
    assert (small.at_most, small.train_size) == (2, 1000)
    assert {(d.min_positives, d.min_documents, d.prepare) for d in web.data} == {(100, 5, "tfidf")}
    assert get_table("mlls-table3").status() == "4 of 6 data sets, 6 of 6 methods"


def test_the_last_five_sets_have_tables_of_their_own():
    for number, run in ((4, "web-pages"), (6, "web-pages")):
        table = get_table(f"mlls-table{number}")
        protocol = table.protocol()
        assert [d.name for d in protocol.data] == ["Reference", "Science"]
        assert (protocol.name, protocol.splits.n_splits) == (run, 30)
        assert table.status() == "2 of 5 data sets, 6 of 6 methods"
    assert list(get_table("mlls-figure3").data) == ["Arts", "Science"]


def test_svm_perf_has_the_cost_of_the_paper():
    assert catalogue.make("SVMperf").estimator.C == 5000


def test_kernel_contests_have_the_rows_of_the_paper():
    for number, share in ((7, 0.3), (8, 0.6)):
        contest = get_table(f"mlls-table{number}")
        figures = published()[contest.name]
        assert {f.method for f in figures} == {m.name for m in contest.methods}
        assert (contest.splits.n_splits, contest.splits.train_size) == (30, share)
        assert len(contest.orders()["f1_macro"]) == 10, "five numbers of terms, two ratios"
        assert not contest.in_percent("f1_macro")
        for method in contest.protocol().methods:
            method.make()
    first = get_table("mlls-table7").orders()["auc_macro"]["FlyExpress, 20 terms, 0.3"]
    assert first["ML_LS"] == 0.7778


# Few samples: LIBLINEAR and LIBSVM stop at their limits, and CCA finds few directions.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "name",
    ["ML_LS", "CCA+Ridge", "CCA+SVM", "SVM", pytest.param("ASO_SVM", marks=pytest.mark.slow)],
)
def test_kernel_methods_give_the_same_on_features_and_on_their_kernels(name, monkeypatch):
    for grid in ("ASO_PENALTIES", "CCA_SVM_COSTS", "RIDGE_PENALTIES", "SVM_COSTS"):
        monkeypatch.setattr(ji2010, grid, [1.0])
    monkeypatch.setattr(ji2008, "PROJECTION_PENALTIES", [1.0])
    data = planted_views(0, 60)
    n, names = len(data.X), ("left", "right")
    kernels = [cosine_similarity(data.X[:, data.views[view]]) for view in names]
    side = {view: slice(k * n, (k + 1) * n) for k, view in enumerate(names)}
    matrices = replace(data, X=np.hstack(kernels), views=side, feature_names=())
    found = []
    for given, parameters in (
        (Data("d", matrices, precomputed=True), {}),
        (Data("d", data, prepare="none"), {"which": "cosine"}),
    ):
        place = next(p for p in Method(f"kernel:{name}").make().get_params() if p.endswith("which"))
        set_to = {place.replace("which", key): value for key, value in parameters.items()}
        protocol = Protocol([given], [Method("m", f"kernel:{name}", set_to)], Splits("shuffle", 1))
        found.append(fit_split(protocol, "d", "m", 0).scores)
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)  # LIBSVM's own tolerance is 1e-3
