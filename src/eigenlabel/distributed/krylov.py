"""Fit by products alone if no d x d matrix fits in memory: conjugate gradients over partitions.

An iteration sends the directions P (d x m) to the workers. They return ``Xc'W Xc P``, which is
summed in a tree. The samples are not sent.
"""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from sklearn.base import clone

from eigenlabel.distributed.cluster import beside_another, dask, reduce_tree, workers_memory
from eigenlabel.estimators.subspace.classifier import SharedSubspaceClassifier
from eigenlabel.estimators.subspace.coefficients import Domain
from eigenlabel.estimators.subspace.solve import SubspaceSolution, choose_rank, solve
from eigenlabel.estimators.subspace.stream import Columns, placed
from eigenlabel.inputs.parameters import check_parameters
from eigenlabel.inputs.warning import warn
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.labels.codec import signed_targets
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.krylov import Bounds, NormalFactor
from eigenlabel.linalg.machine import readable
from eigenlabel.linalg.operators import CentredOperator, is_sparse

SHARE = 0.5  # of the workers' memory that partitions may fill; Dask spills to disk from 0.6 on

Part = tuple[CentredOperator, Floats]  # the operator of a partition, and its targets


@dataclass(frozen=True)
class Survey:
    """The columns and sums of some partitions.

    Attributes
    ----------
    number : int
        The number of the first partition.
    columns : Columns
        The features and labels.
    count : int
        The number of samples.
    n : float
        Their total weight.
    x : (d,) array
        The weighted sums of the features.
    t : (m,) array
        The weighted sums of the targets.
    dtype : dtype
        The precision of the features.
    """

    number: int
    columns: Columns
    count: int
    n: float
    x: Floats
    t: Floats
    dtype: Any

    def __add__(self, other: "Survey") -> "Survey":
        """Return the survey of both; ValueError is raised if their columns differ."""
        with beside_another(other.number, self.number):
            self.columns.check_same(other.columns)
        return replace(
            self,
            count=self.count + other.count,
            n=self.n + other.n,
            x=self.x + other.x,
            t=self.t + other.t,
            dtype=np.result_type(self.dtype, other.dtype),
        )

    def means(self, centre: bool) -> tuple[Floats, Floats]:
        """Return the means of features and targets, zero without centring."""
        if not centre:
            return np.zeros_like(self.x), np.zeros_like(self.t)
        return self.x / self.n, self.t / self.n


def _survey(
    model: SharedSubspaceClassifier, X: Any, y: Any, weight: Any, classes: Any, number: int
) -> Survey | None:
    """Check a partition and return its columns and sums; None if it has no samples."""
    if not X.shape[0]:
        return None
    part = clone(model)
    with placed(f"Partition {number}", X):
        columns = Columns.learn(part, X, y, classes)
        block = columns.check_block(part, X, y, weight)
    w = np.ones(len(block.Y)) if block.weights is None else block.weights
    x = np.asarray(block.X.T @ w, dtype=float)
    t = w @ signed_targets(block.Y)
    return Survey(number, columns, len(block.Y), float(w.sum()), x, t, block.X.dtype)


def _add_surveys(parts: list[Survey | None]) -> Survey | None:
    found = [part for part in parts if part is not None]
    return reduce(lambda a, b: a + b, found) if found else None


def _operator(
    model: SharedSubspaceClassifier, columns: Columns, X: Any, y: Any, weight: Any, mean: Floats
) -> Part | None:
    """Check a partition; return its operator about the mean of all samples, and its targets."""
    if not X.shape[0]:
        return None
    part = clone(model)
    columns.store(part)
    block = columns.check_block(part, X, y, weight)
    operator = CentredOperator.about(block.X, mean)
    operator.weights = block.weights
    return operator, signed_targets(block.Y)


def _right_side(part: Part | None, mean: Floats) -> tuple[Floats, ...] | None:
    """Return ``Xc'W Tc`` of a partition."""
    if part is None:
        return None
    operator, T = part
    Tc = T - mean
    w = operator.weights
    return (operator.rmatmat(Tc if w is None else w[:, None] * Tc),)


def _normal(part: Part | None, P: Floats) -> tuple[Floats, ...] | None:
    return None if part is None else part[0].normal(P)


def _column_squares(part: Part | None) -> tuple[Floats, ...] | None:
    return None if part is None else (part[0].column_squares(),)


def _add(parts: list[Any]) -> Any:
    """Return the sums of tuples of arrays, without partitions that have no samples."""
    found = [part for part in parts if part is not None]
    return tuple(sum(each[1:], each[0]) for each in zip(*found, strict=True)) if found else None


