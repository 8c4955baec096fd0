"""Real data sets in one form, for benchmarks that compare models over many sets.

Each set has labels with at least ten positives, text is weighed by tf-idf, tables are scaled to
unit variance, and a split draws training and test samples that keep the share of each label.
"""

import os
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from _common import data_folder
from eigenlabel import datasets
from eigenlabel.model_selection import MultilabelStratifiedShuffleSplit

os.environ.setdefault("EIGENLABEL_DATA", str(data_folder()))

# Name -> file below the folder of data sets, and whether features are word counts.
SETS = {
    "emotions": ("mulan/emotions/emotions.arff", False),
    "yeast": ("mulan/yeast/yeast.arff", False),
    "scene": ("mulan/scene/scene-train.arff", False),
    "enron": ("mulan/enron/enron.arff", True),
    "medical": ("mulan/medical/medical.arff", True),
    "genbase": ("mulan/genbase/genbase.arff", False),
    "birds": ("mulan/birds/birds-train.arff", False),
    "corel5k": ("mulan/corel5k/Corel5k-train-sparse.arff", False),
    "bibtex": ("mulan/bibtex/bibtex.arff", True),
    "cal500": ("mulan/cal500/cal500.arff", False),
    "arts": ("yahoo/Arts.svm.gz", True),
    "business": ("yahoo/Business.svm.gz", True),
    "education": ("yahoo/Education.svm.gz", True),
    "health": ("yahoo/Health.svm.gz", True),
    "science": ("yahoo/Science.svm.gz", True),
    "reference": ("yahoo/Reference.svm.gz", True),
    "rcv1": ("rcv1/rcv1_topics_1_train.svm.gz", False),
    "debtags": ("", True),
}
FEW = 10  # positives of a label below which it is dropped


class Split(NamedTuple):
    """Training and test samples of one split."""

    X: sp.csr_array | np.ndarray
    Y: np.ndarray
    X_test: sp.csr_array | np.ndarray
    Y_test: np.ndarray


def _load(name):
    file, text = SETS[name]
    if name == "debtags":
        data = datasets.load_debtags(min_positives=300)
    else:
        data = datasets.load(data_folder() / file)
    X = data.X if sp.issparse(data.X) else np.asarray(data.X, dtype=float)
    Y = data.Y.toarray() if sp.issparse(data.Y) else np.asarray(data.Y)
    kept = Y.sum(axis=0) >= FEW
    return (sp.csr_array(X) if text else X), Y[:, kept].astype(int), text


def _most(n_samples):
    """Return the largest number of training samples: two thirds of a set."""
    return int(n_samples * 2 / 3)


@cache
def most_training_samples(name):
    """Return how many training samples a split of this set can have."""
    return _most(len(_load(name)[1]))


def load_split(name, seed, n_train=800, n_test=3000):
    """Return the split of a set with this seed."""
    X, Y, text = _load(name)
    n_train = min(n_train, _most(len(Y)))
    n_test = min(n_test, len(Y) - n_train)
    cv = MultilabelStratifiedShuffleSplit(
        1, train_size=n_train, test_size=n_test, random_state=seed
    )
    train, test = next(cv.split(X, Y))
    kept = Y[train].any(axis=0)
    if text:
        scale = TfidfTransformer().fit(X[train])
    else:
        scale = StandardScaler(with_mean=False).fit(X[train])
    parts = scale.transform(X[train]), scale.transform(X[test])
    if not text and sp.issparse(X):
        parts = tuple(p.toarray() for p in parts) if X.shape[1] < 2000 else parts
    return Split(parts[0], Y[train][:, kept], parts[1], Y[test][:, kept])
