"""Scores of samples on which several views agree: eigenvectors of a sum of hat matrices.

KGHA (Xiong et al.) looks for scores X of the samples that every view predicts well:

    min over X, W_j, b_j:  sum_j w_j (|M_j X - Phi_j W_j - 1 b_j'|^2 + c_j |W_j|^2)

M_j selects the samples that view j has. At the best W_j and b_j, a term is the trace of
``X'M_j'(I - H_j)M_j X``. Let ``D = sum_j w_j M_j'M_j``, scaled so that a sample that every view
has counts one. The constraints are ``1'D X = 0`` and ``X'D X = I``, which are Eqs. 11 and 12 of
Xiong et al. if every view has all samples. The minimum is at the top eigenvectors of
``D^-1/2 (sum_j w_j M_j'H_j M_j) D^-1/2`` in the complement of ``D^1/2 1``. The alternating least
squares of Xiong et al. are orthogonal iteration with this matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.hats import Hat
from eigenlabel.linalg.numerics import (
    EPS,
    descending_eigh,
    fix_signs,
    positive_count,
    positive_qr,
    significant,
    turn_equal,
)

DENSE = 800  # samples up to which LAPACK finds all eigenvectors faster than Lanczos' method a few
DEPENDENT = 1e-12  # share of the whole below which a direction is rounding


@dataclass(frozen=True)
class Term:
    """One view in the sum of hat matrices."""

    hat: Hat
    weight: float
    rows: Ints | None = None  # the samples that the view has; None if it has all


class HatSum:
    """``D^-1/2 (sum_j w_j M_j'H_j M_j) D^-1/2`` in the complement of ``D^1/2 1``, as products.

    Parameters
    ----------
    n : number of samples
    terms : the views; at least one has every sample and a positive weight

    Attributes
    ----------
    coverage : (n,) diagonal of D
    constant : (n, 1) ``D^1/2 1``, scaled to unit length
    total : sum of the weights, an upper bound on the eigenvalues
    """

    def __init__(self, n: int, terms: Sequence[Term]) -> None:
        self.n, self.total = n, float(sum(term.weight for term in terms))
        self.coverage = np.zeros(n)
        self._terms: list[Term] = []
        self._sum: Floats | None = None  # weighted sum of the hats that are dense
        for term in terms:
            self.coverage[_all_or(term.rows)] += term.weight / self.total
            if term.weight:
                self._terms.append(term)
        self._root = np.sqrt(self.coverage)[:, None]
        self.constant = self._root / np.linalg.norm(self._root)

    def fold(self) -> None:
        """Add up the hats that are dense, so that a product costs n^2, not n^2 for each view."""
        loose = []
        for term in self._terms:
            H = term.hat.dense()
            if H is None:
                loose.append(term)
                continue
            if self._sum is None:
                self._sum = np.zeros((self.n, self.n))
            H *= term.weight
            if term.rows is None:
                self._sum += H
            else:
                self._sum[np.ix_(term.rows, term.rows)] += H
        self._terms = loose

    def root(self) -> Floats | None:
        """Return A (n, k) with ``A A'`` equal to the operator, or None if 2 k would exceed n."""
        widths = [term.hat.rank for term in self._terms]
        if self._sum is not None or None in widths:
            return None
        total = sum(width + 1 for width in widths if width is not None)
        if 2 * total > self.n:
            return None
        A = np.zeros((self.n, total))
        start = 0
        for term in self._terms:
            F = term.hat.root()
            A[_all_or(term.rows), start : start + F.shape[1]] = np.sqrt(term.weight) * F
            start += F.shape[1]
        return self.project(A[:, :start] / self._root)

    def project(self, Z: Floats) -> Floats:
        """Project Z (n, k) on the complement of ``D^1/2 1``."""
        return np.asarray(Z - self.constant @ (self.constant.T @ Z))

    def matmat(self, Z: Floats) -> Floats:
        """Apply the operator to Z (n, k)."""
        X = self.project(Z) / self._root
        out = np.zeros_like(X) if self._sum is None else self._sum @ X
        for term in self._terms:
            rows = _all_or(term.rows)
            out[rows] += term.weight * term.hat.apply(X[rows])
        return self.project(out / self._root)

    def scores(self, Z: Floats) -> Floats:
        """Turn eigenvectors into scores X with ``1'D X = 0`` and ``X'D X = I``."""
        return np.asarray(Z / self._root)


def _all_or(rows: Ints | None) -> "Ints | slice":
    return slice(None) if rows is None else rows


def top_eigenvectors(P: HatSum, p: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the p largest eigenvalues, descending, and their eigenvectors Z (n, p).

    If all hats have a root and the roots have few columns together, the eigenproblem is as small
    as that. Otherwise LAPACK solves problems with few samples or many eigenvectors, and Lanczos'
    method all others, from products alone. Eigenvalues that are zero up to rounding are left out.
    If all eigenvectors are known, those of equal eigenvalues are chosen by ``turn_equal``.
    """
    A = P.root()
    if A is None:
        P.fold()
    if A is not None:
        values, V = np.linalg.eigh(A.T @ A)
        positive = significant(values, len(values) * EPS)
        values, V = values[positive], V[:, positive]
        values, Z = _last(values, A @ (V / np.sqrt(values)), p)
    elif P.n <= DENSE or 5 * p > P.n:
        values, Z = _all_at_once(P, p)
    else:
        operator = LinearOperator(
            (P.n, P.n),
            matvec=lambda z: P.matmat(z.reshape(-1, 1))[:, 0],
            matmat=P.matmat,
            dtype=np.float64,
        )
        start = P.project(rng.standard_normal((P.n, 1)))[:, 0]
        try:
            values, Z = eigsh(operator, p, which="LA", v0=start, ncv=min(P.n, 2 * p + 20))
        except ArpackError:  # many equal eigenvalues, for example of projections
            values, Z = _all_at_once(P, p)
    order = np.argsort(values)[::-1]
    keep = values[order] > P.total * P.n * EPS
    return values[order][keep], _orthonormal(P, fix_signs(Z[:, order][:, keep]))


def _all_at_once(P: HatSum, p: int) -> tuple[Floats, Floats]:
    M = P.matmat(np.eye(P.n))
    M -= P.total * P.constant @ P.constant.T  # moves the excluded direction to the other end
    return _last(*np.linalg.eigh((M + M.T) / 2), p)


def _last(values: Floats, Z: Floats, p: int) -> tuple[Floats, Floats]:
    """Return the last p of all ascending eigenvalues, and their eigenvectors."""
    return values[-p:], turn_equal(values[::-1], Z[:, ::-1])[:, :p][:, ::-1]


def _orthonormal(P: HatSum, Z: Floats) -> Floats:
    """Orthonormalise Z in the complement, so that the constraints hold up to rounding."""
    for _ in range(2):  # twice because of cancellation
        Z, _ = positive_qr(P.project(Z))
    return Z


@dataclass(frozen=True)
class Sweeps:
    """The result of alternating least squares.

    Attributes
    ----------
    values : (p,) Ritz values, descending
    Z : (n, p) orthonormal basis of the subspace
    objective : (sweeps + 1,) objective before the first sweep and after each
    change : sine of the largest angle by which the last sweep turned the subspace
    """

    values: Floats
    Z: Floats
    objective: Floats
    change: float


def alternate(P: HatSum, p: int, n_sweeps: int, tol: float, rng: np.random.Generator) -> Sweeps:
    """Alternate between the regressions of the views and the scores.

    These are Eqs. 26, 27 and 15 of Xiong et al. Each sweep is one step of orthogonal iteration,
    which never increases the objective ``p sum_j w_j - tr(Z'P Z)``. The iteration ends when the
    subspace changes by less than ``tol``, or after ``n_sweeps``.
    """
    P.fold()
    Z = _orthonormal(P, rng.standard_normal((P.n, p)))
    objective, change = [], np.inf
    PZ = P.matmat(Z)
    for _ in range(n_sweeps):
        objective.append(P.total * p - float(np.einsum("ij,ij->", Z, PZ)))
        new = _orthonormal(P, PZ)
        change = float(np.linalg.norm(new - Z @ (Z.T @ new), 2))
        Z = new
        PZ = P.matmat(Z)
        if change < tol:
            break
    objective.append(P.total * p - float(np.einsum("ij,ij->", Z, PZ)))
    values, V = descending_eigh(Z.T @ PZ)
    keep = positive_count(np.maximum(values, 0.0))
    return Sweeps(values[:keep], fix_signs(Z @ V[:, :keep]), np.array(objective), change)


@dataclass(frozen=True)
class Matched:
    """The result of multiple-set canonical correlation analysis.

    Attributes
    ----------
    targets : list of (n_j, p); the canonical variates of set j are ``H_j targets_j``
    objective : (sweeps + 1,) sum over pairs of tr(Z_i'Z_j), before the first sweep and after each
    change : relative change of the variates in the last sweep
    """

    targets: list[Floats]
    objective: Floats
    change: float


def match_sets(n: int, terms: Sequence[Term], X: Floats, n_sweeps: int, tol: float) -> Matched:
    """Find the variates ``Z_j = Phi_j W_j`` of each set that agree best, starting from scores X.

    max over W: sum over pairs of tr(Z_i'Z_j),  W_j'(Phi_j'Phi_j + c_j I)W_j = I

    If the other sets are fixed and S is their centred sum, the best variates are the polar factor
    ``Z_j = H_j S (S'H_j S)^-1/2``, from products with the hat matrix alone. If S has no part in
    some directions of the set, these are arbitrary. The weights of the terms are ignored. The
    number of variates is reduced to what every set has.
    """
    sets = [(term.hat, _all_or(term.rows)) for term in terms]
    found = [_best_targets(hat, X[rows], X[rows]) for hat, rows in sets]
    while X.shape[1] and any(one is None for one in found):
        X = X[:, :-1]
        found = [_best_targets(hat, X[rows], X[rows]) for hat, rows in sets]
    targets = [one for one in found if one is not None]
    p = X.shape[1]
    Z = [_variates(n, hat, rows, B) for (hat, rows), B in zip(sets, targets, strict=True)]
    objective, change = [_pair_agreement(Z)], 0.0
    if len(sets) == 1 or not p:
        return Matched(targets, np.array(objective), change)
    for _ in range(n_sweeps):
        change = 0.0
        for j, (hat, rows) in enumerate(sets):
            B = _best_targets(hat, (sum(Z) - Z[j])[rows], targets[j])
            assert B is not None  # the directions it had before are available
            new = _variates(n, hat, rows, B)
            change = max(change, float(np.linalg.norm(new - Z[j])) / np.sqrt(p))
            Z[j], targets[j] = new, B
        objective.append(_pair_agreement(Z))
        if change < tol:
            break
    total = np.sum(Z, axis=0)
    turn = descending_eigh(total.T @ total - sum(z.T @ z for z in Z))[1]
    signs = np.sign(np.einsum("ij,ij->j", total @ turn, fix_signs(total @ turn)))
    return Matched([B @ (signs * turn) for B in targets], np.array(objective), change)


def _best_targets(hat: Hat, S: Floats, before: Floats) -> Floats | None:
    """Return B, as wide as S, with ``B'H B = I`` and the largest ``tr(B'H S)``.

    If S has too few directions of the set, those of ``before`` are added, or random ones. Returns
    None if the set has fewer directions than S has columns.
    """
    Sc = S - S.mean(axis=0)
    M = Sc.T @ hat.apply(Sc)
    values, V = np.linalg.eigh((M + M.T) / 2)
    there = values > max(DEPENDENT * values.max(initial=0.0), hat.rounding * np.sum(Sc**2))
    B = np.zeros_like(Sc)
    B[:, there] = Sc @ (V[:, there] / np.sqrt(values[there]))
    if not there.all():
        more = _complete(hat, B[:, there], before, int(np.count_nonzero(~there)))
        if more is None:
            return None
        U, _, Wt = np.linalg.svd(hat.apply(more).T @ before @ V[:, ~there])
        B[:, ~there] = more @ U @ Wt  # rotated to be as close to before as possible
    return np.asarray(B @ V.T)


def _complete(hat: Hat, B: Floats, before: Floats, k: int) -> Floats | None:
    """Return k columns T with ``T'H T = I`` and ``T'H B = 0``, or None if there are fewer than k.

    They are combinations of the columns of ``before`` if possible, else of random ones.
    """
    width = B.shape[1] + k
    for C in (before, np.random.default_rng(0).standard_normal((len(B), width))):
        T = C - C.mean(axis=0)
        size = np.einsum("ij,ij->", T, hat.apply(T))
        for _ in range(2):  # twice because of cancellation
            T = T - B @ (B.T @ hat.apply(T))
        values, V = descending_eigh(T.T @ hat.apply(T))
        if values[k - 1] > max(DEPENDENT * size, hat.rounding * np.sum(C**2)):
            return np.asarray(T @ (V[:, :k] / np.sqrt(values[:k])))
    return None


def _variates(n: int, hat: Hat, rows: "Ints | slice", B: Floats) -> Floats:
    Z = np.zeros((n, B.shape[1]))
    Z[rows] = hat.apply(B)
    return Z


def _pair_agreement(Z: Sequence[Floats]) -> float:
    total = np.sum(Z, axis=0)
    return float((np.sum(total**2) - sum(np.sum(z**2) for z in Z)) / 2)
