"""Splits that keep the share of each label, and the folds of any splitter."""

import math
import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit, check_cv
from sklearn.utils import check_random_state, indexable

from eigenlabel.inputs.parameters import check_number
from eigenlabel.inputs.sklearn_private import is_list_of_splits, take_labels, take_rows
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.heldout import Fold

SWEEPS = 3  # passes over all groups that balance a random order
SMALLEST_GAIN = 1e-12  # squared shares; a smaller gain of a move is rounding


def _label_set_ids(Y: Bools) -> Ints:
    """Number the distinct rows of a boolean matrix."""
    packed = np.packbits(Y, axis=1)
    rows = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1])))[:, 0]
    return np.unique(rows, return_inverse=True)[1].ravel()


def _apportion(count: int, wanted: Floats, room: Ints) -> Ints:
    """Divide ``count`` samples among the parts, by their demand and within their room."""
    share = np.zeros(len(wanted), dtype=int)
    whole = np.minimum(np.maximum(np.floor(wanted), 0), room).astype(int)
    while whole.sum() > count:  # the demand exceeds the supply: scale it down
        whole = np.floor(whole * count / whole.sum()).astype(int)
    share += whole
    for _ in range(count - int(share.sum())):
        open_parts = share < room
        lack = np.where(open_parts, wanted - share, -np.inf)
        # Of parts with equal demand, the one with the most room.
        best = np.flatnonzero(lack >= lack.max() - 1e-9)
        share[best[np.argmax((room - share)[best])]] += 1
    return share


def _deal(Y: Bools, sizes: Ints, rng: np.random.RandomState) -> Ints:
    """Return the part (n,) of each row of Y, for parts of given sizes that keep label shares."""
    n, m = Y.shape
    ratio = sizes / n
    part = np.full(n, -1)
    room = sizes.astype(int)
    wanted = np.outer(Y.sum(axis=0), ratio)  # (m, parts)
    shuffle = rng.permutation(n)
    sets = _label_set_ids(Y)
    left = Y.sum(axis=0).astype(float)
    for _ in range(m):
        j = int(np.argmin(np.where(left > 0, left, np.inf)))
        if left[j] <= 0:
            break
        rows = shuffle[(part[shuffle] < 0) & Y[shuffle, j]]
        rows = rows[np.argsort(sets[rows], kind="stable")]
        share = _apportion(len(rows), wanted[j], room)
        # Spread each part evenly along the rows, so that equal label sets go to all parts.
        position = np.concatenate([(np.arange(s) + rng.uniform()) / max(s, 1) for s in share])
        owner = np.repeat(np.arange(len(sizes)), share)[np.argsort(position, kind="stable")]
        part[rows] = owner
        room = room - share
        dealt = Y[rows]
        for k in range(len(sizes)):
            wanted[:, k] -= dealt[owner == k].sum(axis=0)
        left -= dealt.sum(axis=0)
    rest = shuffle[part[shuffle] < 0]  # rows without labels fill the remaining room
    part[rest] = np.repeat(np.arange(len(sizes)), room)[: len(rest)]
    return part


def _deal_groups(Y: Bools, groups: Any, ratio: Floats, rng: np.random.RandomState | None) -> Ints:
    """Return the part (n,) of each row; each group goes to the part that lacks its labels most.

    Without ``rng`` the groups are assigned from the largest to the smallest. With it they are
    assigned in random order, and groups are moved afterwards to restore the balance.
    """
    _, group = np.unique(groups, return_inverse=True)
    n_groups = group.max() + 1
    k = len(ratio)
    if n_groups < k:
        raise ValueError(f"{k} folds need at least {k} groups, got {n_groups}: use fewer folds.")
    # The last column counts the samples, so that parts have the wanted sizes.
    counts = np.zeros((n_groups, Y.shape[1] + 1))
    np.add.at(counts, group, np.column_stack([Y, np.ones(len(Y))]))
    share = counts / np.maximum(counts.sum(axis=0), 1)
    order = (rng or np.random.RandomState(0)).permutation(n_groups)
    if rng is None:
        order = order[np.argsort(-share[order].sum(axis=1), kind="stable")]
    filled = np.zeros((len(ratio), share.shape[1]))
    owner = np.empty(n_groups, dtype=int)
    for i, g in enumerate(order):
        gain = _gains(share[g], filled, ratio)
        empty = ~filled[:, -1].astype(bool)
        if n_groups - i <= empty.sum():  # the last groups go to the empty parts
            gain = np.where(empty, gain, -np.inf)
        owner[g] = int(gain.argmax())
        filled[owner[g]] += share[g]
    if rng is not None:
        _move_groups(owner, share, filled, ratio, order)
    return owner[group]


