"""Several tables of the same samples: the container, how input becomes one, and missing views.

One rule for missing views: **a row of NaN** says that the sample is missing in that view (in a
sparse matrix a row whose stored values are all NaN, one is enough; in a precomputed kernel the
sample's row, its column is not looked at). Single NaNs in a row are refused. At prediction a whole
view may be left out, as None or by its name not being there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_array

from eigenlabel.inputs.validation import (
    canonical,
    check_data,
    check_largest,
    check_names,
    check_sparse,
    column_names,
)


class Views:
    """Several tables, or kernel matrices, with one row per sample, that are split together.

    ``views[rows]`` gives some samples of every table, so cross_validate, GridSearchCV and
    ThresholdedClassifier take it for X. Rows are only noted, nothing is copied; a kernel matrix
    keeps its columns, and a model fitted to some rows takes their columns of the kernel itself.

    Parameters
    ----------
    tables : mapping of names, or sequence, of 2-D arrays, sparse matrices, frames or kernels
        A sequence is named "view0", "view1", ... None stands for a view that no sample has.

    Attributes
    ----------
    names : tuple of str
    shape : (samples, columns of all tables together), or (samples, samples) if all are square:
        scikit-learn splits kernels by that sign

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel import Views
    >>> views = Views({"words": np.eye(4), "links": np.ones((4, 2))})
    >>> views
    Views(4 samples: words (4), links (2))
    >>> views[[0, 2]]["links"].shape
    (2, 2)
    """

    def __init__(self, tables: Any) -> None:
        if isinstance(tables, Views):
            vars(self).update(vars(tables))
            return
        if not isinstance(tables, Mapping):
            tables = {f"view{i}": table for i, table in enumerate(tables)}
        self._tables = {str(name): _as_table(name, table) for name, table in tables.items()}
        self._rows: np.ndarray | None = None
        self._columns = {str(name): column_names(table) for name, table in tables.items()}
        lengths = {k: t.shape[0] for k, t in self._tables.items() if t is not None}
        if not lengths:
            raise ValueError("There is no view: at least one table is needed.")
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name!r} {n}" for name, n in lengths.items())
            raise ValueError(
                f"Views have one row per sample each, but their lengths differ: {listed}. A "
                "sample that a view lacks is a row of NaN in it."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the views, in order."""
        return tuple(self._tables)

    @property
    def shape(self) -> tuple[int, int]:
        """Samples, and columns of all tables together, or samples again for square tables."""
        tables = [t for t in self._tables.values() if t is not None]
        n = tables[0].shape[0] if self._rows is None else len(self._rows)
        square = all(t.shape[0] == t.shape[1] for t in tables)
        return n, n if square else sum(t.shape[1] for t in tables)

    @property
    def rows(self) -> np.ndarray:
        """Which rows of the tables the samples are."""
        return np.arange(self.shape[0]) if self._rows is None else self._rows

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Give the table of a name, or the views of some rows."""
        if isinstance(key, str):
            if key not in self._tables:
                raise KeyError(f"No view {key!r}; there are: {', '.join(map(repr, self.names))}.")
            table = self._tables[key]
            return table if table is None or self._rows is None else table[self._rows]
        if isinstance(key, tuple):  # views[rows, ...], and views[np.ix_(rows, columns)] of kernels
            key = np.ravel(key[0])
        if np.ndim(key) == 0 and not isinstance(key, slice):
            key = [key]
        part = Views(self)
        part._rows = self.rows[key]
        return part

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            "Views are several tables: an estimator that takes one matrix needs one of them, "
            "views['name'], or their columns side by side."
        )

    def __repr__(self) -> str:
        sizes = ((n, "none" if t is None else t.shape[1]) for n, t in self._tables.items())
        return f"Views({len(self)} samples: {', '.join(f'{n} ({size})' for n, size in sizes)})"


def _as_table(name: Any, table: Any) -> Any:
    if table is None:
        return None
    if sp.issparse(table):
        check_sparse(table, f"View {name!r}")
        return table.tocsr()
    table = np.asarray(table)
    if table.ndim != 2:
        raise ValueError(
            f"View {name!r} must be a matrix (samples, features), got shape {table.shape}."
        )
    return table


def is_several(X: Any) -> bool:
    """Tell several tables from one: Views, a mapping, or a sequence of matrices."""
    if sp.issparse(X):  # some kinds are mappings
        return False
    if isinstance(X, (Views, Mapping)):
        return True
    if not isinstance(X, (list, tuple)):
        return False
    return bool(X) and (all(t is None for t in X) or any(_is_matrix(t) for t in X))


def _is_matrix(table: Any) -> bool:
    """Tell a table, which may be rows in a list, from a row."""
    if isinstance(table, (list, tuple)):
        return bool(table) and isinstance(table[0], (list, tuple))
    return len(getattr(table, "shape", ())) == 2


def per_view(what: str, value: Any, names: Sequence[str]) -> dict[str, Any]:
    """Spread a parameter over views: one value for all, a mapping by name, or a list in order."""
    if isinstance(value, Mapping):
        value = {str(name): one for name, one in value.items()}  # as Views names them
        strange, lost = sorted(set(value) - set(names)), sorted(set(names) - set(value))
        if strange or lost:
            wrong = f"unknown {strange}" if strange else f"missing {lost}"
            raise ValueError(f"{what} is given by view, but {wrong}; views are {list(names)}.")
        return {name: value[name] for name in names}
    if isinstance(value, (list, tuple, np.ndarray)):
        if len(value) != len(names):
            raise ValueError(f"{what} has {len(value)} values for {len(names)} views.")
        return dict(zip(names, value, strict=True))
    return dict.fromkeys(names, value)


def present(A: Any, view: str) -> np.ndarray:
    """Tell which rows are there (n,): those without NaN; a row partly NaN is refused."""
    if sp.issparse(A):
        stored = np.diff(A.indptr)
        nan = np.zeros(A.shape[0], dtype=int)
        np.add.at(nan, np.repeat(np.arange(A.shape[0]), stored), np.isnan(A.data))
        partly = (nan > 0) & (nan < stored)
        missing = nan > 0
    else:
        nan = np.isnan(A)
        missing = nan.all(axis=1)
        partly = nan.any(axis=1) & ~missing
    if partly.any():
        raise ValueError(
            f"Row {int(partly.argmax())} of {view} is partly NaN. A row of NaN alone says that "
            "the sample is missing in that view; impute single values before, for instance by "
            "sklearn.impute.SimpleImputer().fit_transform(table)."
        )
    return ~missing


def as_float(table: Any) -> Any:
    """Give a table in float64: differences of float32 values would be rounding."""
    return table.astype(float, copy=False)


def is_precomputed(measure: Any) -> bool:
    """Tell whether a view holds kernels or distances of pairs instead of features."""
    return isinstance(measure, str) and measure == "precomputed"


@dataclass
class FittedTable:
    """What a new table of one view needs to be like the one in fit.

    Attributes
    ----------
    width : number of columns in fit
    transformer : fitted, or None
    X : training samples that new ones are compared with, or None
    columns : those of the training samples where pairs are precomputed, else None
    """

    width: int
    transformer: Any = None
    X: Any = None
    columns: np.ndarray | None = None

    def prepare(self, table: Any, name: str) -> Any:
        """Select and transform a table's columns as in fit."""
        if table.shape[1] != self.width:
            raise ValueError(
                f"View {name!r} has {table.shape[1]} columns, but {self.width} in fit."
            )
        if self.columns is None:
            return table if self.transformer is None else self.transformer.transform(table)
        table = as_float(table[:, self.columns])
        if not np.isfinite(table.data if sp.issparse(table) else table).all():
            raise ValueError(f"View {name!r} has infinity or NaN between samples that are there.")
        return table


