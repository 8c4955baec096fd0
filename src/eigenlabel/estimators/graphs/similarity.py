"""Similarity graphs: build, scale and add them, and solve with them; sparse ones stay sparse."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.sparse.linalg import cg
from sklearn.exceptions import ConvergenceWarning

from eigenlabel.estimators.views.view_weights import minimise_quadratic
from eigenlabel.inputs.warning import warn
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.kernels.neighbours import nearest_in_strips
from eigenlabel.kernels.rounding import kernel_rounding
from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.machine import check_memory
from eigenlabel.linalg.operators import is_sparse, row_blocks


def nearest_similarities(
    kernel: Kernel, X: Any, Z: Any, k: int, dtype: Any, *, training: bool = False
) -> Matrix:
    """Return the positive kernel values (rows of X, rows of Z) of the k most similar, sparse.

    They are computed in strips. Training samples (X is Z) are not their own neighbours.
    Similarities that differ by no more than rounding, given the ``dtype`` of the data, are equal,
    and the lowest index comes first.
    """
    k = min(k, Z.shape[0] - training)
    parts = []
    for D, found in nearest_in_strips(
        lambda rows: -np.asarray(kernel(X[rows], Z), dtype=float),
        lambda rows: kernel_rounding(kernel, X[rows], Z, dtype),
        row_blocks(X.shape[0], Z.shape[0]),
        k,
        training=training,
    ):
        values = np.maximum(-np.take_along_axis(D, found, axis=1), 0.0)
        pointers = k * np.arange(len(D) + 1)
        parts.append(sp.csr_array((values.ravel(), found.ravel(), pointers), D.shape))
    W = sp.vstack(parts, format="csr")
    W.eliminate_zeros()
    return W


def feature_graph(kernel: Kernel, X: Any, k: int | None, view: str, dtype: Any) -> Matrix:
    """Return the graph of training samples: symmetric, without loops, weights >= 0.

    Two samples are joined if one is among the k most similar of the other; with k None all are.
    """
    if k is not None:
        W = nearest_similarities(kernel, X, X, k, dtype, training=True)
        return W.maximum(W.T).tocsr()
    check_memory(X.shape[0], f"graph of {view}")
    W = np.maximum(np.asarray(kernel(X, X), dtype=float), 0.0)
    np.fill_diagonal(W, 0.0)
    return (W + W.T) / 2


def given_graph(W: Matrix, view: str) -> Matrix:
    """Check a graph that was passed in; return it without loops and negative weights."""
    if is_sparse(W):
        off = abs(W - W.T)
        largest, worst = abs(W).max() if W.nnz else 0.0, off.max() if off.nnz else 0.0
        W = W.maximum(0).tolil()
        W.setdiag(0)
        W = W.tocsr()
        W.eliminate_zeros()
    else:
        largest, worst = np.abs(W).max(initial=0.0), np.abs(W - W.T).max(initial=0.0)
        W = np.maximum(W, 0.0)
        np.fill_diagonal(W, 0.0)
    if worst > largest * np.sqrt(np.finfo(np.float32).eps):
        raise ValueError(
            f"The graph of {view} is not symmetric: weights of one pair differ by {worst:.3g}. "
            "Pass (W + W.T) / 2 if that is what you mean."
        )
    return W


def degrees(W: Matrix) -> Floats:
    """Return the sum of the weights of each row."""
    return np.asarray(W.sum(axis=1), dtype=float).ravel()


def scale_graph(W: Matrix, left: Floats, right: Floats) -> Matrix:
    """Return ``W_ij / sqrt(left_i right_j)``, zero where a degree is."""
    a, b = (1 / np.sqrt(np.where(d > 0, d, np.inf)) for d in (left, right))
    if is_sparse(W):
        return (sp.diags_array(a) @ W @ sp.diags_array(b)).tocsr()
    return a[:, None] * W * b


def place_graph(W: Matrix, rows: Ints, columns: Ints, shape: tuple[int, int]) -> Matrix:
    """Return the graph of some samples as a graph of all of them."""
    if W.shape == shape:
        return W
    if not is_sparse(W):
        full = np.zeros(shape)
        full[np.ix_(rows, columns)] = W
        return full
    W = W.tocoo()
    return sp.csr_array((W.data, (rows[W.row], columns[W.col])), shape=shape)


def add_graphs(graphs: Sequence[Matrix], weights: Floats) -> Matrix:
    """Return the weighted sum of graphs, sparse if all are."""
    if not all(is_sparse(W) for W in graphs):
        graphs = [W.toarray() if is_sparse(W) else W for W in graphs]
    total = weights[0] * graphs[0]
    for W, weight in zip(graphs[1:], weights[1:], strict=True):
        total = total + weight * W
    return total


def simultaneous_weights(graphs: Sequence[Matrix], T: Floats) -> Floats:
    """Return the weights of graphs whose sum is nearest to the agreement of all labels.

    ``min over w >= 0, b:  sum_{i != j} (sum_d w_d W_d[i, j] + b - t_i't_j)^2`` with t the centred
    labels (Mostafavi and Morris 2010): one regression for all labels. Only inner products of graphs
    are needed, which cost their stored entries.
    """
    n = len(T)
    Tc = T - T.mean(axis=0)
    M = np.array([[_inner(V, W) for W in graphs] for V in graphs])
    sums = np.array([float(W.sum()) for W in graphs])
    a = np.array([float(np.sum(Tc * (W @ Tc))) for W in graphs])
    pairs = n * (n - 1)
    # The constant b is eliminated; pairs of a sample with itself do not count.
    return minimise_quadratic(
        M - np.outer(sums, sums) / pairs, a + sums * float(np.sum(Tc**2)) / pairs
    )


def _inner(V: Matrix, W: Matrix) -> float:
    if is_sparse(V):
        return float(V.multiply(W).sum())
    return float(W.multiply(V).sum()) if is_sparse(W) else float(np.sum(V * W))


def solve_positive(A: Matrix, B: Floats, tol: float, max_iter: int) -> tuple[Floats, int]:
    """Solve ``A F = B`` for positive definite A: conjugate gradients if sparse, else Cholesky.

    Return F and the largest number of steps of any column. A warning states the largest relative
    residual if some column does not reach ``tol``.
    """
    if not is_sparse(A):
        return np.asarray(sl.solve(A, B, assume_a="pos")), 1
    precondition = sp.diags_array(1 / A.diagonal())
    F, steps = np.empty_like(B), np.zeros(B.shape[1], dtype=int)

    def count(_: Floats) -> None:
        steps[j] += 1

    for j, b in enumerate(B.T):
        F[:, j], _ = cg(A, b, rtol=tol, maxiter=max_iter, M=precondition, callback=count)
    norms = np.linalg.norm(B, axis=0)
    residual = np.linalg.norm(A @ F - B, axis=0) / np.where(norms > 0, norms, 1.0)
    if residual.max(initial=0.0) > 10 * tol:  # rounding adds to the residual of the iteration
        warn(
            f"Conjugate gradients stopped at a relative residual of {residual.max():.1e} (wanted "
            f"{tol:.0e}): raise max_iter, or tol.",
            ConvergenceWarning,
        )
    return F, max(1, int(steps.max(initial=0)))
