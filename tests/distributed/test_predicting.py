"""Predictions block by block equal those of the model, and leave the model as it is."""

import dask.array as da
import numpy as np

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV, distributed


def test_predictions_of_blocks_keep_the_statistics_of_the_model(data):
    model = SharedSubspaceClassifier().partial_fit(data.X, data.Y)
    X = da.from_array(data.X, chunks=(50, -1))
    found = distributed.predict(model, X).compute()
    np.testing.assert_array_equal(found, model.predict(data.X))
    embedded = distributed.transform(model, X).compute()
    np.testing.assert_allclose(embedded, model.transform(data.X), atol=1e-12)
    assert model.n_samples_seen_ == len(data.X)
    model.partial_fit(data.X, data.Y)


def test_probabilities_of_blocks_are_those_of_the_model(data):
    X, Y = (da.from_array(A, chunks=(50, -1)) for A in (data.X, data.Y))
    model = distributed.fit(SharedSubspaceClassifier(calibration="auto"), X, Y)
    found = distributed.predict_proba(model, X)
    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found.compute(), model.predict_proba(data.X), rtol=1e-10)
    y = data.Y[:, 0] + data.Y[:, 1]
    model = SharedSubspaceClassifierCV([0.1], [0.1]).fit(data.X, y)
    found = distributed.predict_proba(model, X).compute()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
