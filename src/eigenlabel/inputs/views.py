"""Several tables of the same samples: the container, how input becomes one, and missing views.

One rule for missing views: **a row of NaN** marks a sample that is missing in that view. In a
sparse matrix that is a row whose stored values are all NaN; one is enough. In a precomputed kernel
it is the sample's row; its column is ignored. A row that is partly NaN raises an error. For
prediction a whole view may be left out: pass None for it, or omit its name.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import check_array

from eigenlabel.inputs.data import canonical, check_data, check_largest, check_names, check_sparse
from eigenlabel.inputs.sklearn_private import column_names
from eigenlabel.linalg._types import Bools, Ints
from eigenlabel.linalg.operators import is_sparse


class Views:
    """Hold several tables, or kernel matrices, with one row per sample, that are split together.

    ``views[rows]`` selects samples in every table, so that cross_validate, GridSearchCV and
    ThresholdedClassifier accept it as X. Only the row numbers are stored, nothing is copied. A
    kernel matrix keeps its columns; a model that is fitted to some rows selects their columns of
    the kernel itself.

    Parameters
    ----------
    tables : mapping or sequence
        Two-dimensional arrays, sparse matrices, frames or kernel matrices with one row per sample.
        The keys of a mapping are the names of the views. The tables of a sequence are named
        "view0", "view1" and so on. None stands for a view that no sample has.

    Attributes
    ----------
    names : tuple of str
        The names of the views, in order.
    shape : tuple of int
        The number of samples, and the number of columns of all tables together. If all tables are
        square it is (samples, samples), by which scikit-learn recognises kernel matrices.
    rows : ndarray of shape (n_samples,)
        The rows of the tables that the samples are.

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

    _tables: dict[str, Any]
    _rows: Ints | None
    _columns: dict[str, tuple[str, ...] | None]

    def __init__(self, tables: Any) -> None:
        if isinstance(tables, Views):
            vars(self).update(vars(tables))
            return
        if not isinstance(tables, Mapping):
            tables = {f"view{i}": table for i, table in enumerate(tables)}
        self._tables = {str(name): _as_table(name, table) for name, table in tables.items()}
        self._rows = None
        self._columns = {str(name): column_names(table) for name, table in tables.items()}
        lengths = {k: t.shape[0] for k, t in self._tables.items() if t is not None}
        if not lengths:
            raise ValueError("There is no view: at least one table is needed.")
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name!r} {n}" for name, n in lengths.items())
            raise ValueError(
                f"Views have one row per sample each, but their lengths differ: {listed}. Mark a "
                "sample that is missing in a view by a row of NaN."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the views, in order."""
        return tuple(self._tables)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of samples, and of the columns of all tables, or samples again if square."""
        tables = [t for t in self._tables.values() if t is not None]
        n = tables[0].shape[0] if self._rows is None else len(self._rows)
        square = all(t.shape[0] == t.shape[1] for t in tables)
        return n, n if square else sum(t.shape[1] for t in tables)

    @property
    def rows(self) -> Ints:
        """The rows of the tables that the samples are."""
        return np.arange(self.shape[0]) if self._rows is None else self._rows

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Return the table of a name, or the views of some rows."""
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
            "Views are several tables: an estimator that accepts one matrix needs one of them, "
            "views['name'], or their columns side by side."
        )

    def __repr__(self) -> str:
        sizes = ((n, "none" if t is None else t.shape[1]) for n, t in self._tables.items())
        return f"Views({len(self)} samples: {', '.join(f'{n} ({size})' for n, size in sizes)})"


def _as_table(name: Any, table: Any) -> Any:
    if table is None:
        return None
    if is_sparse(table):
        check_sparse(table, f"View {name!r}")
        return table.tocsr()
    given, table = table, np.asarray(table)
    if table.dtype.kind in "OU":
        try:
            nullable = hasattr(given, "isna")  # a frame of pandas, whose types may have pd.NA
            table = given.to_numpy(float, na_value=np.nan) if nullable else table.astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"View {name!r} holds words or dates ({error}): prepare it before, for instance by "
                "TablePreparation().fit_transform(table)."
            ) from error
    if table.ndim != 2:
        raise ValueError(
            f"View {name!r} must be a matrix (samples, features), got shape {table.shape}."
        )
    return table


def indexable(X: Any) -> Any:
    """Return samples in a form whose rows can be selected; several tables become Views."""
    if is_several(X):
        return Views(X)
    if is_sparse(X):
        return X.tocsr()
    return X if hasattr(X, "__getitem__") else np.asarray(X)


def is_several(X: Any) -> bool:
    """Return True if X is several tables: Views, a mapping, or a sequence of matrices."""
    if is_sparse(X):  # some sparse formats are mappings
        return False
    if isinstance(X, (Views, Mapping)):
        return True
    if not isinstance(X, (list, tuple)):
        return False
    return bool(X) and (all(t is None for t in X) or any(_is_matrix(t) for t in X))


def _is_matrix(table: Any) -> bool:
    """Return True for a matrix, which may be a list of rows, and False for a row."""
    if isinstance(table, (list, tuple)):
        return bool(table) and isinstance(table[0], (list, tuple))
    return len(getattr(table, "shape", ())) == 2


def per_view(what: str, value: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the value of a parameter for each view.

    The parameter is one value for all views, a mapping from their names, or a sequence in their
    order.
    """
    if isinstance(value, Mapping):
        value = {str(name): one for name, one in value.items()}  # Views also uses str(name)
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


def is_precomputed(measure: Any) -> bool:
    """Return True if a view holds kernel values or distances of pairs instead of features."""
    return isinstance(measure, str) and measure == "precomputed"


@dataclass(frozen=True)
class Part:
    """The part of some samples that one view has.

    Attributes
    ----------
    name : str
        The name of the view.
    table : array or sparse matrix, or None
        The rows of the samples that the view has; None if the whole view is missing.
    here : (n_samples,) array of bool
        Which of the samples the view has.
    source : (n_view_samples,) array of int
        The rows of the table that was passed in.
    """

    name: str
    table: Any
    here: Bools
    source: Ints

    @property
    def rows(self) -> Ints:
        """The positions of the samples that the view has."""
        return np.flatnonzero(self.here)


@dataclass(frozen=True)
class Layout:
    """The views in fit, with which those of new samples must agree.

    Attributes
    ----------
    columns : mapping or None
        The columns of each view in one matrix X; None if X is several tables, or one view.
    names : tuple of str
        The names of the views.
    column_names : mapping
        The names of the columns of each view that was a frame; None for other tables.
    pairs : tuple of str
        The views that hold pairs of samples.
    sparse_pairs : bool
        Whether sparse pairs stay sparse.
    n_samples : int
        The number of training samples.
    dtype : numpy dtype
        The precision of results: float32 if all tables were float32, else float64.
    widths : mapping
        The number of columns of each view, if :meth:`arrange` is to compare them.
    """

    columns: Mapping[str, Any] | None
    names: tuple[str, ...]
    column_names: Mapping[str, tuple[str, ...] | None]
    pairs: tuple[str, ...]
    sparse_pairs: bool
    n_samples: int
    dtype: "np.dtype[Any]"
    widths: Mapping[str, int] = field(default_factory=dict)

    def read(self, estimator: Any, X: Any) -> list[Part]:
        """Return the part of each view of new samples.

        Raise ValueError if they have other views or other columns than the samples in fit.
        """
        if is_several(X):
            X = X if self.columns is not None else self.arrange(X)
            views = _several(X, self.columns, least=0.0)
        else:
            views = _one(estimator, X, self.columns, reset=False)
        return _split(views, self.names, self.pairs, self.sparse_pairs)

    def arrange(self, X: Any) -> Views:
        """Return several tables in the order of fit, with None for those that are missing.

        Raise ValueError if they have other views or other columns than the samples in fit.
        """
        views = Views(self._named(X))
        strange = sorted(set(views.names) - set(self.names))
        if strange:
            raise ValueError(
                f"View {strange[0]!r} was not there in fit; views are {list(self.names)}."
            )
        for name, table in views._tables.items():
            if table is not None:
                check_names(f"View {name!r}", views._columns[name], self.column_names[name])
                if table.shape[1] != self.widths.get(name, table.shape[1]):
                    raise ValueError(
                        f"View {name!r} has {table.shape[1]} columns, but had {self.widths[name]} "
                        "in fit."
                    )
        views._tables = {name: views._tables.get(name) for name in self.names}
        views._columns = {name: views._columns.get(name) for name in self.names}
        return views

    def _named(self, X: Any) -> Any:
        """Return a sequence of tables as a mapping from the names of the views in fit."""
        if self.columns is not None or not isinstance(X, (list, tuple)):
            return X
        if len(X) != len(self.names):
            raise ValueError(
                f"X is a list of {len(X)} views, but there were {len(self.names)} in fit: put None "
                "for a view that is missing."
            )
        return dict(zip(self.names, X, strict=True))


def read_views(
    estimator: Any,
    X: Any,
    columns: Mapping[str, Any] | None,
    *,
    sparse_pairs: bool = False,
    **measure: Any,
) -> tuple[list[Part], Layout]:
    """Return the part of each view of training samples, and the layout for new samples.

    Parameters
    ----------
    estimator : object
        The estimator, whose ``n_features_in_`` and ``feature_names_in_`` are set.
    X : array, sparse matrix, frame, Views, mapping or sequence
        One matrix, or several tables.
    columns : mapping or None
        The columns of each view in one matrix X.
    sparse_pairs : bool
        Whether sparse pairs stay sparse.
    **measure : str, callable, mapping or sequence
        The parameter of the estimator that compares samples, by its name, such as ``kernel="rbf"``;
        a view whose measure is "precomputed" holds pairs of samples.
    """
    if is_several(X):
        views = _several(X, columns)
        estimator.__dict__.pop("feature_names_in_", None)
        widths = [t.shape[1] for t in views._tables.values() if t is not None]
        estimator.n_features_in_ = sum(widths)
    else:
        square = columns is None and any(map(is_precomputed, measure.values()))
        views = _one(estimator, X, columns, reset=True, square=square)
    pairs = tuple(
        view
        for what, value in measure.items()
        for view, each in per_view(what, value, views.names).items()
        if is_precomputed(each)
    )
    parts = _split(views, views.names, pairs, sparse_pairs)
    for part in parts:
        if not part.here.any():
            raise ValueError(f"View {part.name!r} is missing for every sample: leave it out.")
    single = all(part.table.dtype == np.float32 for part in parts)
    dtype: np.dtype[Any] = np.dtype(np.float32 if single else np.float64)
    layout = Layout(columns, views.names, views._columns, pairs, sparse_pairs, len(views), dtype)
    return parts, layout


def layout_of(views: Views) -> Layout:
    """Return the layout of several tables of features, for :meth:`Layout.arrange`."""
    dtype: np.dtype[Any] = np.dtype(np.float64)
    widths = {name: t.shape[1] for name, t in views._tables.items() if t is not None}
    return Layout(None, views.names, views._columns, (), False, len(views), dtype, widths)


def _split(
    views: Views, names: Sequence[str], pairs: Collection[str], sparse_pairs: bool
) -> list[Part]:
    """Return the part of each view of the names in fit."""
    found, source = [], views.rows
    for name in names:
        table = views[name] if name in views.names else None
        if table is None:
            found.append(Part(name, None, np.zeros(len(views), dtype=bool), source[:0]))
            continue
        if name in pairs and not (sparse_pairs and is_sparse(table)):
            table = table.toarray() if is_sparse(table) else table
            here = np.asarray(~np.isnan(table).all(axis=1))
        else:
            here = _present_rows(table, f"view {name!r}")
        found.append(Part(name, table if here.all() else table[here], here, source[here]))
    return found


def _present_rows(A: Any, view: str) -> Bools:
    """Return which rows are present: those without NaN. Raise ValueError if one is partly NaN."""
    if is_sparse(A):
        stored = np.diff(A.indptr)
        place = np.repeat(np.arange(A.shape[0]), stored)
        count = np.bincount(place, np.isnan(A.data), minlength=A.shape[0])
        missing = count > 0
        partly = missing & (count < stored)
    else:
        nan = np.isnan(A)
        missing = nan.all(axis=1)
        partly = nan.any(axis=1) & ~missing
    if partly.any():
        raise ValueError(
            f"Row {int(partly.argmax())} of {view} is partly NaN. A row of NaN alone marks a sample"
            " that is missing in that view; impute single values before, for instance by "
            "sklearn.impute.SimpleImputer().fit_transform(table)."
        )
    return np.asarray(~missing)


def _several(X: Any, columns: Mapping[str, Any] | None, least: float | None = None) -> Views:
    if columns is not None:
        raise ValueError("views= cuts the columns of one matrix X; X already is several tables.")
    views = Views(X)
    views._tables = {name: _check_table(name, t, least) for name, t in views._tables.items()}
    return views


def _check_table(name: str, table: Any, least: float | None) -> Any:
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
    check_largest(table, least=least)
    return canonical(table)


def _one(
    estimator: Any,
    X: Any,
    columns: Mapping[str, Any] | None,
    *,
    reset: bool,
    square: bool = False,
) -> Views:
    X = check_data(estimator, X, reset=reset, square=square, allow_nan=columns is not None)
    if columns is None:
        return Views({"X": X})
    names = getattr(estimator, "feature_names_in_", None)
    index = {k: _positions(k, c, X.shape[1], names) for k, c in columns.items()}
    return Views({name: X[:, positions] for name, positions in index.items()})


def _positions(view: str, columns: Any, width: int, names: Any) -> Any:
    """Return the positions of the columns of a view: a slice, positions, a mask, or names."""
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
        return columns  # a dense X is not copied
    return index


def _by_name(view: str, wanted: Any, names: Any) -> Ints:
    if names is None:
        raise ValueError(f"View {view!r} names columns, but X has no names: pass a frame.")
    place = {name: i for i, name in enumerate(names)}
    lost = [name for name in wanted.tolist() if name not in place]
    if lost:
        raise ValueError(f"View {view!r} wants column {lost[0]!r}, which X does not have.")
    return np.array([place[name] for name in wanted])
