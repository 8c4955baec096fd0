"""Drop rare labels and words, as the papers do.

``drop_rare`` uses the labels and comes before any split, as in the papers. The others are
scikit-learn transformers, which are fitted on training rows only.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenlabel.inputs.data import SelectorMixin, check_sparse, check_unique_columns
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import check_number
from eigenlabel.labels.checks import check_label_matrix
from eigenlabel.linalg.operators import is_sparse


class Kept(NamedTuple):
    """What ``drop_rare`` kept.

    All parameters are attributes too.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_kept, d_kept)
        The word counts that were kept.
    Y : int array of shape (n_kept, m_kept)
        The labels that were kept.
    samples : int array of shape (n_kept,)
        The rows that were kept.
    features : int array of shape (d_kept,)
        The columns of X that were kept.
    labels : int array of shape (m_kept,)
        The columns of Y that were kept.
    """

    X: Any
    Y: np.ndarray
    samples: np.ndarray
    features: np.ndarray
    labels: np.ndarray


def drop_rare(X: Any, Y: Any, *, min_positives: int = 100, min_documents: int = 5) -> Kept:
    """Drop rare labels, then samples without a label, then words of few samples.

    The order and the counting (of samples with the word, not of its occurrences) reproduce the
    published sizes of the Yahoo data: 7441 x 17973 x 19 for Arts (Ji et al. 2010, Table II).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Word counts.
    Y : array or sparse matrix of shape (n, m)
        The 0/1 label matrix.
    min_positives : int, default=100
        Labels with fewer positive samples are dropped.
    min_documents : int, default=5
        Words that occur in fewer of the remaining samples are dropped.

    Returns
    -------
    kept : Kept
        The remaining data and their positions.

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
    X = X.tocsr() if is_sparse(X) else np.asarray(X)
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


class DocumentFrequencySelector(TransformerMixin, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the features that are non-zero in at least ``min_documents`` training samples.

    Parameters
    ----------
    min_documents : int, default=5
        Features that are non-zero in fewer samples are dropped.

    Attributes
    ----------
    documents_ : int array of shape (n_features,)
        The number of samples in which each feature is non-zero.
    n_features_in_ : int
        The number of features of X in ``fit``.
    feature_names_in_ : array of str of shape (n_features_in_,)
        The names of the features, if X in ``fit`` has names.

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
        """Count the samples in which each feature is non-zero.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The training features.
        y : object, default=None
            Not used.

        Returns
        -------
        self : DocumentFrequencySelector
            The fitted selector.
        """
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
    """Return the preparation of word counts that the papers use.

    Rare words are dropped, and the counts of the others become tf-idf values in rows of unit
    length.

    Parameters
    ----------
    min_documents : int, default=5
        Words that occur in fewer training samples are dropped.

    Returns
    -------
    prepare : Pipeline
        The unfitted pipeline.

    Examples
    --------
    >>> from eigenlabel.preprocessing import text_preparation
    >>> text_preparation(1).fit_transform([[2, 0], [0, 5]]).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return make_pipeline(DocumentFrequencySelector(min_documents), TfidfTransformer())
