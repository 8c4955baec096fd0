"""Kernel matrices that do not fit in memory: low-rank approximations, and products by strips.

``K ~ U diag(values) U'`` with ``U = Q E``: Q is block diagonal with orthonormal columns, a Nystrom
basis for each block of samples, and E mixes the blocks. With one block this is the Nystrom method,
with several it is MEKA (Si et al. 2014), whose ``Q S Q'`` is Eq. 32 of Xiong et al. (KGHA). Both
are also explicit features with ``z(x)'z(y) ~ k(x, y)`` for any linear method.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.numerics import EPS, descending_eigh, significant
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.linalg.ties import SAFETY

KernelFunction = Callable[[Matrix, Matrix], Floats]
OVERSAMPLING = 4  # rows of a block, for each basis vector, that link it to the other blocks
ROUNDS = 10  # rounds in which landmarks are drawn
# Eigenvalues below this share of the largest are left out. Dividing by the root of an eigenvalue
# amplifies rounding; at this share the errors of the result are as large as the share itself, so
# that a sample that is a combination of others is never mistaken for a new one.
FLOOR = float((SAFETY * EPS) ** (2 / 3))


class BlockKernel:
    """The kernel matrix of samples as products; each product computes it again, by strips.

    Parameters
    ----------
    kernel : symmetric function of two matrices that returns the kernel values of their rows
    X : (n, d) samples, dense or CSR
    """

    def __init__(self, kernel: KernelFunction, X: Matrix) -> None:
        self._kernel, self._X = kernel, X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[0])

    def matmat(self, B: Floats) -> Floats:
        """Return K B; n^2 / 2 kernel values, of which BLOCK_BYTES are held at once."""
        n = self.shape[0]
        out = np.zeros((n, B.shape[1]))
        for rows in row_blocks(n, n):
            strip = np.asarray(self._kernel(self._X[rows], self._X[rows.start :]), dtype=float)
            out[rows] += strip @ B[rows.start :]
            # The part to the right of the diagonal block is also the part below it.
            out[rows.stop :] += strip[:, rows.stop - rows.start :].T @ B[rows]
        return out


@dataclass(frozen=True)
class NystromBlock:
    """Some samples and the Nystrom basis ``Q = k(X, landmarks) A`` of their kernel matrix."""

    rows: Ints  # (size,)
    chosen: Ints  # (l,), positions of the landmarks among the rows
    landmarks: Matrix  # (l, d)
    Q: Floats  # (size, k), orthonormal columns
    A: Floats  # (l, k)
    values: Floats  # (k,), descending: K of the block is about Q diag(values) Q'

    def truncated(self, k: int) -> "NystromBlock":
        """Keep the first k basis vectors."""
        parts = self.Q[:, :k], self.A[:, :k], self.values[:k]
        return NystromBlock(self.rows, self.chosen, self.landmarks, *parts)


@dataclass(frozen=True)
class LowRankKernel:
    """``K ~ U diag(values) U'``, where ``U = Q E - 1 offset'`` has orthonormal columns.

    Attributes
    ----------
    kernel : function of two matrices that returns the kernel values of their rows
    blocks : samples with their part of Q
    E : (k, r), rows in the order of the basis vectors of the blocks
    values : (r,) eigenvalues of the approximation, descending, positive
    offset : (r,), zero unless centred
    clipped : share of ``S`` (in Frobenius norm) that is negative and left out
    """

    kernel: KernelFunction
    blocks: Sequence[NystromBlock]
    E: Floats
    values: Floats
    offset: Floats
    clipped: float = 0.0

    @property
    def n(self) -> int:
        """The number of samples."""
        return sum(len(block.rows) for block in self.blocks)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays that products need, without the landmarks."""
        parts = [a.nbytes for b in self.blocks for a in (b.Q, b.A, b.values, b.rows, b.chosen)]
        return sum(parts) + self.E.nbytes + self.values.nbytes + self.offset.nbytes

    def _parts(self) -> "list[tuple[NystromBlock, Floats]]":
        """Return the blocks with their rows of E."""
        ends = np.cumsum([block.Q.shape[1] for block in self.blocks])[:-1]
        return list(zip(self.blocks, np.split(self.E, ends), strict=True))

    def _expand(self, C: Floats) -> Floats:
        """Return U C."""
        out = np.empty((self.n, C.shape[1]))
        for block, E in self._parts():
            out[block.rows] = block.Q @ (E @ C)
        return out - self.offset @ C

    def _project(self, B: Floats) -> Floats:
        """Return U'B."""
        out = -np.outer(self.offset, B.sum(axis=0))
        for block, E in self._parts():
            out += E.T @ (block.Q.T @ B[block.rows])
        return out

    def matmat(self, B: Floats) -> Floats:
        """Return K B; n r operations for each column."""
        return self._expand(self.values[:, None] * self._project(B))

    def solve(self, B: Floats, shifts: Sequence[float]) -> Floats:
        """Return ``(K + s I)^-1 B`` (len(shifts), n, m), with the pseudo-inverse at s = 0."""
        G = self._project(B)
        lam = self.values[:, None]
        return np.stack(
            [
                (B - self._expand(lam / (lam + s) * G)) / s if s else self._expand(G / lam)
                for s in shifts
            ]
        )

    def centred(self) -> "LowRankKernel":
        """Return the approximation of ``H K H`` with ``H = I - 11'/n``; r^3 operations."""
        u = self._project(np.ones((self.n, 1)))[:, 0] / np.sqrt(self.n)
        left = 1 - float(u @ u)  # (HU)'HU = I - u u': the share of the constant outside U
        v = u / np.linalg.norm(u) if u.any() else u
        outer = np.outer(v, v)
        half = np.eye(len(u)) - (1 - np.sqrt(max(left, 0.0))) * outer
        inverse = np.eye(len(u)) + ((1 / np.sqrt(left) if left > FLOOR else 0.0) - 1) * outer
        lam, V = np.linalg.eigh(half * self.values @ half)
        keep = significant(lam, FLOOR)
        mix = inverse @ V[:, keep][:, ::-1]
        offset = self.offset @ mix + u @ mix / np.sqrt(self.n)
        lam = lam[keep][::-1]
        return LowRankKernel(self.kernel, self.blocks, self.E @ mix, lam, offset, self.clipped)

    def maps(self) -> list[Floats]:
        """Return M (l, r) for each block: ``z(x) = k(x, landmarks) M - z0`` for its samples.

        ``z0 = offset sqrt(values)`` is zero unless centred.
        """
        return [block.A @ (E * np.sqrt(self.values)) for block, E in self._parts()]

    def features(self) -> Floats:
        """Return the features Z (n, r) of the samples themselves: ``K ~ Z Z'``."""
        return self._expand(np.diag(np.sqrt(self.values)))

    def error(self, X: Matrix, rng: np.random.Generator, size: int = 500) -> float:
        """Estimate ``|K - U diag(values) U'| / |K|`` in Frobenius norm, K not centred.

        The estimate uses a submatrix of ``size`` random rows and as many random columns.
        """
        size = min(size, self.n)
        i, j = (np.sort(rng.choice(self.n, size, replace=False)) for _ in range(2))
        Z = self._rows(np.concatenate([i, j]))
        K = np.asarray(self.kernel(X[i], X[j]), dtype=float)
        scale = float(np.linalg.norm(K))
        return float(np.linalg.norm(K - Z[:size] @ Z[size:].T)) / scale if scale else 0.0

    def _rows(self, index: Ints) -> Floats:
        """Return the features of some samples, not centred."""
        out = np.empty((len(index), len(self.values)))
        for block, E in self._parts():
            place = np.full(self.n, -1)
            place[block.rows] = np.arange(len(block.rows))
            here = place[index] >= 0
            out[here] = block.Q[place[index[here]]] @ (E * np.sqrt(self.values))
        return out


