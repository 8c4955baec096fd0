import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeRegressor

from eigenlabel import metrics
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta.blend import forest as module
from eigenlabel.estimators.meta.blend.forest import LabelForest, Trees, densest_columns


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(150, 8, 5, prevalence=0.3, noise=0.3, random_state=0)


def walk(trees, x, root):
    """Return the leaf of one sample in one tree, step by step."""
    node = root
    while trees.feature[node] >= 0:
        low = x[trees.feature[node]] <= trees.threshold[node]
        node = trees.left[node] if low else trees.right[node]
    return trees.left[node]


def in_units(forest, X):
    """Return samples as the trees read them."""
    return ((X - forest.centre_) / forest.scale_).astype(np.float32)


def naive_scores(forest, X, counting=None):
    """Return ``2 p - 1`` with the mean of the shares of labels in the leaves, one by one."""
    V = forest.leaf_labels_.toarray() * forest.n_trees
    out = np.empty((len(X), V.shape[1]))
    for i, x in enumerate(in_units(forest, X)):
        leaves = [walk(forest.trees_, x, root) for root in forest.trees_.roots]
        use = [leaf for t, leaf in enumerate(leaves) if counting is None or counting[i, t]]
        out[i] = 2 * np.mean([V[leaf] for leaf in use], axis=0) - 1
    return out


def test_arrays_are_the_trees_of_scikit_learn(data):
    trees = [
        DecisionTreeRegressor(max_depth=d, random_state=0).fit(data.X, data.Y) for d in (1, 3, None)
    ]
    found = Trees.of([tree.tree_ for tree in trees])
    X = np.ascontiguousarray(data.X, dtype=np.float32)
    leaves = found.leaves(X)
    firsts = np.cumsum([0] + [tree.get_n_leaves() for tree in trees])
    for t, tree in enumerate(trees):
        nodes = tree.apply(X)
        order = np.flatnonzero(tree.tree_.feature < 0)
        np.testing.assert_array_equal(leaves[:, t], firsts[t] + np.searchsorted(order, nodes))
    found.check(8, firsts[-1])


def test_scores_are_the_shares_in_the_leaves(data):
    forest = LabelForest(6, random_state=0).fit(data.X, data.Y)
    new = data.X[:20] + 0.1
    np.testing.assert_allclose(forest._scores(new), naive_scores(forest, new), atol=1e-12)


def test_leaves_hold_the_labels_of_their_bootstrap_sample(data, monkeypatch):
    drawn = []
    draw = module._draw
    monkeypatch.setattr(module, "_draw", lambda *a: drawn.append(draw(*a)) or drawn[-1])
    forest = LabelForest(4, random_state=0).fit(data.X, data.Y)
    V = forest.leaf_labels_.toarray() * 4
    for t, root in enumerate(forest.trees_.roots):
        leaf = np.array([walk(forest.trees_, x, root) for x in in_units(forest, data.X)])
        for one in np.unique(leaf[drawn[t] > 0]):
            inside = leaf == one
            share = np.average(data.Y[inside], axis=0, weights=drawn[t][inside])
            np.testing.assert_allclose(V[one], share, atol=1e-12)
            assert drawn[t][inside].sum() >= 2
    outside = np.stack(drawn, axis=1) == 0
    some = outside.any(axis=1)
    expected = naive_scores(forest, data.X[some], outside[some])
    np.testing.assert_allclose(forest.oof_scores_[some], expected, atol=1e-12)
    np.testing.assert_allclose(
        forest.oof_scores_[~some], np.tile(2 * data.Y.mean(axis=0) - 1, ((~some).sum(), 1))
    )


def test_out_of_bag_scores_are_honest(data, rng):
    noise = rng.integers(0, 2, data.Y.shape)
    forest = LabelForest(60, random_state=0).fit(data.X, noise)
    assert metrics.auc_macro(noise, forest.decision_function(data.X)) > 0.95  # it remembers
    assert metrics.auc_macro(noise, forest.oof_scores_) < 0.65  # and is held out
    true = LabelForest(60, random_state=0).fit(data.X, data.Y)
    assert metrics.auc_macro(data.Y, true.oof_scores_) > 0.75


def test_many_labels_are_combined_at_random(data, monkeypatch):
    monkeypatch.setattr(module, "MOST_TARGETS", 3)
    forest = LabelForest(60, random_state=0).fit(data.X, data.Y)
    assert forest.oof_scores_.shape == data.Y.shape
    assert metrics.auc_macro(data.Y, forest.oof_scores_) > 0.7


def test_sparse_samples_are_the_dense_ones(data):
    X = np.where(np.abs(data.X) > 0.7, data.X, 0.0)
    dense = LabelForest(10, random_state=0).fit(X, data.Y)
    sparse = LabelForest(10, random_state=0).fit(sp.csr_array(X), data.Y)
    np.testing.assert_allclose(sparse.oof_scores_, dense.oof_scores_, atol=1e-12)
    np.testing.assert_allclose(sparse._scores(sp.csr_array(X)), dense._scores(X), atol=1e-12)


