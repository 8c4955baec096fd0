"""One fit of many labels, and predictions of many samples and of one, beside their products."""

import argparse
import time

import numpy as np
import pandas as pd
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from _common import finish, interleaved, load_yahoo
from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV


def many_labels(quick):
    """Fit 640 labels, the papers' dimension, without the basis of the subspace."""
    X, _ = load_yahoo("Arts")
    scores = X @ np.random.default_rng(0).standard_normal((X.shape[1], 640))
    Y = (scores > np.quantile(scores, 0.95, axis=0)).astype(int)
    K = (X @ X.T).toarray()
    model = SharedSubspaceClassifier(calibration=None)
    functions = {
        "eigh of the Gram matrix": lambda: np.linalg.eigh(K),
        "one fit, 640 labels": lambda: model.fit(X, Y),
        "the basis of the subspace, when it is first read": lambda: model.fit(X, Y).components_,
    }
    times = interleaved(functions, 3 if quick else 11, time.process_time)
    ratio = {name: t / times["eigh of the Gram matrix"] for name, t in times.items()}
    lines = [
        f"Yahoo Arts, {X.shape[0]} x {X.shape[1]} sparse, 640 drawn labels; processor time.",
        "",
        "| what | seconds | in units of `eigh` |",
        "|---|---|---|",
        *(f"| {k} | {np.median(t):.3f} | {np.median(ratio[k]):.2f} |" for k, t in times.items()),
    ]
    return lines, {"fit_640_per_eigh": float(np.median(ratio["one fit, 640 labels"]))}


def text(n, d, words, rng):
    """Draw n sparse rows of about ``words`` values each."""
    columns = np.sort(rng.integers(d, size=(n, words)), axis=1)
    starts = np.arange(0, n * words + 1, words)
    X = sp.csr_matrix((rng.random(n * words), columns.ravel(), starts), shape=(n, d))
    X.sum_duplicates()
    return X


def many_samples(quick):
    rng = np.random.default_rng(0)
    X = text(100_000, 20_000, 60, rng)
    scores = X[:1000] @ rng.standard_normal((X.shape[1], 100))
    Y = (scores > np.quantile(scores, 0.9, axis=0)).astype(int)
    models = {
        "fixed": SharedSubspaceClassifier(),
        "tuned": SharedSubspaceClassifierCV([1e-2], [1e-2]),
        "sparse y": SharedSubspaceClassifier(),
    }
    functions = {}
    for name, model in models.items():
        model.fit(X[:1000], sp.csr_matrix(Y) if name == "sparse y" else Y)
        functions[f"{name}, predict"] = lambda m=model: m.predict(X)
    coef = models["fixed"].coef_
    functions = {"X @ coef_.T": lambda: X @ coef.T, **functions}
    functions["fixed, decision_function"] = lambda: models["fixed"].decision_function(X)
    times = interleaved(functions, 3 if quick else 11, time.process_time)
    ratio = {k: float(np.median(t / times["X @ coef_.T"])) for k, t in times.items()}
    lines = [
        "",
        f"{X.shape[0]} x {X.shape[1]} sparse samples, {X.nnz / X.shape[0]:.0f} values each, 100 "
        "labels; processor time.",
        "",
        "| what | seconds | products |",
        "|---|---|---|",
        *(f"| {k} | {np.median(t):.3f} | {ratio[k]:.2f} |" for k, t in times.items()),
    ]
    return lines, {"predict_per_product": ratio["fixed, predict"]}


def one_sample(quick):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 500))
    Y = (X @ rng.standard_normal((500, 50)) > 0).astype(int)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(500)])
    model, of_frames = (SharedSubspaceClassifierCV([0.1], [0.1]) for _ in range(2))
    model.fit(X, Y)
    of_frames.fit(frame, Y)
    sparse = sp.csr_matrix(X[:1])
    functions = {
        "array": lambda: model.predict(X[:1]),
        "list": lambda: model.predict([X[0].tolist()]),
        "sparse matrix": lambda: model.predict(sparse),
        "frame": lambda: of_frames.predict(frame[:1]),
        "array, predict_proba": lambda: model.predict_proba(X[:1]),
    }
    times = interleaved(functions, 100 if quick else 1000, time.process_time)
    milliseconds = {name: 1e3 * float(np.median(t)) for name, t in times.items()}
    lines = [
        "",
        "One sample of 500 features, 50 labels, a tuned linear model with thresholds.",
        "",
        "| form | milliseconds |",
        "|---|---|",
        *(f"| {name} | {value:.3f} |" for name, value in milliseconds.items()),
    ]
    return lines, {"one_sample_ms": milliseconds["array"], "one_row_ms": milliseconds["frame"]}


def main(quick):
    parts = [part(quick) for part in (many_labels, many_samples, one_sample)]
    figures = {k: v for _, found in parts for k, v in found.items()}
    wanted = "fit <= 3 eigh, predict about 1 product, one sample < 1 ms"
    finish("predict", {**figures, "wanted": wanted}, [line for lines, _ in parts for line in lines])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    with threadpool_limits(1):
        main(parser.parse_args().quick)
