"""The task of a blend: checked training data with its folds, and what is known about its form."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.estimators.base import Training
from eigenlabel.estimators.meta.blend.apart import Apart
from eigenlabel.estimators.meta.blend.budget import Budget
from eigenlabel.inputs.data import unmasked
from eigenlabel.inputs.views import Views
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.operators import is_sparse


@dataclass(frozen=True)
class Form:
    """The form of training data, on which the default members and their costs depend.

    Attributes
    ----------
    n : int
        The number of samples.
    d : int
        The number of features, of all views together.
    m : int
        The number of labels.
    stored : float
        The mean number of stored values of a sample, d if X is dense.
    sparse : bool
        Whether X is sparse.
    negative : bool
        Whether X contains negative values.
    constant : bool
        Whether all samples are equal.
    views : bool
        Whether X is several tables.
    joined : bool
        Whether X can be one matrix: one table, or several without missing rows.
    multilabel : bool
        Whether y is a label matrix.
    complete : bool
        Whether half of the samples or more have all labels observed.
    """

    n: int
    d: int
    m: int
    stored: float
    sparse: bool
    negative: bool
    constant: bool
    views: bool
    joined: bool = True
    multilabel: bool = True
    complete: bool = True

    @classmethod
    def of(cls, X: Any, m: int) -> "Form":
        """Return the form of checked samples."""
        n, d = X.shape
        if isinstance(X, Views):
            matrix = join_views(X)
            if matrix is None:
                return cls(n, d, m, d, False, True, False, True, joined=False)
            return replace(cls.of(matrix, m), views=True)
        sparse = bool(sp.issparse(X))
        values = X.data if sparse else X
        low = float(values.min()) if values.size else 0.0
        first = X[:1].toarray() if sparse else X[:1]
        if sparse:
            constant = X.nnz == n * np.count_nonzero(first) and not abs(X - X[[0] * n]).max()
        else:
            constant = bool((first == X).all())
        stored = X.nnz / max(1, n) if sparse else float(d)
        return cls(n, d, m, stored, sparse, low < 0, bool(constant), False)


def join_views(views: Views) -> Any:
    """Return the columns of several tables side by side, or None if a table or a row is missing."""
    tables = [views[name] for name in views.names]
    if any(table is None for table in tables):
        return None
    sparse = any(is_sparse(table) for table in tables)
    matrix: Any
    if sparse:
        matrix = sp.csr_array(sp.hstack([sp.csr_array(table) for table in tables]))
    else:
        matrix = np.hstack([np.asarray(table, dtype=float) for table in tables])
    values = matrix.data if sparse else matrix
    return None if np.isnan(values).any() else matrix


@dataclass(frozen=True)
class BlendTask:
    """What every member is fitted to. All samples have positive weight.

    Attributes
    ----------
    X : array, CSR matrix or Views
        The samples, checked.
    given : array, sparse matrix, frame or Views
        The samples as the user passed them or as they were prepared, for classifiers of the user.
    passed : array, sparse matrix, frame, list or Views
        The samples as the user passed them, for pipelines of the user.
    y : array
        The labels as members get them: a 0/1 matrix with NaN where a label is not observed, or a
        vector of classes.
    Y : (n, m) array of bool
        The label matrix; False where a label is not observed.
    observed : (n, m) array of bool, or None
        The cells that are observed; None if all are.
    weights : (n,) array or None
        The sample weights.
    codec : LabelCodec
        The form of y.
    folds : list of (train, test)
        The folds of held-out scores.
    exchangeable : bool
        Whether samples are independent of each other, so that out-of-bag scores are honest. They
        are not if the user passed groups or folds of his own.
    seed : int
        The seed of random members.
    n_jobs : int or None
        The number of parallel jobs.
    params : callable
        Returns the keyword arguments of ``fit`` of a member of the user, given its name.
    budget : Budget
        The time that is left.
    apart : Apart
        The process for members that may not be ready in time.
    """

    X: Any
    given: Any
    passed: Any
    y: Any
    Y: Bools
    observed: Bools | None
    weights: Floats | None
    codec: LabelCodec
    folds: list[tuple[Ints, Ints]]
    exchangeable: bool
    seed: int
    n_jobs: int | None
    params: Callable[[str], dict[str, Any]]
    budget: Budget
    apart: Apart = field(default_factory=Apart)

    @cached_property
    def matrix(self) -> Any:
        """The samples as one matrix; None if they are several tables with missing rows."""
        return join_views(self.X) if isinstance(self.X, Views) else self.X

    @cached_property
    def form(self) -> Form:
        """The form of the data."""
        complete = float(self.cells.all(axis=1).mean()) >= 0.5
        form = Form.of(self.X, self.Y.shape[1])
        return replace(form, multilabel=self.codec.multilabel, complete=complete)

    def reading(self, X: Floats) -> "BlendTask":
        """Return the same task with other features of the samples."""
        return replace(self, X=X, given=X, passed=X)

    @cached_property
    def cells(self) -> Bools:
        """The cells (n, m) that are observed."""
        return np.ones(self.Y.shape, dtype=bool) if self.observed is None else self.observed

    @property
    def total(self) -> float:
        """The weight of all observed cells, which is their number without sample weights."""
        counts = self.cells.sum(axis=1)
        return float(counts.sum() if self.weights is None else self.weights @ counts)


def without_empty_classes(data: Training, y: Any) -> Training:
    """Return the data with the classes of the samples of positive weight, if y is a vector."""
    used = data.used
    if data.codec.multilabel or len(used) == len(data.Y) or not len(used):
        return data
    codec, part = LabelCodec.fit(np.asarray(unmasked(y)).ravel()[used])
    Y = np.zeros((len(data.Y), part.shape[1]), dtype=bool)
    Y[used] = part
    return replace(data, codec=codec, Y=Y)


def as_counts(weights: Floats | None) -> Floats | None:
    """Return weights whose mean is at least one, so that penalties and priors see all samples."""
    return None if weights is None else weights * max(1.0, len(weights) / float(weights.sum()))
