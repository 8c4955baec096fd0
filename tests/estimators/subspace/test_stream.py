"""Streams: folds by position, the sample of rows, statistics that add up."""

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.estimators.subspace import stream
from eigenlabel.estimators.subspace.stream import draw
from streams import assert_equal_models, fed, make_data


@pytest.fixture
def data():
    return make_data()


def _chosen(params):
    return {k: params[k] for k in ("alpha", "beta", "n_components")}


def test_folds_depend_on_the_position_alone():
    folds, keys = draw(0, 20_000, 5)
    for start, n in ((0, 7), (5119, 3), (5121, 5120), (12_345, 6000)):
        some = draw(start, n, 5)
        np.testing.assert_array_equal(some[0], folds[start : start + n])
        np.testing.assert_array_equal(some[1], keys[start : start + n])
    runs = np.sort(folds.reshape(-1, 5), axis=1)
    assert (runs == np.arange(5)).all()
    assert len(np.unique(folds.reshape(-1, 5), axis=0)) == 120
    assert len(np.unique(keys)) == 20_000


@pytest.mark.parametrize("bound", ["KEPT_SCORES", "KEPT_BYTES"])
def test_an_even_draw_of_samples_is_kept(data, monkeypatch, bound):
    X, Y = data
    monkeypatch.setattr(stream, bound, {"KEPT_SCORES": 6 * 100, "KEPT_BYTES": 100 * 102}[bound])
    setting = {"alphas": [0.1], "betas": [0.1, 10.0]}
    model = SharedSubspaceClassifierCV(**setting)
    fed(model, X, Y, np.array_split(np.arange(300), 13))
    keys = draw(0, 300, 5)[1]
    kept = next(keys < 2.0**-k for k in range(9) if (keys < 2.0**-k).sum() <= 100)
    cv = PredefinedSplit(draw(0, 300, 5)[0])
    expected = SharedSubspaceClassifierCV(**setting, cv=cv).fit(X, Y)
    assert model.oof_scores_.shape[0] == kept.sum() > 20
    # All samples count in every fold's fit.
    if model.best_params_ == expected.best_params_:
        np.testing.assert_allclose(model.oof_scores_, expected.oof_scores_[kept], atol=1e-8)
    assert_equal_models(model, SharedSubspaceClassifier(**_chosen(model.best_params_)).fit(X, Y))
    half = SharedSubspaceClassifierCV(**setting).partial_fit(X[:150], Y[:150])
    other = SharedSubspaceClassifierCV(**setting).partial_fit(X[150:], Y[150:])
    half.merge(other)
    assert 20 < half.oof_scores_.shape[0] <= 100
    assert_equal_models(half, SharedSubspaceClassifier(**_chosen(half.best_params_)).fit(X, Y))
