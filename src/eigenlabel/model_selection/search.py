"""What the tuned classifiers share: grids in, folds, scorers, tables of results out."""

import numbers
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from eigenlabel.inputs.validation import check_number, is_list_of_splits, take_rows
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.heldout import Fold
from eigenlabel.linalg.ties import ACCURACY, first_largest
from eigenlabel.model_selection import MultilabelStratifiedKFold
from eigenlabel.model_selection.scorers import GridScorer


def to_floats(name: str, values: Any) -> np.ndarray:
    """Return a list of numbers as an array; raise ValueError if it is none or has huge ones."""
    try:
        array = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be a non-empty list of numbers, got {values!r}.")
    for value in array[np.isfinite(array)].tolist():
        check_number(name, value, -np.inf)
    return array


def check_folds(cv: Any) -> Any:
    """Give a splitter for label matrices, stratified for a number; refuse an empty list."""
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
            # An empty list has the type of floats; an empty part is reported where it matters.
            kinds = {part.dtype.kind for part in parts if part.size} if len(parts) == 2 else {"O"}
        except (TypeError, ValueError):
            kinds = {"O"}
        if not kinds <= set("iub"):
            raise ValueError(
                f"cv must hold pairs (train, test) of positions of samples, got an item {split!r}."
            )


def _check_positions(part: np.ndarray, n: int) -> None:
    """Raise ValueError if a part of a split has positions beyond n samples, or another mask."""
    if part.dtype == bool and len(part) != n:
        raise ValueError(f"cv has a mask of {len(part)} samples, but there are {n}.")
    if part.dtype != bool and part.size and (part.max() >= n or part.min() < -n):
        wrong = part.max() if part.max() >= n else part.min()
        raise ValueError(
            f"cv has the position {wrong}, but there are {n} samples: positions must lie below {n}."
        )


def list_folds(
    cv: Any, X: Any, y: Any, metadata: dict[str, Any], codec: LabelCodec, used: np.ndarray
) -> list[Fold]:
    """List the folds over the used rows, training parts that are just the rest as None.

    ``metadata`` goes to the splitter.
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
            raise ValueError("cv gives a split without training samples.")
        rest = np.setdiff1d(np.arange(len(used)), outside)
        complement = len(rest) == len(inside) and np.array_equal(rest, inside)
        folds.append((None if complement else inside, outside))
    if not folds:
        raise ValueError("cv gives no split with test samples.")
    return folds


def make_scorer(
    scoring: Any,
    y: Any,
    codec: LabelCodec,
    Y: np.ndarray,
    used: np.ndarray,
    folds: list[Fold],
    weights: np.ndarray | None,
    observed: np.ndarray | None = None,
    metadata: dict[str, Any] | None = None,
) -> GridScorer:
    """Make the scorer of held-out scores of the rows that some fold tests.

    ``metadata`` goes to a scorer of scikit-learn; None stands for the weights if it takes them.
    """
    fold = np.full(len(used), -1)
    for k, (_, test) in enumerate(folds):
        fold[test] = k
    tested = np.flatnonzero(fold >= 0)
    rows = used[tested]
    target = Y[rows].astype(int) if codec.multilabel else np.asarray(y).reshape(len(Y))[rows]
    if observed is not None:
        target = np.where(observed[rows], target, np.nan)
    return GridScorer(
        scoring,
        codec,
        np.ascontiguousarray(Y[rows].T),
        target,
        fold[tested],
        None if weights is None else weights[rows],
        None if observed is None else np.ascontiguousarray(observed[rows].T),
        None if metadata is None else take_rows(Y, metadata, rows),
    )


def find_best(pooled: np.ndarray, scoring: Any) -> int:
    """Return the first of the best grid points, which go from the simplest to the least simple.

    Figures that differ by no more than rounding are equal.
    """
    if np.isnan(pooled).all():
        raise ValueError(
            f"scoring={scoring!r} is undefined (NaN) at every grid point: the held-out "
            "samples may have too few positives. Use another scoring or fewer folds."
        )
    return int(first_largest(pooled))


def tabulate(
    points: list[tuple[float, ...]], keys: tuple[str, ...], pooled: np.ndarray, split: np.ndarray
) -> dict[str, Any]:
    """Give the results of grid points as GridSearchCV does."""
    results: dict[str, Any] = {
        f"param_{key}": np.array([point[i] for point in points]) for i, key in enumerate(keys)
    }
    results["params"] = [dict(zip(keys, point, strict=True)) for point in points]
    results["pooled_test_score"] = pooled
    slack = ACCURACY * np.abs(pooled)  # equal points share the best rank of them
    results["rank_test_score"] = np.searchsorted(np.sort(-pooled), -pooled - slack) + 1
    if split.shape[1]:
        for k in range(split.shape[1]):
            results[f"split{k}_test_score"] = split[:, k]
        results["mean_test_score"] = split.mean(axis=1)
        results["std_test_score"] = split.std(axis=1)
    return results
