"""JEC and MBRM, and what all taggers by distances share."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from eigenlabel import JEC, MBRM, FastTag, TagProp, Views
from eigenlabel.persistence import SavedModel, load_model, save_model
from eigenlabel.thresholds import PerLabelF1, Top

TAGGERS = [JEC, MBRM, TagProp]


@pytest.fixture
def data(rng):
    """Two views of 50 samples, histograms and numbers, ten new ones, and labels, one never seen."""
    S = rng.standard_normal((60, 3))
    histograms = rng.poisson(np.exp(S @ rng.standard_normal((3, 6)) + 1)).astype(float)
    numbers = S @ rng.standard_normal((3, 8)) + 0.3 * rng.standard_normal((60, 8))
    scores = S @ rng.standard_normal((3, 7)) + 0.5 * rng.standard_normal((60, 7))
    Y = (scores > np.linspace(0, 2, 7)).astype(int)
    Y[:50, 6] = 0
    views = {"histograms": histograms, "numbers": numbers}
    train = {name: A[:50] for name, A in views.items()}
    new = {name: A[50:] for name, A in views.items()}
    return train, Y[:50], new


def naive_distance(metric, x, z):
    if metric == "chi2":
        return sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)
    if metric == "kl":
        p, q = x / x.sum() + 1e-10, z / z.sum() + 1e-10
        p, q = p / p.sum(), q / q.sum()
        return sum(a * np.log(a / b) for a, b in zip(p, q, strict=True))
    return pairwise_distances([x], [z], metric=metric)[0, 0]


def naive_distances(metric, X, Z):
    return np.array([[naive_distance(metric, x, z) for z in Z] for x in X])


def scaled_mean(metrics, train, queries):
    """Average the views' distances, each divided by the largest of training pairs."""
    total = 0
    for name, metric in metrics.items():
        own = naive_distances(metric, train[name], train[name])
        total = total + naive_distances(metric, queries[name], train[name]) / own.max()
    return total / len(metrics)


def naive_jec(D, Y, k, n_tags):
    """Makadia et al., the label transfer of one sample: tags in order."""
    order = np.argsort(D, kind="stable")[:k]
    frequency = Y.sum(axis=0)
    tags = sorted(np.flatnonzero(Y[order[0]]), key=lambda t: -frequency[t])[:n_tags]
    if len(tags) < n_tags:
        value = {}
        for t in set(np.flatnonzero(Y[order[1:]].any(axis=0))) - set(tags):
            together = sum((Y[:, t] & Y[:, s]).sum() for s in tags) if tags else 1
            value[t] = together * Y[order[1:], t].sum()
        tags += sorted(sorted(value), key=lambda t: -value[t])[: n_tags - len(tags)]
    return tags


@pytest.mark.parametrize("metrics", [("chi2", "l2"), ("kl", "l1")])
def test_jec_transfers_tags_as_defined(metrics, data):
    train, Y, new = data
    by_view = dict(zip(train, metrics, strict=True))
    Y[::3] = 0  # some nearest neighbours have no labels
    model = JEC(4, metric=by_view).fit(train, Y)
    order = np.argsort(-model.decision_function(new), axis=1, kind="stable")
    D = scaled_mean(by_view, train, new)
    for row, d in zip(order, D, strict=True):
        wanted = naive_jec(d, Y, 4, 3)
        assert row[: len(wanted)].tolist() == wanted
    top = JEC(4, metric=by_view, threshold=Top(3)).fit(train, Y)
    assert (top.predict(new).sum(axis=1) == 3).all()


def test_jec_with_one_neighbour_is_nearest_neighbour_classification(data):
    train, Y, new = data
    nearest = KNeighborsClassifier(1).fit(train["numbers"], Y)
    model = JEC(1).fit(train["numbers"], Y)
    assert (model.predict(new["numbers"]) == nearest.predict(new["numbers"])).all()


def test_jec_ranks_the_rest_by_frequency_and_a_tag_never_seen_last(data):
    train, Y, new = data
    scores = JEC(2).fit(train["numbers"], Y).decision_function(new["numbers"])
    assert (scores.argmin(axis=1) == 6).all()
    assert (scores[:, 6] == -2).all()


@pytest.mark.parametrize("tagger", [*TAGGERS, FastTag])
def test_views_in_all_forms_agree(tagger, data):
    train, Y, new = data
    expected = tagger().fit(train, Y).decision_function(new)
    forms = {
        "list": (list(train.values()), list(new.values()), {}),
        "views": (Views(train), Views(new), {}),
        "columns": (
            np.hstack(list(train.values())),
            np.hstack(list(new.values())),
            {"views": {"a": slice(0, 6), "b": slice(6, None)}},
        ),
        "sparse": (
            {k: sp.csr_array(v) for k, v in train.items()},
            {k: sp.csr_array(v) for k, v in new.items()},
            {},
        ),
    }
    for fit, test, params in forms.values():
        found = tagger(**params).fit(fit, Y).decision_function(test)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("tagger", TAGGERS)
