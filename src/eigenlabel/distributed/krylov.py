"""Fit by products alone, where no d x d matrix fits: conjugate gradients over partitions.

An iteration sends the directions (d x m) to the workers, which return Xc'W Xc of them, added up
in a tree; the samples stay where they are.
"""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from eigenlabel.distributed.cluster import beside_another, dask, reduce_tree, workers_memory
from eigenlabel.inputs.warning import warn
from eigenlabel.labels.targets import signed_targets
from eigenlabel.linalg.factors.bounds import Bounds
from eigenlabel.linalg.factors.krylov import NormalFactor
from eigenlabel.linalg.memory import readable
from eigenlabel.linalg.operators import CentredOperator

SHARE = 0.5  # of the workers' memory that partitions may fill; Dask spills to disk from 0.6 on


@dataclass(frozen=True)
class Survey:
    """Columns and sums of some partitions."""

    number: int  # of the first partition
    model: Any  # that knows the columns, and nothing else
    count: int
    n: float
    x: np.ndarray
    t: np.ndarray
    dtype: Any

    def __add__(self, other: "Survey") -> "Survey":
        with beside_another(other.number, self.number):
            self.model._check_columns(other.model)
        return replace(
            self,
            count=self.count + other.count,
            n=self.n + other.n,
            x=self.x + other.x,
            t=self.t + other.t,
            dtype=np.result_type(self.dtype, other.dtype),
        )


def _survey(model: Any, X: Any, y: Any, weight: Any, classes: Any, number: int) -> Survey | None:
    if not X.shape[0]:
        return None
    part = clone(model)
    block = part._first_block(X, y, classes, weight, f"Partition {number}")
    w = np.ones(len(block.Y)) if block.weights is None else block.weights
    x = np.asarray(block.X.T @ w, dtype=float)
    sums = (float(w.sum()), x, w @ signed_targets(block.Y))
    return Survey(number, part, len(block.Y), *sums, block.X.dtype)


def _add_surveys(parts: list[Survey | None]) -> Survey | None:
    found = [part for part in parts if part is not None]
    return reduce(lambda a, b: a + b, found) if found else None


def _operator(model: Any, X: Any, y: Any, weight: Any, mean: np.ndarray) -> Any:
    """Check a partition and give its operator about the mean of all, and its targets."""
    if not X.shape[0]:
        return None
    block = model._check_block(X, y, weight, model._codec)
    operator = CentredOperator.about(block.X, mean)
    operator.weights = block.weights
    return operator, signed_targets(block.Y)


def _right_side(part: Any, mean: np.ndarray) -> tuple[np.ndarray, ...] | None:
    if part is None:
        return None
    operator, T = part
    Tc = T - mean
    w = operator.weights
    return (operator.rmatmat(Tc if w is None else w[:, None] * Tc),)


def _normal(part: Any, P: np.ndarray) -> tuple[np.ndarray, ...] | None:
    return None if part is None else part[0].normal(P)


def _column_squares(part: Any) -> tuple[np.ndarray, ...] | None:
    return None if part is None else (part[0].column_squares(),)


def _add(parts: list[Any]) -> Any:
    found = [part for part in parts if part is not None]
    return tuple(sum(each[1:], each[0]) for each in zip(*found, strict=True)) if found else None


