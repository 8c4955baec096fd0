"""Kernel matrices that do not fit in memory: low-rank factors, and products strip by strip.

``K ~ U diag(values) U'`` with ``U = Q E``: Q is block diagonal with orthonormal columns, a Nystrom
basis for each block of samples, and E mixes the blocks. One block is the Nystrom method, several
are MEKA (Si, Hsieh, Dhillon; ICML 2014), whose ``Q S Q'`` is Eq. 32 of the KGHA paper. Both are
explicit features ``z(x)'z(y) ~ k(x, y)`` as well, so that every linear method takes them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.numerics import EPS, descending_eigh, significant
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.linalg.ties import SAFETY

Kernel = Callable[[Matrix, Matrix], Floats]
OVERSAMPLING = 4  # rows of a block, per basis vector, that link it to the other blocks
ROUNDS = 10  # in which landmarks are drawn
# Eigenvalues below this share of the largest are left out. Dividing by the root of an eigenvalue
# enlarges rounding; at this share the result has errors that are as large as the share itself, so
# that a sample which others explain is never taken for a new one.
FLOOR = float((SAFETY * EPS) ** (2 / 3))


class BlockKernel:
    """The kernel matrix of samples as products, computed anew in strips of its rows.

    Parameters
    ----------
    kernel : takes two matrices, gives the kernel values of their rows; symmetric
    X : (n, d) samples, dense or CSR
    """

    def __init__(self, kernel: Kernel, X: Matrix) -> None:
        self._kernel, self._X = kernel, X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[0])

    def matmat(self, B: Floats) -> Floats:
        """K B; n^2 / 2 kernel values, of which 32 MiB are held at once."""
        n = self.shape[0]
        out = np.zeros((n, B.shape[1]))
        for rows in row_blocks(n, n):
            strip = np.asarray(self._kernel(self._X[rows], self._X[rows.start :]), dtype=float)
            out[rows] += strip @ B[rows.start :]
            # What lies right of the diagonal block stands below it as well.
            out[rows.stop :] += strip[:, rows.stop - rows.start :].T @ B[rows]
        return out


@dataclass(frozen=True)
class Block:
    """Some samples and the Nystrom basis ``Q = k(X, landmarks) A`` of their kernel matrix."""

    rows: Ints  # (size,)
    chosen: Ints  # (l,), positions of the landmarks among them
    landmarks: Matrix  # (l, d)
    Q: Floats  # (size, k), orthonormal columns
    A: Floats  # (l, k)
    values: Floats  # (k,), descending: K of the block is about Q diag(values) Q'

    def truncated(self, k: int) -> "Block":
        """Keep the first k basis vectors."""
        parts = self.Q[:, :k], self.A[:, :k], self.values[:k]
        return Block(self.rows, self.chosen, self.landmarks, *parts)


@dataclass(frozen=True)
class LowRankFactor:
    """``K ~ U diag(values) U'``, with ``U = Q E - 1 offset'`` of orthonormal columns.

    Attributes
    ----------
    blocks : samples with their part of Q
    E : (k, r), rows in the order of the blocks' basis vectors
    values : (r,) eigenvalues of the approximation, descending, positive
    offset : (r,), zero unless centred
    clipped : the part of ``S`` (by Frobenius norm) that was negative and is left out
    """

    kernel: Kernel
    blocks: Sequence[Block]
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
        """Bytes of the arrays that products need; landmarks are rows of the data."""
        parts = [a.nbytes for b in self.blocks for a in (b.Q, b.A, b.values, b.rows, b.chosen)]
        return sum(parts) + self.E.nbytes + self.values.nbytes + self.offset.nbytes

    def _parts(self) -> "list[tuple[Block, Floats]]":
        """Pair the blocks with their rows of E."""
        ends = np.cumsum([block.Q.shape[1] for block in self.blocks])[:-1]
        return list(zip(self.blocks, np.split(self.E, ends), strict=True))

    def _expand(self, C: Floats) -> Floats:
        """U C."""
        out = np.empty((self.n, C.shape[1]))
        for block, E in self._parts():
            out[block.rows] = block.Q @ (E @ C)
        return out - self.offset @ C

    def _project(self, B: Floats) -> Floats:
        """U'B."""
        out = -np.outer(self.offset, B.sum(axis=0))
        for block, E in self._parts():
            out += E.T @ (block.Q.T @ B[block.rows])
        return out

    def matmat(self, B: Floats) -> Floats:
        """K B."""
        return self._expand(self.values[:, None] * self._project(B))

    def solve(self, B: Floats, shifts: Sequence[float]) -> Floats:
        """Give (len(shifts), n, m): ``(K + s I)^-1 B``, the pseudo-inverse at s = 0."""
        G = self._project(B)
        lam = self.values[:, None]
        return np.stack(
            [
                (B - self._expand(lam / (lam + s) * G)) / s if s else self._expand(G / lam)
                for s in shifts
            ]
        )

    def centred(self) -> "LowRankFactor":
        """Centre in feature space: the factor of ``H K H``, ``H = I - 11'/n``; cost r^3."""
        u = self._project(np.ones((self.n, 1)))[:, 0] / np.sqrt(self.n)
        left = 1 - float(u @ u)  # (HU)'HU = I - u u': how much of the constant U does not hold
        v = u / np.linalg.norm(u) if u.any() else u
        outer = np.outer(v, v)
        half = np.eye(len(u)) - (1 - np.sqrt(max(left, 0.0))) * outer
        inverse = np.eye(len(u)) + ((1 / np.sqrt(left) if left > FLOOR else 0.0) - 1) * outer
        lam, V = np.linalg.eigh(half * self.values @ half)
        keep = significant(lam, FLOOR)
        mix = inverse @ V[:, keep][:, ::-1]
        offset = self.offset @ mix + u @ mix / np.sqrt(self.n)
        lam = lam[keep][::-1]
        return LowRankFactor(self.kernel, self.blocks, self.E @ mix, lam, offset, self.clipped)

    def maps(self) -> list[Floats]:
        """Give M (l, r) for each block: ``z(x) = k(x, landmarks) M - z0`` for its samples.

        ``z0 = offset sqrt(values)`` is zero unless centred.
        """
        return [block.A @ (E * np.sqrt(self.values)) for block, E in self._parts()]

    def features(self) -> Floats:
        """Give z of the samples themselves, (n, r): ``K ~ Z Z'``."""
        return self._expand(np.diag(np.sqrt(self.values)))

    def error(self, X: Matrix, rng: np.random.Generator, size: int = 500) -> float:
        """Estimate ``|K - U diag(values) U'| / |K|`` (Frobenius) for the kernel as it is.

        From the entries where ``size`` rows drawn at random meet as many columns.
        """
        size = min(size, self.n)
        i, j = (np.sort(rng.choice(self.n, size, replace=False)) for _ in range(2))
        Z = self._rows(np.concatenate([i, j]))
        K = np.asarray(self.kernel(X[i], X[j]), dtype=float)
        scale = float(np.linalg.norm(K))
        return float(np.linalg.norm(K - Z[:size] @ Z[size:].T)) / scale if scale else 0.0

    def _rows(self, index: Ints) -> Floats:
        """Give the features of some samples, not centred."""
        out = np.empty((len(index), len(self.values)))
        for block, E in self._parts():
            place = np.full(self.n, -1)
            place[block.rows] = np.arange(len(block.rows))
            here = place[index] >= 0
            out[here] = block.Q[place[index[here]]] @ (E * np.sqrt(self.values))
        return out


