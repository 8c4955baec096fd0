"""The papers' preparation of word counts, and sensible preparation of any table.

``drop_rare`` looks at labels and belongs before any split, as the papers do it. The rest are
scikit-learn transformers, fitted on training rows only.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenlabel._fitting import TransformerMixin, all_or_nothing
from eigenlabel._validation import check_choice, check_number
from eigenlabel.labels import check_label_matrix

PREPARATIONS = ("auto", "none", "tfidf", "unit", "standard")


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


def make_preparation(
    kind: str, X: Any, *, feature_names: Any = (), categories: Mapping[str, Any] | None = None
) -> Any:
    """Give an unfitted transformer that prepares features like X for a linear model.

    Parameters
    ----------
    kind : "auto", "none", "tfidf", "unit" (rows of unit length) or "standard" (columns of unit
        variance, centred if X is dense, categories one column a value, missing values imputed)
        "auto" is tf-idf for sparse counts, nothing for other sparse X, "standard" for dense X.
    X : features as they will come
    feature_names, categories : names of the columns, and which of them hold positions in a list of
        values, as a ``Dataset`` has them

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
    if kind == "auto":
        kind = "standard" if not sp.issparse(X) else "tfidf" if _counts(X) else "none"
    if kind == "tfidf":
        return TfidfTransformer()
    if kind == "unit":
        return Normalizer()
    if kind == "none":
        return FunctionTransformer(accept_sparse=True)
    return _standard(sp.issparse(X), list(feature_names), dict(categories or {}))


def _counts(X: Any) -> bool:
    """Tell whether sparse X counts something: whole numbers, none negative."""
    return bool((X.data >= 0).all() and (X.data == np.round(X.data)).all())


def _standard(sparse: bool, names: list[str], categories: dict[str, Any]) -> Any:
    scale = StandardScaler(with_mean=not sparse)
    numbers = scale if sparse else make_pipeline(SimpleImputer(keep_empty_features=True), scale)
    coded = [j for j, name in enumerate(names) if name in categories]
    if not coded:
        return numbers
    values = [np.arange(len(categories[names[j]]), dtype=float) for j in coded]
    # A missing value is none of the list: all its columns are zero.
    one_hot = OneHotEncoder(categories=values, handle_unknown="ignore", sparse_output=sparse)
    rest = [j for j in range(len(names)) if j not in set(coded)]
    return ColumnTransformer([("numbers", numbers, rest), ("values", one_hot, coded)])