def _gains(share: Floats, filled: Floats, ratio: Floats) -> Floats:
    """Return how much a group lowers the squared distance of each part from its wanted shares.

    Products and sums are elementwise or along rows, so that every machine computes equal numbers.
    """
    return np.asarray(((2 * (ratio[:, None] - filled) - share) * share).sum(axis=1))


def _move_groups(owner: Ints, share: Floats, filled: Floats, ratio: Floats, order: Ints) -> None:
    """Move groups, in place, to parts that lack their labels more; no part becomes empty."""
    held = np.bincount(owner, minlength=len(ratio))
    for _ in range(SWEEPS):
        moved = False
        for g in order:
            old = owner[g]
            if held[old] == 1:
                continue
            filled[old] -= share[g]
            gain = _gains(share[g], filled, ratio)
            new = int(gain.argmax())
            if gain[new] <= gain[old] + SMALLEST_GAIN:
                new = old
            filled[new] += share[g]
            held[old] -= 1
            held[new] += 1
            owner[g] = new
            moved = moved or new != old
        if not moved:
            break


def _cover_training(part: Ints, Y: Bools, other: int) -> None:
    """Swap rows, in place, so that the training part 0 has every label of another part.

    A row of the other part with a missing label is swapped with a training row whose labels all
    occur elsewhere in training. If there is no such row, the training part grows by one.
    """
    inside = Y[part == 0].sum(axis=0)
    for j in np.flatnonzero((inside == 0) & Y[part == other].any(axis=0)):
        if inside[j]:
            continue  # an earlier swap added it
        row = np.flatnonzero((part == other) & Y[:, j])[0]
        spare = np.flatnonzero(part == 0)
        free = spare[(~Y[spare] | (inside + Y[row] > 1)).all(axis=1)]
        part[row] = 0
        inside = inside + Y[row]
        if free.size:
            part[free[0]] = other
            inside = inside - Y[free[0]]


def _spread_labels(part: Ints, Y: Bools, k: int) -> None:
    """Swap rows between folds, in place, so that no label has all its positives in one fold.

    Each swap lowers the number of such labels, so the procedure ends. Labels with one positive are
    not counted.
    """
    Y = Y[:, Y.sum(axis=0) > 1]
    total = Y.sum(axis=0)
    counts = np.stack([Y[part == f].sum(axis=0) for f in range(k)])
    for f, j in np.argwhere(counts == total):
        if counts[f, j] < total[j]:
            continue  # an earlier swap moved a positive
        for a in np.flatnonzero((part == f) & Y[:, j]):
            b = _partner(int(a), part, Y, counts, total)
            if b is not None:
                change = Y[b].astype(int) - Y[a]
                counts[f] += change
                counts[part[b]] -= change
                part[a], part[b] = part[b], f
                break


def _partner(a: int, part: Ints, Y: Bools, counts: Ints, total: Ints) -> int | None:
    """Return a row of another fold to swap with row a, or None."""
    others = np.flatnonzero(part != part[a])
    change = Y[others].astype(int) - Y[a]
    mine, theirs = counts[part[a]], counts[part[others]]
    before = (mine == total).sum() + (theirs == total).sum(axis=1)
    after = (mine + change == total).sum(axis=1) + (theirs - change == total).sum(axis=1)
    better = np.flatnonzero(after < before)
    return int(others[better[0]]) if better.size else None


class _LabelSplitter:
    """The labels of a splitter, and its request for groups."""

    __metadata_request__split = {"groups": True}  # noqa: RUF012

    @staticmethod
    def _labels(X: Any, y: Any, groups: Any) -> tuple[Bools, Any]:
        if y is None:
            raise ValueError("The 'y' parameter should not be None: the splits follow the labels.")
        X, y, groups = indexable(X, y, groups)
        return LabelCodec.fit_observed(y)[1], None if groups is None else np.asarray(groups)


