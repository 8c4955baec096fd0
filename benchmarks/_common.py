"""What the benchmarks share: data, the papers' protocol, timing, and the closing line.

Every script measures in one process with BLAS on one thread, interleaves what it compares,
reports medians and ratios, and ends with ``RESULT {json}``.
"""

import json
import os
import platform
import time
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import MultiLabelBinarizer

import eigenlabel
from eigenlabel.preprocessing import drop_rare

YAHOO_FEATURES = {"Arts": 23146, "Education": 27534, "Health": 30605, "Business": 21924}


def data_folder() -> Path:
    """Give EIGENLABEL_DATA, else shared/data beside the clone, else the user's cache."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "eigenlabel"
    given = os.environ.get("EIGENLABEL_DATA")
    return Path(given) if given else beside if beside.is_dir() else cache


def load_yahoo(name):
    """Give the word counts and labels of a Yahoo set, prepared as in paper 000, Section 6.2."""
    path = data_folder() / "yahoo" / f"{name}.svm.gz"
    if not path.is_file():
        raise SystemExit(f"{path} is not there: set EIGENLABEL_DATA to the folder of data sets.")
    X, y = load_svmlight_file(
        path, n_features=YAHOO_FEATURES[name], multilabel=True, zero_based=False
    )
    kept = drop_rare(X, MultiLabelBinarizer().fit_transform(y))
    return kept.X, kept.Y


def paper_split(Y, seed, n_train=1000):
    """Draw training pages at random until every label has a positive among them (paper 000)."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(Y))
        train, test = order[:n_train], order[n_train:]
        if Y[train].any(axis=0).all():
            return train, test


def tfidf(X, train, test):
    """Weigh words by tf-idf fitted on the training rows, rows of unit length."""
    weigh = TfidfTransformer().fit(X[train])
    return weigh.transform(X[train]), weigh.transform(X[test])


def seconds(function):
    """Time one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def interleaved(functions, repeats):
    """Time functions in turn, ``repeats`` times over; name -> seconds of each repeat."""
    times = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            times[name].append(seconds(function))
    return {name: np.array(t) for name, t in times.items()}


def finish(name, figures, lines):
    """Print the Markdown lines and the closing RESULT line."""
    print("\n".join(lines))
    versions = {m.__name__: m.__version__ for m in (eigenlabel, np, scipy, sklearn)}
    machine = {"python": platform.python_version(), "cores": os.cpu_count()}
    print("RESULT " + json.dumps({"bench": name, **figures, "versions": versions, **machine}))
