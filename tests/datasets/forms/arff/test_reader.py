"""ARFF files are read, dense and sparse; broken files raise errors with their lines."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import (
    DataError,
    load,
)
from forms import DENSE_ARFF as DENSE
from forms import SPARSE_ARFF as SPARSE
from forms import xml_of


def test_dense_arff_is_read(arff):
    data = load(arff(DENSE))
    np.testing.assert_array_equal(data.feature_names, ["size of it", "colour", "a"])
    np.testing.assert_array_equal(data.label_names, ["b's", "L1"])  # in the order of the ARFF
    np.testing.assert_array_equal(data.X, [[1.5, 0, 2e-3], [-2, 1, np.nan]])
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0], [0, 1]])
    assert data.categories == {"colour": ("red", "light blue", "green")}


def test_sparse_arff_is_read(arff):
    data = load(arff(SPARSE, xml_of("L2", "L1")))
    assert sp.issparse(data.X)
    np.testing.assert_array_equal(data.X.toarray(), [[0, -0.5], [0, 0], [1, 0]])
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0], [0, 0], [0, 1]])


def test_sparse_arff_with_named_values_out_of_order(arff):
    text = "@relation r\n@attribute c {no,yes}\n@attribute L1 {0,1}\n@attribute b's {0,1}\n@data\n"
    data = load(arff(text + "{2 1, 0 yes}\n{1 1}\n"))
    np.testing.assert_array_equal(data.X.toarray(), [[1], [0]])
    np.testing.assert_array_equal(data.Y.toarray(), [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    "change", [lambda b: b, lambda b: b.replace(b"\n", b"\r\n"), lambda b: b"\xef\xbb\xbf" + b]
)
@pytest.mark.parametrize("pack", [lambda b: b, gzip.compress, bz2.compress, lzma.compress])
def test_line_ends_byte_order_marks_and_compression_make_no_difference(arff, change, pack):
    # compressed files are known by content: the name says nothing
    data = load(arff(pack(change(DENSE.encode()))))
    np.testing.assert_array_equal(data.X[0], [1.5, 0, 2e-3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            DENSE.replace("1.5,red,1,2e-3,0", "1.5,red,1,2e-3"),
            "line 10: 4 values for 5 attributes",
        ),
        (DENSE.replace("1.5,red", "big,red"), "line 10: 'size of it' is 'big', not a number"),
        (DENSE.replace("1.5,red", "1.5,pink"), "line 10: 'colour' is 'pink', not in its list"),
        (
            DENSE.replace("real", "string"),
            "line 4: attribute 'size of it' is of type 'string'",
        ),
        (
            DENSE.replace("green}", "green"),
            "line 5: the list of values of 'colour' is not closed",
        ),
        (
            DENSE.replace("@attribute a ", "@attribut a "),
            "line 7: expected @attribute or @data",
        ),
        (DENSE.replace("@attribute a", "@attribute L1"), "attribute 'L1' occurs twice"),
        (DENSE.partition("@DATA")[0], "no @data line: the file is cut off"),
        (DENSE.partition("1.5")[0], "no data after @data"),
        ("@relation x\n@data\n1\n", "line 2: no @attribute before @data"),
        (
            DENSE.replace("L1 {0,1}", "L1 numeric").replace(",1\n", ",3\n"),
            "labels must be 0 or 1, found 3",
        ),
        (DENSE.encode().replace(b"red", b"r\xe9d"), "line 5: not utf-8 text"),
        (b"@relation \x00\x00\n" + DENSE.encode(), "binary file"),
        (
            SPARSE.replace("{0 1,2 -0.5}", "{0 1,9 1}"),
            "line 7: index 9 beyond the 4 attributes",
        ),
        (SPARSE.replace("{0 1,2 -0.5}", "{0 1,0 1}"), "line 7: index 0 occurs twice"),
        (
            SPARSE.replace("{0 1,2 -0.5}", "{0 1,2}"),
            "line 7: expected 'index value', found '2'",
        ),
        (SPARSE.replace("{}", "{"), "line 8: a sparse row must be in braces"),
        (SPARSE.replace("-0.5", "x"), "line 7: 'g' is 'x', not a number"),
        (SPARSE.replace("{0 1", "{0 7"), "found 7|not in its list"),
    ],
)
def test_broken_arff_raises_an_error(arff, text, message):
    labels = (
        ("L1", "b's")
        if b"colour" in (text if isinstance(text, bytes) else text.encode())
        else ("L1", "L2")
    )
    with pytest.raises(DataError, match=message):
        load(arff(text, xml_of(*labels)))


def test_a_compressed_file_that_is_cut_off_raises_an_error(arff):
    packed = gzip.compress(DENSE.encode() * 50)
    with pytest.raises(DataError, match="damaged or cut off"):
        load(arff(packed[: len(packed) // 2]))