class ViewsMixin:
    """Read X as views.

    Expects the parameters ``views``, ``transformers`` and the one that ``_measure`` names, which
    may be "precomputed".
    """

    _measure = "kernel"
    _sparse_pairs = False  # whether precomputed pairs may stay sparse

    def _measures(self) -> dict[str, Any]:
        return per_view(self._measure, getattr(self, self._measure, None), self.view_names_)

    def _check_views(self) -> None:
        if self.views is not None and not (isinstance(self.views, Mapping) and self.views):
            raise TypeError(f"views must be a dict of names -> columns, got {self.views!r}.")

    def _one_precomputed(self) -> bool:
        """Whether X is one matrix of pairs."""
        return self.views is None and is_precomputed(getattr(self, self._measure, None))

    def _read_views(self, X: Any, *, reset: bool) -> Views:
        """Give the views of X, checked; ``view_names_`` and the widths are set or compared."""
        if is_several(X):
            views = self._read_several(X, reset)
        elif self.views is None:
            square = reset and self._one_precomputed()
            X = check_data(self, X, reset=reset, square=square)
            views = Views({"X": X})
        else:
            X = check_data(self, X, reset=reset, allow_nan=True)
            names = getattr(self, "feature_names_in_", None)
            columns = {k: _columns(k, c, X.shape[1], names) for k, c in self.views.items()}
            views = Views({name: X[:, index] for name, index in columns.items()})
        return self._match_names(views, reset)

    def _read_several(self, X: Any, reset: bool) -> Views:
        if self.views is not None:
            raise ValueError(
                "views= cuts the columns of one matrix X; X already is several tables."
            )
        if not reset and isinstance(X, (list, tuple)):
            if len(X) != len(self.view_names_):
                raise ValueError(
                    f"X is a list of {len(X)} views, but there were {len(self.view_names_)} in "
                    "fit: put None for a view that is missing."
                )
            X = dict(zip(self.view_names_, X, strict=True))
        views = Views(X)
        views._tables = {name: _check_table(name, t, reset) for name, t in views._tables.items()}
        if reset:
            vars(self).pop("feature_names_in_", None)
            self.n_features_in_ = sum(t.shape[1] for t in views._tables.values() if t is not None)
        return views

    def _match_names(self, views: Views, reset: bool) -> Views:
        if reset:
            lost = [name for name, table in views._tables.items() if table is None]
            if lost:
                raise ValueError(f"View {lost[0]!r} is missing for every sample: leave it out.")
            self.view_names_, self._columns = views.names, views._columns
            return views
        strange = sorted(set(views.names) - set(self.view_names_))
        if strange:
            raise ValueError(
                f"View {strange[0]!r} was not there in fit; views are {list(self.view_names_)}."
            )
        for name, table in views._tables.items():
            if table is not None:
                check_names(f"View {name!r}", views._columns[name], self._columns[name])
        return views

    def _tables(self, views: Views) -> "list[tuple[str, Any, np.ndarray]]":
        """List name, table of the rows that are there, and which those are, view by view."""
        found = []
        measures = self._measures()
        for name in self.view_names_:
            table = views[name] if name in views.names else None
            if table is None:
                found.append((name, None, np.zeros(len(views), bool)))
                continue
            if is_precomputed(measures[name]) and not (self._sparse_pairs and sp.issparse(table)):
                table = table.toarray() if sp.issparse(table) else table
                here = ~np.isnan(table).all(axis=1)
            else:
                here = present(table, f"view {name!r}")
            found.append((name, table if here.all() else table[here], here))
        return found

    def _training_tables(self, views: Views) -> "list[tuple[str, Any, np.ndarray]]":
        """List the tables as ``_tables``, each with some rows, and note the precision of all."""
        tables = self._tables(views)
        for name, _, here in tables:
            if not here.any():
                raise ValueError(f"View {name!r} is missing for every sample: leave it out.")
        types = {np.dtype(table.dtype) for _, table, _ in tables}
        self._dtype = np.dtype(np.float32 if types == {np.dtype(np.float32)} else np.float64)
        return tables

    def _check_pairs(self, name: str, table: Any, rows: np.ndarray, more: Any) -> None:
        """Check a table of pairs of training samples, which takes no ``more`` preparation."""
        if more is not None:
            raise ValueError(
                f"View {name!r} is a precomputed {self._measure}: it takes neither transformers "
                "nor approximation."
            )
        if rows.max() >= table.shape[1]:
            raise ValueError(
                f"The {self._measure} of view {name!r} has {table.shape[1]} columns for "
                f"{rows.max() + 1} samples: it must be square in fit. To cross-validate pass "
                "eigenlabel.Views, which keeps track of rows and columns."
            )

    def _fresh_transformers(self) -> dict[str, Any]:
        """Give a fresh transformer for each view that has one."""
        if not isinstance(self.transformers, Mapping):
            given = dict.fromkeys(self.view_names_, self.transformers)
        else:
            given = {str(name): one for name, one in self.transformers.items()}
            strange = sorted(set(given) - set(self.view_names_))
            if strange:
                raise ValueError(
                    f"transformers has {strange[0]!r}; views are {list(self.view_names_)}."
                )
        given = {name: one for name, one in given.items() if one is not None}
        for one in given.values():
            if isinstance(one, type) or not hasattr(one, "fit_transform"):
                raise TypeError(
                    "transformers must be a transformer such as StandardScaler(), a dict of names "
                    f"-> transformers, or None, got {one!r}."
                )
        return {name: clone(one) for name, one in given.items()}


