"""Data files that are read piece by piece, against one fit to all rows."""

import tracemalloc

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.datasets import load
from eigenlabel.estimators.subspace import fit_files
from eigenlabel.estimators.subspace.stream import draw
from eigenlabel.linalg import statistics
from streams import assert_equal_models, assert_same_state, make_data, state_of, write


@pytest.fixture
def data():
    return make_data()


def test_a_later_file_that_is_wider_says_what_to_pass(tmp_path):
    (tmp_path / "a.svm").write_text("0 1:1 2:1\n1 1:2\n")
    (tmp_path / "b.svm").write_text("1 1:1 5:1\n")
    paths = [tmp_path / "a.svm", tmp_path / "b.svm"]
    with pytest.raises(ValueError, match=r"b\.svm, line 1: feature 5 .*first file; pass n_f"):
        SharedSubspaceClassifier().fit_files(paths)
    model = SharedSubspaceClassifier().fit_files(paths, n_features=6, n_labels=2)
    assert model.n_features_in_ == 6


@pytest.mark.parametrize("suffix", ["svm", "csv", "arff"])
def test_files_equal_one_fit(data, tmp_path, suffix):
    X, Y = data
    whole = load(write(tmp_path, X, Y, f"all.{suffix}"))
    paths = [
        write(tmp_path, X[part], Y[part], f"{k}.{suffix}")
        for k, part in enumerate((slice(0, 120), slice(120, 300)))
    ]
    model = SharedSubspaceClassifier(0.1).partial_fit(X[:, :3], Y[:, :2])
    assert model.fit_files(paths, rows=50) is model
    assert_equal_models(model, SharedSubspaceClassifier(0.1).fit(whole.X, whole.Y))
    assert (model.n_samples_seen_, model.classes_.tolist()) == (300, list("abcdef"))
    single = SharedSubspaceClassifier(0.1).fit_files(str(tmp_path / f"all.{suffix}"), rows=77)
    assert_equal_models(single, model)


def test_tuning_on_files_equals_tuning_on_all_rows(data, tmp_path):
    X, Y = data
    path = write(tmp_path, X, Y, "all.svm")
    whole = load(path)
    model = SharedSubspaceClassifierCV([0.1], [0.01, 1]).fit_files(path, rows=64)
    cv = PredefinedSplit(draw(0, 300, 5)[0])
    expected = SharedSubspaceClassifierCV([0.1], [0.01, 1], cv=cv).fit(whole.X, whole.Y)
    np.testing.assert_allclose(model.score_grid_, expected.score_grid_, atol=1e-8)
    np.testing.assert_allclose(model.thresholds_, expected.thresholds_, atol=1e-8)
    assert_equal_models(model, expected)


@pytest.mark.parametrize("kind", [SharedSubspaceClassifier, SharedSubspaceClassifierCV])
def test_an_interruption_changes_nothing(data, tmp_path, monkeypatch, kind):
    X, Y = data
    path = write(tmp_path, X, Y, "all.svm")
    pieces = fit_files.iterate

    def interrupted(*args, **options):
        for k, piece in enumerate(pieces(*args, **options)):
            if k == 3:
                raise KeyboardInterrupt
            yield piece

    monkeypatch.setattr(fit_files, "iterate", interrupted)
    for model in (kind(), kind().fit(X, Y), kind().partial_fit(X, Y)):
        before = state_of(model)
        with pytest.raises(KeyboardInterrupt):
            model.fit_files(path, rows=20)
        assert_same_state(model, before)


def test_a_fault_in_a_file_is_placed(data, tmp_path):
    X, Y = data
    path = write(tmp_path, X, Y, "all.csv")
    text = path.read_text().splitlines()
    text[251] = ",".join(["", *text[251].split(",")[1:]])
    path.write_text("\n".join(text) + "\n")
    model = SharedSubspaceClassifier()
    with pytest.raises(ValueError, match=r"all.csv, samples 200 to 299, row 50: .*NaN"):
        model.fit_files(path, rows=100)
    assert vars(model) == vars(SharedSubspaceClassifier())
    with pytest.raises(ValueError, match="fit_files got no paths"):
        model.fit_files([])


def test_files_take_the_memory_of_a_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(statistics, "WAITING_BYTES", 2**18)
    path = tmp_path / "long.svm"
    with open(path, "w") as out:
        for i in range(20_000):
            row = " ".join(f"{j}:{(i * j) % 7}" for j in range(1, 31))
            out.write(f"{i % 3} {row}\n")
    peaks = []
    for cut in (4000, 20_000):
        short = tmp_path / f"{cut}.svm"
        short.write_text("".join(path.read_text().splitlines(keepends=True)[:cut]))
        tracemalloc.start()
        try:
            SharedSubspaceClassifier().fit_files(short, rows=500).predict(np.zeros((1, 30)))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0] + 2**18
