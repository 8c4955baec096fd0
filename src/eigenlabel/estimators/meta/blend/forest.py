"""A forest whose trees are plain arrays, with out-of-bag scores of all labels.

Multi-output trees of scikit-learn store the shares of all labels in every node. Here a leaf stores
the labels that its training samples have, as a row of a sparse matrix, and the tree itself is five
vectors. Such a forest is small for many labels, and a model file can hold it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils import check_random_state

from eigenlabel.estimators.base import Training
from eigenlabel.estimators.meta.blend.base import OwnMember
from eigenlabel.inputs.parameters import COUNT, CheckedBy, Jobs, Number, Parameters
from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix
from eigenlabel.linalg.operators import row_blocks

MOST_TARGETS = 30  # more labels are projected to as many random combinations (Joly et al. 2014)
MOST_DRAWN = 20_000  # samples that a tree is grown on
LARGEST = float(np.finfo(np.float32).max)  # larger values of new samples are cut to it
BATCH = 10  # trees that are grown between two looks at the clock; a forest has at least as many


@dataclass(frozen=True)
class Trees:
    """The nodes of all trees, one after the other.

    Attributes
    ----------
    roots : (T,) array of int
        The first node of each tree.
    feature : (N,) array of int
        The feature that an inner node compares, -1 for a leaf.
    threshold : (N,) array
        The value up to which samples go left.
    left : (N,) array of int
        The node on the left, or the number of the leaf.
    right : (N,) array of int
        The node on the right.
    """

    roots: Ints
    feature: Any
    threshold: Floats
    left: Any
    right: Any

    @classmethod
    def of(cls, trees: list[Any]) -> "Trees":
        """Return the nodes of fitted trees of scikit-learn."""
        sizes = [tree.node_count for tree in trees]
        roots = np.r_[0, np.cumsum(sizes)[:-1]].astype(np.intp)
        feature = np.concatenate([tree.feature for tree in trees]).astype(np.int32)
        leaf = feature < 0
        feature[leaf] = -1
        threshold = np.concatenate([tree.threshold for tree in trees])
        threshold[leaf] = 0.0
        left, right = (
            np.concatenate([getattr(t, side) + r for t, r in zip(trees, roots, strict=True)])
            for side in ("children_left", "children_right")
        )
        left[leaf], right[leaf] = np.arange(np.count_nonzero(leaf)), 0
        return cls(roots, feature, threshold, left.astype(np.int32), right.astype(np.int32))

    def check(self, n_features: int, n_leaves: int) -> None:
        """Raise ValueError unless every path ends in a leaf that exists.

        The arrays may come from a file. Children that come after their parents exclude circles.
        """
        n = len(self.feature)
        inner = np.flatnonzero(self.feature >= 0)
        children = np.stack([self.left[inner], self.right[inner]])
        fine = (
            len({len(self.threshold), len(self.left), len(self.right), n}) == 1
            and n > 0
            and self.feature.max() < n_features
            and bool((children > inner).all() and (children < n).all())
            and bool(((self.roots >= 0) & (self.roots < n)).all())
        )
        leaves = self.left[self.feature < 0] if fine else np.zeros(1, dtype=int) - 1
        if not fine or leaves.min() < 0 or leaves.max() >= n_leaves:
            raise ValueError("the nodes of a forest point outside of it")

    def leaves(self, X: Floats) -> Ints:
        """Return the leaf (n, T) that each sample of a dense float32 X reaches in each tree."""
        n, T = len(X), len(self.roots)
        at = np.tile(self.roots, n)
        row = np.repeat(np.arange(n), T)
        moving = np.flatnonzero(self.feature[at] >= 0)
        while moving.size:
            node = at[moving]
            low = X[row[moving], self.feature[node]] <= self.threshold[node]
            node = np.where(low, self.left[node], self.right[node])
            at[moving] = node
            moving = moving[self.feature[node] >= 0]
        return np.asarray(self.left[at].reshape(n, T))


class LabelForest(OwnMember):
    """Average randomised trees over all labels at once, with out-of-bag scores.

    Each tree is grown on a bootstrap sample. Half of the trees split at random thresholds
    (extra-trees, Geurts et al. 2006), half at the best ones (random forests, Breiman 2001): the two
    kinds err differently. Splits minimise the variance of the labels, which is the Gini impurity
    averaged over labels; more than 30 labels are replaced by 30 random combinations of them (Joly
    et al. 2014). The score of a label is 2 p - 1, with p its share in the leaves of a sample.
    Columns are scaled before they become single precision numbers, which are too coarse for a small
    spread beside a large mean.

    Parameters
    ----------
    n_trees : int, default=150
        The number of trees.
    min_samples_leaf : int, default=2
        The smallest number of samples of a leaf.
    max_columns : int, default=2000
        Of a sparse X, the trees see this number of columns at most, those with most entries.
    max_features : float, default=1.0
        The number of features that are compared in a node, in units of the square root of their
        number.
    n_jobs : int or None, default=None
        The number of trees that are grown in parallel.
    random_state : int, RandomState instance or None, default=None
        Determines the bootstrap samples, the splits and the combinations of labels.

    Attributes
    ----------
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The scores by the trees that have not seen the sample.
    columns_ : ndarray of shape (n_columns,) or None
        The columns that the trees see; None for all.
    centre_ : ndarray of shape (n_columns,)
        What is subtracted from them; zeros for a sparse X.
    scale_ : ndarray of shape (n_columns,)
        What they are divided by.
    trees_ : Trees
        The nodes of the trees.
    leaf_labels_ : sparse matrix of shape (n_leaves, n_labels)
        The share of each label in each leaf, divided by the number of trees.
    leaf_missing_ : sparse matrix of shape (n_leaves, n_labels) or None
        The same for labels that are not observed.
    prior_ : ndarray of shape (n_labels,)
        The share of each label among all samples.
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels, or the classes of a vector y.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has string names.
    """

    _parameters: ClassVar[Parameters] = {
        "n_trees": COUNT,
        "min_samples_leaf": COUNT,
        "max_columns": COUNT,
        "max_features": Number(0, above=True),
        "n_jobs": Jobs(),
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
    }

    def __init__(
        self,
        n_trees: int = 150,
        *,
        min_samples_leaf: int = 2,
        max_columns: int = 2000,
        max_features: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.min_samples_leaf = min_samples_leaf
        self.max_columns = max_columns
        self.max_features = max_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, data: Training) -> None:
        rng = check_random_state(self.random_state)
        n, m = data.Y.shape
        self.columns_ = densest_columns(data.X, self.max_columns)
        self.centre_, self.scale_ = _units(self._chosen(data.X))
        X = self._dense(data.X)
        w = np.ones(n) if data.weights is None else data.weights
        seen = np.ones((n, m), dtype=bool) if data.observed is None else data.observed
        totals = np.maximum(w @ seen, np.finfo(float).tiny)
        self.prior_ = (w @ (data.Y & seen)) / totals
        T = _targets(data.Y, seen, self.prior_, rng)
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_trees)
        found, drawn = self._grow_all(X, T, w, seeds)
        self.trees_ = Trees.of([tree for tree, _ in found])
        firsts = np.cumsum([0] + [int((tree.feature < 0).sum()) for tree, _ in found])
        leaves = self.trees_.left[
            np.stack([at + r for (_, at), r in zip(found, self.trees_.roots, strict=True)], axis=1)
        ]  # (n, T)
        counts = np.stack(drawn, axis=1)
        self.leaf_labels_ = _leaf_shares(leaves, counts, data.Y & seen, int(firsts[-1]))
        self.leaf_missing_ = None
        if data.observed is not None:
            self.leaf_missing_ = _leaf_shares(leaves, counts, ~seen, int(firsts[-1]))
        self.oof_scores_ = self._average(leaves, counts == 0)

    def _grow_all(
        self, X: Floats, T: Floats, w: Floats, seeds: Ints
    ) -> tuple[list[tuple[Any, Ints]], list[Floats]]:
        """Return the trees with the nodes of all samples, and how often they drew each sample.

        If ``_go_on`` is set, a function of the number of trees that are grown, it decides after
        each batch of trees whether there is time for another one.
        """
        go_on = self.__dict__.pop("_go_on", None)
        found: list[tuple[Any, Ints]] = []
        drawn: list[Floats] = []
        step = len(seeds) if go_on is None else BATCH
        for first in range(0, len(seeds), step):
            if first and not go_on(first):
                break
            some = seeds[first : first + step]
            bags = [w * _draw(len(w), np.random.RandomState(seed)) for seed in some]
            found += Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(_grow)(X, T, c, self._tree(first + k, int(seed), X.shape[1]))
                for k, (c, seed) in enumerate(zip(bags, some, strict=True))
            )
            drawn += bags
        return found, drawn

    def _tree(self, k: int, seed: int, d: int) -> Any:
        """Return tree number k, not grown."""
        kind = ExtraTreeRegressor if k % 2 == 0 else DecisionTreeRegressor
        share = min(1.0, self.max_features / np.sqrt(d))
        return kind(
            min_samples_leaf=self.min_samples_leaf,
            max_features=max(1, round(share * d)),
            random_state=seed,
        )

    def _dense(self, X: Matrix) -> Floats:
        """Return the columns that the trees see, as scikit-learn's trees read them."""
        part = self._chosen(X)
        dense = np.empty(part.shape, dtype=np.float32)
        for rows in row_blocks(*part.shape):
            block = part[rows].toarray() if hasattr(part, "toarray") else part[rows]
            dense[rows] = np.clip((block - self.centre_) / self.scale_, -LARGEST, LARGEST)
        return dense

    def _chosen(self, X: Matrix) -> Any:
        """Return the columns that the trees see."""
        return X if self.columns_ is None else X[:, self.columns_]

    def _average(self, leaves: Ints, counting: Bools | None = None) -> Floats:
        """Return the scores (n, m) by the leaves (n, T), of the trees that count."""
        n, T = leaves.shape
        size = self.leaf_labels_.shape[0]
        weights = np.ones((n, T)) if counting is None else counting.astype(float)
        L = sp.csr_array((weights.ravel(), leaves.ravel(), np.arange(0, n * T + 1, T)), (n, size))
        total = weights.sum(axis=1, keepdims=True) / T
        found = np.asarray((L @ self.leaf_labels_).toarray())
        if self.leaf_missing_ is not None:
            total = total - np.asarray((L @ self.leaf_missing_).toarray())
        known = total > 1e-9  # no tree has an observed label: the share of all samples
        p = np.where(known, found / np.where(known, total, 1.0), self.prior_)
        return np.asarray(2.0 * p - 1.0)

    def _scores(self, X: Any) -> Floats:
        parts = [
            self._average(self.trees_.leaves(self._dense(X[rows])))
            for rows in row_blocks(X.shape[0], self._width(X))
        ]
        return np.concatenate(parts)

    def _width(self, X: Any) -> int:
        """Return the numbers that exist at once for one sample."""
        columns = X.shape[1] if self.columns_ is None else len(self.columns_)
        return int(4 * len(self.trees_.roots) + columns + 3 * len(self.prior_))

    def check_loaded(self) -> None:
        """Raise ValueError if the nodes of a forest that a file held are damaged."""
        width = self.n_features_in_ if self.columns_ is None else len(self.columns_)
        if self.centre_.shape != (width,) or self.scale_.shape != (width,):
            raise ValueError("the columns of a forest have no units")
        self.trees_.check(width, self.leaf_labels_.shape[0])


