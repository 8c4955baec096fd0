"""Views as input: every form, names and columns, missing samples, and errors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import (
    JEC,
    KGHA,
    FastTag,
    GaussianFields,
    KernelSum,
    SharedSubspaceClassifier,
    ThresholdedClassifier,
    Views,
)
from eigenlabel.datasets import Dataset, make_shared_subspace
from eigenlabel.kernels.bandwidth import mean_distance
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


def test_every_form_of_views_leads_to_the_same_model(data):
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


def test_models_of_views_can_be_thresholded_and_saved(data, tmp_path):
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


def test_views_that_do_not_fit_raise_an_error(data):
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


def test_unusual_forms_of_views_are_accepted(data):
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


def test_rows_that_are_partly_missing_must_be_imputed(data):
    left, right, Y = data
    holes = left.copy()
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"SimpleImputer\(\)\.fit_transform\(table\)"):
        KGHA().fit([holes, right], Y)
    KGHA().fit([SimpleImputer().fit_transform(holes), right], Y)


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


def test_views_of_objects_are_numbers_or_an_error():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}, dtype=object)
    assert Views({"it": frame})["it"].dtype == float
    with pytest.raises(ValueError, match=r"View 'it' holds words or dates .*'red'.*prepare it"):
        Views({"it": frame.assign(c=["red", "blue"])})
