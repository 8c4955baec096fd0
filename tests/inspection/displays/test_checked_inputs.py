import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import SharedSubspaceClassifier, ThresholdedClassifier
from eigenlabel.inspection.displays.checked_inputs import (
    find_fitted,
    find_label,
    find_labels,
    most_frequent,
    names_given,
    names_of,
    read_estimator,
    read_judged,
    say_chosen,
)


def test_cells_are_those_that_are_observed_and_count(case):
    scores = case.scores.copy()
    scores[3] = np.nan  # never held out
    read = read_judged(case.missing, scores, case.weights, case.names)
    rows = [i for i in range(len(scores)) if case.weights[i] > 0 and i != 3]
    assert len(read.truth) == len(rows) < len(scores) - 1
    naive = []
    for j in range(5):
        of_label = [i for i in rows if not np.isnan(case.missing[i, j])]
        cells = read.label(j)
        assert cells.truth.tolist() == [case.missing[i, j] == 1 for i in of_label]
        assert cells.scores.tolist() == [scores[i, j] for i in of_label]
        assert cells.weights.tolist() == [case.weights[i] for i in of_label]
        assert cells.samples.tolist() == [rows.index(i) for i in of_label]
        positive = sum(case.weights[i] * (case.missing[i, j] == 1) for i in of_label)
        assert read.positives[j] == positive
        assert read.negatives[j] == sum(case.weights[i] for i in of_label) - positive
        naive += [(rows.index(i), scores[i, j], case.missing[i, j] == 1) for i in of_label]
    every = read.all()
    found = zip(every.samples.tolist(), every.scores.tolist(), every.truth.tolist(), strict=True)
    assert sorted(found) == sorted(naive)


def test_all_cells_are_read_if_all_are_observed(case):
    read = read_judged(case.Y, case.scores, None, None)
    every = read.all()
    np.testing.assert_array_equal(every.scores, case.scores.ravel())
    np.testing.assert_array_equal(every.truth, case.Y.ravel() == 1)
    np.testing.assert_array_equal(read.positives, case.Y.sum(axis=0))
    np.testing.assert_array_equal(read.negatives, (1 - case.Y).sum(axis=0))


def test_sparse_labels_and_frames_are_read(case):
    plain = read_judged(case.Y, case.scores, None, None)
    sparse = read_judged(sp.csr_array(case.Y), case.scores, None, None)
    frame = read_judged(pd.DataFrame(case.Y, columns=list("vwxyz")), case.scores, None, None)
    np.testing.assert_array_equal(sparse.truth, plain.truth)
    np.testing.assert_array_equal(frame.truth, plain.truth)
    assert plain.names == [f"label {j}" for j in range(5)]
    assert frame.names == list("vwxyz")


def test_input_is_not_modified(case):
    before = [a.copy() for a in (case.missing, case.scores, case.weights)]
    read_judged(case.missing, case.scores, case.weights, None)
    for a, b in zip(before, (case.missing, case.scores, case.weights), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": np.zeros((60, 4))}, r"scores has shape \(60, 4\), the label matrix \(60, 5\)"),
        ({"scores": np.full((60, 5), np.nan)}, "No sample of positive weight has scores"),
        ({"weights": np.zeros(60)}, "No sample of positive weight"),
        ({"weights": np.ones(3)}, r"sample_weight has shape \(3,\), needed \(60,\)"),
        ({"names": ["a"]}, "1 label_names for 5 labels: pass one name per label"),
        ({"Y": np.full((60, 5), 2)}, "Y must be a label matrix of 0 and 1, found 2"),
        ({"Y": np.zeros(60)}, r"Y must be a label matrix \(samples, labels\), got shape \(60,\)"),
    ],
)
def test_bad_input_raises_an_error(case, change, message):
    vars(case).update(change)
    with pytest.raises(ValueError, match=message):
        read_judged(case.Y, case.scores, case.weights, case.names)


def test_a_score_that_is_not_finite_is_located(case):
    case.scores[2, 3] = np.inf
    with pytest.raises(ValueError, match=r"scores must be finite, found inf at \[2, 3\]"):
        read_judged(case.Y, case.scores, None, None)


def test_scores_of_estimators_are_those_of_new_samples_or_held_out_ones(planted):
    new = read_estimator(planted.model, planted.X, planted.Y, None, None, "It")
    np.testing.assert_allclose(new.scores, planted.model.decision_function(planted.X))
    held = read_estimator(planted.model, None, planted.Y_train, None, None, "It")
    np.testing.assert_allclose(held.scores, planted.model.oof_scores_)
    plain = OneVsRestClassifier(LogisticRegression()).fit(planted.X, planted.Y)
    with pytest.raises(TypeError, match=r"OneVsRest.* has no oof_scores_: It.from_estimator with"):
        read_estimator(plain, None, planted.Y, None, None, "It")


def test_fitted_attributes_are_found_inside_of_other_models(planted):
    inner = SharedSubspaceClassifier().fit(planted.X, planted.Y)
    pipe = make_pipeline(StandardScaler(), SharedSubspaceClassifier()).fit(planted.X, planted.Y)
    wrapped = ThresholdedClassifier(inner, cv=2).fit(planted.X, planted.Y)
    for model in (inner, pipe, wrapped):
        assert find_fitted(model, "eigenlabels_", "fit").shape[0] == 6
    with pytest.raises(TypeError, match="StandardScaler has no eigenlabels_: fit it"):
        find_fitted(StandardScaler(), "eigenlabels_", "fit it")


def test_names_are_those_passed_then_those_of_the_model(planted):
    frame = pd.DataFrame(planted.Y, columns=planted.names)
    named = SharedSubspaceClassifier().fit(planted.X, frame)
    unnamed = SharedSubspaceClassifier().fit(planted.X, planted.Y)
    assert list(names_given(None, named)) == planted.names
    assert names_given(["x"], named) == ["x"]
    assert names_given(None, unnamed) is None
    assert names_of(None, 2) == ["label 0", "label 1"]


def test_labels_are_found_by_name_or_position():
    names = ["a", "b", "a", "7"]
    assert find_label("b", names) == 1
    assert find_label(-1, names) == 3
    assert find_label(np.int64(2), names) == 2
    assert find_label("7", names) == 3
    assert find_labels("b", names).tolist() == [1]
    assert find_labels(["7", 0], names).tolist() == [3, 0]
    assert find_labels([], names, some=False).tolist() == []
    with pytest.raises(ValueError, match="labels is empty: pass at least one"):
        find_labels([], names)
    with pytest.raises(ValueError, match="2 labels are called 'a': pass the position of one"):
        find_label("a", names)
    with pytest.raises(ValueError, match="between 0 and 3, the last of 4 labels, got 4"):
        find_label(4, names)
    with pytest.raises(ValueError, match="no label 'x' among the 4 labels: 'a', 'b', 'a', '7'"):
        find_label("x", names)


def test_the_most_frequent_labels_come_first_and_the_first_of_equal_ones():
    assert most_frequent(np.array([3.0, 5, 3, 9]), 3).tolist() == [3, 1, 0]


def test_what_is_shown_is_said():
    assert say_chosen(5, 300) == "5 most frequent of 300 labels"
    assert say_chosen(2, 9, "chosen") == "2 chosen of 9 labels"
    assert say_chosen(9, 9) == "9 labels"
    assert say_chosen(1, 1) == "1 label"
