import numpy as np
import pytest

from eigenlabel import MultilabelBlend
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inspection import explain


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(120, 6, 4, prevalence=0.3, noise=0.5, random_state=0)


@pytest.mark.parametrize("weights", ["shared", "by_label", "equal"])
def test_members_add_up_to_the_score(weights, data):
    model = MultilabelBlend(["linear", "neighbours", "forest"], weights=weights, random_state=0)
    model.fit(data.X, data.Y)
    found = explain(model, data.X[:5], labels=[2, 0])
    assert found.kind == "member"
    total = found.intercept + found.contributions.sum(axis=2) + found.remainder
    expected = model.decision_function(data.X[:5])[:, [2, 0]]
    np.testing.assert_allclose(total, expected, atol=1e-12)
    np.testing.assert_allclose(found.threshold, model.thresholds_[[2, 0]])
    parts = model.member_log_odds(data.X[:5])
    names = list(parts)
    for i, q, k in np.ndindex(found.contributions.shape):
        name = found.names[i, q, k]
        if name:
            label, place = [2, 0][q], names.index(name)
            w = model.weights_[..., place]
            w = w if np.ndim(w) == 0 else w[label]
            value = w * parts[name][i, label]
            np.testing.assert_allclose(found.contributions[i, q, k], value, rtol=1e-10)


def test_other_members_are_in_the_remainder(data):
    model = MultilabelBlend(["linear", "neighbours", "forest"], weights="equal", random_state=0)
    found = explain(model.fit(data.X, data.Y), data.X[:3], n_top=1)
    assert found.contributions.shape == (3, 4, 1)
    total = found.intercept + found.contributions.sum(axis=2) + found.remainder
    np.testing.assert_allclose(total, model.decision_function(data.X[:3]), atol=1e-12)


def test_two_classes(data):
    model = MultilabelBlend(["linear", "neighbours"], weights="equal").fit(data.X, data.Y[:, 0])
    found = explain(model, data.X[:3])
    np.testing.assert_allclose(found.score[:, 0], model.decision_function(data.X[:3]), atol=1e-12)


def test_a_member_can_be_explained_by_itself(data):
    model = MultilabelBlend(["linear", "neighbours"], weights="equal").fit(data.X, data.Y)
    found = explain(model.members_["linear"], data.X[:2])
    assert found.kind == "feature"
