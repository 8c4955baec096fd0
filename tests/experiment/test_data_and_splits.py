"""Data sets of a protocol: how they are found, loaded and split."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import DataError, Dataset, save, save_npz
from eigenlabel.experiment import Data, Method, Protocol, Splits, draw_splits, load_data, plan, run
from eigenlabel.experiment.data_and_splits import training_kernels
from eigenlabel.experiment.records import fingerprint
from protocols import planted, planted_views, small_protocol


def test_every_kind_of_split_has_the_right_sizes():
    data = planted(n=200)
    for kind in ("shuffle", "random"):
        for size, count in ((50, 50), (0.25, 50), (None, 133)):
            drawn = draw_splits(data, Splits(kind, 4, size), seed=5)
            assert len(drawn) == 4
            for train, test in drawn:
                assert len(train) == count
                assert sorted([*train, *test]) == list(range(200))
                assert data.Y[train].any(axis=0).all()
            assert any((drawn[0][0] != other[0]).any() for other in drawn[1:])
    folds = draw_splits(data, Splits("folds", 4), seed=5)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(200))
    published = replace(data, splits={"a": (np.arange(5), np.arange(5, 9))})
    assert len(draw_splits(published, Splits("published", 3), 0)) == 1
    with pytest.raises(ValueError, match="No published splits"):
        draw_splits(data, Splits("published"), 0)
    rare = replace(data, Y=np.eye(200, 5, dtype=int))
    with pytest.raises(ValueError, match="some label never had a positive"):
        draw_splits(rare, Splits("random", 1, 2), 0)
    with pytest.raises(ValueError, match="leaves one side empty"):
        draw_splits(data, Splits("random", 1, 200), 0)


@pytest.mark.parametrize("kind", ["shuffle", "random"])
def test_more_splits_begin_with_the_same_ones(kind, tmp_path):
    few, many = (draw_splits(planted(), Splits(kind, n), 1) for n in (2, 5))
    for a, b in zip(few, many[:2], strict=True):
        np.testing.assert_array_equal(a[0], b[0])
    run(small_protocol(splits=Splits(kind, 2)), tmp_path)
    assert {t.split for t in plan(small_protocol(splits=Splits(kind, 3)), tmp_path).pending} == {2}


def test_splits_depend_on_the_seed_and_round_shares():
    data = planted(n=201)
    for kind in ("folds", "shuffle", "random"):
        a, b = (draw_splits(data, Splits(kind, 3), seed) for seed in (1, 2))
        assert any(
            len(x[0]) != len(y[0]) or (x[0] != y[0]).any() for x, y in zip(a, b, strict=True)
        )
    first, second = (draw_splits(data, Splits("random", 2), seed) for seed in (4, 5))
    np.testing.assert_array_equal(first[1][0], second[0][0], "split k uses the seed plus k")
    sizes = [len(draw_splits(data, Splits("random", 1, s), 0)[0][0]) for s in (0.252, 51)]
    assert sizes == [51, 51], "0.252 of 201 samples are 50.65"


def test_the_number_of_published_splits_has_an_upper_bound():
    several = replace(planted(), splits={str(k): (np.arange(5), np.arange(5, 9)) for k in range(4)})
    for at_most, count in ((None, 4), (2, 2), (7, 4)):
        splits = Splits("published", 5, at_most=at_most)
        protocol = Protocol([Data("several", several)], [Method("ridge")], splits)
        assert len(plan(protocol).tasks) == count


def test_rare_labels_and_words_are_dropped_before_splits():
    data = planted()
    rare = replace(data, Y=np.c_[data.Y, np.eye(120, 1, dtype=int)], X=sp.csr_array(data.X > 1.2))
    rare = replace(rare, label_names=np.array(list("abcdef")))
    kept = load_data(Data("x", rare, min_positives=2, min_documents=10))
    assert kept.label_names.tolist() == list("abcde")
    documents = (rare.X.toarray()[data.Y.any(axis=1)] != 0).sum(axis=0)
    assert kept.X.shape[1] == (documents >= 10).sum() < 8
    assert kept.Y.any(axis=1).all()
    with pytest.raises(ValueError, match="Nothing is left of x"):
        load_data(Data("x", rare, min_positives=1000))


def test_a_part_of_a_data_set_is_drawn_the_same_each_time():
    data = planted_views(n=120)
    part = load_data(Data("d", data, max_samples=50))
    again = load_data(Data("d", data, max_samples=50))
    assert part.X.shape == (50, 10)
    np.testing.assert_array_equal(part.X, again.X)
    assert not np.array_equal(part.X, data.X[:50]), "the samples are not the first ones"
    assert {tuple(row) for row in part.X} <= {tuple(row) for row in data.X}
    assert load_data(Data("d", data, max_samples=500)).X.shape == data.X.shape
    rare = replace(data, Y=data.Y * (np.arange(120) < 40)[:, None])
    assert load_data(Data("d", rare, min_positives=1, max_samples=30)).Y.any(axis=1).all()
    whole, cut = (
        Protocol([Data("d", data, max_samples=size)], [Method("ridge")]) for size in (0, 50)
    )
    prints = [fingerprint(p, p.data[0], p.methods[0]) for p in (whole, cut)]
    assert prints[0] != prints[1]
    with pytest.raises(ValueError, match="max_samples must be an integer"):
        Data("d", data, max_samples=-1)


def test_files_beside_the_protocol_are_found_first(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    for name, seed in (("here", 0), ("there", 1)):
        save_npz(planted(seed), tmp_path / name / "d.npz")
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path / "there"))
    np.testing.assert_array_equal(load_data(Data("d", "d.npz"), tmp_path / "here").X, planted(0).X)
    np.testing.assert_array_equal(load_data(Data("d", "d.npz"), tmp_path).X, planted(1).X)
    with pytest.raises(DataError, match=r"a file of emotions\. Run: eigenlabel datasets fetch emo"):
        load_data(Data("d", "mulan/emotions/emotions.arff"), tmp_path)
    with pytest.raises(DataError, match=r"a file of yahoo-arts\. Take additional-data/yahoo_arts"):
        load_data(Data("d", "yahoo/Arts.svm.gz"), tmp_path)


def test_a_source_may_be_a_known_data_set(tmp_path, monkeypatch, data_folder):
    protocol = small_protocol(data=[Data("music", "emotions")])
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    assert load_data(protocol.data[0]).X.shape == (593, 72)
    plan(protocol)
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"a file of emotions\. Run: eigenlabel datasets fetch emo"):
        plan(protocol)
    with pytest.raises(DataError, match=r"did you mean the data set emotions\?"):
        plan(small_protocol(data=[Data("music", "emotion")]))


def test_every_kind_of_source_is_loaded(tmp_path):
    train, test = (planted(0).subset(samples=list(rows)) for rows in (range(80), range(80, 120)))
    save(train, tmp_path / "train.svm")
    save(test, tmp_path / "test.svm")
    both = Data("d", ["train.svm", "test.svm"], {"n_features": 8})
    found = load_data(both, tmp_path)
    np.testing.assert_allclose(found.X.toarray(), planted(0).X)
    assert [rows.tolist() for rows in found.splits["published"]] == [
        list(range(80)), list(range(80, 120))
    ]  # fmt: skip
    assert found.sample_names is None
    with pytest.raises(ValueError, match="one file, or two for training and test"):
        load_data(Data("d", ["train.svm"]), tmp_path)
    tags = load_data(Data("tags", "debtags", {"min_positives": 2000}))
    assert tags.Y.sum(axis=0).min() >= 2000
    assert load_data(Data("d", planted(), min_documents=1)).X.shape == (planted().Y.any(1).sum(), 8)
    wide = load_data(Data("d", "train.svm", {"n_features": 20}), tmp_path)
    assert wide.X.shape[1] == 20
    several = replace(planted(), splits={str(k): (np.arange(5), np.arange(5, 9)) for k in range(4)})
    assert len(draw_splits(several, Splits("published", 2), 0)) == 2


def test_kernel_values_are_those_with_training_samples(rng):
    K, L = rng.standard_normal((2, 5, 5))
    train, test = np.array([0, 3]), np.array([4])
    Y, names = np.ones((5, 1), int), [f"s{k}" for k in range(10)]
    one = Dataset(K, Y, names[:5], ["y"])
    X, X_test, views = training_kernels(one, train, test)
    np.testing.assert_array_equal(X, K[np.ix_(train, train)])
    np.testing.assert_array_equal(X_test, K[np.ix_(test, train)])
    assert views == {}
    slices = {"a": slice(0, 5), "b": slice(5, 10)}
    both = Dataset(np.hstack([K, L]), Y, names, ["y"], views=slices)
    X, X_test, views = training_kernels(both, train, test)
    np.testing.assert_array_equal(X[:, views["b"]], L[np.ix_(train, train)])
    np.testing.assert_array_equal(X_test[:, views["a"]], K[np.ix_(test, train)])
    with pytest.raises(ValueError, match="X has 4 columns for 5 samples"):
        training_kernels(Dataset(K[:, :4], Y, names[:4], ["y"]), train, test)


def test_kernel_matrices_are_not_prepared():
    with pytest.raises(ValueError, match="min_positives cannot be used with precomputed=True"):
        Data("d", "d.npz", min_positives=3, precomputed=True)
    with pytest.raises(ValueError, match="prepare='tfidf' cannot be used with precomputed=True"):
        Data("d", "d.npz", prepare="tfidf", precomputed=True)
