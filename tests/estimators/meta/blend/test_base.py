import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta.blend.forest import LabelForest
from eigenlabel.estimators.meta.blend.kernel_subspace import KernelSubspace, Presence
from eigenlabel.estimators.meta.blend.neighbours_and_words import NeighbourShares, WordRatios

MEMBERS = [
    LabelForest(20, random_state=0),
    KernelSubspace(random_state=0),
    KernelSubspace("laplacian", random_state=0),
    Presence(),
    NeighbourShares(),
    WordRatios(),
]
every = pytest.mark.parametrize("member", MEMBERS, ids=lambda m: repr(m)[:25])


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(80, 6, 4, prevalence=0.3, noise=0.3, random_state=0)


@every
def test_a_label_matrix(member, data):
    X = np.abs(data.X)
    model = clone(member).fit(X, sp.csr_array(data.Y))
    assert model.oof_scores_.shape == model.decision_function(X).shape == data.Y.shape
    found = model.predict(X)
    np.testing.assert_array_equal(found.toarray(), model.decision_function(X) > 0)


@every
def test_two_and_three_classes(member, data):
    X = np.abs(data.X)
    two = np.where(data.Y[:, 0], "yes", "no")
    model = clone(member).fit(X, two)
    assert model.oof_scores_.shape == (80, 1)
    assert model.decision_function(X).shape == (80,)
    np.testing.assert_array_equal(
        model.classes_[(model.decision_function(X) > 0).astype(int)], model.predict(X)
    )
    three = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.6]))
    model = clone(member).fit(X, three)
    assert model.oof_scores_.shape == (80, 3)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


@every
def test_folds_are_those_that_are_passed(member, data):
    if not hasattr(member, "cv"):
        assert np.isfinite(clone(member).fit(data.X, data.Y).oof_scores_).all()
        return
    X = np.abs(data.X)
    folds = [(np.arange(40, 80), np.arange(40)), (np.arange(40), np.arange(40, 60))]
    model = clone(member).set_params(cv=folds).fit(X, data.Y)
    assert np.isfinite(model.oof_scores_[:60]).all()
    assert np.isnan(model.oof_scores_[60:]).all()
    other = data.Y.copy()
    other[40:60] = 1 - other[40:60]  # labels of the second test part
    changed = clone(model).fit(X, other)
    if not isinstance(member, (KernelSubspace, Presence)):  # whose parameters all folds choose
        np.testing.assert_allclose(changed.oof_scores_[40:60], model.oof_scores_[40:60], atol=1e-8)


@every
def test_a_failed_fit_changes_nothing(member, data):
    model = clone(member).fit(np.abs(data.X), data.Y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full(data.X.shape, np.nan), data.Y)
    assert vars(model) == before
