"""Ji et al. (2010): protocols and methods."""

from eigenlabel import catalogue
from eigenlabel.reproduce import get_table


def test_the_protocol_is_that_of_the_paper():
    web = get_table("mlls-table3").protocol()
    assert (web.splits.kind, web.splits.n_splits, web.splits.train_size) == ("random", 30, 1000)
    small = get_table("mlls-table3").protocol(n_splits=2).splits
    assert (small.at_most, small.train_size) == (2, 1000)
    assert {(d.min_positives, d.min_documents, d.prepare) for d in web.data} == {(100, 5, "tfidf")}
    assert get_table("mlls-table3").status() == "4 of 6 data sets, 6 of 6 methods"


def test_the_last_five_sets_have_tables_of_their_own():
    for number, run in ((4, "mlls-table4"), (6, "mlls-table4")):
        table = get_table(f"mlls-table{number}")
        protocol = table.protocol()
        assert [d.name for d in protocol.data] == ["Reference", "Science"]
        assert (protocol.name, protocol.splits.n_splits) == (run, 30)
        assert table.status() == "2 of 5 data sets, 6 of 6 methods"
    assert list(get_table("mlls-figure3").data) == ["Arts", "Science"]


def test_svm_perf_has_the_cost_of_the_paper():
    assert catalogue.make("SVMperf").estimator.C == 5000
