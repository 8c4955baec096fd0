"""The columns of a stream: features and labels, which are the same in every block."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.subspace import many_labels
from eigenlabel.inputs.data import check_data, check_weights
from eigenlabel.inputs.scale import check_largest
from eigenlabel.inputs.sparse import check_sparse
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.linalg.statistics import Block


@dataclass(frozen=True)
class Columns:
    """The features and labels of a stream.

    Attributes
    ----------
    n_features : int
        The number of features.
    feature_names : array of str, or None
        The names of the features, if the first block has names.
    codec : LabelCodec
        How label matrices become what the user passed, and back.
    """

    n_features: int
    feature_names: Any
    codec: LabelCodec

    @classmethod
    def learn(cls, estimator: Any, X: Any, y: Any, classes: Any) -> "Columns":
        """Return the columns of a first block; the estimator remembers its features.

        ``classes`` are the classes of a vector y, or names for the columns of a label matrix.
        """
        check_data(estimator, X, reset=True)
        codec = LabelCodec.start(y, classes)
        m = len(codec.classes)
        if m >= many_labels.MANY:
            raise ValueError(
                f"Blocks are collected in statistics of d x m numbers, which are too large for "
                f"m = {m} labels (the limit is {many_labels.MANY}). Fit all rows at once: "
                "SharedSubspaceClassifier(alpha=inf).fit needs no such array."
            )
        names = getattr(estimator, "feature_names_in_", None)
        return cls(estimator.n_features_in_, names, codec)

    def store(self, estimator: Any) -> None:
        """Let an estimator remember the features."""
        estimator.n_features_in_ = self.n_features
        if self.feature_names is not None:
            estimator.feature_names_in_ = self.feature_names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_

    def check_block(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Block:
        """Check a block against the columns, which the estimator remembers."""
        X = check_data(estimator, X, reset=False)
        check_largest(X)
        Y = self.codec.encode(y)
        check_consistent_length(X, Y)
        return Block(X, Y, check_weights(sample_weight, X))

    def check_same(self, other: "Columns") -> None:
        """Raise ValueError if other columns differ from these."""
        if self.n_features != other.n_features:
            raise ValueError(
                f"The other model has {other.n_features} features, this one {self.n_features}."
            )
        names = self.feature_names, other.feature_names
        if names[0] is not None and names[1] is not None and not np.array_equal(*names):
            raise ValueError("The two models have features of different names.")
        alike = self.codec.kind == other.codec.kind
        if not alike or not np.array_equal(self.codec.classes, other.codec.classes):
            raise ValueError("The two models have different labels or classes.")


@contextmanager
def placed(where: str, X: Any) -> Iterator[None]:
    """Add the place of a block to an error about it, and the first row with NaN or infinity."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        row = _first_bad_row(X)
        place = where if row is None else f"{where}, row {row}"
        raise kind(f"{place}: {error}") from error


def _first_bad_row(X: Any) -> int | None:
    """Return the first row with NaN or infinity, or None if there is none."""
    if np.iscomplexobj(X):
        return None
    try:
        check_sparse(X, "X")
        sparse = is_sparse(X)
        A: Matrix = sp.csr_array(X) if sparse else np.asarray(X, dtype=float)
        bad = ~np.isfinite(A.data if sparse else A)
    except (ValueError, TypeError):
        return None
    if not bad.any() or np.ndim(A) != 2:
        return None
    if sparse:
        return int(np.searchsorted(A.indptr, np.flatnonzero(bad)[0], side="right")) - 1
    return int(np.flatnonzero(bad.any(axis=1))[0])