class Partitions:
    """The operator of all partitions, with the products that conjugate gradients need."""

    def __init__(self, parts: list[Any], shape: tuple[int, int], mean: Floats) -> None:
        self.parts, self.shape, self.mean = parts, shape, mean

    def normal(self, P: Floats) -> tuple[Floats, Floats]:
        """Return ``Xc'W Xc P`` and the column sums of squares of Xc P; one round."""
        module = dask()
        task, directions = module.delayed(_normal), module.delayed(P)
        found = module.compute(reduce_tree(_add, [task(part, directions) for part in self.parts]))
        products: tuple[Floats, Floats] = found[0]
        return products

    def column_squares(self) -> Floats:
        """Return the sum of squares of each column of Xc; one round over the workers."""
        module = dask()
        task = module.delayed(_column_squares)
        found = module.compute(reduce_tree(_add, [task(part) for part in self.parts]))
        return np.asarray(found[0][0])


class PartitionedFactor(NormalFactor):
    """Conjugate gradients over partitions; targets are combinations (m, k) of the labels."""

    def __init__(
        self,
        operator: Partitions,
        XT: Floats,
        mean: Floats,
        total: float,
        centre: bool,
        bounds: Bounds,
    ) -> None:
        super().__init__(operator, total, centre, bounds)
        self._XT, self._mean = XT, mean

    def right_side(self, T: Floats) -> Floats:
        """Return ``Xc'W Tc`` of combined targets."""
        return np.asarray(self._XT @ T)

    def target_means(self, T: Floats) -> Floats:
        """Return the means of combined targets, zero without centring."""
        return np.asarray(self._mean @ T)


def _bytes(X: Any) -> float:
    """Return the memory of a partition and of the copy that a conversion to floats makes."""
    if is_sparse(X):
        return 2.0 * 16 * float(X.nnz)  # at most a value and an index of eight bytes each
    return 2.0 * 8 * float(np.size(X))


def keep_partitions(
    blocks: list[Any], ys: list[Any], weights: list[Any]
) -> tuple[list[Any], list[Any], list[Any], bool]:
    """Keep the partitions, which every iteration needs, in the memory of the workers if they fit.

    The first one is built alone, to estimate the memory of all. The last value that is returned
    says whether the partitions fit.
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


def fit_by_products(
    model: SharedSubspaceClassifier, parts: list[list[Any]], classes: Any, kept: bool
) -> tuple[Columns, SubspaceSolution]:
    """Return the columns and the solution of partitions, given as parts of X, y and weights.

    The lists are emptied, so that only what the iterations need stays in memory. ``kept`` says
    whether the partitions fit in the memory of the workers.
    """
    check_parameters(model)
    module = dask()
    empty, survey = module.delayed(clone(model)), module.delayed(_survey)
    partitions = list(zip(*parts, strict=True))
    surveys = [survey(empty, *part, classes, k) for k, part in enumerate(partitions, 1)]
    found: Survey | None = module.compute(reduce_tree(_add_surveys, surveys))[0]
    if found is None or found.n <= 0:
        raise ValueError("No partition of X has samples.")
    for each in parts:
        each.clear()
    factor = _factorise(model, found, partitions, kept)
    m = len(found.t)
    point = model.alpha, model.beta, choose_rank(model.n_components, m)
    domain = Domain(Kernel("linear"), found.dtype)
    return found.columns, solve(factor, np.eye(m), point, domain)


def _factorise(
    model: SharedSubspaceClassifier, found: Survey, partitions: list[Any], kept: bool
) -> PartitionedFactor:
    """Return the factor of all partitions, and empty their list."""
    module = dask()
    centre = model.fit_intercept
    x, t = found.means(centre)
    empty, columns, mean = (module.delayed(a) for a in (clone(model), found.columns, x))
    make, right = module.delayed(_operator), module.delayed(_right_side)
    parts = [make(empty, columns, *part, mean) for part in partitions]
    partitions.clear()
    if kept:  # the operators hold the samples, and the partitions behind them can be discarded
        parts = list(module.persist(*parts))
    XT = module.compute(reduce_tree(_add, [right(part, t) for part in parts]))[0][0]
    operator = Partitions(parts, (found.count, len(x)), x)
    solver = model._make_solver()
    bounds = Bounds(solver.tol, solver.max_iter, solver.limit)
    return PartitionedFactor(operator, XT, t, found.n, centre, bounds)