def test_the_densest_columns_are_kept():
    X = sp.csr_array(np.array([[1.0, 0, 2, 1], [1, 0, 0, 1], [1, 1, 0, 0]]))
    np.testing.assert_array_equal(densest_columns(X, 2), [0, 3])
    assert densest_columns(X, 4) is None
    assert densest_columns(X.toarray(), 1) is None
    forest = LabelForest(5, max_columns=2, random_state=0).fit(X, np.eye(3, dtype=int))
    np.testing.assert_array_equal(forest.columns_, [0, 3])
    assert forest.decision_function(X).shape == (3, 3)


def test_cells_that_are_not_observed_do_not_count(data, rng):
    Y = data.Y.astype(float)
    hidden = rng.random(Y.shape) < 0.3
    Y[hidden] = np.nan
    Y[:, 4] = np.nan
    forest = LabelForest(60, random_state=0).fit(data.X, Y)
    flipped = np.where(hidden, 1 - data.Y, data.Y)  # what is hidden makes no difference
    flipped[:, 4] = 1 - flipped[:, 4]
    assert np.isfinite(forest.oof_scores_).all()
    np.testing.assert_array_equal(forest.oof_scores_[:, 4], -1.0)
    truth = data.Y[:, :4]
    assert metrics.auc_macro(truth, forest.oof_scores_[:, :4]) > 0.7
    p = (forest.oof_scores_[:, :4].mean(axis=0) + 1) / 2
    np.testing.assert_allclose(p, np.nanmean(Y[:, :4], axis=0), atol=0.1)  # shares are not shrunk


def test_heavy_samples_have_trees_that_have_not_seen_them(data):
    w = np.ones(len(data.X))
    w[:8] = 500.0
    forest = LabelForest(40, random_state=0).fit(data.X, data.Y, sample_weight=w)
    assert not np.isclose(forest.oof_scores_[:8], 2 * forest.prior_ - 1).all(axis=1).any()


def test_weights_that_depend_on_labels_leak_nothing(rng):
    X, y = rng.standard_normal((300, 5)), np.arange(300) < 15
    w = np.where(y, 10.0, 10 / 19)
    forest = LabelForest(60, random_state=0).fit(X, y[:, None].astype(int), sample_weight=w)
    assert metrics.auc_macro(y[:, None], forest.oof_scores_) < 0.75  # 0.96 if weights are chances


@pytest.mark.parametrize(("scale", "shift"), [(1e-8, 0.0), (1.0, 1e8), (1e-3, 1e5), (1e60, 0.0)])
def test_scores_do_not_depend_on_the_units_of_columns(scale, shift, data):
    plain = LabelForest(40, random_state=0).fit(data.X, data.Y)
    moved = LabelForest(40, random_state=0).fit(data.X * scale + shift, data.Y)
    scores = moved.decision_function(data.X * scale + shift)
    # Rounding moves a sample across a threshold here and there.
    assert np.abs(scores - plain.decision_function(data.X)).mean() < 0.01
    assert np.abs(moved.oof_scores_ - plain.oof_scores_).mean() < 0.01


def test_stored_zeros_are_no_entries():
    X = sp.csr_array(np.array([[1.0, 2, 3], [1, 2, 3], [1, 2, 3]]))
    X.data[[0, 3]] = 0.0
    np.testing.assert_array_equal(densest_columns(X, 2), [1, 2])


def test_parallel_jobs_change_nothing(data):
    one = LabelForest(8, random_state=0).fit(data.X, data.Y)
    two = LabelForest(8, random_state=0, n_jobs=2).fit(data.X, data.Y)
    np.testing.assert_array_equal(one.oof_scores_, two.oof_scores_)


@pytest.mark.parametrize("where", ["left", "right", "feature", "roots", "leaf", "short"])
def test_damaged_nodes_are_found(data, where):
    forest = LabelForest(3, random_state=0).fit(data.X, data.Y)
    forest.check_loaded()
    trees = forest.trees_
    inner = np.flatnonzero(trees.feature >= 0)
    if where in ("left", "right"):
        getattr(trees, where)[inner[3]] = inner[3]  # a circle
    elif where == "feature":
        trees.feature[inner[0]] = 8
    elif where == "roots":
        trees.roots[1] = len(trees.feature)
    elif where == "leaf":
        trees.left[np.flatnonzero(trees.feature < 0)[0]] = forest.leaf_labels_.shape[0]
    else:
        object.__setattr__(trees, "threshold", trees.threshold[:-1])
    with pytest.raises(ValueError, match="point outside"):
        forest.check_loaded()


def test_trees_are_grown_as_long_as_there_is_time(rng):
    X = rng.standard_normal((40, 3))
    Y = (X[:, :2] > 0).astype(int)
    asked = []

    def go_on(done):
        asked.append(done)
        return done < 30

    forest = LabelForest(60, random_state=0)
    forest._go_on = go_on
    forest.fit(X, Y)
    assert asked == [10, 20, 30]
    assert len(forest.trees_.roots) == 30
    assert not hasattr(forest, "_go_on")
    # It is the forest of its first trees.
    whole = LabelForest(30, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(forest.trees_.threshold, whole.trees_.threshold)
    np.testing.assert_allclose(forest.oof_scores_, whole.oof_scores_, atol=1e-12)
    np.testing.assert_allclose(forest.decision_function(X), whole.decision_function(X), atol=1e-12)
