"""Multiple-set CCA against its objective written out, view by view."""

import numpy as np
import pytest
from scipy.linalg import hadamard
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from eigenlabel import CCA, KGHA, MultisetCCA, SharedSubspaceClassifier, Views

EXACT = {"tol": 1e-12, "n_sweeps": 20_000}


@pytest.fixture
def sets(rng):
    """Three sets with two directions in common, far from the origin."""
    common = rng.standard_normal((60, 2))
    return [
        common @ rng.standard_normal((2, d)) + 0.7 * rng.standard_normal((60, d)) + 5.0
        for d in (4, 3, 6)
    ]


def centred(A):
    return A - A.mean(axis=0)


def naive(sets, ridges, Z, n_sweeps=5000):
    """Solve Eq. 17 set by set: the best Z_j for the others held fixed, through whitened sets."""
    Z, p = list(Z), Z[0].shape[1]
    whitened = []
    for G, c in zip(map(centred, sets), ridges, strict=True):
        values, V = np.linalg.eigh(G.T @ G + c * np.eye(G.shape[1]))
        whitened.append(G @ V / np.sqrt(values))
    for _ in range(n_sweeps):
        for j, A in enumerate(whitened):
            U, _, Vt = np.linalg.svd(A.T @ sum(z for i, z in enumerate(Z) if i != j))
            Z[j] = A @ U[:, :p] @ Vt
    return Z


def agreement(Z):
    return sum(np.sum(Z[i] * Z[j]) for i in range(len(Z)) for j in range(i))


@pytest.mark.parametrize("ridges", [[0, 0, 0], [0.5, 2.0, 30.0]])
def test_each_set_is_at_its_best_with_the_others_held_fixed(sets, ridges):
    model = MultisetCCA(2, ridge=ridges, **EXACT).fit(sets)
    Z = list(model.view_scores(sets).values())
    for G, c, view in zip(map(centred, sets), ridges, model.views_.values(), strict=True):
        W = view.coef  # the constraint
        np.testing.assert_allclose(W.T @ (G.T @ G + c * np.eye(len(W))) @ W, np.eye(2), atol=1e-9)
    again = naive(sets, ridges, Z, n_sweeps=1)
    np.testing.assert_allclose(again, Z, atol=1e-7)  # the angle of a sum is known to sqrt(eps)
    assert model.objective_[-1] == pytest.approx(agreement(Z), rel=1e-9)
    assert (np.diff(model.objective_) >= -1e-12).all()
    assert len(model.objective_) > 3
    # Starts at random come to the same place or a worse one.
    rng = np.random.default_rng(1)
    others = [
        agreement(naive(sets, ridges, [rng.standard_normal((60, 2)) for _ in sets], 500))
        for _ in range(3)
    ]
    assert max(others) == pytest.approx(model.objective_[-1], rel=1e-6)


def test_two_sets_without_ridge_are_canonical_correlation_analysis(sets):
    model = MultisetCCA(3, ridge=0, **EXACT).fit(sets[:2])
    A, B = (np.linalg.qr(centred(G))[0] for G in sets[:2])
    wanted = np.linalg.svd(A.T @ B)[1]
    np.testing.assert_allclose(model.correlations_[0, 1], wanted, rtol=1e-9)
    np.testing.assert_allclose(model.correlations_[0, 0], 1)


def test_labels_as_a_view_are_cca_with_labels(sets, rng):
    Y = (centred(sets[0]) @ rng.standard_normal((4, 2)) > 0).astype(float)
    ours = MultisetCCA(2, ridge=0, **EXACT).fit({"X": sets[0], "labels": Y})
    theirs = CCA(2, reg=0).fit(sets[0], Y).transform(sets[0])
    found = ours.transform({"X": sets[0]})  # new samples have no labels
    for a, b in zip(found.T, theirs.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1, abs=1e-8)


