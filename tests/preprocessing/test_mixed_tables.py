"""Mixed tables, from the file to the model."""

import csv
import datetime

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from eigenlabel import KernelSum
from eigenlabel.catalogue import with_views
from eigenlabel.cli import main
from eigenlabel.datasets import load
from eigenlabel.experiment import Data, Method, Protocol, Splits, load_data, run
from eigenlabel.preprocessing import (
    make_preparation,
    prepared_views,
)
from forms import SHOP_TABLE, lines


def test_methods_of_views_find_them_after_the_preparation(write):
    data = load(write(SHOP_TABLE))
    prepare = make_preparation("auto", data.X, **data.layout)
    views = prepared_views(prepare, data.views, data.X.shape[1])
    assert views == {"columns": slice(0, 13), "text": slice(13, 18)}
    Z = prepare.fit_transform(data.X)
    found = with_views(KernelSum(), views).fit(Z).transform(Z)
    parts = [Z[:, columns].toarray() for columns in views.values()]
    np.testing.assert_allclose(found, KernelSum().fit(parts).transform(parts), rtol=1e-8)


def write_sales(path, n, seed):
    """Write sales whose labels are decided by the shop, the price, the date and a word."""
    rng = np.random.default_rng(seed)
    with path.open("w", newline="") as stream:
        out = csv.writer(stream)
        names = ("shop", "price", "date", "word")
        out.writerow(["text", "shop", "price", "sold", *(f"label:{n}" for n in names)])
        for _ in range(n):
            words = rng.integers(0, 40, 8)
            shop, price, day = rng.integers(10), rng.gamma(2, 50), int(rng.integers(0, 1500))
            truth = [shop in (1, 4, 6), price > 90, day > 800, (words < 4).any()]
            date = datetime.date(2020, 1, 1) + datetime.timedelta(day)
            cells = ["ABCDEFGHIJ"[shop], f"{price:.2f}", date.isoformat()]
            cells = ["" if rng.random() < 0.03 else cell for cell in cells]
            out.writerow([" ".join(f"w{k}" for k in words), *cells, *map(int, truth)])


@pytest.fixture(scope="module")
def sales(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sales")
    write_sales(folder / "train.csv", 400, 0)
    write_sales(folder / "test.csv", 300, 1)
    return folder


def areas(table, predictions):
    """Return the area under the ROC curve of each label, from the files alone."""
    with table.open() as truth, predictions.open() as found:
        rows = list(zip(csv.DictReader(truth), csv.DictReader(found), strict=True))
    return {
        name: roc_auc_score(
            [int(t[f"label:{name}"]) for t, _ in rows], [float(p[f"score:{name}"]) for _, p in rows]
        )
        for name in ("shop", "price", "date", "word")
    }


@pytest.mark.parametrize("kind", ["auto", "tfidf", "unit", "standard"])
def test_every_column_of_a_mixed_table_is_learned(sales, tmp_path, kind, capsys):
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    words = ["tune", sales / "train.csv", "-o", model, "--prepare", kind, "--cv", 3]
    words += ["--alphas", "0,0.1", "--betas", "1e-4,1e-2"]
    assert main(list(map(str, words))) == 0
    words = ["predict", model, sales / "test.csv", "-o", out, "--scores", "--rows", 70]
    assert main(list(map(str, words))) == 0
    found = areas(sales / "test.csv", out)
    assert min(found.values()) > 0.9, found
    capsys.readouterr()
    assert main(["evaluate", str(model), str(sales / "test.csv")]) == 0
    assert "auc_macro" in capsys.readouterr().out


def test_a_comparison_prepares_mixed_tables_too(sales, tmp_path):
    protocol = Protocol(
        [Data("sales", str(sales / "train.csv"))],
        [Method("ridge", parameters={"betas": [0.001]})],
        Splits("shuffle", 1),
        metrics=["auc_macro"],
    )
    (record,) = run(protocol, tmp_path / "r.jsonl")
    assert record["metrics"]["auc_macro"] > 0.9


def test_only_words_can_be_rare(sales):
    data = load_data(Data("sales", str(sales / "train.csv"), min_documents=1000))
    assert data.feature_names.tolist() == ["shop", "price", "sold"]


def test_missing_numbers_of_sparse_features_still_raise(write, tmp_path, capsys):
    rows = [{"features": {"a": None if k == 3 else k}, "labels": ["x"]} for k in range(6)]
    path = write(lines(*rows), "it.jsonl")
    assert main(["fit", str(path), "-o", str(tmp_path / "m.skops")]) != 0
    assert "feature 'a' of sample 4 is nan; sparse features must be" in capsys.readouterr().err
