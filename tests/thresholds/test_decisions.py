import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.labels.codec import LabelCodec
from eigenlabel.thresholds import Rule, Top
from eigenlabel.thresholds.decisions import decide, join_decisions

SCORES = np.array([[0.2, -0.1, 0.5], [-1.0, -2.0, -3.0]])
Y = np.array([[1, 0, 1], [0, 1, 0]])


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
    assert join_decisions([one]) is one
    found = join_decisions([make(whole[:1]), make(whole[1:])])
    assert type(found) is type(one)
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, whole)
