import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import (
    MultilabelBlend,
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    Views,
    metrics,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta.blend.blending import log_odds
from eigenlabel.model_selection import MultilabelStratifiedKFold
from eigenlabel.persistence import load_model, save_model
from eigenlabel.preprocessing import TablePreparation
from eigenlabel.thresholds import Mixed, held_out_probabilities, top_labels

QUICK = ["linear", "neighbours"]


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(150, 8, 5, prevalence=0.3, noise=0.5, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    return MultilabelBlend(random_state=0).fit(data.X, data.Y)


def naive_log_odds(model, X):
    """Return the blended log-odds, member by member and label by label."""
    total = np.tile(np.asarray(model.intercept_, dtype=float), (len(X), 1))
    total = np.broadcast_to(total, (len(X), len(model.classes_))).copy()
    for k, (name, member) in enumerate(model.members_.items()):
        scores = member.decision_function(X)
        P = model.member_calibrations_[name].probabilities(scores)
        for j in range(total.shape[1]):
            w = model.weights_[k] if model.weights_.ndim == 1 else model.weights_[j, k]
            total[:, j] += w * log_odds(P[:, j])
    return total


@pytest.mark.parametrize("weights", ["shared", "by_label", "equal"])
def test_scores_are_weighted_log_odds_of_members(weights, data):
    model = MultilabelBlend([*QUICK, "forest"], weights=weights, random_state=0)
    model.fit(data.X, data.Y)
    new = data.X[:20] + 0.1
    expected = naive_log_odds(model, new)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-10)
    parts = model.member_log_odds(new)
    assert list(parts) == list(model.members_)
    np.testing.assert_array_equal(model.predict(new), expected > model.thresholds_)
    if weights == "equal":
        np.testing.assert_array_equal(model.weights_, np.full(3, 1 / 3))
        assert model.intercept_ == 0
    if weights == "by_label":
        assert model.weights_.shape == (5, len(model.members_))
        assert np.shape(model.intercept_) == (5,)


def test_held_out_scores_are_those_of_members(data):
    model = MultilabelBlend(QUICK, weights="equal", random_state=0).fit(data.X, data.Y)
    folds = list(MultilabelStratifiedKFold(5).split(data.X, data.Y))
    linear = SharedSubspaceClassifierCV(cv=folds).fit(data.X, data.Y).oof_scores_
    votes = model.members_["neighbours"].oof_scores_
    expected = sum(log_odds(held_out_probabilities(s, data.Y)) for s in (linear, votes)) / 2
    np.testing.assert_allclose(model.oof_scores_, expected, atol=1e-8)
    np.testing.assert_allclose(
        model.thresholds_, Mixed().find_thresholds(expected, data.Y), atol=1e-8
    )


def test_probabilities_are_calibrated_log_odds(fitted, data):
    P = fitted.predict_proba(data.X)
    z = fitted.decision_function(data.X)
    np.testing.assert_allclose(P, fitted.calibration_.probabilities(z), rtol=1e-12)
    plain = MultilabelBlend(random_state=0, calibration=None).fit(data.X, data.Y)
    assert not hasattr(plain, "predict_proba")
    np.testing.assert_allclose(plain.decision_function(data.X), z, atol=1e-10)


def test_the_blend_is_at_least_as_good_as_its_members(fitted):
    board = fitted.leaderboard_
    assert board[0]["name"] == "blend"
    names = {"linear", "laplacian", "forest", "neighbours", "labels", "sets"}
    assert {row["name"] for row in board[1:]} == names
    best = min(row["log_loss"] for row in board[1:])
    assert board[0]["log_loss"] <= best * 1.01  # recalibration is by other samples
    assert set(fitted.members_) == {r["name"] for r in board[1:] if r["status"] == "blended"}
    assert "f1_macro" in repr(board)


def test_it_learns(data):
    train, test = slice(100), slice(100, 150)
    model = MultilabelBlend(random_state=0).fit(data.X[train], data.Y[train])
    assert metrics.auc_macro(data.Y[test], model.predict_proba(data.X[test])) > 0.8


def test_any_classifier_can_be_a_member(data):
    members = [
        "linear",
        ("nb", GaussianNB()),
        ("pipe", make_pipeline(StandardScaler(), LogisticRegression())),
        ("ridge", RidgeClassifier()),
    ]
    model = MultilabelBlend(members, weights="equal").fit(data.X, data.Y)
    assert list(model.members_) == ["linear", "nb", "pipe", "ridge"]
    assert model.predict(data.X).shape == data.Y.shape


def test_a_frame_reaches_the_classifiers_of_the_user(data):
    frame = pd.DataFrame(data.X, columns=[f"f{k}" for k in range(8)])

    class Named(RidgeClassifier):
        def fit(self, X, y):
            assert list(X.columns) == list(frame.columns)
            return super().fit(X, y)

    members = ["linear", ("named", Named())]
    model = MultilabelBlend(members, prepare="none", weights="equal").fit(frame, data.Y)
    assert model.members_["named"].feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    plain = MultilabelBlend(["linear", ("ridge", RidgeClassifier())], weights="equal")
    np.testing.assert_allclose(
        model.decision_function(frame),
        plain.fit(data.X, data.Y).decision_function(data.X),
        atol=1e-10,
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def make_frame(data):
    frame = pd.DataFrame(data.X, columns=[f"f{k}" for k in range(8)])
    frame.loc[3, "f1"] = np.nan
    frame["colour"] = np.where(data.Y[:, 0], "red", "blue")
    frame["flat"] = 1.0
    return frame


def test_frames_of_any_columns_are_prepared(data, tmp_path):
    frame = make_frame(data)
    members = ["linear", "neighbours", ("ridge", RidgeClassifier())]
    model = MultilabelBlend(members, weights="equal").fit(frame, data.Y)
    features = TablePreparation().fit_transform(frame)
    plain = MultilabelBlend(members, weights="equal").fit(features, data.Y)
    expected = plain.decision_function(features)
    np.testing.assert_allclose(model.decision_function(frame), expected, atol=1e-8)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    unseen = frame[:5].assign(colour="green")
    assert np.isfinite(model.predict_proba(unseen)).all()
    save_model(model, tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops").model
    np.testing.assert_allclose(again.decision_function(frame), expected, atol=1e-8)
    assert not hasattr(model.fit(data.X, data.Y), "preparation_")


def test_a_pipeline_of_the_user_gets_the_frame_itself(data):
    frame = make_frame(data)
    pipe = make_pipeline(TablePreparation(), RidgeClassifier())
    model = MultilabelBlend(["linear", ("pipe", pipe)], weights="equal").fit(frame, data.Y)
    assert model.members_["pipe"].feature_names_in_.tolist() == list(frame.columns)
    assert model.predict(frame).shape == data.Y.shape


def test_texts_and_label_sets():
    words = [("red", "apple"), ("blue", "sky"), ("red", "sky"), ("green", "apple")]
    texts = [" ".join(words[k % 4]) + " and then some" for k in range(80)]
    sets = [set(words[k % 4]) for k in range(80)]
    model = MultilabelBlend(random_state=0).fit(texts, sets)
    assert list(model.classes_) == ["apple", "blue", "green", "red", "sky"]
    P = model.predict_proba(["a red apple", ""])
    assert np.isfinite(P).all()
    assert P[0, 3] > 0.5 > P[0, 1]


def test_polars_frames(data):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(data.X, schema=[f"f{k}" for k in range(8)])
    members = ["linear", ("ridge", RidgeClassifier())]
    for prepare, same in (("none", data.X), ("auto", frame.to_pandas())):
        model = MultilabelBlend(members, prepare=prepare).fit(frame, data.Y)
        plain = MultilabelBlend(members, prepare=prepare).fit(same, data.Y)
        np.testing.assert_allclose(
            model.decision_function(frame), plain.decision_function(same), atol=1e-10
        )


def test_sparse_samples_and_labels(data):
    X = sp.csr_array(np.maximum(data.X, 0))
    model = MultilabelBlend(random_state=0).fit(X, sp.csr_array(data.Y))
    names = {row["name"] for row in model.leaderboard_}
    assert names == {
        "blend",
        "linear",
        "neighbours",
        "words",
        "forest",
        "presence",
        "labels",
        "sets",
    }
    found = model.predict(X)
    assert isinstance(found, sp.csr_array)
    top = model.predict_top(X, 2)
    np.testing.assert_array_equal(top.sum(axis=1), 2)
    best = top_labels(model.predict_proba(X), 2)
    np.testing.assert_array_equal(np.sort(top.indices.reshape(-1, 2)), np.sort(best))


def test_missing_labels_do_not_count(data, rng):
    hidden = rng.random(data.Y.shape) < 0.2
    Y = np.where(hidden, np.nan, data.Y)
    members = ["linear", "neighbours", "forest", ("ridge", RidgeClassifier())]
    model = MultilabelBlend(members, weights="equal", random_state=0).fit(data.X, Y)
    assert np.isfinite(model.oof_scores_).all()
    assert np.isfinite(model.predict_proba(data.X)).all()
    loss = metrics.log_loss(Y, expit(model.oof_scores_))
    assert loss < metrics.log_loss(Y, np.tile(np.nanmean(Y, axis=0), (150, 1)))


def test_samples_of_weight_zero_are_left_out(data, rng):
    w = rng.integers(0, 3, 150).astype(float)
    used = w > 0
    model = MultilabelBlend(random_state=0, cv=KFold(3)).set_params(
        members=["linear", ("ridge", RidgeClassifier())], weights="equal"
    )
    folds = [(a[used[a]], b[used[b]]) for a, b in KFold(3).split(data.X)]
    position = np.cumsum(used) - 1
    model.fit(data.X, data.Y, sample_weight=w)
    assert np.isnan(model.oof_scores_[~used]).all()
    part = clone(model).set_params(cv=[(position[a], position[b]) for a, b in folds])
    part.fit(data.X[used], data.Y[used], sample_weight=w[used])
    np.testing.assert_allclose(part.oof_scores_, model.oof_scores_[used], atol=1e-8)
    np.testing.assert_allclose(
        part.decision_function(data.X), model.decision_function(data.X), atol=1e-8
    )


def test_weights_count_as_copies(data, rng):
    w = rng.integers(1, 3, 150)
    fold = np.arange(150) % 3
    members = ["linear", ("ridge", RidgeClassifier())]

    def fit(rows, weights):
        folds = [
            (np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)
        ]
        model = MultilabelBlend(members, cv=folds, calibration="sigmoid")
        return model.fit(data.X[rows], data.Y[rows], sample_weight=weights)

    weighted = fit(np.arange(150), w.astype(float))
    copies = fit(np.repeat(np.arange(150), w), None)
    assert list(weighted.members_) == list(copies.members_)
    # Calibrations are cross-fitted by the position of a sample, which copies change.
    np.testing.assert_allclose(weighted.weights_, copies.weights_, atol=0.1)


def test_labels_without_or_with_few_positives(data):
    Y = data.Y.copy()
    Y[:, 0], Y[:, 1] = 0, 0
    Y[3, 1] = 1
    Y[:, 2] = 1
    model = MultilabelBlend(random_state=0).fit(data.X, Y)
    P = model.predict_proba(data.X)
    assert np.isfinite(P).all()
    assert P[:, 0].max() < 0.5 < P[:, 2].min()


def test_one_label_and_constant_columns(data):
    X = np.hstack([data.X, np.ones((150, 2))])
    model = MultilabelBlend(random_state=0).fit(X, data.Y[:, :1])
    assert model.predict_proba(X).shape == (150, 1)
    flat = MultilabelBlend(random_state=0).fit(np.ones((150, 3)), data.Y)
    assert list(flat.members_) == ["linear"]


def test_classes(data):
    y = np.array(["a", "b", "c"])[np.digitize(data.X[:, 0], [-0.5, 0.5])]
    model = MultilabelBlend(random_state=0).fit(data.X, y)
    assert (model.predict(data.X) == y).mean() > 0.7
    P = model.predict_proba(data.X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-10)
    assert not hasattr(model, "thresholds_")
    two = MultilabelBlend(random_state=0).fit(data.X, y == "a")
    assert two.decision_function(data.X).shape == (150,)
    with pytest.raises(ValueError, match="nothing to rank"):
        two.predict_top(data.X)


def test_several_tables(rng):
    tables = {"a": rng.standard_normal((60, 4)), "b": rng.standard_normal((60, 3))}
    Y = (tables["a"][:, :2] + tables["b"][:, :2] > 0).astype(int)
    model = MultilabelBlend(["linear", "views"], weights="equal").fit(Views(tables), Y)
    assert model.n_features_in_ == 7
    joined = MultilabelBlend(["linear"]).fit(np.hstack([tables["a"], tables["b"]]), Y)
    np.testing.assert_allclose(
        model.members_["linear"].coef_, joined.members_["linear"].coef_, atol=1e-8
    )
    assert model.predict_proba(tables).shape == (60, 2)
    with pytest.raises(ValueError, match="Member 'linear' needs every row of every table"):
        model.predict({"a": tables["a"], "b": None})
    tables["b"][:5] = np.nan
    only = MultilabelBlend(random_state=0).fit(tables, Y)
    assert list(only.members_) == ["views"]


def test_labels_that_do_not_fit_in_memory_are_refused(data, monkeypatch):
    monkeypatch.setattr(
        "eigenlabel.estimators.meta.blend.fitting_members.memory_limit", lambda: 1000.0
    )
    with pytest.raises(MemoryError, match=r"9 arrays of 150 x 5 numbers.*SharedSubspaceClassifier"):
        MultilabelBlend().fit(data.X, data.Y)


def test_many_labels_do_without_a_shared_subspace(data, monkeypatch):
    monkeypatch.setattr("eigenlabel.estimators.meta.blend.kernel_subspace.MANY_LABELS", 4)
    model = MultilabelBlend(["linear"]).fit(data.X, data.Y)
    assert model.members_["linear"].alpha_ == 0.0


def test_labels_that_are_too_many_to_tune_have_one_penalty(data, monkeypatch):
    monkeypatch.setattr("eigenlabel.estimators.meta.blend.members.MOST_LABELS", 4)
    model = MultilabelBlend(random_state=0).fit(data.X, data.Y)
    rows = {row["name"]: row for row in model.leaderboard_}
    assert set(rows) == {"blend", "linear", "neighbours", "forest", "labels", "sets"}
    assert "failed" not in repr(model.leaderboard_)
    alone = MultilabelBlend(["linear"]).fit(data.X, data.Y)
    plain = SharedSubspaceClassifier(alpha=np.inf, calibration=None).fit(data.X, data.Y)
    np.testing.assert_allclose(
        alone.members_["linear"].decision_function(data.X),
        plain.decision_function(data.X),
        atol=1e-10,
    )


def test_groups_stay_together(data):
    groups = np.repeat(np.arange(50), 3)
    model = MultilabelBlend(["linear", "forest"], cv=GroupKFold(3), random_state=0)
    model.fit(data.X, data.Y, groups=groups)
    assert np.isfinite(model.oof_scores_).all()
    by_number = MultilabelBlend(["linear"], cv=3).fit(data.X, data.Y, groups=groups)
    assert np.isfinite(by_number.oof_scores_).all()


def test_a_time_budget_that_is_too_short(data):
    with pytest.warns(UserWarning, match="too short for any member"):
        model = MultilabelBlend(time_budget=1e-4, random_state=0).fit(data.X, data.Y)
    assert list(model.members_) == ["linear"]
    left_out = [row for row in model.leaderboard_ if row["status"].startswith("not fitted")]
    assert {row["name"] for row in left_out} == {
        "laplacian",
        "forest",
        "neighbours",
        "labels",
        "sets",
    }


def test_a_member_that_fails_is_in_the_leaderboard(data):
    with pytest.warns(UserWarning, match="Member 'words' of the blend is left out"):
        model = MultilabelBlend([*QUICK, "words"]).fit(data.X, data.Y)
    row = next(row for row in model.leaderboard_ if row["name"] == "words")
    assert "values must be 0 or more" in row["status"]
    assert "words" not in model.members_


def test_a_failed_fit_leaves_the_blend_as_it_was(data):
    model = MultilabelBlend(QUICK).fit(data.X, data.Y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="X has no value: all numbers are NaN"):
        model.fit(np.full(data.X.shape, np.nan), data.Y)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"members": ["nothing"]}, "Unknown member"),
        ({"weights": "best"}, "weights must be one of"),
        ({"time_budget": 0}, "time_budget must be"),
        ({"threshold": "none"}, "Unknown threshold rule"),
        ({"cv": 1}, "cv must be"),
    ],
)
def test_wrong_parameters_are_reported(parameters, error, data):
    with pytest.raises((ValueError, TypeError), match=error):
        MultilabelBlend(**parameters).fit(data.X, data.Y)