def test_precomputed_distances_agree_with_features_and_split_together(tagger, data):
    train, Y, new = data
    D = {name: pairwise_distances(train[name]) for name in train}
    cross = {name: pairwise_distances(new[name], train[name]) for name in train}
    expected = tagger().fit(train, Y).decision_function(new)
    found = tagger(metric="precomputed").fit(D, Y).decision_function(cross)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)  # distances by two formulas
    exact = {"tol": 1e-12, "max_iter": 5000, "sigmoid": False} if tagger is TagProp else {}
    arguments = {"y": Y, "cv": 3, "method": "decision_function"}
    both = cross_val_predict(tagger(**exact), Views(train), **arguments)
    split = cross_val_predict(tagger(metric="precomputed", **exact), Views(D), **arguments)
    # an ascent that gains less than 1e-12 is within its root of the maximum
    np.testing.assert_allclose(split, both, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("tagger", TAGGERS)
def test_a_view_in_which_samples_are_missing_does_not_count_for_them(tagger, data):
    train, Y, new = data
    lacking = {"histograms": train["histograms"], "numbers": train["numbers"].copy()}
    lacking["numbers"][:3] = np.nan
    model = tagger().fit(lacking, Y)
    only = model.decision_function({"histograms": new["histograms"]})
    as_none = model.decision_function({"histograms": new["histograms"], "numbers": None})
    gone = {"histograms": new["histograms"], "numbers": np.full((10, 8), np.nan)}
    np.testing.assert_array_equal(only, as_none)
    np.testing.assert_array_equal(only, model.decision_function(gone))
    assert np.isfinite(model.decision_function(new)).all()
    nothing = {name: np.full(A.shape, np.nan) for name, A in new.items()}
    scores = model.decision_function(nothing)
    order = np.argsort(-scores, axis=1, kind="stable")
    assert (order == np.argsort(-Y.mean(axis=0), kind="stable")).all()
    if tagger is not JEC:
        np.testing.assert_allclose((scores + 1) / 2, np.tile(Y.mean(axis=0), (10, 1)), rtol=1e-12)


@pytest.mark.parametrize("tagger", [*TAGGERS, FastTag])
def test_transformers_and_float32(tagger, data):
    train, Y, new = data
    inside = tagger(transformers={"numbers": StandardScaler()}).fit(train, Y)
    scaler = StandardScaler().fit(train["numbers"])
    scaled = [{**views, "numbers": scaler.transform(views["numbers"])} for views in (train, new)]
    outside = tagger().fit(scaled[0], Y)
    # The steps of TagProp's ascent enlarge the rounding of distances.
    near = {"rtol": 1e-9, "atol": 1e-4 if tagger is TagProp else 1e-9}
    np.testing.assert_allclose(
        inside.decision_function(new), outside.decision_function(scaled[1]), **near
    )
    single = tagger().fit(train["numbers"].astype(np.float32), Y)
    assert single.decision_function(new["numbers"].astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("tagger", TAGGERS)
@pytest.mark.parametrize(
    ("change", "params", "message"),
    [
        (lambda X: X, {"metric": "gauss"}, "metric must be one of"),
        (lambda X: -X, {"metric": "chi2"}, "Histograms are >= 0"),
        (sp.csr_array, {"metric": "kl"}, "needs dense features"),
        (lambda X: X, {"metric": "precomputed"}, "needs a square"),
        (lambda X: -X @ X.T, {"metric": "precomputed"}, "Distances are >= 0"),
        (lambda X: X, {"metric": lambda X, Z: X}, "A callable metric takes two matrices"),
        (lambda X: X[:1], {}, "n_samples = 1"),
        (lambda X: X, {"views": ["a"]}, "views must be a dict"),
        (lambda X: X, {"threshold": "best"}, "Unknown threshold rule"),
        (lambda X: X[:7], {}, "inconsistent numbers of samples"),
    ],
)
def test_bad_input_raises_an_error(tagger, change, params, message, data):
    train, Y, _ = data
    X = change(train["histograms"])
    Y = Y[:1] if len(Y) and X.shape[0] == 1 else Y
    with pytest.raises((ValueError, TypeError), match=message):
        tagger(**params).fit(X, Y).predict(X)


@pytest.mark.parametrize("tagger", [*TAGGERS, FastTag])
def test_unusual_labels_and_features_are_accepted(tagger, data):
    train, Y, new = data
    X = train["numbers"]
    for labels in (Y[:, :1], np.zeros_like(Y), np.ones_like(Y), Y[:, [0, 0]]):
        scores = tagger().fit(X, labels).decision_function(new["numbers"])
        assert scores.shape == (10, labels.shape[1])
        assert np.isfinite(scores).all()
    twice = tagger().fit(X, Y[:, [0, 0]]).decision_function(new["numbers"])
    np.testing.assert_array_equal(twice[:, 0], twice[:, 1])
    constant = tagger().fit(np.ones((50, 2)), Y).decision_function(np.ones((3, 2)))
    assert np.isfinite(constant).all()


@pytest.mark.parametrize(
    ("tagger", "params"),
    [
        (JEC, {"n_neighbors": 0}),
        (TagProp, {"n_neighbors": 0}),
        (TagProp, {"weights": "equal"}),
        (TagProp, {"epsilon": 0.5}),
        (TagProp, {"ridge": 0.0}),
        (TagProp, {"max_iter": 0}),
        (TagProp, {"tol": -1.0}),
        (TagProp, {"sigmoid": "no"}),
        (TagProp, {"balanced": None}),
        (MBRM, {"bandwidth": 0.0}),
        (MBRM, {"smoothing": 1.1}),
        (FastTag, {"ridge": -1.0}),
        (FastTag, {"trade_off": 0.0}),
        (FastTag, {"blank_out": 1.0}),
    ],
)
def test_parameters_are_checked(tagger, params, data):
    train, Y, _ = data
    with pytest.raises((ValueError, TypeError), match=f"{next(iter(params))} must be"):
        tagger(**params).fit(train, Y)


def naive_mbrm(x, train, Y, widths, s):
    """Feng et al., Eqs. 3 to 6: the joint of the sample and each label, over that of the sample."""
    n, m = Y.shape
    joint, alone = np.zeros(m), 0.0
    for J in range(n):
        density = 1.0
        for name, sigma in widths.items():
            d = np.linalg.norm(x[name] - train[name][J])
            density *= np.exp(-(d**2) / (2 * sigma**2))
        joint += density / n * ((1 - s) * Y[J] + s * Y.sum(axis=0) / n)
        alone += density / n
    return joint / alone


def test_mbrm_is_its_definition(data):
    train, Y, new = data
    model = MBRM({"histograms": 0.3, "numbers": 0.5}, smoothing=0.2).fit(train, Y)
    means = [pairwise_distances(A).mean() for A in train.values()]
    np.testing.assert_allclose(model.bandwidth_, np.array([0.3, 0.5]) * means, rtol=1e-9)
    widths = dict(zip(train, model.bandwidth_, strict=True))
    scores = model.decision_function(new)
    for i in range(10):
        p = naive_mbrm({name: A[i] for name, A in new.items()}, train, Y, widths, 0.2)
        np.testing.assert_allclose((scores[i] + 1) / 2, p, rtol=1e-9, atol=1e-12)


def test_mbrm_between_nearest_neighbour_and_shares(data):
    train, Y, new = data
    X, Z = train["numbers"], new["numbers"]
    wide = MBRM(1e6, smoothing=0).fit(X, Y).decision_function(Z)
    np.testing.assert_allclose((wide + 1) / 2, np.tile(Y.mean(axis=0), (10, 1)), atol=1e-9)
    narrow = MBRM(1e-3, smoothing=0).fit(X, Y).predict(1e3 * Z)  # densities far below tiny
    nearest = KNeighborsClassifier(1).fit(X, Y).predict(1e3 * Z)
    assert (narrow == nearest).all()


@pytest.mark.parametrize("tagger", TAGGERS)
def test_thresholds_are_fitted_to_samples_left_out_of_their_own_neighbours(tagger, data):
    """As if each sample were infinitely far from itself."""
    train, Y, _ = data
    model = tagger(threshold="f1").fit(train, Y)
    D = {name: pairwise_distances(A) for name, A in train.items()}
    far = {name: sp.csr_array(A - np.diag(np.diag(A))) for name, A in D.items()}
    for name, A in far.items():  # distances of other samples at zero are stored
        assert A.nnz == 50 * 49, name
    given = tagger(metric="precomputed").fit(D, Y)
    scores = given.decision_function(far)
    expected = PerLabelF1().fit(scores, Y)
    np.testing.assert_allclose(model.thresholds_, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("tagger", [*TAGGERS, FastTag])
def test_models_are_saved_and_read(tagger, data, tmp_path):
    train, Y, new = data
    model = tagger().fit(train, Y)
    save_model(SavedModel(model, np.arange(14), np.arange(7)), tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))