def kernel_diagonal(kernel: KernelFunction, X: Matrix) -> Floats:
    """Return k(x, x) for each row, from small diagonal blocks of the kernel matrix."""
    n = X.shape[0]
    parts = [X[start : start + 32] for start in range(0, n, 32)]
    return np.concatenate([np.diag(np.asarray(kernel(A, A), dtype=float)) for A in parts])


def _landmarks(kernel: KernelFunction, X: Matrix, count: int, rng: np.random.Generator) -> Ints:
    """Draw landmarks with probabilities that grow with the error of the current approximation.

    This is randomly pivoted Cholesky (Chen et al. 2023) in a few rounds. Rare kinds of samples get
    a landmark of their own, and no kind gets two before all have one.
    """
    n = X.shape[0]
    left = np.maximum(kernel_diagonal(kernel, X), 0.0)  # diagonal of K less its approximation
    floor = FLOOR * left.max(initial=0.0)
    F = np.zeros((n, 0))
    chosen = np.zeros(0, dtype=np.intp)
    for wanted in np.diff(np.linspace(0, count, min(count, ROUNDS) + 1).astype(np.intp)):
        left[left <= floor] = 0.0
        size = min(wanted, np.count_nonzero(left))
        if not size:
            break
        new = rng.choice(n, size, replace=False, p=left / left.sum())
        G = np.asarray(kernel(X, X[new]), dtype=float) - F @ F[new].T
        lam, V = np.linalg.eigh((G[new] + G[new].T) / 2)
        keep = lam > floor  # the rounding of G is that of K, however small G is
        part = G @ (V[:, keep] / np.sqrt(lam[keep]))
        left = left - np.einsum("ij,ij->i", part, part)
        F, chosen = np.hstack([F, part]), np.concatenate([chosen, new])
    return np.unique(chosen) if chosen.size else np.zeros(1, dtype=np.intp)


