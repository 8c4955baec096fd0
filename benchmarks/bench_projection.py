"""MDDM against the products it is made of, and ML-kNN against scikit-multilearn-ng's."""

import argparse
import time

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from _common import data_folder, finish, interleaved, seconds
from eigenlabel import MDDM, MLkNN
from eigenlabel.datasets import load


def rcv1(folder):
    parts = [folder / "rcv1" / f"rcv1_topics_1_{part}.svm.gz" for part in ("train", "test")]
    if not parts[0].is_file():
        raise SystemExit(
            f"{parts[0]} is not there: set EIGENLABEL_DATA to the folder of data sets."
        )
    both = [load(path, n_features=47236, n_labels=101) for path in parts]
    X = sp.csr_matrix(sp.vstack([d.X for d in both]))
    return X, np.vstack([d.Y.toarray() for d in both])


def mddm(folder, quick):
    X, Y = rcv1(folder)
    T = Y.astype(float)
    limit = lambda: scipy.linalg.svd(np.asarray(X.T @ T), full_matrices=False)  # noqa: E731
    functions = {"X.T @ Y and a thin SVD": limit, "MDDM().fit": lambda: MDDM().fit(X, Y)}
    times = interleaved(functions, 3 if quick else 7)
    ratio = float(np.median(times["MDDM().fit"] / times["X.T @ Y and a thin SVD"]))
    rows = [f"| {name} | {np.median(t):.3f} |" for name, t in times.items()]
    sizes, fits = [], []
    for share in (0.25, 0.5, 1.0):  # fewer samples, so fewer non-zeros, with all features
        n = int(share * X.shape[0])
        part = X[:n]
        sizes.append(part.nnz)
        fits.append(min(seconds(lambda p=part, n=n: p.T @ T[:n]) for _ in range(5)))
    slope = float(np.polyfit(np.log(sizes), np.log(fits), 1)[0])
    lines = [
        f"rcv1 subset 1: {X.shape[0]} x {X.shape[1]} sparse, {X.nnz} non-zeros, {Y.shape[1]} "
        "labels.",
        "",
        "| what | seconds |",
        "|---|---|",
        *rows,
        "",
        f"MDDM takes {ratio:.2f} times the product and the SVD. The part that grows with the "
        f"data, the product, grows as non-zeros to the power {slope:.2f} over {sizes}.",
    ]
    return lines, {"mddm_per_product_and_svd": ratio, "slope_in_nonzeros": slope}


def neighbours(folder, quick):
    data = load(folder / "yahoo_lamda" / "Arts.mat")
    train, test = data.splits["published"]
    X, Y, X_new = data.X[train], data.Y[train], data.X[test]
    Y_dense = Y.toarray()
    ours = lambda: MLkNN().fit(X, Y_dense).predict_proba(X_new)  # noqa: E731
    functions = {"MLkNN, ours": ours}
    try:
        from skmultilearn.adapt import MLkNN as Other
    except ImportError:
        note = "scikit-multilearn-ng is not installed (pip install scikit-multilearn-ng): no rival."
    else:

        def other(form):
            model = Other(k=10)
            model.fit(form(X), sp.csr_matrix(Y))
            return model.predict_proba(form(X_new))

        functions["MLkNN of scikit-multilearn-ng, dense X"] = lambda: other(np.asarray)
        functions["the same, sparse X"] = lambda: other(sp.csr_matrix)
        note = "Fit and predict_proba, interleaved, medians of processor time."
    times = interleaved(functions, 1 if quick else 7, time.process_time)
    median = {name: float(np.median(t)) for name, t in times.items()}
    lines = [
        "",
        f"ML-kNN on Yahoo Arts, {len(train)} training and {len(test)} test pages, "
        f"{X.shape[1]} dense features, {Y.shape[1]} labels, k = 10. {note}",
        "",
        "| what | seconds |",
        "|---|---|",
        *(f"| {name} | {value:.2f} |" for name, value in median.items()),
    ]
    figures = {}
    if len(median) == 3:
        own, *others = times.values()
        ratios = [float(np.median(other / own)) for other in others]
        figures["mlknn_other_per_ours"], figures["mlknn_other_sparse_per_ours"] = ratios
    return lines, figures


def main(quick):
    folder = data_folder()
    first, a = mddm(folder, quick)
    second, b = neighbours(folder, quick)
    wanted = "MDDM <= 3, slope about 1, ML-kNN >= 15"
    finish("projection", {**a, **b, "wanted": wanted}, [*first, *second])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    with threadpool_limits(1):
        main(parser.parse_args().quick)
