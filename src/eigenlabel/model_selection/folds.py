"""Folds: the training and test rows of a splitter, checked before any work."""

import numbers
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from eigenlabel.inputs.parameters import check_number
from eigenlabel.inputs.sklearn_private import is_list_of_splits
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Ints
from eigenlabel.linalg.heldout import Fold
from eigenlabel.model_selection.splits import MultilabelStratifiedKFold


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


def _check_positions(part: Ints, n: int) -> None:
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
    passed to the splitter. Folds without test samples are left out.
    """
    cv = 5 if cv is None else cv
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
            _check_positions(np.asarray(part), len(position))
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