def densest_columns(X: Any, most: int) -> Ints | None:
    """Return the columns of a sparse X that have most entries, or None if all are kept."""
    if not hasattr(X, "indices") or X.shape[1] <= most:
        return None
    counts = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    return np.sort(np.argsort(-counts, kind="stable")[:most])


def _units(X: Any) -> tuple[Floats, Floats]:
    """Return what is subtracted from columns, and what they are divided by.

    These are mean and standard deviation, or, in a sparse X, zero and the largest value.
    """
    sparse = hasattr(X, "toarray")
    largest = abs(X).max(axis=0).toarray() if sparse else np.abs(X).max(axis=0)
    peak = np.ravel(largest).astype(float)
    peak[peak == 0] = 1.0
    if sparse:
        return np.zeros(len(peak)), peak
    unit = X / peak  # squares stay within range
    centre, spread = unit.mean(axis=0), unit.std(axis=0)
    return centre * peak, np.where(spread > 0, spread, 1.0) * peak


def _targets(Y: Bools, seen: Bools, prior: Floats, rng: Any) -> Floats:
    """Return the targets of the trees: centred labels, or random combinations of many."""
    T = np.where(seen, Y - prior, 0.0)
    if Y.shape[1] <= MOST_TARGETS:
        return np.ascontiguousarray(T)
    R = rng.standard_normal((Y.shape[1], MOST_TARGETS)) / np.sqrt(MOST_TARGETS)
    return np.ascontiguousarray(T @ R)