def _diagonal(kernel: Kernel, X: Matrix) -> Floats:
    """Give k(x, x) of each row, from small squares of the kernel matrix."""
    n = X.shape[0]
    parts = [X[start : start + 32] for start in range(0, n, 32)]
    return np.concatenate([np.diag(np.asarray(kernel(A, A), dtype=float)) for A in parts])


def _landmarks(kernel: Kernel, X: Matrix, count: int, rng: np.random.Generator) -> Ints:
    """Draw rows with the chance of what those drawn before leave unexplained of them.

    Randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber 2023) in a few rounds: rare kinds of
    samples get their landmark, and no kind gets two before all have one.
    """
    n = X.shape[0]
    left = np.maximum(_diagonal(kernel, X), 0.0)  # diagonal of K less its approximation
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
        keep = lam > floor  # G has the rounding of K, however little is left
        part = G @ (V[:, keep] / np.sqrt(lam[keep]))
        left = left - np.einsum("ij,ij->i", part, part)
        F, chosen = np.hstack([F, part]), np.concatenate([chosen, new])
    return np.unique(chosen) if chosen.size else np.zeros(1, dtype=np.intp)


def _nystrom_block(kernel: Kernel, X: Matrix, rows: Ints, chosen: Ints) -> Block:
    """Factor the kernel matrix of some rows through the chosen ones of them.

    ``C W^+ C'`` with C the kernel values with the landmarks, W those between them; the positive
    part of W is used.
    """
    landmarks = X[rows[chosen]]
    W = np.asarray(kernel(landmarks, landmarks), dtype=float)
    lam, V = np.linalg.eigh((W + W.T) / 2)
    keep = significant(lam, FLOOR)
    half = V[:, keep] / np.sqrt(lam[keep])  # W^+ = half half'
    C = np.asarray(kernel(X[rows], landmarks), dtype=float)
    basis, R = np.linalg.qr(C @ half)
    U, sigma, Vt = np.linalg.svd(R)  # not F'F, which would cost half the digits
    keep = sigma > np.sqrt(FLOOR) * sigma.max(initial=0.0)
    A = half @ (Vt[keep].T / sigma[keep])
    return Block(rows, chosen, landmarks, basis @ U[:, keep], A, sigma[keep] ** 2)


