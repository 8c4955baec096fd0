"""The result of :func:`eigenlabel.inspection.find_label_issues`."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.data import unmasked
from eigenlabel.inputs.frames import make_frame
from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix

SHOWN = 10  # rows of the printed table
CELLS = ("samples", "labels", "kinds", "scores", "probabilities", "combined")


@dataclass(frozen=True, eq=False, repr=False)
class LabelIssues:
    """Labels that are likely wrong or missing, the most suspicious first.

    All parameters are attributes too.

    Parameters
    ----------
    samples : ndarray of shape (n_issues,)
        The sample of each cell.
    labels : ndarray of shape (n_issues,)
        The label of each cell.
    kinds : ndarray of shape (n_issues,)
        The kind of each error: "missing" for a label that is not given, "wrong" for one that is.
    scores : ndarray of shape (n_issues,)
        The estimated probabilities that the given labels are errors, in descending order.
    probabilities : ndarray of shape (n_issues,)
        The held-out probabilities of the labels.
    combined : ndarray of shape (n_issues,)
        The probabilities of the labels by the held-out probabilities and the other labels of the
        samples together.
    sample_scores : ndarray of shape (n_samples,)
        The estimated probability that at least one label of a sample is an error.
    label_scores : ndarray of shape (n_labels,)
        The expected number of errors of a label as a share of its observed cells.
    label_missing : ndarray of shape (n_labels,)
        The expected number of samples that have a label which is not given.
    label_wrong : ndarray of shape (n_labels,)
        The expected number of samples that do not have a label which is given.
    missing_rate : float
        The estimated probability that a label of a sample is not given.
    wrong_rates : ndarray of shape (n_labels,)
        The estimated probability that a label is given to a sample that does not have it.
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        The given labels. They are not copied.
    label_names : array of shape (n_labels,), default=None
        The names of the labels, or None if they are known by position.
    sample_names : array of shape (n_samples,), default=None
        The names of the samples, or None if they are known by position.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.inspection import find_label_issues
    >>> rng = np.random.default_rng(0)
    >>> probabilities = rng.beta(0.2, 0.4, size=(300, 3))
    >>> Y = (rng.random((300, 3)) < probabilities).astype(int)
    >>> Y[[7, 8], 1] = 1 - Y[[7, 8], 1]
    >>> issues = find_label_issues(Y, probabilities, max_issues=3, label_names=["a", "b", "c"])
    >>> print(issues)
    300 samples, 3 labels. Suggested corrections (score >= 0.5): 0 missing, 1 wrong
    sample  label  kind   score   probability
    7       b      wrong  0.999   6.62e-06
    265     c      wrong  0.0677  0.0437
    169     a      wrong  0.0422  0.0952
    >>> len(issues.of_kind("wrong")), len(issues.suggested())
    (3, 1)
    >>> int((issues.corrected() != Y).sum())
    1
    """

    samples: Ints
    labels: Ints
    kinds: Any
    scores: Floats
    probabilities: Floats
    combined: Floats
    sample_scores: Floats
    label_scores: Floats
    label_missing: Floats
    label_wrong: Floats
    missing_rate: float
    wrong_rates: Floats
    Y: Any
    label_names: Any = None
    sample_names: Any = None

    def __len__(self) -> int:
        return len(self.samples)

    def of_kind(self, kind: str) -> "LabelIssues":
        """Return the issues of one kind.

        Parameters
        ----------
        kind : {"missing", "wrong"}
            The kind of error.

        Returns
        -------
        issues : LabelIssues
            The issues of this kind, in the same order. The scores of samples and labels are those
            of all issues.
        """
        check_choice("kind", kind, ("missing", "wrong"))
        return self._only(self.kinds == kind)

    def suggested(self, threshold: float = 0.5) -> "LabelIssues":
        """Return the issues whose score reaches a threshold.

        Parameters
        ----------
        threshold : float, default=0.5
            The least score. At 0.5, a label is more likely an error than not.

        Returns
        -------
        issues : LabelIssues
            The issues, in the same order.
        """
        check_number("threshold", threshold, 0, 1)
        return self._only(self.scores >= threshold)

    def _only(self, kept: Bools) -> "LabelIssues":
        return replace(self, **{name: getattr(self, name)[kept] for name in CELLS})

    def corrected(self, n: int | None = None, *, threshold: float = 0.5) -> Any:
        """Return the labels with the most suspicious ones corrected.

        Parameters
        ----------
        n : int, default=None
            The number of cells to correct, those with the highest scores. By default the threshold
            decides.
        threshold : float, default=0.5
            The least score of a cell that is corrected, if ``n`` is None.

        Returns
        -------
        Y : ndarray or sparse matrix of shape (n_samples, n_labels)
            A copy of the given labels, in which these cells are 1 instead of 0, or 0 instead of 1.
            It is sparse if Y is.
        """
        if n is None:
            n = len(self.suggested(threshold))
        check_number("n", n, 0, len(self), integer=True)
        i, j = self.samples[:n], self.labels[:n]
        new = self.kinds[:n] == "missing"
        if sp.issparse(self.Y):
            return _flip(self.Y, i, j, new)
        Y = np.array(unmasked(self.Y))
        Y[i, j] = new
        return Y

    def to_frame(self, by: str = "cell", library: str | None = None) -> Any:
        """Return the issues as a table, which needs pandas or polars.

        Parameters
        ----------
        by : {"cell", "label", "sample"}, default="cell"
            What a row stands for. Samples and labels are sorted by their scores.
        library : {"pandas", "polars"} or None, default=None
            The library of the frame. None is pandas, or polars if pandas is not installed.

        Returns
        -------
        frame : DataFrame
            The table.
        """
        check_choice("by", by, ("cell", "label", "sample"))
        return make_frame(self.columns(by), library)

    def columns(self, by: str = "cell") -> dict[str, Any]:
        """Return the columns of the tables of :meth:`to_frame` as arrays.

        Parameters
        ----------
        by : {"cell", "label", "sample"}, default="cell"
            What a row stands for.

        Returns
        -------
        columns : dict of str to ndarray
            The columns. "suggested" is the corrected label of a cell.
        """
        if by == "sample":
            order = np.argsort(-self.sample_scores, kind="stable")
            return {"sample": self._sample(order), "score": self.sample_scores[order]}
        if by == "label":
            order = np.argsort(-self.label_scores, kind="stable")
            return {
                "label": self._label(order),
                "score": self.label_scores[order],
                "missing": self.label_missing[order],
                "wrong": self.label_wrong[order],
            }
        wrong = self.kinds == "wrong"
        return {
            "sample": self._sample(self.samples),
            "label": self._label(self.labels),
            "kind": self.kinds,
            "given": wrong.astype(int),
            "suggested": 1 - wrong,
            "score": self.scores,
            "probability": self.probabilities,
            "combined": self.combined,
        }

    def _sample(self, index: Ints) -> Any:
        return index if self.sample_names is None else np.asarray(self.sample_names)[index]

    def _label(self, index: Ints) -> Any:
        return index if self.label_names is None else np.asarray(self.label_names)[index]

    def __str__(self) -> str:
        likely = self.suggested()
        missing, wrong = (len(likely.of_kind(kind)) for kind in ("missing", "wrong"))
        head = (
            f"{len(self.sample_scores)} samples, {len(self.label_scores)} labels. Suggested "
            f"corrections (score >= 0.5): {missing} missing, {wrong} wrong"
        )
        names = ("sample", "label", "kind", "score", "probability")
        columns = self.columns()
        rows = [
            [f"{v:.3g}" if isinstance(v, float) else str(v) for v in row]
            for row in zip(*(columns[name][:SHOWN].tolist() for name in names), strict=True)
        ]
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(f"{word:{w}}" for word, w in zip(row, widths, strict=True)).rstrip()
            for row in (names, *rows)
        ]
        more = [f"... and {len(self) - SHOWN} more"] if len(self) > SHOWN else []
        return "\n".join([head, *(lines if rows else []), *more])

    def __repr__(self) -> str:
        shape = f"{len(self.sample_scores)} samples, {len(self.label_scores)} labels"
        return f"<LabelIssues: {len(self)} cells of {shape}>"


def _flip(Y: Matrix, i: Ints, j: Ints, new: Bools) -> Matrix:
    """Return a copy of a sparse label matrix, with some cells changed to other values."""
    cells: Matrix = sp.csr_array(Y, dtype=float)
    change: Matrix = sp.coo_array((np.where(new, 1.0, -1.0), (i, j)), shape=Y.shape)
    return type(Y)((cells + change).astype(Y.dtype))  # zeros are not stored
