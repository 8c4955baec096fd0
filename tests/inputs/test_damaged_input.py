"""Input that is damaged or of a wrong kind is refused before compiled code reads it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

from eigenlabel import (
    CCA,
    KGHA,
    BiRelationGraph,
    DiscriminativeSelector,
    GaussianFields,
    KernelRidgeTagger,
    KernelSum,
    MLkNN,
    OneVsRestSearchCV,
    ProjectedClassifierCV,
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    ThresholdedClassifier,
    Views,
)
from eigenlabel.inputs.parameters import check_number
from eigenlabel.inputs.sparse import check_sparse
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
def test_damaged_sparse_matrices_are_refused(damage, data):
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


def test_damaged_places_and_blocks_are_refused(data):
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


@pytest.mark.parametrize("model", [GaussianFields(), BiRelationGraph()])
def test_no_labels_at_all(model, data):
    X, Y = data
    for y in (Y[:0], Y[:0, 0], Y[:0].astype(float)):
        with pytest.raises(
            ValueError, match=r"0 sample|inconsistent numbers of samples|y is empty"
        ):
            model.fit(X, y)


def test_views_of_a_kernel_sum_are_checked(data):
    with pytest.raises(TypeError, match="views must be a dict of names -> columns, got 1"):
        KernelSum(views=1).fit(*data)


@pytest.mark.parametrize("estimator", [KernelRidgeTagger, KGHA, KernelSum, GaussianFields])
@pytest.mark.parametrize("wrong", [[], 3, LinearSVC(), MLkNN])
def test_what_is_no_transformer_is_refused(estimator, wrong, data):
    with pytest.raises(TypeError, match=r"transformers must be a transformer such as Standard"):
        estimator(transformers=wrong).fit(*data)


def test_an_array_is_no_kernel(data):
    model = CCA(kernel=np.zeros((2, 2)))
    with pytest.raises(NotFittedError):
        model.transform(data[0])
    with pytest.raises(ValueError, match="kernel must be one of 'linear'"):
        model.fit(*data)


@pytest.mark.parametrize("model", [OneVsRestSearchCV(), ThresholdedClassifier(MLkNN())])
def test_numbers_of_jobs_are_checked(model, data):
    for wrong in (2.5, np.inf, 10**30, "all"):
        with pytest.raises((TypeError, ValueError), match="n_jobs must be an integer between"):
            clone(model).set_params(n_jobs=wrong).fit(*data)


@pytest.mark.parametrize("meta", [OneVsRestSearchCV, ThresholdedClassifier])
@pytest.mark.parametrize("wrong", [LinearSVC, [], 3, "nonsense", np.zeros(2)])
def test_what_is_no_classifier_is_refused(meta, wrong, data):
    model = meta(wrong)
    with pytest.raises(TypeError, match="estimator must be a classifier"):
        model.fit(*data)
    with pytest.raises(NotFittedError):
        model.predict(data[0])


@pytest.mark.parametrize("wrong", [np.zeros((2, 2)), [1, 2], [([0, 1], [2], [3])], [(["a"], [1])]])
@pytest.mark.parametrize(
    "model",
    [
        ProjectedClassifierCV(),
        SharedSubspaceClassifierCV(),
        OneVsRestSearchCV(),
        ThresholdedClassifier(MLkNN()),
    ],
)
def test_splits_are_pairs_of_positions(wrong, model, data):
    with pytest.raises(ValueError, match=r"cv must hold pairs \(train, test\) of positions"):
        clone(model).set_params(cv=wrong).fit(*data)


def test_integers_beyond_64_bits_are_compared(data):
    with pytest.raises(ValueError, match="n_components must be an integer between 0 and 3, got 10"):
        SharedSubspaceClassifier(n_components=10**30).fit(*data)
    for value in (10**400, -(10**400)):
        with pytest.raises(ValueError, match="x must be a number between 0 and 1, got"):
            check_number("x", value, 0, 1)


def test_complex_blocks_are_refused_without_a_warning(data):
    X, Y = data
    with pytest.raises(ValueError, match="Complex data not supported"):
        SharedSubspaceClassifier().partial_fit(X + 1j, Y)


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_array])
def test_sparse_input_of_one_dimension_is_refused(form):
    X, Y = np.eye(6), np.arange(6) % 2
    with pytest.raises(ValueError, match=r"must have two dimensions, found a sparse array of sh"):
        SharedSubspaceClassifier().fit(X, form(Y))
    with pytest.raises(ValueError, match=r"X must have two dimensions, found .* shape \(6,\)"):
        SharedSubspaceClassifier().fit(form(X[0]), Y)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (([0, 1, 2, 99], [3, 4]), r"position 99, but there are 20 samples: .* below 20"),
        (([0, 1, 2], [3, -21]), r"position -21, but there are 20"),
        (([True] * 19, [3]), r"mask of 19 samples, but there are 20"),
    ],
)
def test_positions_of_a_split_lie_among_the_samples(rng, split, message):
    X = rng.standard_normal((20, 3))
    with pytest.raises(ValueError, match=message):
        SharedSubspaceClassifierCV(cv=[split]).fit(X, (X[:, :2] > 0).astype(int))
