"""Choose the preparation of each kind of column: numbers, dates, categories, words."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

from eigenlabel.inputs.data import check_sparse
from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.preprocessing.encoders import (
    DateParts,
    OneHotLevels,
    date_part,
    find_levels,
    find_parts,
    flag_missing,
    name_missing,
    name_years,
    years,
)
from eigenlabel.preprocessing.groups import ColumnGroups

PREPARATIONS = ("auto", "none", "tfidf", "unit", "standard")
# Groups of columns; each text is a group of its own.
NUMBERS, VALUES, FEATURES = "numbers", "values", "features"
# What else is made of numbers and dates.
GAPS, YEARS, PARTS = "missing values", "years", "parts of dates"
BY_COLUMN = (NUMBERS, GAPS, YEARS, PARTS, VALUES)
MANY_LEVELS = 200
ENOUGH = 100  # samples from which a value of one sample is rare


def make_preparation(
    kind: str,
    X: Any,
    *,
    feature_names: Any = (),
    categories: Mapping[str, Any] | None = None,
    column_types: Mapping[str, str] | None = None,
    words: Mapping[str, slice] | None = None,
    views: Mapping[str, slice] | None = None,
    min_frequency: int | str = "auto",
    max_levels: int = MANY_LEVELS,
) -> Any:
    """Return an unfitted transformer that prepares features like X for a linear model.

    Each kind of column has its own preparation. ``make_preparation(kind, data.X, **data.layout)``
    passes the description of the columns of a ``Dataset``.

    ==========  ========================  ==================  ===================  =============
    kind        numbers and dates         categories          words of a text      other sparse
    ==========  ========================  ==================  ===================  =============
    "auto"      imputed and standardised  one column a value  tf-idf               tf-idf if all
                                                                                   are counts
    "tfidf"     as "auto"                 as "auto"           tf-idf               tf-idf
    "unit"      as "auto"                 as "auto"           rows of unit length  as the words
    "standard"  as "auto"                 as "auto"           unit variance        unit variance
    "none"      unchanged                 unchanged           unchanged            unchanged
    ==========  ========================  ==================  ===================  =============

    If X has neither words nor other sparse columns, "tfidf" and "unit" apply to the numbers.
    A missing number becomes the mean of its column, and columns of 0 and 1 say where numbers and
    dates are missing. A date becomes the days since 1970, its year, and columns of 0 and 1 for its
    month, weekday and hour, as far as these vary. Rare values of a category have one column
    together, and a missing or unknown category is zero in all of its columns. Standardised numbers
    have mean 0 and variance 1, and each text has rows of length 1 (except with "standard"). Counts
    c of the words of a text become 1 + log c in its tf-idf. The result is sparse if X is.

    Parameters
    ----------
    kind : {"auto", "none", "tfidf", "unit", "standard"}
        The preparation, see the table.
    X : array or sparse matrix of shape (n, d)
        Features like those to prepare. They decide which columns are made: which numbers are
        missing, which parts of dates vary, and which values of categories are rare.
    feature_names : sequence of str, default=()
        The names of the columns of X.
    categories : mapping, default=None
        Feature name -> its values, for each column of X that contains positions in this list.
    column_types : mapping, default=None
        Feature name -> "number", "date" or "category", for the columns of a table. In a sparse X
        only numbers and dates that are named here are imputed and standardised; in a dense X all
        are.
    words : mapping, default=None
        Name of a text -> the columns of X that count its words.
    views : mapping, default=None
        Name of a view -> its columns of X. The prepared columns of a view remain side by side, and
        :func:`prepared_views` returns their positions.
    min_frequency : int or "auto", default="auto"
        Values of a category, and months, weekdays and hours, that fewer samples have are rare.
        "auto" is 2, or 1 with fewer than 100 samples.
    max_levels : int, default=200
        The number of values of a category, the most frequent ones, that have a column of their own.

    Returns
    -------
    prepare : transformer
        The unfitted transformer.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.preprocessing import make_preparation
    >>> X = np.array([[1.0, 0], [np.nan, 2], [3, 1]])
    >>> names, kinds = ["size", "colour"], {"colour": ("red", "green", "blue")}
    >>> make = make_preparation("auto", X, feature_names=names, categories=kinds)
    >>> make.fit_transform(X).round(2).tolist()
    [[-1.22, 0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 1.0], [1.22, 0.0, 0.0, 1.0, 0.0]]
    >>> make.get_feature_names_out(names).tolist()
    ['size', 'size is missing', 'colour=red', 'colour=green', 'colour=blue']
    """
    check_choice("kind", kind, PREPARATIONS)
    if kind == "none":
        return FunctionTransformer(accept_sparse=True)
    check_sparse(X, "X")
    if is_sparse(X) and X.format != "csc":
        X = X.tocsr()  # of other formats no columns can be selected
    names, values = list(map(str, feature_names)), dict(categories or {})
    found = _find_groups(X, names, values, column_types or {}, words or {})
    alone = not set(found) - {NUMBERS, VALUES}
    least = _least(min_frequency, X.shape[0])
    if NUMBERS in found and (not alone or kind in ("auto", "standard")):
        types = column_types or {}
        dates = np.array([bool(types) and types.get(names[j]) == "date" for j in found[NUMBERS]])
        found = {**_made_of_numbers(X, found[NUMBERS], dates, least), **found}

    def make(group: str, columns: Ints) -> Any:
        if group == VALUES:
            known = [values[names[j]] for j in columns]
            return _one_hot(X[:, columns], known, least, max_levels)
        if group == NUMBERS:
            return _prepare_numbers(kind if alone else "auto", is_sparse(X))
        if group in (GAPS, YEARS, PARTS):
            return _prepare_made(group, X[:, columns], least)
        if group != FEATURES:
            return _prepare_counts(kind, sublinear=True)
        counts = kind != "auto" or is_counts(X[:, columns])
        return _prepare_counts(kind if counts else "none")

    if len(found) == 1 and VALUES not in found:
        return make(*found.popitem())
    parts = _split_by_view(found, views or {}, X.shape[1])
    return ColumnGroups([(group, make(group, c), _compact(c)) for group, c in parts])


def prepared_views(prepare: Any, views: Mapping[str, slice], n_features: int) -> dict[str, slice]:
    """Return the positions of the views of X among the columns that a preparation returns.

    Parameters
    ----------
    prepare : transformer
        The result of :func:`make_preparation`, fitted or not.
    views : mapping
        Name of a view -> its columns of X, the same as for :func:`make_preparation`.
    n_features : int
        The number of columns of X.

    Returns
    -------
    views : dict of str to slice
        Name of a view -> its prepared columns.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.preprocessing import make_preparation, prepared_views
    >>> layout = {"feature_names": ["colour", "size"], "categories": {"colour": ("red", "blue")}}
    >>> views = {"look": slice(0, 1), "rest": slice(1, 2)}
    >>> prepare = make_preparation("auto", np.zeros((3, 2)), views=views, **layout)
    >>> prepared_views(prepare, views, 2)
    {'look': slice(0, 2, None), 'rest': slice(2, 3, None)}
    """
    if not isinstance(prepare, ColumnGroups):
        return dict(views)
    sources, places = prepare.sources(n_features), {}
    for name, columns in views.items():
        start, stop, _ = columns.indices(n_features)
        at = np.flatnonzero((sources >= start) & (sources < stop))
        if len(at) and at[-1] - at[0] + 1 != len(at):
            raise ValueError(
                f"The columns of the view {name!r} are not side by side after the preparation. "
                "Pass the same views to make_preparation, or prepare each view alone."
            )
        places[name] = slice(int(at[0]), int(at[-1]) + 1) if len(at) else slice(0, 0)
    return places


def _find_groups(
    X: Any,
    names: list[str],
    categories: Mapping[str, Any],
    column_types: Mapping[str, str],
    words: Mapping[str, slice],
) -> dict[str, np.ndarray]:
    """Return the columns of each group that is not empty; each text is a group."""
    sparse = is_sparse(X)
    groups = [NUMBERS, VALUES, FEATURES, *(f"words of {name}" for name in words)]
    code = np.full(X.shape[1], groups.index(FEATURES if sparse else NUMBERS))
    if categories or column_types:
        for j, name in enumerate(names):
            if name in categories:
                code[j] = groups.index(VALUES)
            elif name in column_types:
                code[j] = groups.index(NUMBERS)
    for k, columns in enumerate(words.values()):
        code[columns] = groups.index(FEATURES) + 1 + k
    found = {group: np.flatnonzero(code == k) for k, group in enumerate(groups)}
    return {group: columns for group, columns in found.items() if len(columns)}


def _made_of_numbers(X: Any, columns: Ints, dates: Bools, least: int) -> dict[str, Ints]:
    """Return the columns of numbers with missing values, and those of dates that have parts."""
    numbers = to_dense(X[:, columns])
    made = {NUMBERS: columns, GAPS: columns[_distinct(np.isnan(numbers))]}
    for group, has in ((YEARS, _has_years), (PARTS, lambda days: bool(find_parts(days, least)))):
        made[group] = columns[[bool(dates[k]) and has(numbers[:, k]) for k in range(len(columns))]]
    return {group: found for group, found in made.items() if len(found)}


def _distinct(flags: Bools) -> Bools:
    """Return the columns that are neither constant nor equal to an earlier column."""
    seen, kept = set[bytes](), np.zeros(flags.shape[1], dtype=bool)
    for k in np.flatnonzero(flags.any(axis=0) & ~flags.all(axis=0)):
        column = np.packbits(flags[:, k]).tobytes()
        kept[k] = column not in seen
        seen.add(column)
    return kept


def _has_years(days: Floats) -> bool:
    found = date_part(days, "year")
    return len(np.unique(found[found >= 0])) > 1


def _least(min_frequency: int | str, n: int) -> int:
    """Return the number of samples below which a value is rare."""
    if min_frequency == "auto":
        return 2 if n >= ENOUGH else 1
    check_number("min_frequency", min_frequency, 1, integer=True)
    return int(min_frequency)


def _split_by_view(
    found: Mapping[str, np.ndarray], views: Mapping[str, slice], width: int
) -> list[tuple[str, np.ndarray]]:
    """Return the groups in an order that keeps the columns of a view side by side.

    Texts and sparse features are not split, as their columns are not prepared one by one.
    """
    edges = sorted({edge for columns in views.values() for edge in columns.indices(width)[:2]})
    parts = [
        (group, part)
        for group, columns in found.items()
        for part in (
            np.split(columns, np.searchsorted(columns, edges)) if group in BY_COLUMN else [columns]
        )
        if len(part)
    ]
    return sorted(parts, key=lambda part: part[1][0]) if views else parts


def _compact(columns: np.ndarray) -> Any:
    """Return positions as a slice if they are consecutive."""
    start, stop = int(columns[0]), int(columns[-1]) + 1
    return slice(start, stop) if stop - start == len(columns) else columns


def is_counts(X: Matrix) -> bool:
    """Return True if all stored values of a sparse X are non-negative whole numbers."""
    return bool((X.data >= 0).all() and (X.data == np.round(X.data)).all())


def to_dense(X: Matrix) -> np.ndarray:
    """Return X as an array."""
    return np.asarray(X.toarray() if is_sparse(X) else X)


def _on_dense(sparse: bool, *steps: Any) -> Any:
    """Return a pipeline of steps that need dense input, after a conversion of a sparse X."""
    dense = FunctionTransformer(to_dense, accept_sparse=True, feature_names_out="one-to-one")
    return make_pipeline(*([dense] if sparse else []), *steps)


def _prepare_numbers(kind: str, sparse: bool) -> Any:
    """Return the preparation of numbers and dates."""
    if kind in ("auto", "standard"):
        return _on_dense(sparse, SimpleImputer(keep_empty_features=True), StandardScaler())
    return _prepare_counts(kind)


def _prepare_made(group: str, X: Matrix, least: int) -> Any:
    """Return the preparation of what else is made of numbers and dates X."""
    if group == GAPS:
        flags = FunctionTransformer(flag_missing, feature_names_out=name_missing)
        return _on_dense(is_sparse(X), flags)
    if group == YEARS:
        found = FunctionTransformer(years, feature_names_out=name_years)
        steps = SimpleImputer(keep_empty_features=True), StandardScaler()
        return _on_dense(is_sparse(X), found, *steps)
    parts = [find_parts(days, least) for days in to_dense(X).T]
    return _on_dense(is_sparse(X), DateParts(parts, is_sparse(X)))


def _one_hot(X: Matrix, values: list[Any], least: int, most: int) -> Any:
    """Return the preparation of categories X, positions in lists of values."""
    columns = zip(to_dense(X).T, values, strict=True)
    levels = [find_levels(codes, known, least, most) for codes, known in columns]
    names, places = [found for found, _ in levels], [found for _, found in levels]
    return _on_dense(is_sparse(X), OneHotLevels(names, places, is_sparse(X)))


def _prepare_counts(kind: str, *, sublinear: bool = False) -> Any:
    """Return the preparation of words and other sparse features."""
    if kind == "unit":
        return Normalizer()
    if kind == "standard":
        return StandardScaler(with_mean=False)
    if kind == "none":
        return FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one")
    return TfidfTransformer(sublinear_tf=sublinear)
