"""The papers' preparation of word counts, and sensible preparation of any table.

``drop_rare`` looks at labels and belongs before any split, as the papers do it. The rest are
scikit-learn transformers, fitted on training rows only.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.validation import (
    SelectorMixin,
    check_choice,
    check_number,
    check_sparse,
    check_unique_columns,
)
from eigenlabel.labels.checks import check_label_matrix

PREPARATIONS = ("auto", "none", "tfidf", "unit", "standard")
NUMBERS, VALUES, FEATURES = "numbers", "values", "features"  # groups of columns, beside the texts


class Kept(NamedTuple):
    """What ``drop_rare`` kept: the data, and the positions of samples, features and labels."""

    X: Any
    Y: np.ndarray
    samples: np.ndarray
    features: np.ndarray
    labels: np.ndarray


def drop_rare(X: Any, Y: Any, *, min_positives: int = 100, min_documents: int = 5) -> Kept:
    """Drop rare labels, then samples without a label, then words that few samples have.

    The order and the counting (samples with the word, not occurrences) are those that give the
    published sizes of the Yahoo data: 7441 x 17973 x 19 for Arts (TKDD 2010, Table II).

    Parameters
    ----------
    X : (n, d) word counts, dense or sparse
    Y : (n, m) 0/1 label matrix, dense or sparse
    min_positives : labels with fewer positive samples go
    min_documents : words in fewer of the remaining samples go

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.preprocessing import drop_rare
    >>> X = np.array([[1, 0, 2], [1, 1, 0], [0, 1, 0]])
    >>> kept = drop_rare(X, [[1, 0], [1, 0], [0, 1]], min_positives=2, min_documents=2)
    >>> kept.X.tolist(), kept.samples.tolist(), kept.labels.tolist()
    ([[1], [1]], [0, 1], [0])
    """
    check_number("min_positives", min_positives, 0, integer=True)
    check_number("min_documents", min_documents, 0, integer=True)
    Y = check_label_matrix(Y, "Y")
    X = X.tocsr() if sp.issparse(X) else np.asarray(X)
    if X.shape[0] != len(Y):
        raise ValueError(f"X has {X.shape[0]} samples, Y has {len(Y)}.")
    labels = np.flatnonzero(Y.sum(axis=0) >= min_positives)
    samples = np.flatnonzero(Y[:, labels].any(axis=1))
    X = X[samples]
    documents = (X != 0).sum(axis=0)
    features = np.flatnonzero(np.asarray(documents).ravel() >= min_documents)
    return Kept(
        X[:, features], Y[np.ix_(samples, labels)].astype(np.int64), samples, features, labels
    )


class DocumentFrequencySelector(TransformerMixin, SelectorMixin, BaseEstimator):
    """Keep the features that at least so many training samples have, however often.

    Parameters
    ----------
    min_documents : int, default=5
        Features that are non-zero in fewer samples go.

    Attributes
    ----------
    documents_ : (n_features,), the samples with each feature

    Examples
    --------
    >>> from eigenlabel.preprocessing import DocumentFrequencySelector
    >>> DocumentFrequencySelector(2).fit_transform([[3, 0, 1], [1, 2, 0]]).tolist()
    [[3], [1]]
    """

    def __init__(self, min_documents: int = 5) -> None:
        self.min_documents = min_documents

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "DocumentFrequencySelector":  # noqa: ARG002
        """Count the samples that have each feature."""
        check_number("min_documents", self.min_documents, 0, integer=True)
        check_sparse(X, "X")
        check_unique_columns(X)
        X = validate_data(self, X, accept_sparse="csr", ensure_all_finite="allow-nan")
        self.documents_ = np.asarray((X != 0).sum(axis=0)).ravel()
        return self

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.documents_ >= self.min_documents

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def text_preparation(min_documents: int = 5) -> Pipeline:
    """Give the papers' preparation of word counts: rare words, tf-idf, rows of unit length."""
    return make_pipeline(DocumentFrequencySelector(min_documents), TfidfTransformer())


