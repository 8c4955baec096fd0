"""Correlations and threshold curves of labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import report
from eigenlabel.report import label_counts as _labels
from pages import make_model


@pytest.mark.parametrize("block", [1, 14, 2**22])
def test_neighbours_have_the_largest_correlations(rng, monkeypatch, block):
    monkeypatch.setattr(_labels, "BLOCK", block)  # blocks of one label, of two, and of all
    Y = (rng.uniform(size=(60, 7)) < 0.4).astype(int)
    Y[:, 3] = 1 - Y[:, 0]
    Y[:, 5] = 0  # a constant label has no correlations
    Y[:, 6] = 1
    shown = report.label_map(make_model(np.eye(7), np.ones(7)), sp.csr_array(Y), "abcdefg")
    for j, found in enumerate(shown["neighbours"]):
        if j in {5, 6}:
            assert found == []
            continue
        others = [i for i in (0, 1, 2, 3, 4) if i != j]
        naive = sorted(
            ((i, np.corrcoef(Y[:, i], Y[:, j])[0, 1]) for i in others), key=lambda p: -abs(p[1])
        )
        assert [i for i, _ in found] == [i for i, _ in naive][: len(found)]
        np.testing.assert_allclose([r for _, r in found], [r for _, r in naive], atol=6e-4)
    assert shown["neighbours"][0][0] == [3, -1.0]


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1.0, 1e9])
def test_curves_are_exact_at_their_points(rng, scale):
    scores = rng.standard_normal((300, 4)) * scale
    scores[:, 1] = np.round(scores[:, 1] / scale) * scale  # many ties
    scores[:, 2] = 3.0 * scale
    Y = (scores + scale * rng.standard_normal(scores.shape) > scale).astype(int)
    Y[:, 3] = 0
    chosen = np.array([0.3 * scale, -np.inf, np.inf, np.nan])
    shown = report.threshold_curves(sp.csr_array(Y), scores, chosen, "abcd")
    for j, curve in enumerate(shown["curves"]):
        t = np.array(curve["t"])
        assert 2 <= len(t) <= 60
        assert (np.diff(t) > 0).all()
        above = scores[:, j] > t[:, None]
        np.testing.assert_array_equal(curve["predicted"], above.sum(axis=1))
        np.testing.assert_array_equal(curve["hits"], (above & (Y[:, j] == 1)).sum(axis=1))
        assert (curve["predicted"][0], curve["predicted"][-1]) == (300, 0)
        if j < 3:
            at = scores[:, j] > chosen[j]
            assert curve["at"] == [at.sum(), (at & (Y[:, j] == 1)).sum()]
    assert [c["threshold"] for c in shown["curves"][1:]] == ["-inf", "inf", None]
    assert shown["curves"][3]["at"] is None


def test_curves_show_rare_positives_and_few_predictions(rng):
    scores = rng.standard_normal((5000, 1))
    Y = np.zeros((5000, 1), dtype=int)
    Y[rng.permutation(5000)[:8]] = 1
    curve = report.threshold_curves(Y, scores, 0.0, ["rare"])["curves"][0]
    assert set(curve["hits"]) == set(range(9))
    assert sum(0 < predicted < 60 for predicted in curve["predicted"]) >= 6