def test_kgha_relaxes_its_constraints(sets):
    """Section 3: the same objective; the relaxed scores leave less unexplained, little less."""
    Y = (centred(sets[0])[:, :3] > 0).astype(float)
    tables = [*sets[:2], Y]
    relaxed = KGHA(2, kernel="linear", ridge=0, trade_off=1, label_ridge=0).fit(sets[:2], Y)
    model = MultisetCCA(2, ridge=0, **EXACT).fit(tables)

    def unexplained(scores):
        bases = [np.linalg.qr(centred(G))[0] for G in tables]
        return sum(np.sum((scores - Q @ (Q.T @ scores)) ** 2) for Q in bases)

    mean = np.mean(list(model.view_scores(tables).values()), axis=0)
    np.testing.assert_allclose(model.object_scores_, mean, atol=1e-12)
    np.testing.assert_allclose(mean.sum(axis=0), 0, atol=1e-12)  # Eq. 11
    least = unexplained(relaxed.object_scores_)
    assert least == pytest.approx(3 * 2 - relaxed.eigenvalues_.sum())
    assert least < unexplained(np.linalg.qr(mean)[0]) < 1.2 * least  # Eq. 12


@pytest.mark.parametrize("wide", [False, True])
def test_kernels_of_inner_products_are_the_linear_form(sets, wide, rng):
    if wide:
        sets = [np.c_[G, 0.1 * rng.standard_normal((60, 70))] for G in sets]
    linear = MultisetCCA(2, ridge=0.5, **EXACT).fit(sets)
    kernels = Views([G @ G.T for G in sets])
    kernel = MultisetCCA(2, ridge=0.5, kernel="precomputed", **EXACT).fit(kernels)
    np.testing.assert_allclose(kernel.transform(kernels), linear.transform(sets), atol=1e-7)
    rbf = MultisetCCA(2, ridge=0.5, kernel="rbf", gamma=0.01).fit(sets)
    np.testing.assert_allclose(rbf.transform(sets), rbf.object_scores_, atol=1e-10)
    assert abs(rbf.transform(sets) - linear.transform(sets)).max() > 1e-3


def test_samples_may_be_missing_in_views(sets):
    holes = [G.copy() for G in sets]
    holes[0][:10], holes[2][50:] = np.nan, np.nan
    model = MultisetCCA(2, ridge=0.5, **EXACT).fit(holes)
    parts = model.view_scores(holes)
    assert np.isnan(parts["view0"][:10]).all()
    Z = [np.nan_to_num(z) for z in parts.values()]
    rows = [~np.isnan(G[:, 0]) for G in holes]
    for j, (G, here) in enumerate(zip(holes, rows, strict=True)):
        others = sum(z for i, z in enumerate(Z) if i != j)[here]
        A = centred(G[here])
        values, V = np.linalg.eigh(A.T @ A + 0.5 * np.eye(A.shape[1]))
        U, _, Vt = np.linalg.svd((A @ V / np.sqrt(values)).T @ centred(others))
        np.testing.assert_allclose((A @ V / np.sqrt(values)) @ U[:, :2] @ Vt, Z[j][here], atol=1e-7)
    both = rows[0] & rows[2]
    wanted = np.corrcoef(Z[0][both, 0], Z[2][both, 0])[0, 1]
    assert model.correlations_[0, 2, 0] == pytest.approx(wanted)
    np.testing.assert_allclose(model.transform(holes)[:10], ((Z[1] + Z[2]) / 2)[:10], atol=1e-12)
    nothing = [np.full_like(G[:2], np.nan) for G in sets]
    np.testing.assert_array_equal(model.transform(nothing), 0)


def test_one_view_alone_has_principal_components_of_unit_length(sets):
    model = MultisetCCA(2).fit(sets[2])
    U = np.linalg.svd(centred(sets[2]))[0][:, :2]
    scores = model.transform(sets[2])
    np.testing.assert_allclose(abs(np.sum(U * scores, axis=0)), np.linalg.norm(scores, axis=0))
    assert model.objective_.tolist() == [0.0]


def test_directions_are_those_that_every_view_has(sets):
    assert MultisetCCA(5).fit(sets).n_components_ == 3
    thin = np.outer(np.arange(60.0), [1, 2, 3])
    model = MultisetCCA(3).fit([sets[0], sets[2], thin])
    assert model.n_components_ == 1
    constant = np.full((60, 2), np.pi)
    for settings in ({}, {"kernel": "rbf"}, {"kernel": "rbf", "ridge": 1e-6}, {"ridge": 0}):
        with pytest.raises(ValueError, match="no direction that all views have: is a view const"):
            MultisetCCA(**settings).fit([sets[0], sets[1], constant])
    with pytest.raises(ValueError, match="2 samples at least"):
        MultisetCCA().fit([G[:1] for G in sets])


