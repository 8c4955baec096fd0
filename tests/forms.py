"""What tests of readers share: small files, and comparison of what was read."""

import json

import numpy as np
import scipy.sparse as sp

FILMS = """title,length,country,colour,genres
Alpha,95,it,true,drama|crime
Beta,120.5,us,false,crime
Gamma,,it,true,
Delta,88,,false,"crime| western "
"""
GOOD = {"x": 1, "labels": ["a"]}


def dense(A):
    return A.toarray() if sp.issparse(A) else A


def same(a, b):
    np.testing.assert_array_equal(dense(a.X), dense(b.X))
    np.testing.assert_array_equal(dense(a.Y), dense(b.Y))
    for name in ("feature_names", "label_names", "sample_names"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.categories == b.categories
    assert sp.issparse(a.X) == sp.issparse(b.X)


def lines(*objects):
    return "\n".join(o if isinstance(o, str) else json.dumps(o) for o in objects)


def hvecs(*rows):
    return b"".join(np.array([len(r), *r], dtype="<i2").tobytes() for r in rows)
