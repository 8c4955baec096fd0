"""Dataset: the samples, labels and names that every data source is turned into."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.preview import preview
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse


@dataclass(frozen=True)
class Dataset:
    """Samples, labels and their names.

    All parameters are attributes too.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The features.
    Y : array or sparse matrix of shape (n, m)
        The 0/1 label matrix. It is sparse if it was read from a file. If labels were not observed,
        they are NaN and Y contains floats.
    feature_names : array of str of shape (d,)
        The names of the columns of X.
    label_names : array of str of shape (m,)
        The names of the columns of Y.
    sample_names : array of str of shape (n,), default=None
        The names of the rows.
    views : mapping of str to slice, default={}
        The columns of X that belong to each view, if the features come from several sources.
    splits : mapping of str to pair of int arrays, default={}
        The training and test rows of each split that was published with the data.
    categories : mapping of str to tuple of str, default={}
        Feature name -> its values, for each column of X that contains positions in this list.
    column_types : mapping of str to str, default={}
        Feature name -> "number", "date" or "category", for each column of X that is the column of
        a table. Dates are days since 1970-01-01.
    words : mapping of str to slice, default={}
        Name of a text -> the columns of X that count its words.
    options : mapping of str to object, default={}
        The options of the reader that also apply to other files like this one.
    source : str, default=""
        Where the data come from.
    notes : tuple of str, default=()
        What the reader left out or had to decide.
    truth : mapping of str to array, default={}
        The true parameters of synthetic data.

    Attributes
    ----------
    layout : dict
        What :func:`eigenlabel.preprocessing.make_preparation` needs to know about the columns of X,
        as keyword arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.datasets import Dataset
    >>> names = np.array(["size", "weight"]), np.array(["red", "round"])
    >>> Dataset(np.eye(2), np.eye(2, dtype=int), *names, source="example")
    Dataset(2 samples, 2 features, 2 labels; example)
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
        # Compiled parts of scikit-learn do not accept 64-bit indices; its OneVsRestClassifier mixes
        # up the columns of an int8 label matrix with more than 127 labels.
        stored = self.Y.data if is_sparse(self.Y) else self.Y
        missing = stored.dtype.kind == "f" and bool(np.isnan(stored).any())
        for name, dtype in (("X", None), ("Y", np.float64 if missing else np.int64)):
            object.__setattr__(self, name, _widely_readable(getattr(self, name), dtype))
        # Plain integers, as model files cannot contain slices of numpy integers.
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
        """Return the columns of X that belong to a view.

        Parameters
        ----------
        name : str
            The name of the view, a key of ``views``.

        Returns
        -------
        X : array or sparse matrix
            The features of the view.
        """
        if name not in self.views:
            known = ", ".join(map(repr, self.views)) or "none"
            raise KeyError(f"No view {name!r}; there are: {known}.")
        return self.X[:, self.views[name]]

    def subset(self, *, samples: Any = None, features: Any = None, labels: Any = None) -> "Dataset":
        """Return some samples, features and labels, with their names, views and splits.

        Parameters
        ----------
        samples : array of int or bool, default=None
            The rows to keep: increasing positions or a mask. None keeps all.
        features : array of int or bool, default=None
            The columns of X to keep: increasing positions or a mask. None keeps all.
        labels : array of int or bool, default=None
            The columns of Y to keep: increasing positions or a mask. None keeps all.

        Returns
        -------
        data : Dataset
            The part of the data, without ``truth``. Rows that were not kept are missing from the
            splits.
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

    def _repr_html_(self) -> str:
        """Return the sizes, the first samples and their labels, escaped."""
        return preview(self).html(f"Dataset: {self.source}" if self.source else "Dataset")


def _widely_readable(A: Matrix, dtype: Any) -> Matrix:
    """Return A in the dtype; a sparse A as CSR, with 32-bit indices if they are large enough."""
    if is_sparse(A) and A.format != "csr":
        A = sp.csr_array(A)
    if dtype is not None and A.dtype != dtype:
        A = A.astype(dtype)
    if is_sparse(A) and A.indices.dtype != np.int32 and max(A.nnz, *A.shape) < 2**31:
        parts = (A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32))
        A = sp.csr_array(parts, shape=A.shape)
    return A


def _positions(given: Any, size: int) -> np.ndarray:
    positions = np.asarray(given)
    if positions.dtype == bool:
        positions = np.flatnonzero(positions)
    rising = positions.ndim == 1 and (np.diff(positions) > 0).all()
    if not rising or (positions.size and not 0 <= positions[0] <= positions[-1] < size):
        raise ValueError(f"Positions must increase and lie between 0 and {size - 1}.")
    return positions.astype(np.int64)


def _slices(slices: Mapping[str, slice], columns: np.ndarray) -> dict[str, slice]:
    """Return the positions of slices of columns among the columns that are kept."""
    return {
        name: slice(*np.searchsorted(columns, [s.start, s.stop]).tolist())
        for name, s in slices.items()
    }


def _rows(A: Matrix, rows: np.ndarray) -> Matrix:
    return A if len(rows) == A.shape[0] else A[rows]


def _columns(A: Matrix, columns: np.ndarray) -> Matrix:
    return A if len(columns) == A.shape[1] else A[:, columns]
