"""The true labels that held-out scores are compared with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.heldout import Fold

MAX_SPLIT_COLUMNS = 100  # with more folds (leave-one-out), scores by fold are not kept


@dataclass(frozen=True)
class Truth:
    """True labels of the samples of a search. Samples are the last axis, as in grids of scores.

    Attributes
    ----------
    labels : ndarray of shape (n_labels, n_samples), bool
        The true labels.
    weights : ndarray of shape (n_samples,) or None
        Positive sample weights, or None if all samples count equally.
    cells : ndarray of shape (n_labels, n_samples), bool, or None
        The labels that are observed, or None if all of them are.
    fold : ndarray of shape (n_samples,)
        The number of the last fold that tests a sample, or -1 if no fold does.
    times : ndarray of shape (n_samples,)
        The number of folds that test a sample.
    """

    labels: Bools
    weights: Floats | None
    cells: Bools | None
    fold: Ints
    times: Ints

    @classmethod
    def of(
        cls,
        Y: Bools,
        weights: Floats | None,
        cells: Bools | None,
        rows: Ints,
        folds: Sequence[Fold],
    ) -> "Truth":
        """Return the truth about some rows of a label matrix (n, m).

        The positions in ``folds`` refer to ``rows``.
        """
        fold = np.full(len(rows), -1)
        for k, (_, test) in enumerate(folds):
            fold[test] = k
        tests = np.concatenate([test for _, test in folds])
        return cls(
            np.ascontiguousarray(Y[rows].T),
            None if weights is None else weights[rows],
            None if cells is None else np.ascontiguousarray(cells[rows].T),
            fold,
            np.bincount(tests, minlength=len(rows)),
        )

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self.fold.max()) + 1

    @property
    def by_fold(self) -> bool:
        """Whether scores by fold are kept: folds are few and test no sample twice."""
        return self.n_folds <= MAX_SPLIT_COLUMNS and int(self.times.max()) <= 1

    @property
    def tested(self) -> Bools:
        """The samples that some fold tests."""
        return self.times > 0

    def only_tested(self) -> "Truth":
        """Return the truth about the samples that some fold tests."""
        if self.tested.all():
            return self
        at = np.flatnonzero(self.tested)
        return Truth(
            np.ascontiguousarray(self.labels[:, at]),
            None if self.weights is None else self.weights[at],
            None if self.cells is None else np.ascontiguousarray(self.cells[:, at]),
            self.fold[at],
            self.times[at],
        )
