import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.labels.codec import LabelCodec
from eigenlabel.thresholds import (
    Costs,
    Rule,
    Top,
    Zero,
    fit_calibration,
    held_out_probabilities,
)
from eigenlabel.thresholds.rules import (
    Decisions,
    check_readable,
    decide,
    heldout_values,
    reads_probabilities,
    values_for,
)

SCORES = np.array([[0.2, -0.1, 0.5], [-1.0, -2.0, -3.0]])
Y = np.array([[1, 0, 1], [0, 1, 0]])


def joined(pieces, n):
    decisions = Decisions(n)
    for piece in pieces:
        decisions.add(piece)
    return decisions.join()


def test_label_sets_hold_the_positive_scores_by_default():
    codec, _ = LabelCodec.fit(Y)
    np.testing.assert_array_equal(decide(codec, SCORES), [[1, 0, 1], [0, 0, 0]])


def test_a_rule_decides_on_label_sets_in_the_form_of_y():
    codec, _ = LabelCodec.fit(sp.csr_matrix(Y))
    found = decide(codec, SCORES, Rule(), np.array([0.3, -1.0, 0.4]))
    assert isinstance(found, sp.csr_matrix)
    np.testing.assert_array_equal(found.toarray(), [[0, 1, 1], [0, 0, 0]])
    found = decide(codec, SCORES, Top(1), np.full(3, np.nan))
    np.testing.assert_array_equal(found.toarray(), [[0, 0, 1], [1, 0, 0]])


def test_classes_are_decided_by_the_highest_score_whatever_the_thresholds():
    codec, _ = LabelCodec.fit(np.array(["a", "b", "c"]))
    found = decide(codec, SCORES, Rule(), np.array([9.0, 9.0, 9.0]))
    np.testing.assert_array_equal(found, ["c", "a"])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_pieces_are_joined_in_their_form(make):
    whole = np.arange(12).reshape(4, 3) % 2
    one = make(whole)
    assert joined([one], 4) is one
    found = joined([make(whole[:2]), make(whole[2:3]), make(whole[3:])], 4)
    assert type(found) is type(one)
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, whole)


def test_pieces_of_label_sets_are_joined():
    sets = [("a",), (), ("a", "b")]
    assert joined([sets], 3) is sets
    assert joined([sets[:2], sets[2:]], 3) == sets


def test_a_rule_on_probabilities_receives_probabilities(rng):
    scores = rng.standard_normal((200, 3))
    truth = rng.random((200, 3)) < 1 / (1 + np.exp(-2 * scores))
    calibration = fit_calibration(scores, truth)
    codec, _ = LabelCodec.fit(truth)
    rule = Costs(miss=3.0)
    P = calibration.probabilities(scores)
    np.testing.assert_array_equal(
        decide(codec, scores, rule, np.full(3, 0.25), calibration), P > 0.25
    )
    assert reads_probabilities(rule)
    np.testing.assert_array_equal(values_for(rule, scores, calibration), P)
    held_out = held_out_probabilities(scores, truth, method="sigmoid")
    found = heldout_values(rule, scores, truth, None, "sigmoid")
    np.testing.assert_array_equal(found, held_out)
    assert not reads_probabilities(Zero())
    assert values_for(Zero(), scores, calibration) is scores
    assert heldout_values(Zero(), scores, truth, None, None) is scores


def test_a_rule_on_probabilities_needs_a_calibration():
    codec, _ = LabelCodec.fit(Y)
    with pytest.raises(ValueError, match=r"Costs\(.*pass calibration='auto'"):
        decide(codec, SCORES, Costs(), np.full(3, 0.5))
    with pytest.raises(ValueError, match="decides on probabilities"):
        heldout_values(Costs(), SCORES, Y, None, None)
    with pytest.raises(ValueError, match="calibration=None leaves out"):
        check_readable(Costs(), None)
    check_readable(Costs(), "auto")
    check_readable(Zero(), None)


def test_no_pieces_are_refused():
    with pytest.raises(ValueError, match="no samples"):
        joined([], 0)