def _nystrom_block(kernel: KernelFunction, X: Matrix, rows: Ints, chosen: Ints) -> NystromBlock:
    """Return the Nystrom basis of the kernel matrix of some rows.

    The approximation is ``C W^+ C'``, with C the kernel values of rows and landmarks, and W those
    of pairs of landmarks, without its negative part.
    """
    landmarks = X[rows[chosen]]
    W = np.asarray(kernel(landmarks, landmarks), dtype=float)
    lam, V = np.linalg.eigh((W + W.T) / 2)
    keep = significant(lam, FLOOR)
    half = V[:, keep] / np.sqrt(lam[keep])  # W^+ = half half'
    C = np.asarray(kernel(X[rows], landmarks), dtype=float)
    basis, R = np.linalg.qr(C @ half)
    U, sigma, Vt = np.linalg.svd(R)  # not the eigenvalues of F'F, which have half the digits
    keep = sigma > np.sqrt(FLOOR) * sigma.max(initial=0.0)
    A = half @ (Vt[keep].T / sigma[keep])
    return NystromBlock(rows, chosen, landmarks, basis @ U[:, keep], A, sigma[keep] ** 2)


def _shares(sizes: Ints, total: int) -> Ints:
    """Split a total in proportion to sizes: at least one each, at most the size."""
    exact = np.minimum(sizes, np.maximum(1.0, total * sizes / sizes.sum()))
    return np.asarray(np.floor(exact), dtype=np.intp)


def _largest(blocks: Sequence[NystromBlock], rank: int) -> list[NystromBlock]:
    """Keep the ``rank`` largest values of all blocks together, at least one of each block.

    Values that are equal to the last one up to rounding are kept as well.
    """
    everything = np.sort(np.concatenate([block.values for block in blocks]))[::-1]
    floor = everything[min(rank, everything.size) - 1] if everything.size else 0.0
    floor -= SAFETY * EPS * everything.max(initial=0.0)  # keeps all equal values
    counts = [max(1, int(np.count_nonzero(b.values >= floor))) for b in blocks]
    return [b.truncated(count) for b, count in zip(blocks, counts, strict=True)]


