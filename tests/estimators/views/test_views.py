"""Views as input, their kernels and widths, missing samples, and weights of views."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import chi2_kernel, linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import (
    CCA,
    JEC,
    KGHA,
    MDDM,
    MEKA,
    FastTag,
    GaussianFields,
    KernelRidgeTagger,
    KernelSum,
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    ThresholdedClassifier,
    Views,
)
from eigenlabel.datasets import Dataset, make_shared_subspace
from eigenlabel.estimators.views.weights import loo_error
from eigenlabel.kernels.bandwidth import mean_distance
from eigenlabel.kernels.kernel import intersection_kernel
from eigenlabel.persistence import SavedModel, load_model, save_model


@pytest.fixture
def data(rng):
    n = 50
    S = rng.standard_normal((n, 2))
    left = S @ rng.standard_normal((2, 4)) + rng.standard_normal((n, 4))
    right = S @ rng.standard_normal((2, 6)) + rng.standard_normal((n, 6))
    scores = S @ rng.standard_normal((2, 5))
    return left, right, (scores > 0.2).astype(int)


def scores_of(model, train, new, Y):
    return model.fit(train, Y).decision_function(new)


def test_every_form_of_views_gives_the_same_model(data):
    left, right, Y = data
    X = np.hstack([left, right])
    names = [f"f{i}" for i in range(10)]
    wanted = scores_of(KGHA(), {"left": left, "right": right}, {"left": left, "right": right}, Y)
    both = [left, right]
    np.testing.assert_array_equal(scores_of(KGHA(), both, both, Y), wanted)
    np.testing.assert_array_equal(scores_of(KGHA(), tuple(both), Views(both), Y), wanted)
    frames = {"left": pd.DataFrame(left), "right": pl.DataFrame(right)}
    np.testing.assert_allclose(scores_of(KGHA(), frames, frames, Y), wanted, atol=1e-12)
    sparse = [sp.csr_array(left), sp.csc_matrix(right)]
    np.testing.assert_allclose(scores_of(KGHA(), sparse, sparse, Y), wanted, atol=1e-10)
    columns = [
        {"left": slice(0, 4), "right": slice(4, None)},
        {"left": [0, 1, 2, 3], "right": np.arange(10) >= 4},
        {"left": [-10, 1, 2, 3], "right": range(4, 10)},
    ]
    for views in columns:
        np.testing.assert_allclose(scores_of(KGHA(views=views), X, X, Y), wanted, atol=1e-12)
    by_name = {"left": names[:4], "right": names[4:]}
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = KGHA(views=by_name)
        np.testing.assert_allclose(scores_of(model, frame, frame, Y), wanted, atol=1e-12)
        assert model.feature_names_in_.tolist() == names
    K = {"left": None, "right": None}
    for name, A in (("left", left), ("right", right)):
        K[name] = rbf_kernel(A, gamma=1 / (2 * mean_distance(A) ** 2))
    np.testing.assert_allclose(scores_of(KGHA(kernel="precomputed"), K, K, Y), wanted, atol=1e-9)


def test_a_list_of_new_samples_is_in_the_order_of_fit(data):
    left, right, Y = data
    model = KGHA().fit({"b": left, "a": right}, Y)
    wanted = model.decision_function({"a": right, "b": left})
    np.testing.assert_array_equal(model.decision_function([left, right]), wanted)
    np.testing.assert_array_equal(
        model.decision_function([None, right]), model.decision_function({"a": right})
    )


@pytest.mark.parametrize("model", [KGHA(), JEC(), GaussianFields(), FastTag()])
def test_columns_of_frames_are_those_of_fit(model, data):
    left, right, Y = data
    frames = {"left": pd.DataFrame(left, columns=list("abcd")), "right": right}
    model.fit(frames, Y)
    wanted = model.decision_function(frames)
    turned = {**frames, "left": frames["left"][list("bacd")]}
    for new in (turned, list(turned.values()), Views(turned), Views(turned)[:5]):
        with pytest.raises(ValueError, match="View 'left' has column 'b' where 'a' was in fit"):
            model.predict(new)
    with pytest.raises(ValueError, match="View 'left' has 3 columns, but 4 in fit"):
        model.predict({**frames, "left": frames["left"][list("abc")]})
    with pytest.warns(UserWarning, match="View 'left' has no column names"):
        np.testing.assert_allclose(model.decision_function([left, right]), wanted, atol=1e-12)
    model.predict([None, right])
    model.fit([left, right], Y).predict(list(frames.values()))


def test_one_matrix_is_one_view(data):
    left, _, Y = data
    model = KGHA().fit(left, Y)
    assert model.view_names_ == ("X",)
    as_list = left.tolist()
    # Arrays that lie elsewhere in memory may be added in another order.
    np.testing.assert_allclose(
        model.decision_function(left), KGHA().fit(as_list, Y).decision_function(as_list), rtol=1e-10
    )
    many = KGHA().fit({"a": left}, Y)
    np.testing.assert_allclose(
        many.decision_function({"a": left}), model.decision_function(left), rtol=1e-10
    )
    assert many.n_features_in_ == 4


def test_views_are_indexed_together(data):
    left, right, _ = data
    views = Views({"left": left, "right": sp.csr_array(right)})
    assert (len(views), views.shape, views.names) == (50, (50, 10), ("left", "right"))
    mask = np.arange(50) % 2 == 0
    for key, rows in (
        (slice(3, 9), np.arange(3, 9)),
        (mask, np.flatnonzero(mask)),
        ([5, 5], [5, 5]),
    ):
        part = views[key]
        np.testing.assert_array_equal(part["left"], left[rows])
        np.testing.assert_array_equal(part["right"].toarray(), right[rows])
    np.testing.assert_array_equal(views[10:20][[1, 3], ...]["left"], left[[11, 13]])
    np.testing.assert_array_equal(views[7]["left"], left[[7]])
    assert Views([left @ left.T, right @ right.T])[:20].shape == (20, 20)
    assert repr(Views([left, None])) == "Views(50 samples: view0 (4), view1 (none))"
    assert Views(views[2:4])["left"].shape == (2, 4)
    with pytest.raises(KeyError, match="No view 'odd'; there are: 'left', 'right'"):
        views["odd"]
    with pytest.raises(TypeError, match="several tables"):
        np.asarray(views)


@pytest.mark.parametrize("kind", ["features", "kernels", "columns"])
def test_searches_split_views(data, kind):
    """Each fold of a search equals a fit to its rows by hand, kernels cut to rows and columns."""
    left, right, Y = data
    grid, cv = {"ridge": [0.01, 1.0]}, KFold(3)
    X, model = Views({"left": left, "right": right}), KGHA(kernel="linear")
    if kind == "columns":
        X = np.hstack([left, right])
        model = KGHA(kernel="linear", views={"left": slice(0, 4), "right": slice(4, 10)})
    if kind == "kernels":
        X = Views({"left": linear_kernel(left), "right": linear_kernel(right)})
        model = KGHA(kernel="precomputed")
    search = GridSearchCV(model, grid, cv=cv, scoring="neg_mean_squared_error", error_score="raise")
    search.fit(X, Y)
    found = cross_val_predict(search.best_estimator_, X, Y, cv=cv, method="decision_function")
    wanted = np.empty(Y.shape)
    for train, test in cv.split(left):
        best = KGHA(kernel="linear", **search.best_params_).fit(
            [left[train], right[train]], Y[train]
        )
        wanted[test] = best.decision_function([left[test], right[test]])
    np.testing.assert_allclose(found, wanted, atol=1e-7)  # kernels know rank less sharply


def test_thresholds_and_files(data, tmp_path):
    left, right, Y = data
    views = Views([left, right])
    tuned = ThresholdedClassifier(KGHA(), cv=3).fit(views, Y)
    assert tuned.predict(views).shape == Y.shape
    X = np.hstack([left, right])
    models = [
        KGHA(
            kernel={"left": "rbf", "right": "linear"},
            views={"left": slice(0, 4), "right": [4, 5, 6, 7, 8, 9]},
            transformers={"right": StandardScaler()},
            view_weights="alignment",
        ),
        make_pipeline(KernelSum(), SharedSubspaceClassifier(kernel="precomputed")),
    ]
    for model in models:
        model.fit(X, Y)
        save_model(SavedModel(model, np.arange(10), np.arange(5)), tmp_path / "m.skops")
        again = load_model(tmp_path / "m.skops").model
        np.testing.assert_allclose(
            again.decision_function(X), model.decision_function(X), rtol=1e-12
        )


def test_bad_views(data):
    left, right, Y = data
    X = np.hstack([left, right])
    cases = [
        (KGHA(), [left, right[:40]], "lengths differ: 'view0' 50, 'view1' 40"),
        (KGHA(), [left, left[:, 0]], "View|shape"),
        (KGHA(), {}, "no view"),
        (KGHA(), {"a": left, "b": None}, "View 'b' is missing for every sample"),
        (KGHA(), {"a": left, "b": np.full((50, 2), np.nan)}, "View 'b' is missing for every"),
        (KGHA(), [left[:40], right[:40]], "inconsistent numbers of samples"),
        (KGHA(), {"a": left, "b": np.where(right > 2, np.inf, right)}, "View 'b' contains inf"),
        (KGHA(), {"a": left, "b": right[:, :0]}, "0 feature"),
        (KGHA(views={"a": [0]}), [left, right], "already is several tables"),
        (KGHA(views={"a": [10]}), X, "columns of view 'a' must lie below 10"),
        (KGHA(views={"a": [0.5]}), X, "columns of view 'a' must lie"),
        (KGHA(views={"a": []}), X, "View 'a' has no columns"),
        (KGHA(views={"a": slice(3, 3)}), X, "View 'a' has no columns"),
        (KGHA(views={"a": [True]}), X, "mask of view 'a' has 1 of 10"),
        (KGHA(views={"a": ["f1"]}), X, "X has no names"),
        (KGHA(views={"a": ["f1"]}), pd.DataFrame(X, columns=list("abcdefghij")), "'f1', which X"),
        (KGHA(kernel="precomputed"), [left, right], "it must be square in fit"),
        (KGHA(kernel="precomputed", transformers=StandardScaler()), [left @ left.T], "neither"),
        (KGHA(kernel="chi2"), [left], "values >= 0"),
        (KGHA(kernel="intersection"), [left], "values >= 0"),
        (KGHA(kernel="chi2"), [sp.csr_array(np.abs(left))], "dense features"),
        (KGHA(kernel=lambda A, B: np.ones(3)), [left], r"expected shape \(50, 50\)"),
        (KGHA(kernel=lambda A, B: np.full((50, 50), np.nan)), [left], "NaN or infinity"),
    ]
    for model, X_bad, message in cases:
        with pytest.raises(ValueError, match=message):
            model.fit(X_bad, Y)
    model = KGHA().fit({"a": left, "b": right}, Y)
    for X_new, message in [
        ({"c": left}, "View 'c' was not there in fit"),
        ({"a": right}, "View 'a' has 6 columns, but 4 in fit"),
        ({"a": None}, "no view"),
        ([left], "list of 1 views, but there were 2 in fit"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict(X_new)


def test_odd_forms_of_views(data):
    left, right, Y = data
    model = KGHA().fit([left, right], Y)
    wanted = model.decision_function([left, right])
    nested = [left.tolist(), right.tolist()]
    np.testing.assert_allclose(model.decision_function(nested), wanted, atol=1e-12)
    np.testing.assert_allclose(KGHA().fit(nested, Y).decision_function(nested), wanted, atol=1e-12)
    with pytest.raises(ValueError, match="There is no view"):
        model.predict([None, None])
    numbered = KGHA(kernel={1: "linear", 2: "rbf"}, transformers={1: StandardScaler()})
    numbered.fit({1: left, 2: right}, Y)
    assert numbered.view_names_ == ("1", "2")
    assert numbered.views_["1"].kernel.linear
    numbered.predict({1: left, 2: right})


def test_thresholds_split_tables_together(data):
    left, right, Y = data
    tables = {"left": left, "right": right}
    found = ThresholdedClassifier(KGHA(), cv=3).fit(tables, Y)
    wanted = ThresholdedClassifier(KGHA(), cv=3).fit(Views(tables), Y)
    np.testing.assert_array_equal(found.thresholds_, wanted.thresholds_)
    np.testing.assert_array_equal(found.predict(tables), wanted.predict(tables))


def test_a_sum_of_kernels_says_that_one_is_indefinite(data):
    left, right, Y = data
    K = [left @ left.T, right @ right.T - 5 * np.eye(50)]
    with pytest.warns(UserWarning, match="kernel matrix of view 'view1' is not positive semi-"):
        model = KernelSum("heldout", kernel="precomputed").fit(K, Y)
    assert np.isfinite(model.weights_).all()


def test_partly_missing_rows_are_imputed_before(data):
    left, right, Y = data
    holes = left.copy()
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"SimpleImputer\(\)\.fit_transform\(table\)"):
        KGHA().fit([holes, right], Y)
    KGHA().fit([SimpleImputer().fit_transform(holes), right], Y)


def test_flags_are_true_or_false(data):
    for model in (KGHA(repair="no"), KernelRidgeTagger(repair=1)):
        with pytest.raises(TypeError, match="repair must be True or False"):
            model.fit(list(data[:2]), data[2])


def test_rows_of_nan_are_missing_in_every_form(data):
    left, right, Y = data
    lost = [2, 17]
    hidden = right.copy()
    hidden[lost] = np.nan
    wanted = KGHA(gamma=0.1).fit([left, hidden], Y)
    assert (wanted.coverage_[lost] < 1).all()
    here = np.setdiff1d(np.arange(50), lost)
    assert (wanted.coverage_[here] == 1).all()
    scores = wanted.decision_function([left, hidden])
    marked = sp.lil_array(np.where(np.isnan(hidden), 0.0, hidden))
    for row in lost:
        marked[row, 3] = np.nan  # one stored value is enough
    sparse = [left, sp.csr_array(marked)]
    model = KGHA(gamma=0.1).fit(sparse, Y)
    np.testing.assert_allclose(model.decision_function(sparse), scores, atol=1e-10)
    X = np.hstack([left, hidden])
    model = KGHA(gamma=0.1, views={"l": slice(4), "r": slice(4, 10)}).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-12)
    K = [rbf_kernel(left, gamma=0.1), rbf_kernel(np.nan_to_num(hidden), gamma=0.1)]
    K[1][lost], K[1][:, lost] = np.nan, np.nan
    model = KGHA(kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(model.decision_function(K), scores, atol=1e-9)
    K[1][0, 1] = np.nan
    with pytest.raises(ValueError, match="NaN between samples that are there"):
        KGHA(kernel="precomputed").fit(K, Y)
    hidden[5, 1] = np.nan
    for bad in (hidden, sp.csr_array(np.where(np.isnan(right), 0, hidden))):
        with pytest.raises(ValueError, match="Row 5 of view 'view1' is partly NaN"):
            KGHA().fit([left, bad], Y)
    with pytest.raises(ValueError, match="NaN"):
        KGHA().fit(hidden, Y)  # a single view has no missing samples


def test_preprocessing_is_of_each_view_alone(data):
    left, right, Y = data
    scaled = [StandardScaler().fit(A) for A in (left, right)]
    wanted = KGHA().fit([scaled[0].transform(left), right], Y)
    model = KGHA(transformers={"a": StandardScaler()}).fit({"a": left, "b": right}, Y)
    new = {"a": left[:5] + 1, "b": right[:5]}
    np.testing.assert_allclose(
        model.decision_function(new),
        wanted.decision_function([scaled[0].transform(new["a"]), new["b"]]),
        atol=1e-10,
    )
    both = KGHA(transformers=StandardScaler()).fit([left, right], Y)
    assert both.views_["view0"].transformer.mean_[0] == pytest.approx(left[:, 0].mean())
    assert both.views_["view1"].transformer.mean_[0] == pytest.approx(right[:, 0].mean())


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("chunk", [2**22, 64, 1])
def test_mean_distance_is_that_of_all_pairs(rng, form, chunk, monkeypatch):
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * chunk)
    X = rng.standard_normal((23, 4)) * (rng.random((23, 4)) < 0.6)
    X[3] = X[4]
    assert mean_distance(form(X)) == pytest.approx(cdist(X, X).mean(), rel=1e-8)
    model = KGHA().fit(form(X), rng.integers(0, 2, (23, 3)))
    assert model.views_["X"].kernel.gamma == pytest.approx(1 / (2 * cdist(X, X).mean() ** 2))
    far = np.abs(X) + 1e6  # distances do not change, digits of squares would
    if form is np.asarray:
        assert mean_distance(X + 1e6) == pytest.approx(cdist(X, X).mean(), rel=1e-8)
        assert mean_distance(far.astype(np.float32)) > 0


def test_kernels_of_histograms(rng):
    X, Z = rng.random((12, 5)), rng.random((7, 5))
    wanted = np.array([[np.minimum(x, z).sum() for z in Z] for x in X])
    np.testing.assert_allclose(intersection_kernel(X, Z), wanted, atol=1e-12)
    np.testing.assert_allclose(
        intersection_kernel(sp.csr_array(X), sp.csr_array(Z)), wanted, atol=1e-12
    )
    Y = rng.integers(0, 2, (12, 3))
    for name, K in (("intersection", intersection_kernel), ("chi2", chi2_kernel)):
        named = KGHA(kernel=name).fit(X, Y).decision_function(Z)
        given = KGHA(kernel="precomputed").fit(K(X, X), Y).decision_function(K(Z, X))
        np.testing.assert_allclose(named, given, atol=1e-10)
        for features in (MEKA(12, n_landmarks=12, random_state=0), Nystroem(n_components=12)):
            mapped = KGHA(kernel=name, approximation=features).fit(X, Y).decision_function(X)
            exact = KGHA(kernel=name).fit(X, Y).decision_function(X)
            np.testing.assert_allclose(mapped, exact, atol=1e-8)


@pytest.mark.parametrize("kernel", ["intersection", "chi2"])
def test_methods_of_one_kernel_take_histograms(rng, kernel):
    X, Z, Y = rng.random((30, 5)), rng.random((7, 5)), rng.integers(0, 2, (30, 3))
    K = {"intersection": intersection_kernel, "chi2": chi2_kernel}[kernel]
    for method in (SharedSubspaceClassifier, MDDM, CCA):
        named = method(kernel=kernel, n_components=2).fit(X, Y)
        given = method(kernel="precomputed", n_components=2).fit(K(X, X), Y)
        if method is SharedSubspaceClassifier:
            found, wanted = named.decision_function(Z), given.decision_function(K(Z, X))
        else:
            found, wanted = named.transform(Z), given.transform(K(Z, X))
        np.testing.assert_allclose(found, wanted, atol=1e-10)
        with pytest.raises(ValueError, match=r"values >= 0|negative values"):
            method(kernel=kernel).fit(-X, Y)
        assert method(kernel=kernel).__sklearn_tags__().input_tags.positive_only
    if kernel == "intersection":
        sparse = SharedSubspaceClassifier(kernel=kernel).fit(sp.csr_array(X), Y)
        dense = SharedSubspaceClassifier(kernel=kernel).fit(X, Y)
        np.testing.assert_allclose(
            sparse.decision_function(sp.csr_array(Z)), dense.decision_function(Z), atol=1e-10
        )


def test_predictions_by_strips(data, monkeypatch):
    left, right, Y = data
    model = KGHA().fit([left, right], Y)
    wanted = model.decision_function([left, right])
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * 120)
    np.testing.assert_allclose(model.decision_function([left, right]), wanted, atol=1e-12)


def noise_and_signal(rng):
    """One view that tells the labels, one that does not, one that is constant."""
    n = 60
    S = rng.standard_normal((n, 3))
    Y = (S @ rng.standard_normal((3, 4)) > 0).astype(int)
    return {"good": S, "noise": rng.standard_normal((n, 5)), "flat": np.ones((n, 2))}, Y


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def alignment(weights, matrices, L):
    K = sum(w * A for w, A in zip(weights, matrices, strict=True))
    return np.sum(K * L) / np.linalg.norm(K)


@pytest.mark.parametrize("chunk", [2**22, 500])
def test_alignment_is_the_largest_there_is(rng, chunk, monkeypatch):
    views, Y = noise_and_signal(rng)
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * chunk)
    model = KernelSum("alignment", kernel="linear").fit(views, Y)
    matrices = [centred(linear_kernel(A)) for A in views.values()]
    L = centred(Y @ Y.T)
    best = alignment(model.weights_, matrices, L)
    for w in rng.random((300, 3)):
        assert alignment(w, matrices, L) <= best + 1e-10
    assert model.weights_.sum() == pytest.approx(1)
    assert model.weights_[2] == 0
    weights = KGHA(kernel="linear", view_weights="alignment").fit(views, Y).view_weights_
    norms = np.array([np.linalg.norm(K) for K in matrices])
    np.testing.assert_allclose(
        weights[:2] / weights[0],
        (model.weights_ * norms)[:2] / (model.weights_ * norms)[0],
        rtol=1e-9,
    )
    assert weights[0] > 3 * weights[1]


def test_alignment_is_of_samples_that_all_views_have(rng):
    views, Y = noise_and_signal(rng)
    del views["flat"]
    hidden = {k: A.copy() for k, A in views.items()}
    hidden["good"][[3, 9]], hidden["noise"][[4, 20]] = np.nan, np.nan
    here = np.setdiff1d(np.arange(60), [3, 4, 9, 20])
    part = KernelSum("alignment", gamma=0.1).fit({k: A[here] for k, A in views.items()}, Y[here])
    whole = KernelSum("alignment", gamma=0.1).fit(hidden, Y)
    np.testing.assert_allclose(whole.weights_, part.weights_, rtol=1e-10)
    K = {k: rbf_kernel(np.nan_to_num(A), gamma=0.1) for k, A in hidden.items()}
    for k, A in hidden.items():
        K[k][np.isnan(A[:, 0])], K[k][:, np.isnan(A[:, 0])] = np.nan, np.nan
    given = KernelSum("alignment", kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(given.weights_, part.weights_, rtol=1e-9)
    nothing = {"a": views["good"].copy(), "b": views["noise"].copy()}
    nothing["a"][:30], nothing["b"][30:] = np.nan, np.nan
    for model in (KernelSum("alignment"), KGHA(view_weights="heldout")):
        with pytest.raises(ValueError, match="every view has, and there are 0"):
            model.fit(nothing, Y)


def test_heldout_weights_fit_left_out_predictions(rng):
    """Refitting without each sample in turn gives the same weights."""
    views, Y = noise_and_signal(rng)
    del views["flat"]
    T = Y - Y.mean(axis=0)
    left_out = {k: np.empty(Y.shape) for k in views}
    for k, A in views.items():
        for i in range(60):
            rest = np.arange(60) != i
            left_out[k][i] = Ridge(alpha=0.3).fit(A[rest], T[rest]).predict(A[[i]])
    model = KGHA(kernel="linear", ridge=0.3, view_weights="heldout").fit(views, Y)
    w = model.view_weights_
    assert w.mean() == pytest.approx(1)
    assert w[0] > 3 * w[1] >= 0

    def error(w):
        return np.sum((T - sum(a * P for a, P in zip(w, left_out.values(), strict=True))) ** 2)

    best = min(error(s * w) for s in np.linspace(0, 3, 3001))
    for other in rng.random((500, 2)) * 1.5:
        assert error(other) > best - 1e-3


def naive_loo(K, T, c):
    """Refit kernel ridge regression with an intercept without each sample in turn."""
    n, residual = len(K), np.empty(T.shape)
    for i in range(n):
        rest = np.flatnonzero(np.arange(n) != i)
        mean = T[rest].mean(axis=0)
        H = np.eye(n - 1) - 1 / (n - 1)
        ridge = KernelRidge(alpha=c, kernel="precomputed")
        ridge.fit(H @ K[np.ix_(rest, rest)] @ H, T[rest] - mean)
        row = (K[i, rest] - K[np.ix_(rest, rest)].mean(axis=0)) @ H
        residual[i] = T[i] - mean - row @ ridge.dual_coef_
    return np.mean(residual**2)


@pytest.mark.parametrize("scales", [(1, 1), (100, 0.1), (1e-3, 1e-3)])
def test_heldout_sums_are_no_worse_than_equal_weights_or_one_view(data, scales):
    left, right, Y = data
    K = [s * rbf_kernel(A) for s, A in zip(scales, (left, right), strict=True)]
    for ridge in (0.05, 1.0):
        w = KernelSum("heldout", ridge=ridge, kernel="precomputed").fit(K, Y).weights_
        assert w.sum() == pytest.approx(1)
        found = naive_loo(w[0] * K[0] + w[1] * K[1], Y.astype(float), ridge)
        for a in np.linspace(0, 1, 11):  # the corners and the middle are among them
            other = naive_loo(a * K[0] + (1 - a) * K[1], Y.astype(float), ridge)
            assert found <= other * (1 + 1e-8)


def test_leave_one_out_error_and_its_gradient(rng):
    views, Y = noise_and_signal(rng)
    matrices = [centred(rbf_kernel(A)) for A in views.values()][:2]
    T, w = Y - Y.mean(axis=0), np.array([0.7, 0.4])
    value, gradient = loo_error(w, matrices, T, 0.2)
    K = sum(a * A for a, A in zip(w, matrices, strict=True))
    assert value == pytest.approx(naive_loo(K, T, 0.2), rel=1e-9)
    for j in range(2):
        step = 1e-6 * np.eye(2)[j]
        slope = loo_error(w + step, matrices, T, 0.2)[0] - loo_error(w - step, matrices, T, 0.2)[0]
        assert gradient[j] == pytest.approx(slope / 2e-6, rel=1e-6)  # finite differences
    model = KernelSum("heldout", ridge=0.2).fit(views, Y)
    assert model.weights_[2] == 0
    assert model.weights_[0] > 3 * model.weights_[1]


def test_given_weights_count_as_given(data):
    left, right, Y = data
    views = {"a": left, "b": right}
    only = KGHA(view_weights={"a": 2, "b": 0}).fit(views, Y)
    alone = KGHA(trade_off=0.2).fit({"a": left}, Y)  # weights have a mean of one
    np.testing.assert_allclose(
        only.decision_function(views), alone.decision_function({"a": left}), atol=1e-9
    )
    np.testing.assert_array_equal(only.view_weights_, [2, 0])
    equal = KGHA(view_weights=[3, 3]).fit(views, Y)
    np.testing.assert_array_equal(
        equal.decision_function(views), KGHA().fit(views, Y).decision_function(views)
    )


def test_sums_of_kernels(data):
    left, right, Y = data
    views = {"a": left, "b": right}
    model = KernelSum({"a": 0.2, "b": 3.0}, kernel={"a": "linear", "b": "rbf"}, gamma=0.1)
    K = model.fit(views).transform(views)
    wanted = 0.2 * left @ left.T + 3 * rbf_kernel(right, gamma=0.1)
    np.testing.assert_allclose(K, wanted, atol=1e-12)
    np.testing.assert_allclose(KernelSum(kernel="linear").fit(views).weights_, [0.5, 0.5])
    hidden = right[:3].copy()
    hidden[1] = np.nan
    new = model.transform({"a": left[:3], "b": hidden})
    np.testing.assert_allclose(new[[0, 2]], wanted[[0, 2]], atol=1e-12)
    np.testing.assert_allclose(new[1], 0.2 * left[1] @ left.T, atol=1e-12)
    pipe = make_pipeline(KernelSum("alignment"), SharedSubspaceClassifierCV(kernel="precomputed"))
    assert pipe.fit(views, Y).predict({"a": left[:3], "b": right[:3]}).shape == (3, 5)
    with pytest.raises(ValueError, match="y to be passed"):
        KernelSum("alignment").fit(views)
    with pytest.raises(ValueError, match="'alignment', 'heldout', got 'other'"):
        KernelSum("other").fit(views, Y)
    with pytest.raises(ValueError, match="weights must be"):
        KernelSum([1, -1]).fit(views, Y)


def test_views_of_a_dataset_can_be_saved_with_a_model(data, tmp_path):
    left, right, Y = data
    cut = {"a": slice(np.int64(0), np.int64(4)), "b": slice(np.int64(4), np.int64(10))}
    names = np.arange(10).astype(str)
    whole = Dataset(np.hstack([left, right]), Y, names, names[:5], views=cut)
    assert whole.views == cut
    model = KGHA(views=whole.views).fit(whole.X, whole.Y)
    save_model(SavedModel(model, names, names[:5]), tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops").model
    np.testing.assert_array_equal(again.predict(whole.X), model.predict(whole.X))


def test_views_of_a_dataset():
    """Views that split the columns of planted data keep what they know together."""
    planted = make_shared_subspace(200, 20, 6, 2, random_state=0)
    views = {"a": slice(0, 10), "b": slice(10, 20)}
    train, new = slice(0, 150), slice(150, 200)
    scores = {}
    for name, model in {
        "both": KGHA(kernel="linear", views=views),
        "a": KGHA(kernel="linear", views={"a": views["a"]}),
    }.items():
        model.fit(planted.X[train], planted.Y[train])
        scores[name] = np.mean(model.predict(planted.X[new]) == planted.Y[new])
    assert scores["both"] > scores["a"]