def test_parameters_of_members(data):
    model = MultilabelBlend(["linear", ("ridge", RidgeClassifier(alpha=2.0))])
    assert model.get_params()["ridge__alpha"] == 2.0
    assert "ridge" not in model.get_params(deep=False)
    model.set_params(ridge__alpha=5.0, weights="equal")
    assert model.members[1][1].alpha == 5.0
    model.set_params(ridge=LogisticRegression(), ridge__C=3.0)
    assert model.members[1][1].C == 3.0
    assert model.members[0] == "linear"
    again = clone(model)
    assert again.members[1][1] is not model.members[1][1]
    assert again.members[1][1].C == 3.0
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(lasso__alpha=1.0)
    search = GridSearchCV(
        MultilabelBlend(["linear", ("ridge", RidgeClassifier())], cv=2),
        {"ridge__alpha": [0.1, 10.0]},
        cv=2,
    )
    assert search.fit(data.X, data.Y).best_params_["ridge__alpha"] in (0.1, 10.0)


def test_the_page_of_a_notebook_shows_members(fitted):
    html = MultilabelBlend(["linear", ("<u>mine", RidgeClassifier())])._repr_html_()
    assert "<u>mine" not in html
    assert "&lt;u&gt;mine" in html
    assert "RidgeClassifier" in html
    assert all(name in fitted._repr_html_() for name in fitted.members_)
    assert "auto" in MultilabelBlend()._repr_html_()


