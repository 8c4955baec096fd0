"""The terms of a blend: what each member adds to the log-odds of each label."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigenlabel.inspection.contributions.base import SampleTerms, Terms
from eigenlabel.linalg._types import Floats, Ints

MEMBER = "member"


@dataclass(frozen=True)
class MemberTerms(Terms):
    """Terms whose contributions depend on the label in another way than by a coefficient.

    Attributes
    ----------
    parts : (K, n, q) array
        The weighted log-odds of each member.
    """

    parts: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))

    def row(self, i: int, labels: slice = slice(None)) -> SampleTerms:
        """Return the terms of sample i and some of the labels; values are weights of members."""
        contributions = self.parts[:, i, labels].T
        columns = np.flatnonzero(contributions.any(axis=0))
        return SampleTerms(columns, self.values[i, columns], contributions[:, columns], None)

    def count(self, i: int) -> int:  # noqa: ARG002
        """Return the number of members."""
        return len(self.parts)

    def total(self) -> Floats:
        """Return the scores (n, q)."""
        return np.asarray(self.intercept + self.parts.sum(axis=0))

    def size(self) -> Floats:
        """Return the sum of the absolute values of all terms (n, q)."""
        return np.asarray(np.abs(self.intercept) + np.abs(self.parts).sum(axis=0))


def blend_terms(model: Any, X: Any, labels: Ints) -> Terms:
    """Return the weighted log-odds of the members of a blend, which add up to its scores.

    Parameters
    ----------
    model : MultilabelBlend
        The fitted blend.
    X : array, sparse matrix, frame or Views
        The samples.
    labels : (q,) array of int
        The labels.
    """
    found = model.member_log_odds(X)
    w = np.atleast_2d(model.weights_)  # (1 or m, K)
    rows = labels if len(w) > 1 else np.zeros(len(labels), dtype=np.intp)
    parts = np.stack([w[rows, k] * z[:, labels] for k, z in enumerate(found.values())])
    n, q = parts.shape[1:]
    intercept = np.broadcast_to(np.atleast_1d(model.intercept_), (len(w),))[rows]
    return MemberTerms(
        MEMBER,
        np.array(list(found), dtype=object),
        np.tile(w.mean(axis=0), (n, 1)),
        np.zeros((q, len(parts))),
        np.tile(intercept, (n, 1)),
        parts=parts,
    )
