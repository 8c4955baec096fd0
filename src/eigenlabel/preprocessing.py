"""The papers' preparation of word counts, up to what scikit-learn has itself.

``drop_rare`` looks at labels and belongs before any split, as the papers do it; tf-idf and unit
rows are ``sklearn.feature_extraction.text.TfidfTransformer``, fitted on training rows only.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigenlabel._validation import check_number
from eigenlabel.labels import check_label_matrix


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
