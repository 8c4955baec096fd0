"""Each group of columns has its own transformer."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.persistence import SavedModel, load_model, save_model
from eigenlabel.preprocessing import (
    make_preparation,
)
from forms import mixed_data


def test_a_failed_fit_leaves_the_preparation_as_it_was(write):
    data = mixed_data(write)
    prepare = make_preparation("auto", data.X, **data.layout).fit(data.X)
    before = prepare.transform(data.X).toarray()
    with pytest.raises(ValueError, match="infinity"):
        prepare.fit(sp.csr_array(np.full((3, 2), np.inf)))
    np.testing.assert_array_equal(prepare.transform(data.X).toarray(), before)


def test_models_of_many_words_stay_small(rng, tmp_path):
    d = 20_000
    words = sp.random_array((30, d), density=0.001, format="csr", rng=rng)
    X = sp.csr_array(sp.hstack([words, rng.integers(0, 2, (30, 2))]))
    names = np.array([f"w{j}" for j in range(d)] + ["size", "colour"])
    layout = {
        "feature_names": names,
        "categories": {"colour": ("red", "blue")},
        "column_types": {"size": "number", "colour": "category"},
        "words": {"text": slice(0, d)},
    }
    prepare = make_preparation("auto", X, **layout).fit(X)
    path = tmp_path / "m.skops"
    save_model(SavedModel(prepare, names, np.array(["l"])), path)
    again = load_model(path).model
    np.testing.assert_array_equal(again.transform(X).toarray(), prepare.transform(X).toarray())
    assert path.stat().st_size < 2 * X.shape[1] * np.dtype(names.dtype).itemsize
