"""The terms of models that are linear in features or in kernel values.

The weights of ML-LS are ``U = A W W' + B (I - W W')`` (Ji et al. 2010): A and B are ridge
regressions and W are the eigenlabels. W diagonalises A'B, so that the first part lies in the shared
subspace and the second part is orthogonal to it. Because ``U W = A W``, the first part is
``U W W'``: the shared part of a label is the sum of the weights of all labels, each times an entry
of ``W W'``. No more than the coefficients and the eigenlabels is needed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels

from eigenlabel.estimators.margin.aso import ASOClassifier
from eigenlabel.inputs.sklearn_private import svm_gamma
from eigenlabel.inspection.affine_transformers import as_matrix
from eigenlabel.inspection.contributions.base import (
    FEATURE,
    TRAINING,
    Terms,
    dense,
    select,
    training_names,
    used_columns,
)
from eigenlabel.inspection.transformed_features import Space
from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.operators import is_sparse


def shared_combinations(model: Any) -> Floats | None:
    """Return the eigenlabels W of a model, or None if labels share nothing.

    With alpha = 0 the model is ridge regression: it has eigenlabels, which nothing depends on.
    """
    alpha = getattr(model, "alpha_", getattr(model, "alpha", None))
    return None if alpha == 0 else getattr(model, "eigenlabels_", None)


@dataclass(frozen=True)
class Coefficients:
    """The coefficients of m labels, ``L R`` with R one row for each label if L is None.

    Attributes
    ----------
    R : (m, d) or (k, d) array or sparse matrix
        The coefficients, or their right factor.
    L : (m, k) array or None
        The left factor.
    intercept : (m,) array
        The intercepts.
    eigenlabels : (m, r) array or None
        The combinations W of labels that share a subspace.
    basis : (r, d) array or None
        A basis of a shared subspace with orthonormal rows, if there are no eigenlabels.
    """

    R: Matrix
    L: Floats | None
    intercept: Floats
    eigenlabels: Floats | None = None
    basis: Floats | None = None

    @classmethod
    def of(cls, model: Any) -> "Coefficients | None":
        """Return the coefficients of a linear model, or None if it has none."""
        W = shared_combinations(model)
        if hasattr(model, "label_weights_") and hasattr(model, "components_"):  # never multiplied
            V = np.asarray(model.label_weights_)
            return cls(model.components_, V.T, np.asarray(model.intercept_, dtype=float), W)
        R = getattr(model, "coef_", None)
        if R is None:
            return None
        R = R if is_sparse(R) else np.atleast_2d(R)
        basis = model.components_ if isinstance(model, ASOClassifier) else None
        given = np.ravel(getattr(model, "intercept_", 0.0)).astype(float)
        return cls(R, None, np.broadcast_to(given, (R.shape[0],)), W, basis)

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return len(self.intercept)

    @property
    def width(self) -> int:
        """The number of features."""
        return int(self.R.shape[1])

    def rows(self, labels: Ints) -> Floats:
        """Return the coefficients (q, d) of some labels."""
        return dense(self.R[labels]) if self.L is None else np.asarray(self.L[labels] @ self.R)

    def at(self, M: Matrix | None, columns: Ints, labels: Ints) -> tuple[Floats, Floats | None]:
        """Return the coefficients (q, c) of named features, and the part in the shared subspace.

        The named features are some columns of M (d, p), or of the features if M is None. Only these
        columns are multiplied.
        """
        every = self.L is not None or self.eigenlabels is not None
        cut = _cut(self.R, None if every else labels, M, columns)
        if self.L is not None:
            weights = np.asarray(self.L[labels] @ cut)
        else:
            weights = cut[labels] if every else cut
        W = self.eigenlabels
        if W is not None:
            right = W.T @ cut if self.L is None else (W.T @ self.L) @ cut
            return weights, np.asarray(W[labels] @ right)
        if self.basis is not None:
            inside = self.rows(labels) @ self.basis.T
            return weights, np.asarray(inside @ _cut(self.basis, None, M, columns))
        return weights, None


def _cut(R: Matrix, rows: Ints | None, M: Matrix | None, columns: Ints) -> Floats:
    """Return some rows of ``R M`` at some columns, in double precision."""
    if M is not None:
        part = M.tocsc()[:, columns] if is_sparse(M) else M[:, columns]
        A = R if rows is None else R[rows]
        return dense((A if is_sparse(A) else np.asarray(A, dtype=float)) @ part)
    if rows is None:
        return dense(R[:, columns])
    return dense(R[rows][:, columns] if is_sparse(R) else R[rows[:, None], columns])


def linear_terms(coefficients: Coefficients, space: Space, labels: Ints) -> Terms:
    """Return the terms of a model that is linear in features.

    Cost: the coefficients of the labels at the features that the samples have; for a shared
    subspace, also those of all labels.
    """
    source = space.named(coefficients.width)
    values = source.values
    assert values is not None
    columns = used_columns(values)
    weights, shared = coefficients.at(source.M, columns, labels)
    n = values.shape[0]
    intercept = coefficients.intercept[labels]
    if source.M is not None:
        intercept = intercept + source.shift @ coefficients.rows(labels).T
    return Terms(
        FEATURE,
        source.names[columns],
        select(values, columns),
        weights,
        np.broadcast_to(intercept, (n, len(labels))),
        shared=shared,
    )


def all_intercepts(coefficients: Coefficients, space: Space) -> Floats:
    """Return the scores (n or 1, m) of all labels at the origin of the named features."""
    source = space.source
    if source is None:
        return coefficients.intercept[None]
    shift = np.asarray(source.shift @ coefficients.R.T)
    if coefficients.L is not None:
        shift = shift @ coefficients.L.T
    return np.asarray(coefficients.intercept + shift)


def is_support_machine(model: Any) -> bool:
    """Return True for a support vector machine of two classes with a named kernel, not linear."""
    return (
        hasattr(model, "support_vectors_")
        and not hasattr(model, "coef_")
        and isinstance(model.kernel, str)
        and np.shape(model.dual_coef_)[0] == 1
    )


def support_terms(model: Any, space: Space, names: Any) -> Terms:
    """Return the terms of a support vector machine with a kernel: its support vectors."""
    X = as_matrix(space.X)
    if model.kernel == "precomputed":
        K = dense(X)[:, model.support_]
    else:
        given = {"gamma": svm_gamma(model), "degree": model.degree, "coef0": model.coef0}
        own = {k: v for k, v in given.items() if k in KERNEL_PARAMS[model.kernel]}
        K = pairwise_kernels(X, model.support_vectors_, metric=model.kernel, **own)
    shown = training_names(names, model.shape_fit_[0])[model.support_]
    intercept = np.full((len(K), 1), float(model.intercept_[0]))
    return Terms(TRAINING, shown, K, dense(model.dual_coef_), intercept)


def dual_terms(model: Any, space: Space, labels: Ints, names: Any) -> Terms:
    """Return the terms of a shared-subspace model with a kernel: its training samples."""
    weights = model._solved().weights
    training = weights.subspace
    X = as_matrix(space.X)
    K = np.asarray(training.kernel.values(X, training.samples, "these samples"), dtype=float)
    W, V = shared_combinations(model), weights.label_weights
    basis = np.asarray(model.dual_coef_ if V is None else training.array, dtype=float)
    own = (basis[:, labels] if V is None else basis @ V[:, labels]).T
    shared = None
    if W is not None:
        shared = np.asarray(W[labels] @ (basis @ (W if V is None else V @ W)).T)
    intercept = np.asarray(model.intercept_, dtype=float)[labels]
    return Terms(
        TRAINING,
        training_names(names, K.shape[1]),
        K,
        own,
        np.broadcast_to(intercept, (len(K), len(labels))),
        shared=shared,
    )
