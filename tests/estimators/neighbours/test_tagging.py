"""The taggers against their definitions written out, sample by sample."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from eigenlabel import JEC, MBRM, FastTag, TagProp, Views
from eigenlabel.estimators.neighbours import votes
from eigenlabel.estimators.neighbours.votes import ByDistance
from eigenlabel.kernels import distances
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


@pytest.mark.parametrize("metric", ["l1", "l2", "cosine", "chi2", "kl"])
def test_distances_are_their_definitions(metric, data):
    train, _, new = data
    X, Z = new["histograms"], train["histograms"]
    found = distances.distances_to(Z, metric)(X)
    np.testing.assert_allclose(found, naive_distances(metric, X, Z), rtol=1e-9, atol=1e-9)


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
def test_strips_change_nothing(tagger, data, monkeypatch):
    train, Y, new = data
    train["numbers"][[3, 20, 21]] = np.nan
    new["histograms"][[0, 5]] = np.nan
    whole = tagger(threshold="f1").fit(train, Y)
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * 300)
    parts = tagger(threshold="f1").fit(train, Y)
    # an ascent enlarges the rounding of distances
    near = {"rtol": 1e-8, "atol": 1e-4 if tagger is TagProp else 1e-8}
    np.testing.assert_allclose(parts.decision_function(new), whole.decision_function(new), **near)
    np.testing.assert_allclose(parts.thresholds_, whole.thresholds_, **near)


@pytest.mark.parametrize("tagger", TAGGERS)
def test_a_view_that_samples_lack_has_no_say_for_them(tagger, data):
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


@pytest.mark.parametrize("tagger", TAGGERS)
def test_sparse_distances_list_the_only_neighbours(tagger, data):
    train, Y, _ = data
    D = pairwise_distances(train["numbers"])
    graph = np.where(np.quantile(D, 0.3) > D, D, 0)
    graph[0] = graph[:, 0] = 0  # a sample without neighbours
    model = tagger(metric="precomputed").fit(sp.csr_array(graph), Y)
    full = np.where(graph > 0, D, 1e6)
    near = tagger(metric="precomputed").fit(full, Y)
    found = model.decision_function(sp.csr_array(graph))
    assert np.isfinite(found).all()
    if tagger is JEC:
        lists = (graph > 0).sum(axis=1) >= 5
        np.testing.assert_array_equal(found[lists], near.decision_function(full)[lists])
    assert (np.argsort(-found[0], kind="stable") == np.argsort(-Y.mean(0), kind="stable")).all()


@pytest.mark.parametrize("tagger", TAGGERS)
def test_distances_may_be_one_sided(tagger, data):
    train, Y, _ = data
    D = naive_distances("kl", train["histograms"], train["histograms"])
    assert np.abs(D - D.T).max() > 0.01
    given = tagger(metric="precomputed").fit(D, Y).decision_function(D)
    named = tagger(metric="kl").fit(train["histograms"], Y).decision_function(train["histograms"])
    np.testing.assert_allclose(given, named, rtol=1e-6, atol=1e-6)


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
def test_bad_input_is_refused(tagger, change, params, message, data):
    train, Y, _ = data
    X = change(train["histograms"])
    Y = Y[:1] if len(Y) and X.shape[0] == 1 else Y
    with pytest.raises((ValueError, TypeError), match=message):
        tagger(**params).fit(X, Y).predict(X)


@pytest.mark.parametrize("tagger", [*TAGGERS, FastTag])
def test_odd_labels_and_features(tagger, data):
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


def test_no_square_array_of_samples(rng, monkeypatch):
    """Distances of 3000 samples stay in strips of some hundred rows."""
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * 2**18)
    sizes = []
    measure = distances.FUNCTIONS["l1"]
    monkeypatch.setitem(
        distances.FUNCTIONS,
        "l1",
        lambda X, Z: sizes.append(X.shape[0] * Z.shape[0]) or measure(X, Z),
    )
    X, Y = rng.standard_normal((3000, 2)), rng.random((3000, 4)) < 0.3
    for tagger in TAGGERS:
        tagger(metric="l1", threshold="f1").fit({"a": X, "b": X[:, ::-1]}, Y).predict(
            {"a": X[:5], "b": X[:5]}
        )
    assert max(sizes) <= 2**18


def training_neighbours(model, X):
    """Return the neighbours of the training samples."""
    return model._find(model._layout.read(model, X), training=True)


def weigh(model, near):
    """Return the fitted weights of the neighbours."""
    return model._weighting().weights(near, model.weights_)


def naive_log_likelihood(model, W, index, Y):
    """Guillaumin et al., Eqs. 1 to 3 and 9, entry by entry."""
    n, m = Y.shape
    total = 0.0
    positives = Y.sum()
    for i in range(n):
        for label in range(m):
            x = sum(W[i, k] * Y[index[i, k], label] for k in range(W.shape[1]))
            if model.sigmoid:
                p = 1 / (1 + np.exp(-(model.curves_[0, label] * x + model.curves_[1, label])))
            else:
                p = sum(
                    W[i, k] * (1 - model.epsilon if Y[index[i, k], label] else model.epsilon)
                    for k in range(W.shape[1])
                )
            cost = 1 / positives if Y[i, label] else 1 / (Y.size - positives)
            total += cost * np.log(p if Y[i, label] else 1 - p)
    if model.sigmoid:
        total -= model.ridge / 2 * np.sum(model.curves_**2)
    return total


@pytest.fixture(params=[(w, s) for w in ("rank", "distance") for s in (False, True)], ids=str)
def tagprop(request):
    weights, sigmoid = request.param
    return TagProp(8, weights=weights, sigmoid=sigmoid, tol=1e-9, max_iter=2000)


def test_tagprop_maximises_its_likelihood_and_never_falls(tagprop, data):
    train, Y, _ = data
    model = tagprop.fit(train, Y)
    history = model.log_likelihood_
    assert (np.diff(history) >= -1e-12 * np.abs(history[:-1])).all()
    assert history[-1] > history[0]
    near = training_neighbours(model, train)
    W = weigh(model, near)
    np.testing.assert_allclose(W.sum(axis=1), 1, rtol=1e-12)
    final = naive_log_likelihood(model, W, near.index, Y)
    np.testing.assert_allclose(history[-1], final, rtol=1e-9)
    assert not (near.index == np.arange(50)[:, None]).any()


def test_tagprop_keeps_the_sigmoids_of_its_point_when_no_step_rises(data):
    train, Y, _ = data

    class Downhill(ByDistance):
        def slope(self, near, W, pull):
            return -super().slope(near, W, pull)

    class DownhillTagProp(TagProp):
        def _weighting(self):
            return Downhill()

    model = DownhillTagProp(8).fit(train, Y)
    assert model.n_iter_ == 0
    near = training_neighbours(model, train)
    final = naive_log_likelihood(model, weigh(model, near), near.index, Y)
    np.testing.assert_allclose(model.log_likelihood_, [final], rtol=1e-9)


@pytest.mark.parametrize("lacking", [False, True])
def test_tagprop_gradients_are_those_of_differences(tagprop, lacking, data, rng):
    train, Y, _ = data
    if lacking:  # neighbours, some of the samples
        D = pairwise_distances(train["numbers"])
        D[:20] *= np.sort(D[:20], axis=1)[:, [5]] > D[:20]
        train = {"numbers": sp.csr_array(D)}
        tagprop.set_params(metric="precomputed")
    model = tagprop.fit(train, Y)
    near = training_neighbours(model, train)
    objective = model._objective(near, Y.astype(bool))
    z = rng.random(len(model.weights_)) + 0.1
    z = z / z.sum() if model.weights == "rank" else z
    _, gradient = objective(z)
    h = 1e-6
    unit = np.eye(len(z)) * h
    numeric = [(objective(z + u)[0] - objective(z - u)[0]) / (2 * h) for u in unit]
    # Differences of step h are good to h^2 and eps / h; labels that no neighbour has bend more.
    rtol, atol = (1e-5, 1e-6) if lacking else (1e-6, 1e-8)
    np.testing.assert_allclose(gradient, numeric, rtol=rtol, atol=atol)


def test_tagprop_without_balance_has_the_mean_log_likelihood(data):
    train, Y, new = data
    model = TagProp(100, sigmoid=False, balanced=False, epsilon=0.1).fit(train, Y)
    near = training_neighbours(model, train)
    assert near.index.shape == (50, 49), "all others, where there are no more"
    x = np.einsum("ik,ikl->il", weigh(model, near), Y[near.index])
    p = 0.1 + 0.8 * x
    mean = np.log(np.where(Y == 1, p, 1 - p)).mean()
    np.testing.assert_allclose(model.log_likelihood_[-1], mean, rtol=1e-12)
    far = model.decision_function({name: A * 1e6 for name, A in new.items()})
    # 2 p - 1 with p between 0.1 and 0.9, where the weights of neighbours sum to one up to rounding
    assert np.abs(far).max() <= 0.8 + 1e-12
    assert far.min() == pytest.approx(-0.8), "a label that no sample has"
    for name, view in model.views_.items():
        assert view.scale == pytest.approx(pairwise_distances(train[name]).max())


def test_tagprop_by_ranks_is_the_concave_maximum(data):
    """Frank-Wolfe gap: no point of the simplex has a higher tangent plane."""
    train, Y, _ = data
    model = TagProp(8, weights="rank", sigmoid=False, tol=0, max_iter=3000).fit(train, Y)
    near = training_neighbours(model, train)
    _, g = model._objective(near, Y.astype(bool))(model.weights_)
    np.testing.assert_allclose(model.weights_.sum(), 1, rtol=1e-12)
    # The ascent ends when values do not rise any more: it sees a gap down to the root of rounding.
    assert g.max() - g @ model.weights_ < 1e-7


def test_tagprop_with_one_neighbour_is_nearest_neighbour_classification(data):
    train, Y, new = data
    for weights in ("rank", "distance"):
        model = TagProp(1, weights=weights, sigmoid=False).fit(train["numbers"], Y)
        nearest = KNeighborsClassifier(1).fit(train["numbers"], Y)
        assert (model.predict(new["numbers"]) == nearest.predict(new["numbers"])).all()


def test_tagprop_neighbours_are_near_in_some_view(data):
    """The first one of each view, then the second ones, until there are enough."""
    train, Y, _ = data
    model = TagProp(7).fit(train, Y)
    near = training_neighbours(model, train)
    ranks = []
    for A in train.values():
        D = pairwise_distances(A)
        np.fill_diagonal(D, np.inf)
        ranks.append(np.argsort(D, axis=1, kind="stable"))
    for i in range(50):
        wanted = []
        for pair in zip(*(r[i] for r in ranks), strict=True):
            wanted += [j for j in dict.fromkeys(pair) if j not in wanted]
        assert set(near.index[i]) == set(wanted[:7])


def test_tagprop_neighbours_are_those_that_all_views_list():
    n, i = 6, np.arange(6)

    def listed(**at):
        D = np.zeros((n, n))
        for step, value in at.items():
            D[i, (i + int(step[1:])) % n] = value
        return sp.csr_array(D)

    views = {"a": listed(s1=0.1, s3=0.9), "b": listed(s2=0.1, s3=0.9)}
    model = TagProp(1, metric="precomputed").fit(views, np.eye(n, dtype=int))
    near = training_neighbours(model, views)
    assert near.there.all()
    assert (near.index[:, 0] == (i + 3) % n).all()


@pytest.mark.parametrize("tagger", TAGGERS)
def test_distances_of_callables_are_checked_like_given_ones(tagger, data):
    train, Y, _ = data
    A = train["numbers"]

    def spoilt(value):
        def metric(X, Z):
            D = pairwise_distances(X, Z)
            D[0, -1] = value
            return D

        return metric

    for value in (np.nan, np.inf, -1.0):
        with pytest.raises(ValueError, match=r"Distances are finite and >= 0, but .* returns"):
            tagger(metric=spoilt(value)).fit(A, Y).predict(A[:2])
    with pytest.raises(ValueError, match="A callable metric takes two matrices"):
        tagger(metric=lambda X, Z: pairwise_distances(X, Z)[:, :-1]).fit(A, Y).predict(A[:2])
    nearly = tagger(metric=lambda X, Z: pairwise_distances(X, Z) - 1e-16).fit(A, Y)  # rounding
    assert np.isfinite(nearly.decision_function(A[:2])).all()


def test_tagprop_sigmoids_are_logistic_regressions(data, rng):
    _, Y, _ = data
    x = rng.random(Y.shape)
    likelihood = votes.Likelihood(Y.astype(bool), (0.02, 0.02), 1e-5)
    curves = votes.fit_sigmoids(x, likelihood, 1e-3, np.zeros((2, 7)))
    for j in range(6):
        # the offset as a feature, so that it is penalised too: C = weight / ridge
        design = np.c_[x[:, j], np.ones(50)]
        theirs = LogisticRegression(C=20, fit_intercept=False, tol=1e-12, max_iter=1000)
        theirs.fit(design, Y[:, j])
        # lbfgs ends at a gradient of about 1e-8 at best
        np.testing.assert_allclose(curves[:, j], theirs.coef_[0], rtol=1e-4, atol=1e-5)
    assert curves[1, 6] < 0  # never seen


def test_tagprop_warns_when_it_stops_early(data):
    train, Y, _ = data
    with pytest.warns(ConvergenceWarning, match="still gained"):
        TagProp(8, max_iter=1, tol=1e-12).fit(train, Y)


def test_simplex_projection(rng):
    for _ in range(20):
        v = rng.standard_normal(6)
        found = votes.to_simplex(v)
        np.testing.assert_allclose(found.sum(), 1, rtol=1e-12)
        assert (found >= 0).all()
        others = rng.dirichlet(np.ones(6), 200)
        assert ((others - v) ** 2).sum(axis=1).min() >= ((found - v) ** 2).sum() - 1e-12


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


def naive_fasttag(X, Y, ridge, gamma, p, n_sweeps):
    """Chen et al.: alternate between B and W, each in closed form, on centred X."""
    n, m = Y.shape
    Xc = X - X.mean(axis=0)
    B, q = np.eye(m), 1 - p
    S = Y.T @ Y
    P, Q = q * S, q * q * S + np.diag(q * p * np.diag(S))
    for _ in range(n_sweeps):
        target = Y @ B.T
        W = np.linalg.solve(Xc.T @ Xc + n * ridge * np.eye(X.shape[1]), Xc.T @ target)
        b = target.mean(axis=0)
        B = np.linalg.solve((gamma * Q + Y.T @ Y).T, (gamma * P + (Xc @ W + b).T @ Y).T).T
    return W, b - X.mean(axis=0) @ W, B


def test_fasttag_is_where_alternating_steps_arrive(data):
    train, Y, new = data
    Y, X = Y[:, :5].astype(float), np.hstack(list(train.values()))
    model = FastTag(0.5, 2.0, 0.4).fit(train, Y.astype(int))
    W, b, B = naive_fasttag(X, Y, 0.5, 2.0, 0.4, 2000)
    np.testing.assert_allclose(model.coef_, W, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.completion_, B, rtol=1e-7, atol=1e-9)
    scores = 2 * (np.hstack(list(new.values())) @ W + b) - 1
    np.testing.assert_allclose(model.decision_function(new), scores, rtol=1e-7, atol=1e-8)


def test_fasttag_expectation_is_the_mean_over_blanked_labels(data):
    """The completion alone (features that say nothing) minimises the error over all blankings."""
    _, Y, _ = data
    Y, p = Y[:, :4], 0.3
    rows, weights, wanted = [], [], []
    for y in Y:
        for kept in itertools.product([0, 1], repeat=4):
            rows.append(y * kept)
            weights.append(np.prod([1 - p if k else p for k in kept]))
            wanted.append(y)
    root = np.sqrt(weights)[:, None]
    expected = np.linalg.lstsq(root * np.array(rows), root * np.array(wanted), rcond=None)[0].T
    model = FastTag(1.0, 1e9, p).fit(np.ones((50, 1)), Y)
    np.testing.assert_allclose(model.completion_, expected, rtol=1e-7, atol=1e-7)  # gamma 1e9


def test_fasttag_limits(data):
    train, Y, new = data
    X, Z, Y = train["numbers"], new["numbers"], Y[:, :5]
    ridge = Ridge(alpha=50 * 0.3).fit(X, Y).predict(Z)
    found = FastTag(0.3, 1e10, 0.0).fit(X, Y).decision_function(Z)
    np.testing.assert_allclose((found + 1) / 2, ridge, rtol=1e-6, atol=1e-7)  # trade_off 1e10
    chi2 = AdditiveChi2Sampler()
    mapped = FastTag(transformers=chi2).fit(train["histograms"], Y)
    outside = FastTag().fit(chi2.fit_transform(train["histograms"]), Y)
    np.testing.assert_allclose(mapped.coef_, outside.coef_, rtol=1e-12)


def test_fasttag_takes_a_missing_view_as_zeros(data):
    train, Y, new = data
    hidden, zeros = train["numbers"].copy(), train["numbers"].copy()
    hidden[:4], zeros[:4] = np.nan, 0
    a = FastTag().fit({**train, "numbers": hidden}, Y)
    b = FastTag().fit({**train, "numbers": zeros}, Y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-12)
    only = a.decision_function({"histograms": new["histograms"]})
    np.testing.assert_allclose(
        only, b.decision_function({**new, "numbers": np.zeros((10, 8))}), rtol=1e-10, atol=1e-12
    )
    sparse = FastTag().fit({**train, "histograms": sp.csr_array(train["histograms"])}, Y)
    whole = FastTag().fit(train, Y)
    np.testing.assert_allclose(sparse.coef_, whole.coef_, rtol=1e-8, atol=1e-10)


def test_fasttag_with_a_tag_never_seen_and_wide_features(data, rng):
    _, Y, _ = data
    X = rng.standard_normal((50, 200))
    model = FastTag(1e-3).fit(X, Y)
    assert (model.completion_[6] == 0).all()
    np.testing.assert_allclose(model.decision_function(X)[:, 6], -1, atol=1e-12)
    again = FastTag(1e-3).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("tagger", TAGGERS)
def test_thresholds_are_fitted_to_samples_that_do_not_see_themselves(tagger, data):
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


def test_distances_are_averaged_over_the_views_that_both_samples_have(data):
    """Each sample has a label of its own, which tells whose neighbour it was."""
    train, _, new = data
    hidden = {"histograms": train["histograms"], "numbers": train["numbers"].copy()}
    hidden["numbers"][:5] = np.nan
    model = JEC(1, metric=["l1", "l2"]).fit(hidden, np.eye(50, dtype=int))
    first = naive_distances("l1", new["histograms"], train["histograms"])
    first /= naive_distances("l1", train["histograms"], train["histograms"]).max()
    there = train["numbers"][5:]
    second = naive_distances("l2", new["numbers"], there)
    second /= naive_distances("l2", there, there).max()
    mean = first.copy()
    mean[:, 5:] = (first[:, 5:] + second) / 2
    nearest = mean.argmin(axis=1)
    assert (nearest < 5).any()
    assert (model.predict(new).argmax(axis=1) == nearest).all()


@pytest.mark.parametrize("tagger", [*TAGGERS, FastTag])
def test_models_are_saved_and_read(tagger, data, tmp_path):
    train, Y, new = data
    model = tagger().fit(train, Y)
    save_model(SavedModel(model, np.arange(14), np.arange(7)), tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))