class ColumnGroups(TransformerMixin, BaseEstimator):
    """Apply one transformer to each group of columns and put the results side by side.

    It differs from scikit-learn's ``ColumnTransformer`` in what it keeps: groups of columns that
    are slices stay slices, so that the file of a model with 100,000 words stays small. The result
    is sparse if that of any transformer is.

    Parameters
    ----------
    groups : list of (str, transformer, slice or int array)
        The name of each group, its transformer and its columns.

    Attributes
    ----------
    transformers_ : list of the fitted transformers

    Examples
    --------
    >>> from sklearn.preprocessing import Normalizer, StandardScaler
    >>> from eigenlabel.preprocessing import ColumnGroups
    >>> groups = [("size", StandardScaler(), slice(0, 1)), ("words", Normalizer(), slice(1, 3))]
    >>> ColumnGroups(groups).fit_transform([[1.0, 3, 4], [3, 0, 2]]).tolist()
    [[-1.0, 0.6, 0.8], [1.0, 0.0, 1.0]]
    """

    def __init__(self, groups: Any) -> None:
        self.groups = groups

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "ColumnGroups":
        """Fit the transformer of each group to its columns."""
        self.fit_transform(X, y)
        return self

    @all_or_nothing
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the transformers and return the prepared columns, group by group."""
        X = self._check(X, reset=True)
        transformers = [clone(transformer) for _, transformer, _ in self.groups]
        parts = [
            transformer.fit_transform(X[:, columns], y)
            for transformer, (_, _, columns) in zip(transformers, self.groups, strict=True)
        ]
        self.transformers_ = transformers
        return _side_by_side(parts)

    def transform(self, X: Any) -> Any:
        """Return the prepared columns, group by group."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        fitted = zip(self.transformers_, self.groups, strict=True)
        return _side_by_side([t.transform(X[:, columns]) for t, (_, _, columns) in fitted])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the prepared columns."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        fitted = zip(self.transformers_, self.groups, strict=True)
        return np.concatenate([t.get_feature_names_out(names[c]) for t, (_, _, c) in fitted])

    def sources(self, width: int) -> np.ndarray:
        """Return for each prepared column the column of X, of ``width`` columns, it stems from."""
        return np.concatenate([_sources(t, np.arange(width)[c]) for _, t, c in self.groups])

    def _check(self, X: Any, reset: bool) -> Any:
        check_sparse(X, "X")
        return validate_data(
            self, X, accept_sparse="csr", ensure_all_finite="allow-nan", reset=reset
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _side_by_side(parts: list[Any]) -> Any:
    if any(map(sp.issparse, parts)):
        return sp.csr_array(sp.hstack(parts, format="csr"))
    return np.hstack(parts)


def _sources(transformer: Any, columns: np.ndarray) -> np.ndarray:
    last = transformer[-1] if isinstance(transformer, Pipeline) else transformer
    if isinstance(last, OneHotEncoder):
        return np.repeat(columns, [len(values) for values in last.categories])
    return columns


def make_preparation(
    kind: str,
    X: Any,
    *,
    feature_names: Any = (),
    categories: Mapping[str, Any] | None = None,
    column_types: Mapping[str, str] | None = None,
    words: Mapping[str, slice] | None = None,
    views: Mapping[str, slice] | None = None,
) -> Any:
    """Return an unfitted transformer that prepares features like X for a linear model.

    Each kind of column has its own preparation. ``make_preparation(kind, data.X, **data.layout)``
    passes what a ``Dataset`` knows about its columns.

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
    A missing number becomes the mean of its column. A missing or unknown category is zero in all
    of its columns. Standardised numbers have mean 0 and variance 1, and each text has rows of
    length 1 (except with "standard"). The result is sparse if X is.

    Parameters
    ----------
    kind : {"auto", "none", "tfidf", "unit", "standard"}
        The preparation, see the table.
    X : array or sparse matrix of shape (n, d)
        Features like those to prepare. Only their form is used here.
    feature_names : sequence of str, default=()
        The names of the columns of X.
    categories : mapping, default=None
        Feature name -> its values, where a column of X holds positions in this list.
    column_types : mapping, default=None
        Feature name -> "number", "date" or "category", for the columns of a table. Of a sparse X,
        only numbers and dates that are named here are imputed and standardised; of a dense X, all.
    words : mapping, default=None
        Name of a text -> the columns of X that count its words.
    views : mapping, default=None
        Name of a view -> its columns of X. The prepared columns of a view stay side by side, and
        :func:`prepared_views` returns where they are.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.preprocessing import make_preparation
    >>> X = np.array([[1.0, 0], [np.nan, 2], [3, 1]])
    >>> kinds = {"colour": ("red", "green", "blue")}
    >>> make = make_preparation("auto", X, feature_names=["size", "colour"], categories=kinds)
    >>> make.fit_transform(X).round(2).tolist()
    [[-1.22, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.22, 0.0, 1.0, 0.0]]
    """
    check_choice("kind", kind, PREPARATIONS)
    if kind == "none":
        return FunctionTransformer(accept_sparse=True)
    check_sparse(X, "X")
    if sp.issparse(X) and X.format != "csc":
        X = X.tocsr()  # other forms have no columns to select
    names, values = list(map(str, feature_names)), dict(categories or {})
    found = _find_groups(X, names, values, column_types or {}, words or {})
    alone = not set(found) - {NUMBERS, VALUES}

    def make(group: str, columns: np.ndarray) -> Any:
        if group == VALUES:
            return _one_hot(sp.issparse(X), [values[names[j]] for j in columns])
        if group == NUMBERS:
            return _prepare_numbers(kind if alone else "auto", sp.issparse(X))
        counts = group != FEATURES or kind != "auto" or _counts(X[:, columns])
        return _prepare_counts(kind if counts else "none")

    if len(found) == 1 and VALUES not in found:
        return make(*found.popitem())
    parts = _split_by_view(found, views or {}, X.shape[1])
    return ColumnGroups([(group, make(group, c), _compact(c)) for group, c in parts])


def prepared_views(prepare: Any, views: Mapping[str, slice], n_features: int) -> dict[str, slice]:
    """Return where the views of X are among the columns that a preparation returns.

    Parameters
    ----------
    prepare : transformer
        The result of :func:`make_preparation`, fitted or not.
    views : mapping
        Name of a view -> its columns of X, the same as for :func:`make_preparation`.
    n_features : int
        The number of columns of X.

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
    """Return the columns of each group that is not empty: one group for each text."""
    sparse = sp.issparse(X)
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


def _split_by_view(
    found: Mapping[str, np.ndarray], views: Mapping[str, slice], width: int
) -> list[tuple[str, np.ndarray]]:
    """Return the groups in an order that keeps the columns of a view side by side.

    Only numbers and categories are split, as their columns are prepared one by one.
    """
    edges = sorted({edge for columns in views.values() for edge in columns.indices(width)[:2]})
    parts = [
        (group, part)
        for group, columns in found.items()
        for part in (
            np.split(columns, np.searchsorted(columns, edges))
            if group in (NUMBERS, VALUES)
            else [columns]
        )
        if len(part)
    ]
    return sorted(parts, key=lambda part: part[1][0]) if views else parts


def _compact(columns: np.ndarray) -> Any:
    """Return positions as a slice if they follow one another."""
    start, stop = int(columns[0]), int(columns[-1]) + 1
    return slice(start, stop) if stop - start == len(columns) else columns


def _counts(X: Any) -> bool:
    """Return True if all stored values of a sparse X are whole numbers and none is negative."""
    return bool((X.data >= 0).all() and (X.data == np.round(X.data)).all())


def _to_dense(X: Any) -> np.ndarray:
    """Return X as an array."""
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def _on_dense(sparse: bool, *steps: Any) -> Any:
    """Return a pipeline of steps that need dense input."""
    dense = FunctionTransformer(_to_dense, accept_sparse=True, feature_names_out="one-to-one")
    return make_pipeline(*([dense] if sparse else []), *steps)


def _prepare_numbers(kind: str, sparse: bool) -> Any:
    if kind in ("auto", "standard"):
        return _on_dense(sparse, SimpleImputer(keep_empty_features=True), StandardScaler())
    return _prepare_counts(kind)


def _one_hot(sparse: bool, values: list[Any]) -> Any:
    codes = [np.arange(len(v), dtype=float) for v in values]
    # A missing value is not in the list: all its columns are zero.
    one_hot = OneHotEncoder(categories=codes, handle_unknown="ignore", sparse_output=sparse)
    return _on_dense(True, one_hot) if sparse else one_hot


def _prepare_counts(kind: str) -> Any:
    if kind == "unit":
        return Normalizer()
    if kind == "standard":
        return StandardScaler(with_mean=False)
    if kind == "none":
        return FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one")
    return TfidfTransformer()
