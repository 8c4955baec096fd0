"""Predictions block by block equal those of the model, and leave the model as it is."""

import dask.array as da
import numpy as np

from eigenlabel import SharedSubspaceClassifier, distributed


def test_predictions_of_blocks_keep_the_statistics_of_the_model(data):
    model = SharedSubspaceClassifier().partial_fit(data.X, data.Y)
    X = da.from_array(data.X, chunks=(50, -1))
    found = distributed.predict(model, X).compute()
    np.testing.assert_array_equal(found, model.predict(data.X))
    embedded = distributed.transform(model, X).compute()
    np.testing.assert_allclose(embedded, model.transform(data.X), atol=1e-12)
    assert model.n_samples_seen_ == len(data.X)
    model.partial_fit(data.X, data.Y)
