"""The one form every data source ends in."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Dataset:
    """Samples, labels and their names.

    Attributes
    ----------
    X : (n, d) dense or sparse features
    Y : (n, m) 0/1 label matrix; sparse if it was read from a file; NaN where a label was not
        observed, floats then
    feature_names, label_names : names of the columns of X and Y
    sample_names : names of the rows, or None
    views : name -> columns of X, where the features come from several sources
    splits : name -> (training rows, test rows), as published with the data
    categories : feature name -> its values, where a column of X holds their positions
    column_types : feature name -> "number", "date" or "category", where a column of X is the
        column of a table; dates are days since 1970-01-01
    words : name of a text -> the columns of X that count its words
    options : what a reader found out and files like this one have to be read with
    source : where it comes from
    notes : what a reader passed over or had to decide
    truth : what is known about planted data, by name
    layout : what :func:`eigenlabel.preprocessing.make_preparation` needs to know about the columns
        of X, as keyword arguments
    """

    X: Any
    Y: Any
    feature_names: np.ndarray
    label_names: np.ndarray
    sample_names: np.ndarray | None = None
    views: Mapping[str, slice] = field(default_factory=dict)
    splits: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    column_types: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, slice] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    notes: tuple[str, ...] = ()
    truth: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Compiled parts of scikit-learn refuse 64-bit indices; its OneVsRestClassifier mixes up
        # the columns of an int8 label matrix with more than 127 labels.
        stored = self.Y.data if sp.issparse(self.Y) else self.Y
        missing = stored.dtype.kind == "f" and bool(np.isnan(stored).any())
        for name, dtype in (("X", None), ("Y", np.float64 if missing else np.int64)):
            object.__setattr__(self, name, _widely_readable(getattr(self, name), dtype))
        # Plain integers: model files hold no slices of numpy's.
        for name in ("views", "words"):
            given = getattr(self, name).items()
            columns = {k: slice(*s.indices(self.X.shape[1])[:2]) for k, s in given}
            object.__setattr__(self, name, columns)

    @property
    def layout(self) -> dict[str, Any]:
        """Return the keyword arguments that describe the columns of X to ``make_preparation``."""
        names = ("feature_names", "categories", "column_types", "words", "views")
        return {name: getattr(self, name) for name in names}

    def view(self, name: str) -> Any:
        """Give the columns of X that belong to a view."""
        if name not in self.views:
            known = ", ".join(map(repr, self.views)) or "none"
            raise KeyError(f"No view {name!r}; there are: {known}.")
        return self.X[:, self.views[name]]

    def subset(self, *, samples: Any = None, features: Any = None, labels: Any = None) -> "Dataset":
        """Keep some samples, features and labels, by position in rising order, and all that goes
        with them: names, views, and what is left of the splits.
        """
        n, d = self.X.shape
        rows, columns, kept = (
            np.arange(size) if given is None else _positions(given, size)
            for given, size in ((samples, n), (features, d), (labels, self.Y.shape[1]))
        )
        names = self.feature_names[columns]
        left = set(names.tolist())
        place = np.full(n, -1)
        place[rows] = np.arange(len(rows))
        return replace(
            self,
            X=_columns(_rows(self.X, rows), columns),
            Y=_columns(_rows(self.Y, rows), kept),
            feature_names=names,
            label_names=self.label_names[kept],
            sample_names=None if self.sample_names is None else self.sample_names[rows],
            views=_slices(self.views, columns),
            words={k: s for k, s in _slices(self.words, columns).items() if s.start < s.stop},
            splits={
                name: (place[train][place[train] >= 0], place[test][place[test] >= 0])
                for name, (train, test) in self.splits.items()
            },
            categories={k: v for k, v in self.categories.items() if k in left},
            column_types={k: v for k, v in self.column_types.items() if k in left},
            truth={},
        )

    def __repr__(self) -> str:
        n, d = self.X.shape
        parts = [f"{n} samples", f"{d} features", f"{self.Y.shape[1]} labels"]
        if len(self.views) > 1:
            parts.append(f"{len(self.views)} views")
        return f"Dataset({', '.join(parts)}; {self.source})"


def _widely_readable(A: Any, dtype: Any) -> Any:
    """Give A in the dtype, as CSR with 32-bit indices if it is sparse and they suffice."""
    if sp.issparse(A) and A.format != "csr":
        A = sp.csr_array(A)
    if dtype is not None and A.dtype != dtype:
        A = A.astype(dtype)
    if sp.issparse(A) and A.indices.dtype != np.int32 and max(A.nnz, *A.shape) < 2**31:
        parts = (A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32))
        A = sp.csr_array(parts, shape=A.shape)
    return A


def _positions(given: Any, size: int) -> np.ndarray:
    positions = np.asarray(given)
    if positions.dtype == bool:
        positions = np.flatnonzero(positions)
    rising = positions.ndim == 1 and (np.diff(positions) > 0).all()
    if not rising or (positions.size and not 0 <= positions[0] <= positions[-1] < size):
        raise ValueError(f"Positions must rise and lie between 0 and {size - 1}.")
    return positions.astype(np.int64)


def _slices(slices: Mapping[str, slice], columns: np.ndarray) -> dict[str, slice]:
    """Return where the columns of slices are among the columns that are kept."""
    return {
        name: slice(*np.searchsorted(columns, [s.start, s.stop]).tolist())
        for name, s in slices.items()
    }


def _rows(A: Any, rows: np.ndarray) -> Any:
    return A if len(rows) == A.shape[0] else A[rows]


def _columns(A: Any, columns: np.ndarray) -> Any:
    return A if len(columns) == A.shape[1] else A[:, columns]
