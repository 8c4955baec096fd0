"""A tuned model on planted data, and a page with a section of every kind."""

import numpy as np
import pytest

import eigenlabel as el
from eigenlabel import report
from pages import everything


@pytest.fixture(scope="session")
def fitted():
    data = el.datasets.make_shared_subspace(n_samples=300, n_labels=9, random_state=3)
    model = el.SharedSubspaceClassifierCV(
        alphas=[np.inf, 0.1, 0], betas=[1, 0.01], n_components=[1, 3]
    ).fit(data.X, data.Y)
    return data, model


@pytest.fixture(scope="session")
def page(fitted):
    data, model = fitted
    about = {"versions": {"numpy": "2"}, "seconds": np.float64(1.5), "cores": np.int64(2)}
    return report.page("All of it", everything(data, model, data.label_names), about=about)
