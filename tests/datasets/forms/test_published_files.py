"""Published files have their published sizes, if they are in the data folder."""

import json

import numpy as np

from eigenlabel.datasets import (
    find_form,
    load,
    load_xmc,
)


def shapes(folder):
    """Read the table 'Shapes by file' of the data's README."""
    text = (folder / "README.md").read_text().partition("## Shapes by file")[2]
    rows = [
        [c.strip(" `") for c in line.split("|")[1:-1]]
        for line in text.split("\n")
        if line.startswith("| `")
    ]
    return [(r[0], *map(int, (r[2], r[4], r[5])), r[3]) for r in rows]


def test_published_files_have_their_published_shapes(data_folder):
    seen = 0
    for name, n, m, positives, features in shapes(data_folder):
        part = name.rpartition(" ")[2] if name.startswith("yahoo_lamda") else None
        path = data_folder / (name.rpartition(" ")[0] if part else name.partition(" + ")[0])
        d = sum(map(int, features.split("+")))
        options = {"n_features": d} if find_form(path) == "svmlight" else {}
        data = load(path, **options)
        X, Y = data.X, data.Y
        if part:
            rows = data.splits["published"][part == "test"]
            X, Y = X[rows], Y[rows]
        assert (*X.shape, Y.shape[1], Y.sum()) == (n, d, m, positives), name
        seen += 1
    assert seen == 67


def test_the_same_data_in_two_forms(data_folder):
    dense = load(data_folder / "mulan/corel5k/Corel5k-test.arff")
    sparse = load(data_folder / "mulan/corel5k/Corel5k-test-sparse.arff")
    np.testing.assert_array_equal(dense.X, sparse.X.toarray())
    np.testing.assert_array_equal(dense.Y.toarray(), sparse.Y.toarray())
    xmc = load_xmc(data_folder / "xmc/Bibtex/Bibtex_data.txt.gz")
    mulan = load(data_folder / "mulan/bibtex/bibtex.arff")
    assert xmc.X.sum() == mulan.X.sum()
    np.testing.assert_array_equal(xmc.Y.sum(axis=0), mulan.Y.sum(axis=0))
    for train, test in xmc.splits.values():
        assert sorted([*train, *test]) == list(range(7395))
    assert json.dumps(list(xmc.splits)) == json.dumps([str(k) for k in range(10)])
