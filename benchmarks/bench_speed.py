"""Speed of one fit and of the tuned fit, against one eigh and against a tuned LinearSVC."""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from _common import finish, interleaved, load_yahoo, seconds
from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.estimators.subspace.tuning import PAPER_GRID
from eigenlabel.model_selection import MultilabelStratifiedKFold


def main(quick):
    X, Y = load_yahoo("Arts")
    K = (X @ X.T).toarray()
    papers = {"alphas": PAPER_GRID, "betas": PAPER_GRID}  # the papers' 8 x 8 grid
    tuned = SharedSubspaceClassifierCV(**papers)
    functions = {
        "eigh": lambda: np.linalg.eigh(K),
        "one fit": lambda: SharedSubspaceClassifier().fit(X, Y),
        "tuned fit, 8 x 8 grid x 5 folds": lambda: tuned.fit(X, Y),
    }
    times = interleaved(functions, 3 if quick else 15)
    median = {name: float(np.median(t)) for name, t in times.items()}
    ratio = {name: float(np.median(t / times["eigh"])) for name, t in times.items()}
    one_out = SharedSubspaceClassifierCV(**papers, cv=LeaveOneOut())
    dense = X.toarray()
    ridge = RidgeClassifierCV(alphas=[1000 * b for b in PAPER_GRID[1:]])
    svm = GridSearchCV(
        OneVsRestClassifier(LinearSVC()),
        {"estimator__C": [10.0**k for k in range(-5, 6)]},
        cv=MultilabelStratifiedKFold(5),
        scoring="f1_macro",
    )
    rest = {
        "tuned fit, leave-one-out": lambda: one_out.fit(X, Y),
        "RidgeClassifierCV, 7 shifts, dense X": lambda: ridge.fit(dense, 2 * Y - 1),
        "one-vs-rest LinearSVC, C = 1": lambda: OneVsRestClassifier(LinearSVC()).fit(X, Y),
    }
    if not quick:
        rest["one-vs-rest LinearSVC tuned, 11 C x 5 folds"] = lambda: svm.fit(X, Y)
    for name, function in rest.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            median[name] = seconds(function)
        ratio[name] = median[name] / median["eigh"]
    lines = [
        f"Yahoo Arts as in paper 000: {X.shape[0]} x {X.shape[1]} sparse, {Y.shape[1]} labels. "
        "BLAS on one thread; the first three interleaved, medians of the ratio; the rest once.",
        "",
        "| what | seconds | in units of `eigh` of the 1000 x 1000 Gram matrix |",
        "|---|---|---|",
        *(f"| {name} | {median[name]:.3f} | {ratio[name]:.2f} |" for name in median),
    ]
    figures = {
        "one_fit_per_eigh": ratio["one fit"],
        "tuned_fit_per_eigh": ratio["tuned fit, 8 x 8 grid x 5 folds"],
    }
    if not quick:
        figures["tuned_svm_per_tuned_fit"] = (
            median["one-vs-rest LinearSVC tuned, 11 C x 5 folds"]
            / median["tuned fit, 8 x 8 grid x 5 folds"]
        )
    figures["wanted"] = "one fit <= 1.3, tuned fit <= 4 (stretch 2), SVM >= 25"
    finish("speed", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, no tuned SVM")
    with threadpool_limits(1):
        main(parser.parse_args().quick)
