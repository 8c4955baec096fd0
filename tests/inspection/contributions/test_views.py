"""Contributions of several views against naive sums over views and training samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import eigenlabel as el
from eigenlabel.inspection import explain
from explained import assert_adds_up, make_data


@pytest.fixture
def data(rng):
    return make_data(rng, n=40, d=6, m=3)


def halves(X):
    return {"left": X[:, :2], "right": X[:, 2:]}


def test_contributions_of_views_and_training_samples(data):
    X, Y = data
    model = el.KGHA(gamma=0.3, view_weights=[1.0, 3.0], random_state=0).fit(halves(X), Y)
    found = explain(model, halves(X[:3]), n_top=None)
    weights = model.view_weights_ / model.view_weights_.sum()
    naive = {}
    for v, (name, A) in enumerate(halves(X).items()):
        k = np.exp(-0.3 * ((A[1] - A) ** 2).sum(axis=1))
        c = model.views_[name].coef @ model.decoder_[:, 2]
        for t in range(40):
            naive[f"{name}: training sample {t}"] = 2 * weights[v] * k[t] * c[t]
    assert found.terms(1, 2) == pytest.approx(naive, rel=1e-9, abs=1e-14)
    assert_adds_up(model, halves(X[:3]), found)
    together = explain(model, el.Views(halves(X))[[0, 1, 2]], n_top=None)
    np.testing.assert_array_equal(together.names, found.names)


def test_samples_that_are_missing_in_a_view(data):
    X, Y = data
    views = {k: v.copy() for k, v in halves(X).items()}
    views["left"][5:9] = np.nan
    model = el.KGHA(random_state=0).fit(views, Y)
    new = {k: v[:4].copy() for k, v in halves(X).items()}
    new["left"][1] = np.nan
    new["right"][2] = np.nan
    for table in new.values():
        table[3] = np.nan
    found = explain(model, new, n_top=None)
    assert_adds_up(model, new, found)
    assert all(name.startswith("right: ") for name in found.terms(1, 0))
    assert all("of this view" in name for name in found.terms(2, 0))
    assert found.terms(3, 0) == {}
    alone = explain(model, {"left": None, "right": new["right"][:1]}, n_top=None)
    assert all(name.startswith("right: ") for name in alone.terms(0, 0))
    nobody = {k: v[3:] for k, v in new.items()}
    assert explain(model, nobody).contributions.shape == (1, 3, 0)


def test_linear_views_have_features_and_other_views_training_samples(data):
    pandas = pytest.importorskip("pandas")
    X, Y = data
    frames = {
        "left": pandas.DataFrame(X[:, :2], columns=["a", "b"]),
        "right": X[:, 2:],
    }
    model = el.KGHA(kernel={"left": "linear", "right": "rbf"}, random_state=0).fit(frames, Y)
    new = {"left": frames["left"][:2], "right": frames["right"][:2]}
    found = explain(model, new, n_top=None)
    assert found.kind == "feature or training sample"
    assert {"left: a", "left: b"} & set(found.terms(0, 0))
    assert "right: training sample 7" in found.terms(0, 0)
    assert_adds_up(model, new, found)


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_of_one_matrix_and_transformers(sparse, data):
    X, Y = data
    given = sp.csr_array(X) if sparse else X
    names = list("uvwxyz")
    for model in (
        el.KernelRidgeTagger(
            kernel="linear",
            views={"left": slice(0, 2), "right": [2, 3, 5]},
            transformers={"right": MaxAbsScaler()},
        ),
        el.FastTag(views={"left": slice(0, 2), "right": [2, 3, 5]}, transformers=MaxAbsScaler()),
    ):
        model.fit(given, Y)
        found = explain(model, given[:3], feature_names=names, n_top=None)
        assert_adds_up(model, given[:3], found)
        assert set(found.terms(0, 0)) <= {"left: u", "left: v", "right: w", "right: x", "right: z"}


def test_a_view_without_names_after_a_transformer_is_numbered(data):
    X, Y = data
    model = el.FastTag(transformers={"left": TruncatedSVD(1)}).fit(halves(X), Y)
    found = explain(model, halves(X[:2]), n_top=None)
    assert "left: truncatedsvd0" in found.terms(0, 0)


def test_approximations_and_precomputed_kernels(data):
    X, Y = data
    model = el.KGHA(approximation="nystrom", random_state=0).fit(X, Y)
    assert_adds_up(model, X[:3], explain(model, X[:3]))
    K = {name: A @ A.T for name, A in halves(X).items()}
    pairs = el.KGHA(kernel="precomputed", random_state=0).fit(K, Y)
    new = {name: A[:3] for name, A in K.items()}
    found = explain(pairs, new, training_names=[f"t{t}" for t in range(40)], n_top=None)
    assert_adds_up(pairs, new, found)
    assert "left: t3" in found.terms(0, 0)


def test_views_behind_a_pipeline(data):
    X, Y = data
    model = make_pipeline(
        StandardScaler(), el.KGHA(kernel="linear", views={"left": [0, 1], "right": slice(2, 6)})
    ).fit(X, Y)
    found = explain(model, X[:2], feature_names=list("uvwxyz"), n_top=None)
    assert "right: z" in found.terms(0, 0)
    assert_adds_up(model, X[:2], found)
