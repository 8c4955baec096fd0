"""Held-out scores of any classifier are those of clones that never saw the sample."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from eigenlabel import KGHA, GaussianFields, MtSDA, Views
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.heldout_by_refitting import (
    FOLDS,
    calibration_folds,
    class_heldout,
    heldout_scores,
)
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.model_selection import MultilabelStratifiedKFold

N = 40


@pytest.fixture
def data():
    return make_shared_subspace(N, 6, 4, 2, prevalence=0.3, random_state=0)


def refit(make, X, y, folds, **options):
    """Return the decision functions of models that are fitted without each fold."""
    out = None
    for test in folds:
        train = np.setdiff1d(np.arange(len(y)), test)
        some = {name: value[train] for name, value in options.items()}
        scores = make().fit(X[train], y[train], **some).decision_function(X[test])
        out = np.full((len(y), *scores.shape[1:]), np.nan) if out is None else out
        out[test] = scores
    return out


def test_the_folds_keep_the_shares_of_labels(data):
    rows = np.arange(0, N, 2)
    Y = data.Y.astype(bool)
    folds = calibration_folds(Y, rows)
    assert len(folds) == FOLDS
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), rows)
    expected = [rows[t] for _, t in MultilabelStratifiedKFold(5).split(rows, Y[rows])]
    for found, wanted in zip(folds, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert [len(f) for f in calibration_folds(Y, rows[:3])] == [1, 1, 1]
    with pytest.raises(ValueError, match=r"at least 2 samples.* n_samples = 1: pass calibration="):
        calibration_folds(Y, rows[:1])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array, pd.DataFrame, list])
def test_each_sample_is_scored_by_a_fit_without_its_fold(form, data):
    codec, Y = LabelCodec.fit(data.Y)
    given = data.X.tolist() if form is list else form(data.X)
    found = heldout_scores(KGHA(calibration="auto"), codec, given, data.Y, Y)
    expected = refit(KGHA, data.X, data.Y, calibration_folds(Y, np.arange(N)))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_several_views_and_kernels_are_split_together(data):
    codec, Y = LabelCodec.fit(data.Y)
    left, right = data.X[:, :3], data.X[:, 3:]
    model = KGHA(kernel="linear", calibration="auto")
    found = heldout_scores(model, codec, {"a": left, "b": right}, data.Y, Y)
    folds = calibration_folds(Y, np.arange(N))
    views = Views({"a": left, "b": right})
    expected = refit(lambda: KGHA(kernel="linear"), views, data.Y, folds)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    model = KGHA(kernel="precomputed", calibration="auto")
    kernels = {"a": left @ left.T, "b": right @ right.T}
    np.testing.assert_allclose(
        heldout_scores(model, codec, kernels, data.Y, Y), expected, rtol=1e-8, atol=1e-10
    )
    one = heldout_scores(model, codec, left @ left.T, data.Y, Y)
    expected = refit(lambda: KGHA(kernel="linear"), left, data.Y, folds)
    np.testing.assert_allclose(one, expected, rtol=1e-8, atol=1e-10)


def test_weights_count_in_the_fits_and_samples_without_weight_are_not_held_out(data, rng):
    codec, Y = LabelCodec.fit(data.Y)
    w = rng.integers(0, 3, N).astype(float)
    found = heldout_scores(MtSDA(calibration="auto"), codec, data.X, data.Y, Y, w)
    np.testing.assert_array_equal(np.isnan(found).all(axis=1), w == 0)
    folds = calibration_folds(Y, np.flatnonzero(w > 0))
    expected = refit(MtSDA, data.X, data.Y, folds, sample_weight=w)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_samples_without_known_labels_are_in_every_training_part(data):
    given = data.Y.astype(float)
    given[::4] = np.nan
    codec, Y, known = LabelCodec.fit_known(given)
    found = heldout_scores(GaussianFields(calibration="auto"), codec, data.X, given, Y, None, known)
    np.testing.assert_array_equal(np.isnan(found).all(axis=1), ~known)
    folds = calibration_folds(Y, np.flatnonzero(known))
    expected = refit(GaussianFields, data.X, given, folds)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_classes_are_held_out_as_vectors(kind, data):
    y = np.array(["a", "b", "c"])[data.Y[:, 0] + (data.Y[:, 1] if kind == "multiclass" else 0)]
    codec, Y = LabelCodec.fit(y)
    found = heldout_scores(MtSDA(calibration="auto"), codec, data.X, y[:, None], Y)
    expected = refit(MtSDA, data.X, y, calibration_folds(Y, np.arange(N)))
    np.testing.assert_allclose(found, expected.reshape(N, -1), rtol=1e-8, atol=1e-10)


def test_a_class_of_one_sample_has_no_score_where_it_is_held_out(data):
    y = np.array([0, 1] * (N // 2))
    y[7] = 2
    codec, Y = LabelCodec.fit(y)
    found = heldout_scores(KGHA(calibration="auto"), codec, data.X, y, Y)
    fold = next(test for test in calibration_folds(Y, np.arange(N)) if 7 in test)
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(found[:, 2])), fold)
    np.testing.assert_allclose(found[fold, 0], -found[fold, 1], rtol=1e-12)
    assert not np.isnan(found[:, :2]).any()


def test_the_reason_is_stated_if_a_part_is_too_small(data):
    codec, Y = LabelCodec.fit(data.Y[:2])
    with pytest.raises(ValueError, match=r"fit to 1 of 2 samples failed: .*Pass calibration=None"):
        heldout_scores(KGHA(calibration="sigmoid"), codec, data.X[:2], data.Y[:2], Y)


def test_training_parts_of_one_class_are_left_out():
    codec, _ = LabelCodec.fit(np.array([0, 0, 1, 1]))
    target = np.array([0, 0, 1, 1])
    folds = [(np.array([0, 1]), np.array([2, 3])), (np.array([0, 2]), np.array([1]))]
    calls = []

    def score(train, test):
        calls.append(train.tolist())
        return np.full(len(test), 5.0), np.unique(target[train])

    found = class_heldout(score, folds, target, codec)
    np.testing.assert_array_equal(found, [[np.nan], [5], [np.nan], [np.nan]])
    assert calls == [[0, 2]]