def _shares(sizes: Ints, total: int) -> Ints:
    """Split a total by size: at least one each, at most the size."""
    exact = np.minimum(sizes, np.maximum(1.0, total * sizes / sizes.sum()))
    return np.asarray(np.floor(exact), dtype=np.intp)


def _largest(blocks: Sequence[Block], rank: int) -> list[Block]:
    """Keep the ``rank`` largest values of all blocks together, one of each block at least.

    Values that equal the last one up to rounding stay as well.
    """
    everything = np.sort(np.concatenate([block.values for block in blocks]))[::-1]
    floor = everything[min(rank, everything.size) - 1] if everything.size else 0.0
    floor -= SAFETY * EPS * everything.max(initial=0.0)  # equal ones stay all
    counts = [max(1, int(np.count_nonzero(b.values >= floor))) for b in blocks]  # or none there
    return [b.truncated(count) for b, count in zip(blocks, counts, strict=True)]


def _sampled_rows(block: Block, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Draw rows of a block's Q and give them with the inverse of a regression on them.

    Rows that a basis vector rests on must not be missed: landmarks, which the basis is made of,
    are taken always, the others with a chance that grows with their length (their leverage), and
    count by the inverse of that chance.
    """
    n, k = block.Q.shape
    leverage = np.einsum("ij,ij->i", block.Q, block.Q) / max(k, 1)
    chance = np.minimum(1.0, (OVERSAMPLING * k + 10) * (leverage + 1 / n) / 2)
    chance[block.chosen] = 1.0
    picks = np.flatnonzero(rng.random(n) < chance)
    root = 1 / np.sqrt(chance[picks])
    return picks, np.linalg.pinv(root[:, None] * block.Q[picks], rcond=1e-6) * root


def _link(kernel: Kernel, X: Matrix, blocks: Sequence[Block], rng: np.random.Generator) -> Floats:
    """Give S with ``K ~ Q S Q'``: Nystrom inside blocks, regression on samples between them."""
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
    kernel: Kernel,
    X: Matrix,
    cluster: Ints,
    n_landmarks: int,
    rank: int,
    rng: np.random.Generator,
) -> LowRankFactor:
    """Factor a kernel matrix block-wise, without ever forming it.

    Every cluster of samples gets a Nystrom basis with landmarks drawn from it, as many as its
    size deserves; of all basis vectors the ``rank`` strongest stay. Pairs of clusters are linked
    by regression on sampled entries. That leaves S indefinite: its negative eigenvalues are cut
    off, which gives the nearest positive semi-definite ``Q S Q'`` in Frobenius norm, as Q has
    orthonormal columns.

    Cost: n l kernel values for l landmarks per cluster, n l^2, and rank^3; linear in n.

    Parameters
    ----------
    kernel : takes two matrices, gives the kernel values of their rows
    X : (n, d) samples
    cluster : (n,) integers; all equal for the plain Nystrom method
    n_landmarks, rank : in total, over all clusters
    rng : draws landmarks and sampled entries
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
    return LowRankFactor(kernel, blocks, E, lam, np.zeros(len(lam)), clipped)


def nystrom(
    kernel: Kernel, X: Matrix, n_landmarks: int, rank: int, rng: np.random.Generator
) -> LowRankFactor:
    """Factor a kernel matrix by the Nystrom method: :func:`meka` with one cluster."""
    return meka(kernel, X, np.zeros(X.shape[0], dtype=np.intp), n_landmarks, rank, rng)
