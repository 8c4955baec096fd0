"""Estimators of the papers' protocols."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from eigenlabel import (
    KGHA,
    LDA,
    MDDM,
    PCA,
    DiscriminativeSelector,
    SharedSubspaceClassifier,
    ThresholdedClassifier,
    catalogue,
)
from eigenlabel.catalogue import make
from eigenlabel.experiment import Data, Method, Protocol, Splits, fit_split
from eigenlabel.reproduce.paper_estimators import (
    AtShare,
    LabelLDA,
    OwnFeature,
    Reduced,
    SeveralKernels,
    ViewChoice,
)
from protocols import planted, small_data


def test_lda_on_each_label_is_lda_on_that_label_alone(rng):
    X = rng.standard_normal((60, 12)) + 3
    Y = (X[:, :4] + rng.standard_normal((60, 4)) > 3).astype(int)
    Y[:, 3] = 0
    found = LabelLDA(reg=0.5).fit(X, Y).transform(X)
    for j in range(3):
        alone = LDA(1, reg=0.5).fit(X, Y[:, [j]]).transform(X)[:, 0]
        sign = np.sign(alone @ found[:, j])
        np.testing.assert_allclose(found[:, j], sign * alone, atol=1e-10)
    np.testing.assert_array_equal(found[:, 3], 0)
    two = [X[Y[:, 0] == k] for k in (1, 0)]
    within = sum((A - A.mean(axis=0)).T @ (A - A.mean(axis=0)) for A in two)
    fisher = np.linalg.solve(within + 0.5 * np.eye(12), two[0].mean(axis=0) - two[1].mean(axis=0))
    direction = LabelLDA(reg=0.5).fit(X, Y).components_[0]
    cosine = fisher @ direction / np.linalg.norm(fisher) / np.linalg.norm(direction)
    assert cosine == pytest.approx(1, abs=1e-12)


def test_several_kernels_are_added_with_weights(rng):
    X, Y = rng.standard_normal((20, 6)), rng.integers(0, 2, (20, 3))
    views = {"a": slice(0, 2), "b": slice(2, 6)}
    kernels = {
        (view, kernel): pairwise_kernels(X[:, columns], metric=kernel)
        for view, columns in views.items()
        for kernel in ("cosine", "laplacian")
    }
    both = SeveralKernels(("cosine", "laplacian"), views=views).fit(X, Y).transform(X)
    np.testing.assert_allclose(both, sum(kernels.values()) / 4, atol=1e-12)
    one = SeveralKernels(("cosine", "laplacian"), "cosine", views=views).fit(X, Y).transform(X)
    np.testing.assert_allclose(one, (kernels["a", "cosine"] + kernels["b", "cosine"]) / 2)
    weights = [1.0, 0.0, 0.0, 2.0]
    given = SeveralKernels(("cosine", "laplacian"), weights=weights, views=views).fit(X, Y)
    expected = kernels["a", "cosine"] + 2 * kernels["b", "laplacian"]
    np.testing.assert_allclose(given.transform(X), expected)
    learnt = SeveralKernels(weights="alignment").fit(X, Y)
    assert learnt.sum_.weights_.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="which must be one of cosine, rbf, laplacian, got 'poly'"):
        SeveralKernels(which="poly").fit(X, Y)


def test_each_label_is_classified_by_its_own_feature(rng):
    X = rng.standard_normal((80, 3))
    Y = (X + 0.1 * rng.standard_normal((80, 3)) > 0).astype(int)
    Y[:, 2] = 1
    model = OwnFeature(SVC(kernel="linear")).fit(X, Y)
    changed = X.copy()
    changed[:, 1] = 0
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.decision_function(changed)[:, 0], scores[:, 0])
    alone = SVC(kernel="linear").fit(X[:, [1]], Y[:, 1])
    np.testing.assert_allclose(scores[:, 1], alone.decision_function(X[:, [1]]))
    assert (scores[:, 2] == 1).all()
    assert (model.predict(X) == Y).mean() > 0.9


def test_a_share_of_the_dimension_equals_a_projection_to_that_dimension(monkeypatch):
    data, fits = small_data(0), []
    fit = PCA.fit
    monkeypatch.setattr(PCA, "fit", lambda self, X, y=None: fits.append(1) or fit(self, X, y))
    for share, r in ((0.5, 3), (0.01, 1), (1.0, 6)):
        Z = AtShare(PCA(), share).fit(data.X, data.Y).transform(data.X)
        assert Z.shape == (60, r)
    assert len(fits) == 1
    direct = PCA(n_components=3).fit(data.X).transform(data.X)
    half = AtShare(PCA(), 0.5).fit(data.X, data.Y).transform(data.X)
    np.testing.assert_allclose(half, direct, atol=1e-12)
    assert AtShare(PCA(), 0.5, 0.6).fit(data.X, data.Y).projection_.n_components_ == 4
    selected = AtShare(DiscriminativeSelector(), 0.5).fit(data.X, data.Y).transform(data.X)
    expected = DiscriminativeSelector(3).fit(data.X, data.Y).transform(data.X)
    np.testing.assert_array_equal(selected, expected)


def test_other_projections_have_the_dimension_of_mddm_with_their_kernel():
    data = small_data(1)
    for kernel in ({"kernel": "rbf", "gamma": 3.0}, {"kernel": "linear"}):
        wrapped = catalogue.AtDimensionOfMDDM(PCA(**kernel)).fit(data.X, data.Y)
        expected = MDDM(**kernel).fit(data.X, data.Y).n_components_
        assert wrapped.projection_.n_components_ == expected


def test_one_kernel_matrix_for_all_labels_equals_an_svc_for_each():
    data = planted()
    train, test = data.X[:80], data.X[80:]
    step = catalogue.OnGaussianKernel(MDDM(kernel="rbf"), 0.05)
    model = make_pipeline(step, OneVsRestClassifier(SVC(C=10.0, kernel="precomputed")))
    model.fit(train, data.Y[:80])
    projection = MDDM(kernel="rbf", gamma=0.05).fit(train, data.Y[:80])
    svm = SVC(C=10.0, gamma=0.05).fit(projection.transform(train), data.Y[:80, 1])
    found = svm.decision_function(projection.transform(test))
    # libsvm computes kernels its own way, and stops at 1e-3
    np.testing.assert_allclose(model.decision_function(test)[:, 1], found, atol=2e-3)
    kernel = make("mddm:PCA+SVM-rbf").kernel.set_params(gamma=0.3).fit(train, data.Y[:80])
    assert kernel.projection_.projection_.gamma == 0.3


def test_views_of_the_data_reach_the_model():
    data = replace(small_data(0), views={"left": slice(0, 2), "right": slice(2, 6)})
    model = ViewChoice(KGHA(random_state=0), -1)
    methods = [
        Method("all", KGHA(random_state=0)),
        Method("tuned", ThresholdedClassifier(KGHA(random_state=0), cv=2)),
        Method("right", model),
        Method("joined", ViewChoice(KGHA(random_state=0), "joined")),
    ]
    protocol = Protocol([Data("d", data, prepare="none")], methods, Splits("shuffle", 1))
    fitted = {m.name: fit_split(protocol, "d", m.name, 0) for m in methods}
    assert list(fitted["all"].model.view_names_) == ["left", "right"]
    assert list(fitted["tuned"].model.estimator_.view_names_) == ["left", "right"]
    train, test = fitted["all"].train, fitted["all"].test
    alone = KGHA(random_state=0).fit(data.X[train][:, 2:], data.Y[train])
    np.testing.assert_allclose(
        fitted["right"].scores, alone.decision_function(data.X[test][:, 2:]), rtol=1e-8
    )
    joined = KGHA(random_state=0).fit(data.X[train], data.Y[train])
    np.testing.assert_allclose(
        fitted["joined"].scores, joined.decision_function(data.X[test]), rtol=1e-8
    )
    assert model.estimator.views is None


def test_a_reduced_classifier_is_that_of_the_first_samples_features_and_labels(rng):
    X = sp.csr_array(sp.random_array((40, 12), density=0.4, rng=rng))
    Y = (rng.random((40, 5)) < [0.2, 0.6, 0.3, 0.7, 0.1]).astype(int)
    model = Reduced(SharedSubspaceClassifier(), samples=30, features=7, labels=2).fit(X, Y)
    used = np.asarray((X != 0).sum(axis=0))
    columns = np.sort(np.argsort(-used, kind="stable")[:7])
    labels = np.sort(np.argsort(-Y.sum(axis=0), kind="stable")[:2])
    alone = SharedSubspaceClassifier().fit(X[:30][:, columns], Y[:30][:, labels])
    scores = model.decision_function(X)
    expected = alone.decision_function(X[:, columns])
    np.testing.assert_allclose(scores[:, labels], expected, rtol=1e-10)
    others = np.setdiff1d(np.arange(5), labels)
    assert (scores[:, others] == -1).all()
    assert not model.predict(X)[:, others].any()
    np.testing.assert_array_equal(model.predict(X)[:, labels], alone.predict(X[:, columns]))
    whole = Reduced(SharedSubspaceClassifier()).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(
        whole, SharedSubspaceClassifier().fit(X, Y).decision_function(X), rtol=1e-10
    )
