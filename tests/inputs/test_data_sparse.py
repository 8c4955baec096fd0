"""Sparse matrices whose arrays are damaged raise an error before compiled code reads them."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import (
    DiscriminativeSelector,
    SharedSubspaceClassifier,
    Views,
)
from eigenlabel.inputs.data import check_sparse
from eigenlabel.labels.checks import check_label_matrix, check_sparse_labels
from eigenlabel.preprocessing import DocumentFrequencySelector


@pytest.fixture
def data(rng):
    X = rng.standard_normal((20, 5))
    return X, (X[:, :3] > 0).astype(int)


def damaged(A, name, place, value, kind=sp.csr_matrix):
    """Change one number of a sparse matrix behind the back of its constructor."""
    A = kind(A)
    getattr(A, name)[place] = value
    return A


DAMAGES = [
    ("indices", 4, 10**6),
    ("indices", 4, -7),
    ("indptr", -1, 10**6),
    ("indptr", 3, 0),
    ("indptr", 0, 1),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_sparse_matrices_raise_an_error(damage, data):
    X, Y = data
    broken = damaged(X, *damage)
    message = "is a damaged sparse matrix of shape"
    for given in (broken, damaged(X, *damage, kind=sp.csc_matrix)):
        with pytest.raises(ValueError, match=f"X {message}"):
            SharedSubspaceClassifier().fit(given, Y)
        with pytest.raises(ValueError, match=f"X {message}"):
            SharedSubspaceClassifier().partial_fit(given, Y)
        selectors = [DocumentFrequencySelector(0).fit(X), DiscriminativeSelector(2).fit(X, Y)]
        for call in (DocumentFrequencySelector().fit, *(one.transform for one in selectors)):
            with pytest.raises(ValueError, match=f"X {message}"):
                call(given)
        with pytest.raises(ValueError, match=f"View 'a' {message}"):
            Views({"a": given})
    broken = damaged(np.ones((20, 5)), *damage)
    for check in (check_label_matrix, check_sparse_labels):
        with pytest.raises(ValueError, match=f"y {message}"):
            check(broken)


def test_damaged_places_and_blocks_raise_an_error(data):
    X, _ = data
    places = sp.coo_matrix(X)
    places.row[3] = 99
    short = sp.csr_matrix(X)
    short.data = short.data[:-2]
    blocks = sp.bsr_matrix(X, blocksize=(4, 1))
    blocks.indices[2] = 5
    for given in (places, short, blocks):
        with pytest.raises(ValueError, match="damaged sparse matrix"):
            check_sparse(given, "X")


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_sound_sparse_matrices_pass_unchanged(form, data):
    X, _ = data
    X[:, 2] = 0
    for empty in (False, True):
        A = sp.csr_array((0, 5) if empty else X).asformat(form)
        before = {k: v.copy() for k, v in vars(A).items() if isinstance(v, np.ndarray)}
        check_sparse(A, "X")
        for name, array in before.items():
            np.testing.assert_array_equal(vars(A)[name], array)


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_array])
def test_sparse_input_of_one_dimension_raises_an_error(form):
    X, Y = np.eye(6), np.arange(6) % 2
    with pytest.raises(ValueError, match=r"must have two dimensions, found a sparse array of sh"):
        SharedSubspaceClassifier().fit(X, form(Y))
    with pytest.raises(ValueError, match=r"X must have two dimensions, found .* shape \(6,\)"):
        SharedSubspaceClassifier().fit(form(X[0]), Y)
