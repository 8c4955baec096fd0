"""ASO against one-vs-rest LinearSVC, and SVM-perf against LinearSVC as samples grow."""

import argparse

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from _common import finish, interleaved, load_yahoo
from eigenlabel import ASOClassifier, SVMPerfClassifier

C = 1.0  # of LinearSVC: both sides converge


def text(n, d=20_000, length=80, seed=0):
    """Draw pages whose words follow Zipf's law, and one label that a tenth of them has."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, d + 1)
    lengths = 1 + rng.poisson(length, n)
    words = rng.choice(d, size=lengths.sum(), p=shares / shares.sum())
    rows = np.repeat(np.arange(n), lengths)
    X = sp.csr_matrix((np.ones(len(words)), (rows, words)), shape=(n, d))
    X = TfidfTransformer().fit_transform(X)
    score = X @ np.random.default_rng(1).standard_normal(d)
    score = score / score.std() + 0.3 * rng.standard_normal(n)
    return X, (score > np.quantile(score, 0.9))[:, None].astype(int)


def aso(quick):
    X, Y = load_yahoo("Arts")
    models = {
        "LinearSVC, one-vs-rest": OneVsRestClassifier(LinearSVC(loss="hinge")),
        "ASO, hinge, alpha = beta = 1e-3": ASOClassifier(random_state=0),
        "ASO, squared hinge, the same": ASOClassifier(loss="squared_hinge", random_state=0),
        "ASO, hinge, beta = alpha / 10": ASOClassifier(1e-3, 1e-4, random_state=0),
    }
    if not quick:
        models["ASO, hinge, beta = 0, alpha = 1"] = ASOClassifier(1.0, 0.0, random_state=0)
    times = interleaved({k: lambda m=m: m.fit(X, Y) for k, m in models.items()}, 1 if quick else 3)
    base = times["LinearSVC, one-vs-rest"]
    ratio = {name: float(np.median(t / base)) for name, t in times.items()}
    lines = [
        f"Yahoo Arts, {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels, medians.",
        "",
        "| what | seconds | LinearSVC fits | rounds |",
        "|---|---|---|---|",
        *(
            f"| {name} | {np.median(t):.2f} | {ratio[name]:.1f} | "
            f"{getattr(models[name], 'n_iter_', '')} |"
            for name, t in times.items()
        ),
    ]
    return lines, {"aso_per_linear_svc": ratio["ASO, hinge, alpha = beta = 1e-3"]}


def perf(quick):
    """Time both with C of LinearSVC fixed, and with C of SVM-perf fixed; they agree at 10,000."""
    sizes = (10_000, 30_000, 100_000)
    rows, ours, fixed = [], [], []
    for n in sizes:
        X, Y = text(n)
        svm = LinearSVC(C=C, loss="hinge", max_iter=20_000)
        grown, same = (SVMPerfClassifier("error_rate", c) for c in (C * n / 100, 100 * C))
        functions = {
            "svm": lambda svm=svm, X=X, Y=Y: svm.fit(X, Y[:, 0]),
            "grown": lambda grown=grown, X=X, Y=Y: grown.fit(X, Y),
            "same": lambda same=same, X=X, Y=Y: same.fit(X, Y),
        }
        times = interleaved(functions, 1 if quick else 3)
        ours.append(times["grown"].min())
        fixed.append(times["same"].min())
        median = [f"{np.median(t):.2f}" for t in times.values()]
        rows.append([n, *median, f"{grown.n_iter_[0]}, {same.n_iter_[0]}"])
        if n == sizes[0]:
            ratio = float(np.median(times["grown"] / times["svm"]))
    slopes = [float(np.polyfit(np.log(sizes), np.log(t), 1)[0]) for t in (fixed, ours)]
    lines = [
        "",
        f"Error rate, one label, drawn text of 20,000 words, seconds. LinearSVC has C = {C:g}; "
        f"SVM-perf the same problem (C = {C:g} n / 100), and C = {100 * C:g} whatever n.",
        "",
        "| samples | LinearSVC, hinge | SVM-perf, the same problem | C fixed | rounds |",
        "|---|---|---|---|---|",
        *("| " + " | ".join(map(str, row)) + " |" for row in rows),
        "",
        f"SVM-perf grows as samples to the power {slopes[0]:.2f} with its C fixed, and "
        f"{slopes[1]:.2f} with that of LinearSVC.",
    ]
    return lines, {
        "svm_perf_per_linear_svc": ratio,
        "slope_in_samples": slopes[0],
        "slope_in_samples_same_problem": slopes[1],
    }


def main(quick):
    first, a = aso(quick)
    second, b = perf(quick)
    wanted = "ASO <= 2.2, SVM-perf <= 10 at 10,000 samples, slope about 1"
    finish("margin", {**a, **b, "wanted": wanted}, [*first, *second])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    with threadpool_limits(1):
        main(parser.parse_args().quick)