def _sampled_rows(block: NystromBlock, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return random rows of Q of a block, and the pseudo-inverse of a regression on them.

    Rows that determine a basis vector must be among them. Landmarks, of which the basis is made,
    are always drawn. Other rows are drawn with a probability that grows with their leverage, and
    are weighted by its inverse.
    """
    n, k = block.Q.shape
    leverage = np.einsum("ij,ij->i", block.Q, block.Q) / max(k, 1)
    chance = np.minimum(1.0, (OVERSAMPLING * k + 10) * (leverage + 1 / n) / 2)
    chance[block.chosen] = 1.0
    picks = np.flatnonzero(rng.random(n) < chance)
    root = 1 / np.sqrt(chance[picks])
    return picks, np.linalg.pinv(root[:, None] * block.Q[picks], rcond=1e-6) * root


def _link(
    kernel: KernelFunction, X: Matrix, blocks: Sequence[NystromBlock], rng: np.random.Generator
) -> Floats:
    """Return S with ``K ~ Q S Q'``: Nystrom within blocks, regression on samples between them."""
    picks, inverses = zip(*(_sampled_rows(block, rng) for block in blocks), strict=True)
    samples = [b.rows[p] for b, p in zip(blocks, picks, strict=True)]
    ends = np.cumsum([0, *(b.Q.shape[1] for b in blocks)])
    S = np.diag(np.concatenate([b.values for b in blocks]))
    for s, t in combinations(range(len(blocks)), 2):
        K = np.asarray(kernel(X[samples[s]], X[samples[t]]), dtype=float)
        part = inverses[s] @ K @ inverses[t].T
        S[ends[s] : ends[s + 1], ends[t] : ends[t + 1]] = part
        S[ends[t] : ends[t + 1], ends[s] : ends[s + 1]] = part.T
    return S


def meka(
    kernel: KernelFunction,
    X: Matrix,
    cluster: Ints,
    n_landmarks: int,
    rank: int,
    rng: np.random.Generator,
) -> LowRankKernel:
    """Approximate a kernel matrix by blocks, without forming it (MEKA, Si et al. 2014).

    Every cluster of samples has a Nystrom basis, with a number of landmarks in proportion to its
    size. The ``rank`` basis vectors with the largest eigenvalues are kept. Pairs of clusters are
    linked by regression on sampled entries, which makes S indefinite. Its negative eigenvalues are
    left out: ``Q S Q'`` is then the nearest positive semi-definite matrix in Frobenius norm,
    because Q has orthonormal columns.

    Cost: n l kernel values for l landmarks in each cluster, n l^2, and rank^3; linear in n.

    Parameters
    ----------
    kernel : function of two matrices that returns the kernel values of their rows
    X : (n, d) samples
    cluster : (n,) integers; all equal for the Nystrom method
    n_landmarks : number of landmarks of all clusters together
    rank : rank of the approximation
    rng : random numbers for landmarks and sampled entries
    """
    groups = [np.flatnonzero(cluster == c) for c in np.unique(cluster)]
    counts = _shares(np.array([len(rows) for rows in groups]), n_landmarks)
    blocks = [
        _nystrom_block(kernel, X, rows, _landmarks(kernel, X[rows], int(count), rng))
        for rows, count in zip(groups, counts, strict=True)
    ]
    blocks = _largest(blocks, rank)
    lam, E = descending_eigh(_link(kernel, X, blocks, rng))
    norm = float(np.linalg.norm(lam))
    clipped = float(np.linalg.norm(lam[lam < 0])) / norm if norm else 0.0
    k = min(rank, int(np.count_nonzero(significant(lam, FLOOR))))
    lam, E = lam[:k], E[:, :k]
    return LowRankKernel(kernel, blocks, E, lam, np.zeros(len(lam)), clipped)


def nystrom(
    kernel: KernelFunction, X: Matrix, n_landmarks: int, rank: int, rng: np.random.Generator
) -> LowRankKernel:
    """Approximate a kernel matrix by the Nystrom method. Equivalent to meka with one cluster."""
    return meka(kernel, X, np.zeros(X.shape[0], dtype=np.intp), n_landmarks, rank, rng)
