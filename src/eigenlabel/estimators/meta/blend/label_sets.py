"""The member of a blend that knows which label sets occur."""

from itertools import product
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from eigenlabel.estimators.base import Training
from eigenlabel.estimators.meta.blend.base import OwnMember
from eigenlabel.estimators.meta.blend.blending import log_odds
from eigenlabel.estimators.meta.blend.weights import BlendCells, fit_shared
from eigenlabel.inputs.parameters import COUNT, CheckedBy, Parameters
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.linalg.ties import first_largest

EVIDENCE = (0.5, 1.0, 1.5)  # candidates for the trust in the probabilities of single labels
CORRECTION = (0.0, 0.5, 1.0)  # candidates for the share of the prior that is taken out of them
OTHER_SETS = 1e-3  # probability that the label set of a sample is one that did not occur
MOST_COMPARED = 100_000  # cells (samples x labels) that choose between the candidates
LEAST_ROWS = 500  # samples that choose between them, however many labels there are


class LabelSets(OwnMember):
    """Correct the probabilities of labels by the label sets that occur among training samples.

    X contains the probability p_j of each label by itself. With the log-odds z_j of p_j, the
    log-odds b_j of the share of label j among all samples, and the number c(s) of samples with the
    label set s,

        q(s) = c(s) exp(t sum_{j in s} (z_j - d b_j)) / sum of the same over all label sets

    For t = d = 1 this is Bayes' rule, if what the features say of one label is independent of what
    they say of another. It is not, so that t and d are chosen from three values each: those with
    the least held-out log-loss beside X. The score of a label is the log-odds of the sum of q(s)
    over the sets that contain it, with a small share of p_j for sets that did not occur.

    A sample does not count in c(s) for its own set when it is held out; t, d and b are those of all
    samples. Samples of which a label is not observed count for no set.

    Cost: n K c operations for n samples and K label sets of c labels on average.

    Parameters
    ----------
    max_sets : int, default=2000
        The number of label sets that are used at most, the most frequent ones.
    random_state : int, RandomState instance or None, default=None
        Determines which of the sets that are equally frequent are used if there are more.

    Attributes
    ----------
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The held-out scores.
    sets_ : sparse array of shape (n_sets, n_labels)
        The label sets, 1 where a set contains a label.
    counts_ : ndarray of shape (n_sets,)
        The sum of the weights of the samples that have them.
    prior_ : ndarray of shape (n_labels,)
        The log-odds b of the share of each label, with one sample more that has it and one that
        has it not.
    evidence_ : float
        The chosen t.
    correction_ : float
        The chosen d.
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels.
    n_features_in_ : int
        The number of columns of X, which is that of labels.
    """

    _parameters: ClassVar[Parameters] = {
        "max_sets": COUNT,
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
    }

    def __init__(self, max_sets: int = 2000, *, random_state: Any = None) -> None:
        self.max_sets = max_sets
        self.random_state = random_state

    def _fit(self, data: Training) -> None:
        w = np.ones(len(data.Y)) if data.weights is None else data.weights
        self.prior_ = _prior(data, w)
        own = self._count_sets(data, w)
        P = np.asarray(data.X)
        self.evidence_, self.correction_ = self._choose(data, P, own, w)
        self.oof_scores_ = self._corrected(P, self.evidence_, self.correction_, own, w)

    def _count_sets(self, data: Training, w: Floats) -> Ints:
        """Count the label sets; return the position of that of each sample, -1 if it has none."""
        complete: Bools = w > 0
        if data.observed is not None:
            complete = complete & data.observed.all(axis=1)
        rows = np.flatnonzero(complete)
        if not len(rows):
            raise ValueError("no sample has all labels observed, so that no label set is known.")
        packed = np.packbits(data.Y[rows], axis=1)  # rows of bytes are sorted faster
        _, first, found = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        counts = np.bincount(found.ravel(), weights=w[rows])
        by_chance = check_random_state(self.random_state).permutation(len(counts))
        kept = np.sort(np.lexsort((by_chance, -counts))[: self.max_sets])
        place = np.full(len(counts), -1)
        place[kept] = np.arange(len(kept))
        own = np.full(len(w), -1)
        own[rows] = place[found.ravel()]
        self.sets_ = sp.csr_array(data.Y[rows[first[kept]]].astype(float))
        self.counts_ = counts[kept]
        return own

    def _choose(self, data: Training, P: Floats, own: Ints, w: Floats) -> tuple[float, float]:
        """Return the t and d with the least held-out log-loss of X and the corrected X together."""
        n, m = data.Y.shape
        rows = slice(None, None, max(1, n // max(LEAST_ROWS, MOST_COMPARED // m)))
        Y, Z = data.Y[rows], log_odds(P[rows])
        usable = np.ones(Y.shape, dtype=bool) if data.observed is None else data.observed[rows]
        grid, losses = list(product(EVIDENCE, CORRECTION)), []
        for t, d in grid:
            logits = [Z, self._corrected(P[rows], t, d, own[rows], w[rows])]
            cells = BlendCells.of(logits, Y, w[rows], usable)
            losses.append(cells.loss(fit_shared(cells)))
        return grid[int(first_largest(-np.array(losses)))]

    def _corrected(
        self, P: Floats, t: float, d: float, own: Ints | None = None, w: Floats | None = None
    ) -> Floats:
        """Return the scores of samples; those with a set of their own are held out from it."""
        parts = []
        for rows in row_blocks(len(P), 3 * (len(self.counts_) + P.shape[1])):
            evidence = t * (log_odds(P[rows]) - d * self.prior_)
            A = np.log(self.counts_) + (self.sets_ @ evidence.T).T
            if own is not None and w is not None:
                A += self._without(own[rows], w[rows])
            A -= np.maximum(A.max(axis=1, keepdims=True), np.finfo(float).min)
            np.exp(A, out=A)
            total = A.sum(axis=1, keepdims=True)
            q = (self.sets_.T @ A.T).T / np.where(total > 0, total, 1.0)
            q = np.where(total > 0, q, P[rows])  # no other sample has a set
            parts.append(log_odds((1 - OTHER_SETS) * q + OTHER_SETS * P[rows]))
        return np.concatenate(parts)

    def _without(self, own: Ints, w: Floats) -> Any:
        """Return what is added to log counts if each sample does not count for its own set."""
        at = np.flatnonzero(own >= 0)
        with np.errstate(divide="ignore"):  # the only sample of a set leaves nothing
            change = np.log1p(-w[at] / self.counts_[own[at]])
        shape = (len(own), len(self.counts_))
        return sp.csr_array((change, (at, own[at])), shape=shape).toarray()

    def _scores(self, X: Any) -> Floats:
        return self._corrected(np.asarray(X), self.evidence_, self.correction_)

    def check_loaded(self) -> None:
        """Raise ValueError if the label sets of a file do not fit each other."""
        if self.sets_.shape != (len(self.counts_), len(self.prior_)) or not len(self.counts_):
            raise ValueError("the label sets and their counts have different sizes, or are none")
        numbers = (self.counts_, self.prior_, [self.evidence_, self.correction_])
        if not all(np.isfinite(one).all() for one in numbers) or self.counts_.min() <= 0:
            raise ValueError("the counts of label sets must be finite and positive")


def _prior(data: Training, w: Floats) -> Floats:
    """Return the log-odds of the share of each label, with one sample more of each kind."""
    seen: Bools = np.ones(data.Y.shape, dtype=bool) if data.observed is None else data.observed
    present, absent = w @ (data.Y & seen), w @ (~data.Y & seen)
    return np.asarray(np.log((present + 1) / (absent + 1)))
