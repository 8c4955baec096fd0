"""What the benchmarks share: data, timing, and the closing line.

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
from sklearn.feature_extraction.text import TfidfTransformer

import eigenlabel
from eigenlabel.datasets import DataError
from eigenlabel.experiment import draw_splits, load_data
from eigenlabel.reproduce import get_table


def data_folder() -> Path:
    """Return EIGENLABEL_DATA, else shared/data beside the clone, else the user's cache."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "eigenlabel"
    given = os.environ.get("EIGENLABEL_DATA")
    return Path(given) if given else beside if beside.is_dir() else cache


def load_yahoo_split(name):
    """Return the papers' first split of a Yahoo set: tf-idf and labels of both parts."""
    os.environ.setdefault("EIGENLABEL_DATA", str(data_folder()))
    protocol = get_table("mlls-table3").protocol(n_splits=1)
    spec = next(d for d in protocol.data if d.name == name)
    try:
        data = load_data(spec)
    except DataError as error:
        raise SystemExit(f"{error}; or set EIGENLABEL_DATA to the folder of data sets") from None
    train, test = draw_splits(data, protocol.splits, protocol.seed)[0]
    tfidf = TfidfTransformer().fit(data.X[train])
    X = tfidf.transform(data.X[train]), tfidf.transform(data.X[test])
    return *X, data.Y[train].toarray(), data.Y[test].toarray()


def load_yahoo(name):
    """Return the training part of that split."""
    X, _, Y, _ = load_yahoo_split(name)
    return X, Y


def seconds(function, clock=time.perf_counter):
    """Time one call."""
    start = clock()
    function()
    return clock() - start


def interleaved(functions, repeats, clock=time.perf_counter):
    """Time functions in turn, ``repeats`` times over; name -> seconds of each repeat."""
    times = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            times[name].append(seconds(function, clock))
    return {name: np.array(t) for name, t in times.items()}


def finish(name, figures, lines):
    """Print the Markdown lines and the closing RESULT line."""
    print("\n".join(lines))
    versions = {m.__name__: m.__version__ for m in (eigenlabel, np, scipy, sklearn)}
    machine = {"python": platform.python_version(), "cores": os.cpu_count()}
    print("RESULT " + json.dumps({"bench": name, **figures, "versions": versions, **machine}))