class Partitions:
    """The operator of all partitions, as far as conjugate gradients need it."""

    def __init__(self, parts: list[Any], shape: tuple[int, int], mean: np.ndarray) -> None:
        self.parts, self.shape, self.mean = parts, shape, mean

    def normal(self, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give Xc'W Xc P and the column sums of squares of Xc P; one round over the workers."""
        module = dask()
        task, directions = module.delayed(_normal), module.delayed(P)
        found = module.compute(reduce_tree(_add, [task(part, directions) for part in self.parts]))
        return found[0]

    def column_squares(self) -> np.ndarray:
        """Sum the squares of each column of Xc; one round."""
        module = dask()
        task = module.delayed(_column_squares)
        return module.compute(reduce_tree(_add, [task(part) for part in self.parts]))[0][0]


class PartitionedFactor(NormalFactor):
    """Conjugate gradients over partitions; targets are combinations (m, k) of the labels."""

    def __init__(
        self,
        operator: Partitions,
        XT: np.ndarray,
        mean: np.ndarray,
        total: float,
        centre: bool,
        bounds: Bounds,
    ) -> None:
        super().__init__(operator, total, centre, bounds)
        self._XT, self._mean = XT, mean

    def right_side(self, T: np.ndarray) -> np.ndarray:
        """Return ``Xc'W Tc`` of combined targets."""
        return np.asarray(self._XT @ T)

    def target_means(self, T: np.ndarray) -> np.ndarray:
        """Return the means of combined targets, zero without centring."""
        return np.asarray(self._mean @ T)


def _bytes(X: Any) -> float:
    """Return the memory of a partition and of the copy that a conversion to floats makes."""
    if sp.issparse(X):
        return 2.0 * 16 * X.nnz  # at most a value and an index of eight bytes each
    return 2.0 * 8 * float(np.size(X))


def keep_partitions(
    blocks: list[Any], ys: list[Any], weights: list[Any]
) -> tuple[list[Any], list[Any], list[Any], bool]:
    """Persist the partitions, which every iteration needs, if they fit; the last is whether.

    The first one is built alone, to estimate the memory of all.
    """
    module = dask()
    columns = [blocks, ys] if weights[0] is None else [blocks, ys, weights]
    first = module.persist(*(column[0] for column in columns))
    for column, one in zip(columns, first, strict=True):
        column[0] = one
    needed = len(blocks) * module.compute(module.delayed(_bytes)(first[0]))[0]
    limit = SHARE * workers_memory()
    if needed > limit:
        warn(
            f"The partitions need about {readable(needed)}, more than the {readable(limit)} that "
            "may be kept, half of the workers' memory: they are built again in every iteration. "
            "Add workers, or use smaller types such as float32 or sparse blocks."
        )
        return blocks, ys, weights, False
    kept = iter(module.persist(*(one for column in columns for one in column)))
    for column in columns:
        column[:] = [next(kept) for _ in column]
    return blocks, ys, weights, True


def fit_by_products(model: Any, columns: list[list[Any]], classes: Any, kept: bool) -> Any:
    """Return a fitted clone of the model; ``columns`` are the parts of X, y and weights.

    The lists are emptied: only what the iterations need stays in memory.
    """
    module = dask()
    empty = module.delayed(clone(model))
    survey = module.delayed(_survey)
    partitions = list(zip(*columns, strict=True))
    parts = [survey(empty, *part, classes, k) for k, part in enumerate(partitions, 1)]
    found = module.compute(reduce_tree(_add_surveys, parts))[0]
    if found is None or found.n <= 0:
        return None
    for column in columns:
        column.clear()
    return _solve(module, found, partitions, model.fit_intercept, kept)


def _solve(module: Any, found: Survey, partitions: list[Any], centre: bool, kept: bool) -> Any:
    means = (found.x / found.n, found.t / found.n)
    if not centre:
        means = tuple(np.zeros_like(mean) for mean in means)
    fitted = clone(found.model)
    vars(fitted).update(vars(found.model))
    columns, mean = module.delayed(found.model), module.delayed(means[0])
    make, right = module.delayed(_operator), module.delayed(_right_side)
    parts = [make(columns, *part, mean) for part in partitions]
    partitions.clear()
    if kept:  # the operators hold the samples; the partitions behind them are let go
        parts = list(module.persist(*parts))
    XT = module.compute(reduce_tree(_add, [right(part, means[1]) for part in parts]))[0][0]
    operator = Partitions(parts, (found.count, len(means[0])), means[0])
    solver = fitted._solver()
    bounds = Bounds(solver.tol, solver.max_iter, solver.limit)
    factor = PartitionedFactor(operator, XT, means[1], found.n, centre, bounds)
    fitted._fit_known(factor, len(means[1]), found.dtype)
    return fitted