def _draw(n: int, rng: Any) -> Floats:
    """Return how often each sample is in a bootstrap sample.

    Weights of samples are no chances to be drawn: a heavy sample would be in every bag, and have no
    trees for its out-of-bag scores.
    """
    drawn = rng.choice(n, size=min(n, MOST_DRAWN))
    return np.bincount(drawn, minlength=n).astype(float)


def _grow(X: Floats, T: Floats, counts: Floats, tree: Any) -> tuple[Any, Ints]:
    """Grow a tree; return its nodes, and the node that each sample reaches."""
    tree.fit(X, T, sample_weight=counts, check_input=False)  # samples of weight 0 are left out
    return tree.tree_, tree.tree_.apply(X)


def _leaf_shares(leaves: Ints, counts: Floats, cells: Bools, size: int) -> Any:
    """Return the share of the samples of each leaf whose cells are set (size, m), over T."""
    n, T = leaves.shape
    used = counts > 0
    sample = np.broadcast_to(np.arange(n)[:, None], (n, T))[used]
    A = sp.csr_array((counts[used], (leaves[used], sample)), shape=(size, n))
    total: Floats = np.asarray(A.sum(axis=1)).ravel()
    scale = sp.diags_array(1.0 / (T * np.maximum(total, np.finfo(float).tiny)))
    return sp.csr_array(scale @ A @ sp.csr_array(cells.astype(float)))
