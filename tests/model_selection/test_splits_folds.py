import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from eigenlabel import (
    MLkNN,
    OneVsRestSearchCV,
    ProjectedClassifierCV,
    SharedSubspaceClassifierCV,
    ThresholdedClassifier,
)
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.model_selection import MultilabelStratifiedKFold
from eigenlabel.model_selection.splits import check_folds, list_folds

X = np.zeros((6, 1))
Y = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1]])
CODEC = LabelCodec.fit(Y)[0]
EVERY = np.arange(6)


def test_a_number_of_folds_is_stratified_by_labels():
    found = check_folds(3)
    assert isinstance(found, MultilabelStratifiedKFold)
    assert found.get_n_splits() == 3
    splitter = KFold(4)
    assert check_folds(splitter) is splitter


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "cv is empty"),
        ([(0, 1, 2)], "pairs"),
        ([(["a"], ["b"])], "pairs"),
        (1, "cv must be"),
    ],
)
def test_bad_folds_raise(cv, message):
    with pytest.raises(ValueError, match=message):
        check_folds(cv)


def test_training_parts_that_are_the_rest_are_none():
    splits = [([2, 3, 4, 5], [0, 1]), ([4, 5], [2, 3])]
    folds = list_folds(splits, X, Y, {}, CODEC, EVERY)
    assert folds[0][0] is None
    np.testing.assert_array_equal(folds[0][1], [0, 1])
    np.testing.assert_array_equal(folds[1][0], [4, 5])


def test_folds_count_the_used_rows_alone():
    used = np.array([1, 2, 5])
    splits = [([2, 3, 4, 5], [0, 1]), ([0, 1, 2, 3, 4], [5]), ([1, 2], [0])]
    folds = list_folds(splits, X, Y, {}, CODEC, used)
    assert [train for train, _ in folds] == [None, None]
    assert [test.tolist() for _, test in folds] == [[0], [2]]


def test_a_vector_of_classes_is_stratified_by_class():
    y = np.array([0, 0, 0, 1, 1, 1])
    folds = list_folds(3, X, y, {}, LabelCodec.fit(y)[0], EVERY)
    expected = [test for _, test in StratifiedKFold(3).split(X, y)]
    for (_, test), one in zip(folds, expected, strict=True):
        np.testing.assert_array_equal(test, one)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (([0, 1], [6]), "position 6"),
        (([-7], [1]), "position -7"),
        (([True], [1]), "mask of 1"),
        (([], [1]), "without training samples"),
        (([1], []), "no split with test samples"),
    ],
)
def test_splits_that_do_not_fit_the_samples_raise(split, message):
    train, test = (np.asarray(part, dtype=None if part else int) for part in split)
    with pytest.raises(ValueError, match=message):
        list_folds([(train, test)], X, Y, {}, CODEC, EVERY)


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
def test_splits_are_pairs_of_positions(wrong, model, rng):
    X = rng.standard_normal((20, 5))
    with pytest.raises(ValueError, match=r"cv must hold pairs \(train, test\) of positions"):
        clone(model).set_params(cv=wrong).fit(X, (X[:, :3] > 0).astype(int))


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


@pytest.mark.parametrize("form", ["matrix", "sets", "classes", "groups"])
def test_folds_of_a_number_do_not_depend_on_rows_that_are_not_used(form, rng):
    used, n = np.arange(0, 60, 2), 60
    Y = (rng.uniform(size=(n, 3)) < 0.4).astype(int)
    other = Y.copy()
    other[1::2] = 1 - other[1::2]
    metadata = {"groups": np.arange(n) // 3} if form == "groups" else {}

    def labels(Z):
        if form == "sets":
            return [{"abc"[j] for j in np.flatnonzero(row)} for row in Z]
        return Z[:, 0] if form == "classes" else Z

    found = [
        list_folds(3, np.zeros((n, 1)), labels(Z), metadata, LabelCodec.fit(labels(Z))[0], used)
        for Z in (Y, other)
    ]
    part = {"groups": metadata["groups"][used]} if metadata else {}
    alone = list_folds(
        3,
        np.zeros((len(used), 1)),
        labels(Y[used]),
        part,
        LabelCodec.fit(labels(Y[used]))[0],
        np.arange(len(used)),
    )
    for folds in found:
        for (_, test), (_, expected) in zip(folds, alone, strict=True):
            np.testing.assert_array_equal(test, expected)
