"""The terms of models that decide by neighbours: what each neighbour adds."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logit, softmax

from eigenlabel.estimators.neighbours.jec_and_mbrm import JEC, MBRM
from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.neighbours.tagprop import TagProp
from eigenlabel.inputs.data import check_data
from eigenlabel.inspection.contributions.base import (
    LOG_ODDS,
    SIGNED_LOG_ODDS,
    TRAINING,
    SampleTerms,
    Terms,
    dense,
    row_of,
    select,
    training_names,
    used_columns,
)
from eigenlabel.kernels.neighbours import mean_over_views
from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix


@dataclass(frozen=True)
class NearestFirst(Terms):
    """Terms of which the nearest neighbour has a gain of its own.

    Attributes
    ----------
    first : (n,) array of int
        The term of the nearest neighbour.
    first_gain : (n, q) array
        Its gain.
    """

    first: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    first_gain: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def row(self, i: int, labels: slice = slice(None)) -> SampleTerms:
        """Return the terms of sample i and some of the labels."""
        assert self.gain is not None
        columns, values = row_of(self.values, i)
        others = self.gain[i, labels, None]
        gain = np.where(columns == self.first[i], self.first_gain[i, labels, None], others)
        return SampleTerms(columns, values, gain * values * self.weights[labels][:, columns], None)

    def total(self) -> Floats:
        """Return the scores (n, q)."""
        rows = [self.row(i).contributions.sum(axis=1) for i in range(len(self.intercept))]
        return np.asarray(self.intercept + rows)

    def size(self) -> Floats:
        """Return the sum of the absolute values of all terms (n, q)."""
        rows = [np.abs(self.row(i).contributions).sum(axis=1) for i in range(len(self.intercept))]
        return np.asarray(np.abs(self.intercept) + rows)


def mlknn_terms(model: MLkNN, X: Any, labels: Ints, names: Any) -> Terms:
    """Return the log-odds of each label as a sum over the neighbours that have it.

    With L(c) the log-odds if c of the k neighbours have the label, the intercept is L(0), and each
    of the c neighbours with the label adds ``(L(c) - L(0)) / c``. These are the Shapley values of
    the neighbours, where a neighbour that is left out counts as one without the label.
    """
    near = model._neighbours(check_data(model, X, reset=False))
    N = _incidence(near, np.ones(near.shape), len(model._Y))
    Y = model._Y[:, labels].astype(float)
    counts = np.asarray(N @ Y).astype(np.intp)
    prior = model.prior_[labels]
    without, have = np.log(model.likelihood_[:, labels])
    odds = np.log(prior / (1.0 - prior))[:, None] + have - without  # (q, k + 1)
    at = odds[np.arange(len(labels)), counts]
    gain = (at - odds[:, 0]) / np.maximum(counts, 1)
    terms = _of_neighbours(N, Y.T, np.broadcast_to(odds[:, 0], counts.shape), names)
    return replace(terms, gain=gain, scale=LOG_ODDS)


def jec_terms(model: JEC, X: Any, labels: Ints, names: Any) -> Terms:
    """Return the scores of JEC as sums over the neighbours that decide.

    The intercept is the score of a label that no neighbour has. If the nearest neighbour has the
    label, the order of JEC depends on it alone, and it adds all of the difference. Otherwise the
    other neighbours with the label add equal parts.
    """
    parts = model._layout.read(model, X)
    near = model._distances.nearest(parts, model.n_neighbors)
    scores = model._score_parts(parts)[:, labels]
    Y = dense(model._Y[:, labels])
    N = _incidence(near.index, near.there.astype(float), len(Y))
    intercept = np.broadcast_to(model.label_shares_[labels] - 2.0, scores.shape)
    first = np.asarray(np.where(near.there[:, 0], near.index[:, 0], -1))
    decides = np.asarray(Y[first] > 0) & near.there[:, :1]
    rise = scores - intercept
    gain = np.where(decides, 0.0, rise / np.maximum(np.asarray(N @ Y), 1.0))
    terms = _of_neighbours(N, Y.T, intercept, names)
    place = np.searchsorted(used_columns(N), first)
    return NearestFirst(
        **{**vars(terms), "gain": gain},
        first=np.asarray(np.where(near.there[:, 0], place, -1)),
        first_gain=np.where(decides, rise, 0.0),
    )


def mbrm_terms(model: MBRM, X: Any, labels: Ints, names: Any) -> Terms:
    """Return the scores of MBRM as sums over the training samples that have the label."""
    parts = model._layout.read(model, X)
    n, shares = len(parts[0].here), model.label_shares_[labels]
    V = np.zeros((n, model._Y.shape[0]))
    for rows, D, _ in model._distances.strips(parts):
        exponents = mean_over_views((D / model._widths[:, None, None]) ** 2) * (len(D) / 2)
        some = np.isfinite(exponents).any(axis=1)
        V[rows][some] = softmax(-exponents[some], axis=1)
    s = model.smoothing
    alone: Bools = np.asarray(~V.any(axis=1))  # samples that are compared with none keep the shares
    intercept = 2.0 * np.where(alone[:, None], shares, s * shares) - 1.0
    weights = 2.0 * (1.0 - s) * dense(model._Y[:, labels]).T
    return _of_neighbours(V, weights, intercept, names)


def tagprop_terms(model: TagProp, X: Any, labels: Ints, names: Any) -> Terms:
    """Return the scores of TagProp, or their log-odds if it has curves, as sums over neighbours."""
    near = model._find(model._layout.read(model, X))
    some, shares = near.some, model.label_shares_[labels]
    weights = np.zeros(near.index.shape)
    weights[some] = model._weighting().weights(near[some], model.weights_)
    N = _incidence(near.index, weights, model._Y.shape[0])
    Y = dense(model._Y[:, labels]).T
    if not model.sigmoid:
        e = model.epsilon
        intercept = np.where(some[:, None], 2.0 * e - 1.0, 2.0 * shares - 1.0)
        return _of_neighbours(N, 2.0 * (1.0 - 2.0 * e) * Y, intercept, names)
    slope, offset = model.curves_[:, labels]
    with np.errstate(divide="ignore"):  # a label that no sample has, or all have
        intercept = np.where(some[:, None], offset, logit(shares))
    terms = _of_neighbours(N, slope[:, None] * Y, intercept, names)
    return replace(terms, scale=SIGNED_LOG_ODDS)


def _incidence(index: Ints, weights: Floats, n: int) -> Matrix:
    """Return the weights of neighbours as a CSR matrix (samples, training samples)."""
    rows = np.repeat(np.arange(len(index)), index.shape[1])
    found = sp.csr_array((weights.ravel(), (rows, index.ravel())), shape=(len(index), n))
    found.eliminate_zeros()
    return found


def _of_neighbours(N: Matrix, weights: Floats, intercept: Floats, names: Any) -> Terms:
    """Return the terms of training samples that are a neighbour of some sample."""
    columns = used_columns(N)
    shown = training_names(names, N.shape[1])[columns]
    return Terms(TRAINING, shown, select(N, columns), weights[:, columns], intercept)