class MultilabelStratifiedKFold(_LabelSplitter, BaseCrossValidator):  # type: ignore[misc]
    """Split samples into k folds that keep every label's share of positives.

    Labels with two or more positives have one outside each fold, so that a model can be trained on
    them, if swaps of pairs of rows can achieve that; with very few rows and very many labels they
    may not. A label with a single positive is missing once, when its sample is held out. Cells of
    y that are not observed (NaN) do not count as positives. With ``groups``, the samples of a
    group stay together, and shares are kept as well as the groups allow. With scikit-learn's
    metadata routing the splitter requests ``groups`` by default.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds, at least 2.
    shuffle : bool, default=False
        Whether samples are assigned in random order. Without shuffling, equal labels are split in
        the same way every time.
    random_state : int, RandomState instance or None, default=None
        The seed of the random order.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.model_selection import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1]])
    >>> [int(Y[test, 1].sum()) for _, test in MultilabelStratifiedKFold(2).split(Y, Y)]
    [1, 1]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Return the number of folds.

        Parameters
        ----------
        X : object, default=None
            Ignored; it exists for compatibility.
        y : object, default=None
            Ignored; it exists for compatibility.
        groups : object, default=None
            Ignored; it exists for compatibility.

        Returns
        -------
        n_splits : int
            The number of folds.
        """
        return self.n_splits

    def _iter_test_masks(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[Bools]:
        check_number("n_splits", self.n_splits, 2, integer=True)
        Y, groups = self._labels(X, y, groups)
        n, k = len(Y), self.n_splits
        if n < k:
            raise ValueError(f"{k} folds need at least {k} samples, got {n}: choose fewer folds.")
        rng = check_random_state(self.random_state) if self.shuffle else None
        if groups is None:
            sizes = np.full(k, n // k) + (np.arange(k) < n % k)
            part = _deal(Y, sizes, rng or np.random.RandomState(0))
            _spread_labels(part, Y, k)
        else:
            part = _deal_groups(Y, groups, np.full(k, 1 / k), rng)
        for i in range(k):
            yield part == i


class MultilabelStratifiedShuffleSplit(_LabelSplitter, BaseShuffleSplit):  # type: ignore[misc]
    """Draw random training and test parts that keep every label's share of positives.

    Each label that occurs has a positive in the training part, as in the protocol of Ji et al.
    (2010). With ``groups``, the samples of a group stay together, and labels may be missing in
    training. With scikit-learn's metadata routing the splitter requests ``groups`` by default.

    Parameters
    ----------
    n_splits : int, default=10
        The number of draws.
    test_size : float, int or None, default=None
        The share or the number of test samples. None is the rest of the training samples, or 0.1
        if ``train_size`` is None too.
    train_size : float, int or None, default=None
        The share or the number of training samples. None is the rest of the test samples. Samples
        in neither part are left out.
    random_state : int, RandomState instance or None, default=None
        The seed of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.model_selection import MultilabelStratifiedShuffleSplit
    >>> Y = np.eye(5, dtype=int).repeat(4, axis=0)
    >>> split = MultilabelStratifiedShuffleSplit(1, test_size=0.25, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for _, test in split.split(Y, Y)]
    [[1, 1, 1, 1, 1]]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: Any = None,
        train_size: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_splits=n_splits, test_size=test_size, train_size=train_size, random_state=random_state
        )

    def _iter_indices(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Ints, Ints]]:
        Y, groups = self._labels(X, y, groups)
        n = len(Y)
        n_train, n_test = _split_sizes(n, self.train_size, self.test_size)
        rng = check_random_state(self.random_state)
        sizes = np.array([n_train, n_test, n - n_train - n_test])
        for _ in range(self.n_splits):
            if groups is None:
                part = _deal(Y, sizes, rng)
                for other in (1, 2):
                    _cover_training(part, Y, other)
            else:
                used = sizes[sizes > 0]
                part = np.flatnonzero(sizes > 0)[_deal_groups(Y, groups, used / n, rng)]
            yield (
                rng.permutation(np.flatnonzero(part == 0)),
                rng.permutation(np.flatnonzero(part == 1)),
            )


def _split_sizes(n: int, train_size: Any, test_size: Any) -> tuple[int, int]:
    """Return the numbers of training and test samples."""

    def samples(name: str, size: Any, rounding: Any) -> int | None:
        if size is None:
            return None
        if isinstance(size, numbers.Integral):
            check_number(name, size, 1, n - 1, integer=True)
            return int(size)
        check_number(name, size, 0, 1)
        return int(rounding(size * n))

    test = samples("test_size", test_size, np.ceil)
    train = samples("train_size", train_size, np.floor)
    if test is None:
        test = int(np.ceil(0.1 * n)) if train is None else n - train
    if train is None:
        train = n - test
    if train < 1 or test < 1 or train + test > n:
        raise ValueError(
            f"train_size={train_size} and test_size={test_size} of {n} samples are {train} "
            f"training and {test} test samples: both must be at least 1, their sum at most {n}."
        )
    return train, test


def check_folds(cv: Any) -> Any:
    """Return the splitter of label matrices that ``cv`` stands for.

    A number of folds is a :class:`MultilabelStratifiedKFold`. An empty list of splits, and a list
    that holds anything but pairs of positions, raises ValueError.
    """
    if isinstance(cv, numbers.Integral):
        check_number("cv", cv, 2, integer=True)
        return MultilabelStratifiedKFold(int(cv))
    cv = check_cv(cv)
    if is_list_of_splits(cv):
        if not cv.get_n_splits():
            raise ValueError("cv is empty: pass a number of folds, a splitter or a list of splits.")
        _check_splits(cv)
    return cv


def _check_splits(cv: Any) -> None:
    """Raise ValueError if a list of splits holds anything but pairs of positions or masks."""
    for split in cv.cv:
        try:
            parts = [np.asarray(part) for part in split]
            # An empty list has the dtype float; an empty part is reported where it matters.
            kinds = {part.dtype.kind for part in parts if part.size} if len(parts) == 2 else {"O"}
        except (TypeError, ValueError):
            kinds = {"O"}
        if not kinds <= set("iub"):
            raise ValueError(
                f"cv must hold pairs (train, test) of positions of samples, got an item {split!r}."
            )


def check_positions(part: Ints, n: int) -> None:
    """Raise ValueError if a part of a split does not fit n samples."""
    if part.dtype == bool and len(part) != n:
        raise ValueError(f"cv has a mask of {len(part)} samples, but there are {n}.")
    if part.dtype != bool and part.size and (part.max() >= n or part.min() < -n):
        wrong = part.max() if part.max() >= n else part.min()
        raise ValueError(
            f"cv has the position {wrong}, but there are {n} samples: positions must lie below {n}."
        )


def list_folds(
    cv: Any, X: Any, y: Any, metadata: dict[str, Any], codec: LabelCodec, used: Ints
) -> list[Fold]:
    """Return the folds over the used rows.

    A training part that consists of all used rows outside the test part is None. ``metadata`` is
    passed to the splitter. Folds without test samples are left out. The folds of a number, which
    follow the labels, do not depend on rows that are not used; a splitter of the user splits all
    rows.
    """
    cv = 5 if cv is None else cv
    if isinstance(cv, numbers.Integral) and len(used) < X.shape[0]:
        metadata, y = take_rows(X, metadata, used), take_labels(y, used)
        X, used = np.zeros((len(used), 1)), np.arange(len(used))
    by_class = not codec.multilabel and metadata.get("groups") is None
    if isinstance(cv, numbers.Integral) and by_class:
        check_number("cv", cv, 2, integer=True)
        cv = check_cv(int(cv), y, classifier=True)
    else:
        cv = check_folds(cv)
    position = np.full(X.shape[0], -1)
    position[used] = np.arange(len(used))
    folds: list[Fold] = []
    for train, test in cv.split(X, y, **metadata):
        for part in (train, test):
            check_positions(np.asarray(part), len(position))
        inside, outside = position[train], position[test]
        inside, outside = np.sort(inside[inside >= 0]), np.unique(outside[outside >= 0])
        if not outside.size:
            continue
        if not inside.size:
            raise ValueError("cv has a split without training samples.")
        rest = np.setdiff1d(np.arange(len(used)), outside)
        complement = len(rest) == len(inside) and np.array_equal(rest, inside)
        folds.append((None if complement else inside, outside))
    if not folds:
        raise ValueError("cv has no split with test samples.")
    return folds


def draw_aside(
    n: int, share: float, random_state: Any = None, groups: Any = None
) -> tuple[Ints, Ints]:
    """Return the samples that are used and those that are kept aside, drawn without regard to y.

    Each set of samples of the same size is equally likely, as exchangeability demands: a split
    that keeps the shares of labels would make the parts more alike than new samples are.

    Parameters
    ----------
    n : int
        The number of samples.
    share : float
        The share that is kept aside, rounded up to a whole number of samples, or of groups.
    random_state : int, RandomState instance or None, default=None
        The seed.
    groups : array-like of shape (n_samples,), default=None
        The groups of the samples, which are kept together.
    """
    if groups is None:
        owner, word = np.arange(n), "samples"
    else:
        owner, word = np.unique(np.asarray(groups), return_inverse=True)[1].ravel(), "groups"
    count = int(owner.max(initial=-1)) + 1
    aside = math.ceil(share * count - SMALLEST_GAIN)
    if aside >= count:
        raise ValueError(
            f"split={share} keeps {aside} of {count} {word} aside, which leaves none to fit to: "
            f"use a smaller share or more {word}."
        )
    kept = np.zeros(count, dtype=bool)
    kept[check_random_state(random_state).permutation(count)[:aside]] = True
    return np.flatnonzero(~kept[owner]), np.flatnonzero(kept[owner])
