"""Fitted attributes: properties of a solution that exist where they mean something."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.datasets import make_shared_subspace

DATA = make_shared_subspace(40, 5, 3, random_state=0)
LINEAR, DUAL = {"coef_", "components_"}, {"dual_coef_", "dual_components_"}
ALWAYS = {"intercept_", "eigenlabels_", "eigenvalues_", "n_components_", "n_iter_"}
TUNED = {"alpha_", "beta_", "best_params_", "cv_results_", "score_grid_", "thresholds_"}


def present(model):
    names = ALWAYS | LINEAR | DUAL | TUNED | {"residuals_", "label_weights_", "n_samples_seen_"}
    return {name for name in names if hasattr(model, name)}


def test_attributes_exist_where_they_mean_something():
    X, Y = DATA.X, DATA.Y
    fitted = SharedSubspaceClassifier
    assert present(fitted()) == set()
    assert present(fitted().fit(X, Y)) == ALWAYS | LINEAR
    assert present(fitted(kernel="rbf").fit(X, Y)) == ALWAYS | DUAL
    assert present(fitted(solver="krylov").fit(X, Y)) == ALWAYS | LINEAR | {"residuals_"}
    assert present(fitted().partial_fit(X, Y)) == ALWAYS | LINEAR | {"n_samples_seen_"}
    assert present(fitted().partial_fit(X, Y).finish()) == ALWAYS | LINEAR
    tuned = SharedSubspaceClassifierCV([0.1], [0.1]).fit(X, Y)
    assert present(tuned) == ALWAYS | LINEAR | TUNED


def test_attributes_of_a_model_that_is_not_fitted():
    with pytest.raises(NotFittedError, match="SharedSubspaceClassifier is not fitted yet"):
        SharedSubspaceClassifier().coef_  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'dual_coef_'"):
        SharedSubspaceClassifier().fit(DATA.X, DATA.Y).dual_coef_  # noqa: B018


def test_attributes_cannot_be_replaced():
    model = SharedSubspaceClassifier().fit(DATA.X, DATA.Y)
    with pytest.raises(AttributeError):
        model.coef_ = np.zeros((3, 5))