def test_pickles_and_model_files_predict_the_same(fitted, data, tmp_path):
    expected = fitted.decision_function(data.X)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(data.X), expected)
    save_model(fitted, tmp_path / "blend.skops")
    loaded = load_model(tmp_path / "blend.skops").model
    np.testing.assert_allclose(loaded.decision_function(data.X), expected, atol=1e-12)
    np.testing.assert_array_equal(loaded.predict(data.X), fitted.predict(data.X))
    assert repr(loaded.leaderboard_) == repr(fitted.leaderboard_)


def test_requests_of_members_are_routed(data, rng):
    w = rng.integers(1, 4, 150).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        ridge = RidgeClassifier().set_fit_request(sample_weight=True)
        model = MultilabelBlend(["linear", ("ridge", ridge)], weights="equal")
        model.fit(data.X, data.Y, sample_weight=w)
    plain = RidgeClassifier().fit(data.X, data.Y, sample_weight=w)
    np.testing.assert_allclose(model.members_["ridge"].coef_, plain.coef_, atol=1e-10)
    with pytest.raises(TypeError, match="takes no 'colour'"):
        model.fit(data.X, data.Y, colour=1)


def test_seeds_determine_everything(data):
    one, two = (MultilabelBlend(random_state=3).fit(data.X, data.Y) for _ in range(2))
    np.testing.assert_array_equal(one.decision_function(data.X), two.decision_function(data.X))


