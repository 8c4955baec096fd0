"""Protocols, from Python and from TOML files."""

import pytest

from eigenlabel import metrics
from eigenlabel.catalogue import make
from eigenlabel.datasets import DataError, save_npz
from eigenlabel.experiment import Data, Method, Protocol, Splits, run
from protocols import planted, small_protocol

TOML = """
name = "mine"
metrics = ["f1_macro"]
seed = 3
methods = ["ridge", {name = "svm", method = "linear-svm-plain", grid = {estimator__C = [0.1, 1.0]}}]
[splits]
kind = "folds"
n_splits = 2
[[data]]
name = "one"
source = "one.npz"
prepare = "standard"
"""


def test_a_protocol_is_read_from_toml(tmp_path):
    save_npz(planted(), tmp_path / "one.npz")
    (tmp_path / "p.toml").write_text(TOML)
    records = run(Protocol.from_toml(tmp_path / "p.toml"), tmp_path / "out")
    assert [(r["method"], r["split"], r["seed"]) for r in records] == [
        ("ridge", 0, 3), ("ridge", 1, 3), ("svm", 0, 3), ("svm", 1, 3)
    ]  # fmt: skip
    assert records[2]["parameters"]["estimator__C"] in (0.1, 1.0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 3", "sead = 3", "Unknown 'sead' in the protocol; known are: data, methods"),
        ('name = "one"', "", "'name' is missing in data"),
        ('kind = "folds"', 'kind = "fold"', "kind must be one of"),
        ("n_splits = 2", "n_splits = 1", "n_splits must be an integer >= 2"),
        ('["f1_macro"]', '["f1"]', "metric must be one of"),
        ("[splits]", "[splits", "not TOML"),
        ('"ridge",', "1,", "must be a table, got 1"),
        ('"ridge",', '"svm",', "a name of its own"),
    ],
)
def test_the_error_of_an_invalid_protocol_file_names_the_problem(tmp_path, old, new, message):
    (tmp_path / "p.toml").write_text(TOML.replace(old, new))
    with pytest.raises(DataError, match=message):
        Protocol.from_toml(tmp_path / "p.toml")


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: Data("d", "x", prepare="tidy"), "prepare must be one of"),
        (lambda: Data("d", "x", min_positives=-1), "min_positives must be"),
        (lambda: Splits(train_size=-0.5), "train_size must be"),
        (lambda: Protocol([], [Method("ridge")]), "needs data"),
        (lambda: Protocol([Data("d", "x")], []), "needs methods"),
        (lambda: small_protocol(seed=-1), "seed must be"),
        (lambda: Protocol.from_dict({"folder": "x"}), "Unknown 'folder'"),
        (lambda: Protocol.from_dict({"splits": {"sort": 1}}), "Unknown 'sort' in splits"),
    ],
)
def test_invalid_parts_of_a_protocol_raise(make_it, message):
    with pytest.raises(ValueError, match=message):
        make_it()


def test_a_grid_is_searched_by_the_scoring_of_the_method():
    data = planted()
    model = make("ridge", {"betas": [0.1]}).fit(data.X, data.Y)
    scores, decided = model.decision_function(data.X), model.predict(data.X)
    by_loss = Method("ridge", grid={"cv": [2, 3]}, scoring="ranking_loss").make().scoring
    assert by_loss(model, data.X, data.Y) == -metrics.ranking_loss(data.Y, scores) < 0
    by_default = Method("ridge", grid={"cv": [2, 3]}).make().scoring
    assert by_default(model, data.X, data.Y) == metrics.f1_macro(data.Y, decided) > 0
