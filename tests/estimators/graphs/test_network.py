"""What methods on graphs share: graphs, known labels, new samples and errors."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel
from sklearn.model_selection import cross_val_predict

from eigenlabel import BiRelationGraph, GaussianFields, Views
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.graphs import similarity as graphs
from eigenlabel.kernels.bandwidth import mean_distance
from eigenlabel.metrics import f1_micro
from eigenlabel.persistence import SavedModel, load_model, save_model
from eigenlabel.thresholds import PerLabelF1

NETWORKS = [GaussianFields, BiRelationGraph]


@pytest.fixture
def data(rng):
    """Two views of 50 samples, the last ten without known labels, and labels, one never seen."""
    S = rng.standard_normal((50, 3))
    left = S @ rng.standard_normal((3, 5)) + 0.3 * rng.standard_normal((50, 5))
    right = S @ rng.standard_normal((3, 8)) + 0.6 * rng.standard_normal((50, 8))
    scores = S @ rng.standard_normal((3, 6)) + 0.5 * rng.standard_normal((50, 6))
    Y = (scores > np.linspace(0, 2, 6)).astype(float)
    Y[:40, 5] = 0
    Y[40:] = np.nan
    return {"left": left, "right": right}, Y


def naive_graph(K, k):
    """Join each sample to its k most similar ones, then scale by the roots of the degrees."""
    n = len(K)
    W = np.zeros((n, n))
    for i in range(n):
        others = [j for j in np.argsort(-K[i], kind="stable") if j != i][: n if k is None else k]
        for j in others:
            W[i, j] = W[j, i] = K[i, j]
    return W


def scaled(W):
    d = W.sum(axis=1)
    root = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
    return root[:, None] * W * root


def kernel_of(X, Z=None):
    sigma = mean_distance(X)
    return rbf_kernel(X if Z is None else Z, X, gamma=1 / (2 * sigma**2))


@pytest.fixture(params=[7, None], ids=["sparse", "dense"])
def k(request):
    return request.param


@pytest.mark.parametrize("network", NETWORKS)
def test_new_samples_meet_their_own_equation(network, data, k, rng):
    """The scores of training samples held, a new one is where its own equation has it."""
    views, Y = data
    weights = {"left": 1, "right": 3}
    model = network(n_neighbors=k, view_weights=weights, tol=1e-12)
    if network is GaussianFields:
        model.set_params(smoothness=0.7, prior=0.3)
    model.fit(views, Y)
    new = {name: A[:6] + 0.1 * rng.standard_normal((6, A.shape[1])) for name, A in views.items()}
    found = model.decision_function(new)
    total, weight = 0, 0
    for i, (name, A) in enumerate(views.items()):
        K = kernel_of(A, new[name])
        degree = naive_graph(kernel_of(A), k).sum(axis=1)
        keep = np.zeros_like(K, dtype=bool)
        for row, order in zip(keep, np.argsort(-K, axis=1), strict=True):
            row[order[:k]] = True
        K = np.where(keep, K, 0)
        P = K / np.sqrt(np.outer(K.sum(axis=1), degree))
        P = weights[name] / 4 * P
        if network is GaussianFields:
            bias = 2 * Y[:40].mean(axis=0) - 1
            total = total + 0.7 * P @ model.transduction_
            weight = weight + 0.7 * P.sum(axis=1, keepdims=True)
        else:
            total = total + P @ model._fields[i]
    if network is GaussianFields:
        expected = (0.3 * bias + total) / (0.3 + weight)
    else:
        expected = 2 * total[:, :-1] / total[:, -1:] - 1
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("network", NETWORKS)
def test_graphs_in_all_forms_agree(network, data):
    views, Y = data
    W = {name: naive_graph(kernel_of(A), 7) for name, A in views.items()}
    expected = network(n_neighbors=7, tol=1e-13).fit(views, Y).transduction_
    for form in (np.asarray, sp.csr_array, sp.coo_matrix):
        given = {name: form(V) for name, V in W.items()}
        model = network(kernel="precomputed", tol=1e-13).fit(given, Y)
        np.testing.assert_allclose(model.transduction_, expected, rtol=1e-8, atol=1e-9)
    mixed = {"left": sp.csr_array(W["left"]), "right": W["right"]}
    found = network(kernel="precomputed", tol=1e-13).fit(mixed, Y).transduction_
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    joined = np.hstack(list(views.values()))
    cut = network(n_neighbors=7, views={"a": slice(0, 5), "b": slice(5, None)}, tol=1e-13)
    np.testing.assert_allclose(cut.fit(joined, Y).transduction_, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("network", NETWORKS)
def test_graphs_split_together(network, data):
    views, Y = data
    Y = Y[:40]
    K = {name: kernel_of(A[:40]) for name, A in views.items()}
    given = network(kernel="precomputed", tol=1e-12)
    found = cross_val_predict(given, Views(K), Y, cv=4, method="decision_function")
    test = np.arange(10)
    train = np.setdiff1d(np.arange(40), test)
    model = network(kernel="precomputed", tol=1e-12)
    model.fit({name: A[np.ix_(train, train)] for name, A in K.items()}, Y[train])
    expected = model.decision_function({name: A[np.ix_(test, train)] for name, A in K.items()})
    np.testing.assert_allclose(found[test], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("network", NETWORKS)
def test_sparse_graphs_stay_sparse(network, monkeypatch):
    """4000 samples in a ring: a dense matrix of them would raise an error."""
    n = 4000
    ring = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1], format="csr")
    Y = (np.arange(n)[:, None] // 500 % 2 == [0, 1]).astype(float)
    Y[::2] = np.nan

    def fail_to_densify(*_, **__):
        raise AssertionError("densified")

    for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
        monkeypatch.setattr(kind, "toarray", fail_to_densify)
    monkeypatch.setattr(graphs, "check_memory", fail_to_densify)
    # edges of samples and labels are few
    found = network(kernel="precomputed").fit_predict(ring, Y)
    truth = np.arange(n)[:, None] // 500 % 2 == [0, 1]
    assert (found == truth).mean() > 0.99


@pytest.mark.parametrize("network", NETWORKS)
def test_samples_out_of_reach_have_the_shares_of_labels(network):
    """Two parts, one without labels, and a sample without neighbours."""
    W = np.zeros((9, 9))
    W[:4, :4] = W[4:8, 4:8] = 1
    Y = np.full((9, 2), np.nan)
    Y[:4] = [[1, 0], [1, 0], [1, 1], [0, 1]]
    for form in (np.asarray, sp.csr_array):
        model = network(kernel="precomputed").fit(form(W), Y)
        shares = 2 * Y[:4].mean(axis=0) - 1
        np.testing.assert_allclose(model.transduction_[4:], np.tile(shares, (5, 1)), atol=1e-7)
        far = model.decision_function(form(np.zeros((3, 9))))
        np.testing.assert_allclose(far, np.tile(shares, (3, 1)), atol=1e-7)
        assert np.isfinite(model.transduction_).all()


@pytest.mark.parametrize("network", NETWORKS)
def test_samples_may_be_missing_in_a_view(network, data):
    views, Y = data
    hidden = {"left": views["left"].copy(), "right": views["right"]}
    hidden["left"][:3] = np.nan
    model = network().fit(hidden, Y)
    assert np.isfinite(model.transduction_).all()
    only = model.decision_function({"right": views["right"][:4]})
    none = model.decision_function({"left": None, "right": views["right"][:4]})
    gone = {"left": np.full((4, 5), np.nan), "right": views["right"][:4]}
    np.testing.assert_array_equal(only, none)
    np.testing.assert_array_equal(only, model.decision_function(gone))


@pytest.mark.parametrize("network", NETWORKS)
def test_a_label_never_seen_comes_last(network, data):
    views, Y = data
    scores = (
        network(beta=0).fit(views, Y).transduction_
        if network is BiRelationGraph
        else (network().fit(views, Y).transduction_)
    )
    assert (scores.argmin(axis=1) == 5).all()


@pytest.mark.filterwarnings("ignore:.*so far from labelled")  # one step does not get there
@pytest.mark.parametrize("network", NETWORKS)
def test_conjugate_gradients_that_do_not_converge_warn(network, data):
    views, Y = data
    with pytest.warns(ConvergenceWarning, match="relative residual of"):
        network(max_iter=1, tol=1e-12).fit(views, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network().fit(views, Y)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(
    ("change", "params", "message"),
    [
        (lambda X: X, {"kernel": "gauss"}, "kernel must be one of"),
        (lambda X: X, {"n_neighbors": 0}, "n_neighbors must be"),
        (lambda X: X, {"tol": 0.0}, "tol must be"),
        (lambda X: X, {"max_iter": 0}, "max_iter must be"),
        (lambda X: X, {"view_weights": "best"}, "view_weights must be one of"),
        (lambda X: X, {"view_weights": [0.0]}, "all zero"),
        (lambda X: X, {"kernel": "precomputed"}, "needs a square"),
        (lambda X: np.triu(X @ X.T), {"kernel": "precomputed"}, "not symmetric"),
        (lambda X: sp.csr_array(np.triu(X @ X.T)), {"kernel": "precomputed"}, "not symmetric"),
        (lambda X: X[:1], {}, "n_samples = 1"),
        (lambda X: X, {"views": ["a"]}, "views must be a dict"),
        (lambda X: X[:7], {}, "inconsistent numbers of samples"),
    ],
)
def test_bad_input_raises_an_error(network, change, params, message, data):
    views, Y = data
    X = change(views["left"])
    Y = Y[:1] if X.shape[0] == 1 else Y
    with pytest.raises((ValueError, TypeError), match=message):
        network(**params).fit(X, Y)


@pytest.mark.parametrize(
    ("network", "params"),
    [
        (GaussianFields, {"smoothness": 0.0}),
        (GaussianFields, {"prior": 0.0}),
        (BiRelationGraph, {"alpha": 1.0}),
        (BiRelationGraph, {"beta": -0.1}),
        (BiRelationGraph, {"combine": "sum"}),
        (BiRelationGraph, {"directed": "no"}),
    ],
)
def test_parameters_are_checked(network, params, data):
    views, Y = data
    with pytest.raises((ValueError, TypeError), match=f"{next(iter(params))} must be"):
        network(**params).fit(views, Y)


@pytest.mark.parametrize("network", NETWORKS)
def test_labels_in_unusual_forms_are_accepted(network, data):
    views, Y = data
    X = views["left"]
    with pytest.raises(ValueError, match="No sample is labelled"):
        network().fit(X, np.full((50, 3), np.nan))
    known = Y[:40]
    for labels in (known[:, :1], np.zeros_like(known), np.ones_like(known), known[:, [0, 0]]):
        scores = network().fit(X[:40], labels).decision_function(X[40:])
        assert scores.shape == (10, labels.shape[1])
        assert np.isfinite(scores).all()
    sparse = network().fit(X[:40], sp.csr_array(known))
    assert sp.issparse(sparse.predict(X[40:]))
    classes = network().fit_predict(X[:40], np.where(known[:, 0], "a", "b"))
    assert set(classes) <= {"a", "b"}
    constant = network().fit(np.ones((40, 2)), known).decision_function(np.ones((3, 2)))
    assert np.isfinite(constant).all()


def test_the_input_is_not_modified(data):
    views, Y = data
    W = kernel_of(views["left"])
    before, S = W.copy(), sp.csr_array(W)
    GaussianFields(kernel="precomputed").fit(W, Y)
    GaussianFields(kernel="precomputed").fit(S, Y)
    np.testing.assert_array_equal(W, before)
    np.testing.assert_array_equal(S.toarray(), before)


@pytest.mark.parametrize("network", NETWORKS)
def test_models_are_saved_and_read(network, data, tmp_path):
    views, Y = data
    model = network().fit(views, Y)
    save_model(SavedModel(model, np.arange(13), np.arange(6)), tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops").model
    # Arrays that were read lie elsewhere in memory, and products may add in another order.
    np.testing.assert_allclose(
        again.decision_function(views), model.decision_function(views), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("network", NETWORKS)
def test_negative_similarities_and_loops_count_as_zero(network, data):
    views, Y = data
    K = np.corrcoef(views["right"])
    clean = np.maximum(K - np.diag(np.diag(K)), 0)
    expected = network(kernel="precomputed", tol=1e-13).fit(clean, Y)
    for form in (np.asarray, sp.csr_array):
        model = network(kernel="precomputed", tol=1e-13).fit(form(K), Y)
        np.testing.assert_allclose(
            model.transduction_, expected.transduction_, rtol=1e-8, atol=1e-9
        )
        np.testing.assert_allclose(
            model.decision_function(form(-np.abs(K[:3]))),
            np.tile(2 * Y[:40].mean(axis=0) - 1, (3, 1)),
            atol=1e-9,
        )


@pytest.mark.parametrize("network", NETWORKS)
def test_thresholds_use_labelled_samples_alone(network, data):
    views, Y = data
    Y = np.roll(Y, 10, axis=0)  # those without labels come first
    model = network(threshold="f1").fit(views, Y)
    known = Y[:, 0] >= 0
    W = [scaled(naive_graph(kernel_of(A), 10)) for A in views.values()]
    scores = model._extend([V[known] for V in W])  # as those of new samples
    wanted = PerLabelF1().fit(scores, Y[known])
    np.testing.assert_allclose(model.thresholds_, wanted, rtol=1e-12)


@pytest.mark.parametrize("network", NETWORKS)
def test_only_whole_rows_are_without_labels(network, data):
    views, Y = data
    partly = Y.copy()
    partly[45, :3] = 0
    with pytest.raises(ValueError, match="some labels of sample 45 only"):
        network().fit(views, partly)
    with pytest.raises(ValueError, match=r"found -1.*'not observed', np.where\(Y == -1"):
        network().fit(views, np.nan_to_num(Y, nan=-1).astype(int))
    # Beside one other value -1 is a class, as in scikit-learn.
    column = np.where(Y[:, :1] == 1, 1, -1)
    with pytest.warns(DataConversionWarning):
        model = network().fit(views, column)
    assert model.classes_.tolist() == [-1, 1]
    np.testing.assert_array_equal(
        model.transduction_, network().fit(views, column.ravel()).transduction_
    )


@pytest.mark.parametrize("network", NETWORKS)
def test_one_label_or_classes_may_be_unknown(network, data):
    views, Y = data
    column = Y[:, :1]  # of 0, 1 and NaN
    model = network().fit(views, column)
    assert model.classes_.tolist() == [0]
    wanted = network(beta=0.0) if network is BiRelationGraph else network()
    wanted.fit(views, Y)
    if network is GaussianFields:  # labels do not see each other
        np.testing.assert_allclose(model.transduction_, wanted.transduction_[:, :1], atol=1e-7)
    assert set(np.unique(network().fit_predict(views, column))) <= {0, 1}
    classes = np.where(np.isnan(Y[:, 0]), np.nan, 5 + Y[:, 0] + Y[:, 1])
    model = network().fit(views, classes)
    assert model.classes_.tolist() == [5, 6, 7]
    one_hot = np.where(np.isnan(classes)[:, None], np.nan, classes[:, None] == model.classes_)
    np.testing.assert_allclose(
        model.transduction_, network().fit(views, one_hot).transduction_, atol=1e-12
    )
    assert set(model.predict(views)) <= {5, 6, 7}
    with pytest.raises(ValueError, match="No sample is labelled"):
        network().fit(views, np.full(50, np.nan))
    names = np.array([None if np.isnan(c) else f"c{c:.0f}" for c in classes], dtype=object)
    named = network().fit(views, names)
    assert named.classes_.tolist() == ["c5", "c6", "c7"]
    np.testing.assert_array_equal(named.transduction_, model.transduction_)
    with pytest.raises(ValueError, match=r"class -1.*pass NaN"):
        network().fit(views, np.nan_to_num(classes, nan=-1).astype(int))


def test_a_view_of_one_sample_has_no_edges(data):
    views, Y = data
    alone = np.full((50, 4), np.nan)
    alone[3] = 1
    for network in NETWORKS:
        with_it = network(view_weights=[0, 1]).fit([alone, views["right"]], Y)
        without = network().fit(views["right"], Y)
        np.testing.assert_allclose(with_it.transduction_, without.transduction_, atol=1e-7)
        assert np.isfinite(network().fit([alone, views["right"]], Y).transduction_).all()


@pytest.mark.parametrize("network", NETWORKS)
def test_labels_are_predicted_about_as_often_as_they_occur(network):
    data = make_shared_subspace(400, n_labels=10, n_features=20, prevalence=0.1, random_state=0)
    model = network().fit(data.X[:200], data.Y[:200])
    found = model.predict(data.X[200:])
    assert 0.7 < found.mean() / data.Y[:200].mean() < 1.4
    assert f1_micro(data.Y[200:], found) > 0.4


@pytest.mark.parametrize("network", NETWORKS)
def test_new_samples_have_no_negative_similarities(network, data, rng):
    views, Y = data
    K = kernel_of(views["left"])
    new = K[:5] + rng.normal(scale=0.5, size=(5, 50))
    assert new.min() < 0
    model = network(kernel="precomputed").fit(K, Y)
    wanted = model.decision_function(np.maximum(new, 0))
    for form in (np.asarray, sp.csr_array):
        np.testing.assert_allclose(model.decision_function(form(new)), wanted, rtol=1e-10)
    X = views["left"]
    cosine = network(kernel="cosine", n_neighbors=None).fit(X, Y)
    same = network(kernel=lambda A, B: np.maximum(cosine_similarity(A, B), 0), n_neighbors=None)
    np.testing.assert_allclose(
        cosine.decision_function(-X[:5]), same.fit(X, Y).decision_function(-X[:5]), rtol=1e-10
    )


@pytest.mark.parametrize("kind", [GaussianFields, BiRelationGraph])
@pytest.mark.parametrize("y", [[], np.zeros((0, 3)), np.zeros(0, dtype=int), np.zeros((12, 0))])
def test_labels_without_samples_or_columns_raise_an_error(kind, y):
    X = np.arange(36.0).reshape(12, 3)
    with pytest.raises(ValueError, match=r"0 samples|inconsistent numbers|no columns"):
        kind().fit(X, y)