def _check_table(name: str, table: Any, reset: bool) -> Any:
    if table is None:
        return None
    check_sparse(table, f"View {name!r}")
    table = check_array(
        table,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
        input_name=f"View {name!r}",
    )
    check_largest(table, least=None if reset else 0.0)
    return canonical(table)


def _columns(view: str, columns: Any, width: int, names: np.ndarray | None) -> Any:
    """Give the positions of a view's columns: a slice, positions, a mask, or names."""
    if isinstance(columns, slice):
        index = np.arange(width)[columns]
    else:
        index = np.atleast_1d(np.asarray(columns))
        if index.dtype.kind in "OU":
            index = _by_name(view, index, names)
        elif index.dtype == bool:
            if len(index) != width:
                raise ValueError(f"The mask of view {view!r} has {len(index)} of {width} columns.")
            index = np.flatnonzero(index)
    if not len(index):
        raise ValueError(f"View {view!r} has no columns.")
    if index.dtype.kind not in "iu" or index.min() < -width or index.max() >= width:
        raise ValueError(f"The columns of view {view!r} must lie below {width}, got {columns!r}.")
    if isinstance(columns, slice) and columns.step in (None, 1):
        return columns  # no copy of a dense X
    return index


def _by_name(view: str, wanted: np.ndarray, names: np.ndarray | None) -> np.ndarray:
    if names is None:
        raise ValueError(f"View {view!r} names columns, but X has no names: pass a frame.")
    place = {name: i for i, name in enumerate(names)}
    lost = [name for name in wanted.tolist() if name not in place]
    if lost:
        raise ValueError(f"View {view!r} wants column {lost[0]!r}, which X does not have.")
    return np.array([place[name] for name in wanted])
