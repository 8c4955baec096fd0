"""What tests of readers share: small files, and comparison of what was read."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import load, load_table

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


XML = '<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'


DENSE_ARFF = """% a comment
@RELATION 'toy data'

@attribute 'size of it' real
@attribute colour {red, 'light blue', green}
@attribute "b's" {0,1}
@attribute a numeric
@Attribute L1 {0,1}
@DATA
1.5,red,1,2e-3,0
-2,'light blue',0,?,1
"""


SPARSE_ARFF = """@relation r
@attribute L1 {0,1}
@attribute f {0,1}
@attribute g numeric
@attribute L2 {0,1}
@data
{0 1,2 -0.5}
{}
{1 1, 3 1}
"""


def xml_of(*names):
    return XML.format("".join(f'<label name="{name}"/>' for name in names))


def npz(path, about=None, **arrays):
    """Write arrays as they are, with metadata."""
    if about is not None:
        text = about if isinstance(about, bytes) else json.dumps(about).encode()
        arrays["about"] = np.frombuffer(text, dtype=np.uint8)
    np.savez(path, **arrays)
    return path


both = pytest.mark.usefixtures("engine")


def films(write, **options):
    return load_table(write(FILMS), labels="genres", samples="title", **options)


SHOP_TABLE = """shop,price,when,text,labels
G,1.5,2024-01-31,hot tea and tea,x
A,,2024-02-01,cold tea,y
,4.5,,hot milk,x|y
B,9,2024-03-01,,x
"""


def mixed_data(write):
    data = load(write(SHOP_TABLE))
    assert data.feature_names.tolist()[:3] == ["shop", "price", "when"]
    return data


def check_equal(pieces, whole, rows):
    sizes = [piece.X.shape[0] for piece in pieces]
    assert sum(sizes) == whole.X.shape[0]
    assert max(sizes) <= rows
    assert len(sizes) == -(-sum(sizes) // rows)
    for name in ("X", "Y"):
        parts = [dense(getattr(piece, name)) for piece in pieces]
        np.testing.assert_array_equal(np.vstack(parts), dense(getattr(whole, name)))
    for piece in pieces:
        assert sp.issparse(piece.X) == sp.issparse(whole.X)
        np.testing.assert_array_equal(piece.feature_names, whole.feature_names)
        np.testing.assert_array_equal(piece.label_names, whole.label_names)
        assert piece.categories == whole.categories
        assert piece.source == whole.source
    if whole.sample_names is not None:
        names = np.concatenate([piece.sample_names for piece in pieces])
        np.testing.assert_array_equal(names, whole.sample_names)
