"""Tests that hold for several forms: noise, numbers that are too large, long words."""

import contextlib
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from eigenlabel.datasets import (
    DataError,
    iterate,
    load,
)
from forms import DENSE_ARFF, SPARSE_ARFF, xml_of

SEEDS = {
    "arff": DENSE_ARFF.encode(),
    "sparse arff": SPARSE_ARFF.encode(),
    "svmlight": b"0,2 1:0.5 3:2\n 2:1\n1 1:1\n",
    "xmc": b"3 5 3\n0,2 0:1.5 4:1\n 1:1\n1 2:1\n",
}


@pytest.mark.parametrize("form", list(SEEDS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_noise_is_read_or_raises_a_clear_error(form, data, tmp_path):
    seed = SEEDS[form]
    at = data.draw(st.integers(0, len(seed)))
    cut = data.draw(st.integers(0, 6))
    noise = data.draw(
        st.one_of(
            st.binary(max_size=6), st.sampled_from([b"9" * 12, b"{", b"}", b"'", b":", b",", b"\n"])
        )
    )
    (tmp_path / "toy.xml").write_text(xml_of("L1", "L2" if form == "sparse arff" else "b's"))
    path = tmp_path / "toy.arff"
    path.write_bytes(seed[:at] + noise + seed[at + cut :])
    try:
        found = load(path)
    except DataError:
        event("refused")
    else:
        event("read")
        assert found.X.shape == (found.Y.shape[0], len(found.feature_names))
        assert found.Y.shape[1] == len(found.label_names)
        assert set(np.unique(found.Y.toarray())) <= {0, 1}


ARFF = "@relation 'r: -C -1'\n@attribute a numeric\n@attribute y {0,1}\n@data\n"


LARGE = {
    "it.csv": ("a,b,labels\n1,2,x\n3,WORD,y\n", "'b'", 3),
    "it.tsv": ("a\tb\tlabels\n1\t2\tx\n3\tWORD\ty\n", "'b'", 3),
    "semicolons.csv": ("a;b;labels\n1,5;2;x\n3;WORD;y\n", "'b'", 3),
    "missing.csv": ("a,b,labels\n1,NA,x\n3,WORD,y\n", "'b'", 3),
    "it.svm": ("# first\n0 1:2\n\n1 1:1 2:WORD 3:4\n", "feature 2", 4),
    "xmc.txt": ("2 3 2\n0 0:1\n1 1:WORD\n", "feature 1", 3),
    "dense.arff": (ARFF + "1,0\nWORD,1\n", "'a'", 6),
    "sparse.arff": (ARFF + "{0 1}\n{0 WORD, 1 1}\n", "'a'", 6),
    "it.jsonl": ('{"a": 1, "labels": ["x"]}\n{"a": WORD, "labels": ["y"]}\n', "'a'", 2),
    "features.jsonl": ('{"features": {"a": WORD}, "labels": ["x"]}\n', "'a'", 1),
}


@pytest.mark.parametrize("word", ["1e999", "-1e999", "9" * 400])
@pytest.mark.parametrize("name", list(LARGE))
def test_numbers_that_are_too_large_for_a_float_raise(write, name, word, engine):  # noqa: ARG001
    text, place, line = LARGE[name]
    with pytest.raises(DataError, match=f"line {line}: .*{place}.*too large"):
        load(write(text.replace("WORD", word), name))
    with pytest.raises(DataError, match=f"line {line}: .*{place}.*too large"):
        list(iterate(write(text.replace("WORD", word), name), rows=9))


@pytest.mark.parametrize("name", [name for name in LARGE if "jsonl" not in name])
def test_infinity_is_read_if_it_is_written_as_such(write, name, engine):  # noqa: ARG001
    data = load(write(LARGE[name][0].replace("WORD", "inf"), name))
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    assert np.isinf(X).sum() == 1


LONG = {
    "labels.svm": "0" + ",10" * 40 + "x 1:1\n",
    "digits.csv": "a,labels\n" + "1" * 100_000 + "x,u\n2,v\n",
    "blanks.arff": ARFF.replace("a numeric", "a {x}") + "'x'" + " " * 200_000 + "y,0\n",
}


@pytest.mark.parametrize("name", list(LONG))
def test_long_words_are_read_in_linear_time(write, name):
    path = write(LONG[name], name)
    start = time.process_time()
    with contextlib.suppress(DataError):
        load(path)
    assert time.process_time() - start < 3  # minutes where a pattern goes back and forth