@pytest.mark.parametrize("seed", range(5))
def test_dependent_columns_of_a_view_are_no_directions(sets, seed):
    rng = np.random.default_rng(seed)
    thin = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 5))
    assert MultisetCCA(4, ridge=1e-9).fit([sets[0], sets[2], thin]).n_components_ == 2


H = hadamard(8)[:, 1:].astype(float)  # columns without any correlation


@pytest.mark.parametrize(
    ("columns", "p", "wanted"),
    [
        ([[0, 1], [0, 2], [3, 4]], 1, 1.0),  # the third has nothing in common with the others
        ([[0, 1], [1, 2]], 2, 1.0),
        ([[0, 1], [2, 3], [4, 5]], 2, 0.0),
        ([[5, 4], [2, 0, 3], [0, 5, 2]], 2, 1 + np.sqrt(2)),  # of many starts the best
    ],
)
def test_views_without_correlation_have_directions_too(columns, p, wanted):
    model = MultisetCCA(p, ridge=0).fit([H[:, index] for index in columns])
    assert model.n_components_ == p
    assert model.objective_[-1] == pytest.approx(wanted, abs=1e-9)
    Z = model.view_scores([H[:, index] for index in columns]).values()
    for z in Z:
        np.testing.assert_allclose(z.T @ z, np.eye(p), atol=1e-9)


def test_factors_of_a_design_are_uncorrelated(rng):
    a, b = np.divmod(rng.permutation(12), 4)
    model = MultisetCCA(2).fit([np.eye(3)[a], np.eye(4)[b]])
    np.testing.assert_allclose(model.correlations_[0, 1], 0, atol=1e-9)


def test_a_sample_without_any_view_does_not_count(sets):
    more = [np.vstack([G[:30], np.full((1, G.shape[1]), np.nan), G[30:]]) for G in sets]
    model, wanted = (MultisetCCA(2, **EXACT).fit(tables) for tables in (more, sets))
    np.testing.assert_allclose(model.transform(sets), wanted.transform(sets), atol=1e-9)
    np.testing.assert_array_equal(model.object_scores_[30], 0)
    apart = [np.vstack([G, np.full_like(G, np.nan)]) for G in sets[:2]]
    with pytest.raises(ValueError, match="View 'view0' has no sample that another view has"):
        MultisetCCA().fit([apart[0], apart[1][::-1]])
    with pytest.raises(ValueError, match="View 'view1' must be a matrix"):
        MultisetCCA().fit([sets[0], sets[1][:, 0]])


def test_directions_are_in_order_and_signs_fixed(sets, rng):
    sets = [G[rng.permutation(60)] + rng.standard_normal(G.shape) for G in sets]
    model = MultisetCCA(3, ridge=[0.1, 10.0, 100.0], **EXACT).fit(sets)
    Z = list(model.view_scores(sets).values())
    between = sum(Z[i].T @ Z[j] for i in range(3) for j in range(3) if i != j)
    np.testing.assert_allclose(between, np.diag(np.diag(between)), atol=1e-10)
    assert (np.diff(np.diag(between)) < 0).all()
    lead = np.argmax(abs(model.object_scores_), axis=0)
    assert (model.object_scores_[lead, np.arange(3)] > 0).all()


def test_sweeps_that_do_not_converge_warn(sets):
    with pytest.warns(ConvergenceWarning, match=r"last of 1 sweeps still changed .*wanted 1e-12"):
        MultisetCCA(2, n_sweeps=1, tol=1e-12).fit(sets)
    assert len(MultisetCCA(2, n_sweeps=3, tol=0).fit(sets).objective_) == 4


def test_it_can_precede_a_classifier_in_a_pipeline(sets):
    X = np.hstack(sets)
    Y = (centred(sets[0])[:, :3] > 0).astype(int)
    views = {"a": slice(0, 4), "b": slice(4, 7), "c": slice(7, None)}
    model = make_pipeline(MultisetCCA(3, views=views), SharedSubspaceClassifier()).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert list(model[0].get_feature_names_out()) == [f"multisetcca{k}" for k in range(3)]
    np.testing.assert_allclose(
        model[0].transform(X), MultisetCCA(3).fit(sets).transform(sets), atol=1e-12
    )
