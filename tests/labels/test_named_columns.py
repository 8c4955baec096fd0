"""Label sets and frames beside frames of scores are matched by names."""

import numpy as np
import pandas as pd
import pytest

from eigenlabel.inspection import ReliabilityDisplay, find_label_issues
from eigenlabel.labels.named_columns import labels_beside
from eigenlabel.metrics import auc_macro, f1_macro, log_loss
from eigenlabel.thresholds import fit_calibration, get_rule

NAMES = ["a", "b", "c"]


@pytest.fixture
def example(rng):
    """Return label sets, their matrix, and probabilities as a frame whose order is not sorted."""
    Y = rng.uniform(size=(80, 3)) < [0.2, 0.5, 0.7]
    P = np.clip(Y + 0.2 * rng.standard_normal(Y.shape), 0.01, 0.99)
    sets = [{name for name, there in zip(NAMES, row, strict=True) if there} for row in Y]
    order = [2, 0, 1]
    return sets, Y[:, order].astype(int), pd.DataFrame(P, columns=NAMES).iloc[:, order]


def test_label_sets_have_the_columns_of_a_frame_of_scores(example):
    sets, Y, P = example
    np.testing.assert_array_equal(labels_beside(sets, P, "P"), Y)
    for metric in (auc_macro, log_loss):
        assert metric(sets, P) == pytest.approx(metric(Y, P.to_numpy()), rel=1e-12)
    decided = (P > 0.5).astype(int)
    expected = f1_macro(Y, decided.to_numpy())
    assert f1_macro(sets, decided) == f1_macro(decided, sets) == pytest.approx(expected, rel=1e-12)
    thresholds = get_rule("f1").fit(P, sets)
    np.testing.assert_array_equal(thresholds, get_rule("f1").fit(P.to_numpy(), Y))
    found = fit_calibration(P, sets).probabilities(P.to_numpy())
    expected = fit_calibration(P.to_numpy(), Y).probabilities(P.to_numpy())
    np.testing.assert_array_equal(found, expected)
    issues, by_matrix = find_label_issues(sets, P), find_label_issues(Y, P.to_numpy())
    assert len(issues.samples) > 0
    np.testing.assert_array_equal(issues.samples, by_matrix.samples)
    np.testing.assert_array_equal(issues.label_names, P.columns)
    ReliabilityDisplay.from_predictions(sets, P)


def test_a_label_that_is_no_column_is_an_error(example):
    sets, _, P = example
    renamed = P.rename(columns={"a": "z"})
    first = next(i for i, labels in enumerate(sets) if "a" in labels)
    message = f"Sample {first} of y has the label 'a', which is not among the 3 labels"
    for call in (auc_macro, log_loss, find_label_issues):
        with pytest.raises(ValueError, match=message):
            call(sets, renamed)


def test_frames_in_another_order_are_an_error(example):
    _, Y, P = example
    frame = pd.DataFrame(Y, columns=P.columns)[NAMES]
    message = "Column 0 is 'a' in {} and 'c' in {}"
    with pytest.raises(ValueError, match=message.format("Y", "probabilities")):
        find_label_issues(frame, P)
    with pytest.raises(ValueError, match=message.format("y_true", "scores")):
        auc_macro(frame, P)
    with pytest.raises(ValueError, match=message.format("Y", "scores")):
        get_rule("f1").fit(P, frame)


def test_numbered_columns_are_compared_by_position(example):
    sets, _, P = example
    numbered = P[NAMES].set_axis(range(3), axis=1)
    assert auc_macro(sets, numbered) == pytest.approx(auc_macro(sets, P), rel=1e-12)


def test_a_model_in_place_of_probabilities_is_an_error():
    from eigenlabel import MLkNN

    with pytest.raises(TypeError, match="Pass held-out probabilities, such as cross_val_predict"):
        find_label_issues(np.eye(3), MLkNN())