@pytest.mark.filterwarnings("ignore:View 'a' has no column names")
@pytest.mark.parametrize("members", [["linear", "views"], ["linear"]])
def test_views_are_found_by_name_and_their_columns_are_compared(data, members):
    first = pd.DataFrame(data.X[:, :4], columns=list("pqrs"))
    second = pd.DataFrame(data.X[:, 4:], columns=list("tuvw"))
    model = MultilabelBlend(members, weights="equal").fit(Views({"a": first, "b": second}), data.Y)
    expected = model.decision_function({"a": first, "b": second})
    other = Views({"b": second, "a": first})
    np.testing.assert_allclose(model.decision_function(other), expected, rtol=1e-10)
    np.testing.assert_allclose(model.decision_function([first, second]), expected, rtol=1e-10)
    with pytest.raises(ValueError, match="View 'c' was not there in fit"):
        model.predict(Views({"a": first, "c": second}))
    with pytest.raises(ValueError, match="View 'b'"):
        model.predict(Views({"a": first, "b": second[second.columns[::-1]]}))
    with pytest.raises(ValueError, match="list of 1 views"):
        model.predict([first])
    with pytest.raises(ValueError, match="View 'a' has 3 columns, but had 4 in fit"):
        model.predict({"a": data.X[:, :3], "b": data.X[:, 3:]})


@pytest.mark.parametrize("scale", [1e-6, 1 / 200])
def test_weights_count_relative_to_each_other(scale):
    data = make_shared_subspace(200, n_labels=6, random_state=0)
    members = ["linear", "neighbours", "sets"]
    plain = MultilabelBlend(members, random_state=0).fit(data.X, data.Y)
    small = MultilabelBlend(members, random_state=0).fit(
        data.X, data.Y, sample_weight=np.full(200, scale)
    )
    np.testing.assert_allclose(small.weights_, plain.weights_, rtol=1e-5)  # a solver's tolerance
    expected = plain.predict_proba(data.X)
    np.testing.assert_allclose(small.predict_proba(data.X), expected, rtol=1e-5)


def test_no_folds_are_five_folds():
    data = make_shared_subspace(100, 8, 3, random_state=0)
    five, none = (
        MultilabelBlend(["forest", "linear"], cv=cv, random_state=0).fit(data.X, data.Y)
        for cv in (5, None)
    )
    np.testing.assert_array_equal(five.predict_proba(data.X), none.predict_proba(data.X))
