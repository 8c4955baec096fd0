"""Taggers and networks: cost over sizes, memory at 25,000 samples, and comparison with KGHA."""

import argparse
import time
import tracemalloc
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from _common import data_folder, finish, seconds
from eigenlabel import JEC, KGHA, MBRM, BiRelationGraph, FastTag, GaussianFields, TagProp, metrics
from eigenlabel.comparison import wilcoxon
from eigenlabel.datasets import load, load_debtags, make_shared_subspace

RIDGES = [{"ridge": r} for r in (0.01, 0.1, 1.0)]
SPREADS = [{"alpha": a} for a in (0.5, 0.9, 0.99)]
SMOOTH = [{"smoothness": s} for s in (1.0, 10.0, 100.0)]
KMLR = {"n_components": 1.0, "trade_off": 0.0, "label_ridge": 0.0}
# Name -> estimator, its settings, and three candidates that are tried on held-out samples.
METHODS = {
    "KGHA": (KGHA, {}, RIDGES),
    "r-KMLR": (KGHA, KMLR, RIDGES),
    "MBRM": (MBRM, {}, [{"bandwidth": b} for b in (0.1, 0.2, 0.4)]),
    "JEC": (JEC, {}, [{"n_neighbors": k} for k in (5, 15, 50)]),
    "TagProp": (TagProp, {}, [{"n_neighbors": k} for k in (20, 50, 200)]),
    "FastTag": (FastTag, {}, RIDGES),
    "SW": (GaussianFields, {"view_weights": "simultaneous"}, SMOOTH),
    "GRF-MK": (GaussianFields, {}, SMOOTH),
    "PfunBG-MK": (BiRelationGraph, {"combine": "graphs"}, SPREADS),
    "TMEC": (BiRelationGraph, {"combine": "scores"}, SPREADS),
}
FIGURES = {
    "1 - ranking loss": metrics.ranking_accuracy,
    "MAP by label": metrics.label_average_precision,
    "F1 at 5": lambda Y, S: metrics.label_f1_at_k(Y, S, min(5, S.shape[1])),
    "N+": lambda Y, S: metrics.labels_recalled_at_k(Y, S, min(5, S.shape[1])),
}


def costs(sizes):
    """Time fit and prediction of 200 samples, by number of training samples."""
    found = {name: [] for name in METHODS}
    for n in sizes:
        data = make_shared_subspace(n + 200, 60, 30, random_state=0)
        views = {"left": slice(0, 20), "right": slice(20, None)}
        for name, (kind, settings, _) in METHODS.items():
            model = kind(views=views, **settings)
            fit = seconds(lambda m=model, d=data, n=n: m.fit(d.X[:n], d.Y[:n]))
            new = seconds(lambda m=model, d=data, n=n: m.decision_function(d.X[n:]))
            found[name].append((fit, new))
    heads = " | ".join(f"n = {n}: fit, predict 200" for n in sizes)
    lines = [f"| method | {heads} | power of n in fit |", "|---|" + (len(sizes) + 1) * "---|"]
    powers = {}
    for name, times in found.items():
        fits = [fit for fit, _ in times]
        powers[name] = float(np.polyfit(np.log(sizes), np.log(fits), 1)[0])
        cells = " | ".join(f"{fit:.2f}, {new:.2f}" for fit, new in times)
        lines.append(f"| {name} | {cells} | {powers[name]:.1f} |")
    return [*lines, ""], powers


def memory(n):
    """Fit to n samples and tell the peak of what Python allocates beyond the data."""
    data = make_shared_subspace(n + 100, 40, 50, random_state=0)
    lines = [f"At {n} training samples, two views (an n x n array: {8 * n * n / 2**20:.0f} MiB):"]
    figures = {}
    for name, model in {"JEC": JEC(), "TagProp": TagProp(100)}.items():
        views = {"left": data.X[:, :15], "right": data.X[:, 15:]}
        train = {key: A[:n] for key, A in views.items()}
        tracemalloc.start()
        start = time.perf_counter()
        model.fit(train, data.Y[:n])
        taken = time.perf_counter() - start
        model.decision_function({key: A[n:] for key, A in views.items()})
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        lines.append(f"{name}: {taken:.0f} s, peak {peak:.0f} MiB.")
        figures[f"{name}_peak_mib"] = peak
    return [" ".join(lines), ""], figures


def tables(n):
    """Give name -> data as (views, labels, transformer)."""
    found = {}
    for name in ("emotions", "yeast"):
        path = data_folder() / "multiview" / f"{name}_views.mat"
        if path.is_file():
            data = load(path)
            found[name] = data.X, data.Y, data.views, StandardScaler()
    data = load_debtags()
    rows = np.sort(np.random.default_rng(0).choice(data.X.shape[0], n, replace=False))
    found["debtags"] = data.X[rows], data.Y[rows], data.views, TfidfTransformer()
    return found


def tuned_scores(kind, settings, candidates, X, Y, train, test):
    """Choose a candidate on the last third of the training samples, fit it to all of them."""
    cut = 2 * len(train) // 3
    inner, held = train[:cut], train[cut:]
    best, chosen = -np.inf, candidates[0]
    for candidate in candidates:
        model = kind(**settings, **candidate).fit(X[inner], Y[inner])
        value = metrics.ranking_accuracy(Y[held], model.decision_function(X[held]))
        if value > best:
            best, chosen = value, candidate
    return kind(**settings, **chosen).fit(X[train], Y[train]).decision_function(X[test])


def compare(name, X, Y, views, transformer, n, n_splits):
    Y = Y.toarray() if sp.issparse(Y) else Y
    found = {method: [] for method in METHODS}
    for seed in range(n_splits):
        order = np.random.default_rng(seed).permutation(len(Y))[:n]
        cut = 2 * len(order) // 3
        train, test = order[:cut], order[cut:]
        kept = Y[train].sum(axis=0) >= 3
        for method, (kind, settings, candidates) in METHODS.items():
            given = {**settings, "views": views, "transformers": transformer}
            scores = tuned_scores(kind, given, candidates, X, Y[:, kept], train, test)
            found[method].append([f(Y[test][:, kept], scores) for f in FIGURES.values()])
    values = {method: np.array(v) for method, v in found.items()}
    lines = [
        f"{name}: {min(n, len(Y))} samples, {n_splits} random splits in 2/3 and 1/3, three "
        "candidates a method; mean, and in brackets Wilcoxon's p against KGHA:",
        "",
        "| method | " + " | ".join(FIGURES) + " |",
        "|---|" + len(FIGURES) * "---|",
    ]
    for method, v in values.items():
        cells = []
        for j in range(len(FIGURES)):
            p = wilcoxon(v[:, j], values["KGHA"][:, j]) if method != "KGHA" else None
            cells.append(f"{v[:, j].mean():.3f}" + ("" if p is None else f" ({p:.3f})"))
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return [*lines, ""], {m: float(v[:, 0].mean()) for m, v in values.items()}


def main(quick):
    lines, powers = costs((500, 1000, 2000) if quick else (1000, 2000, 4000))
    more, figures = memory(3000 if quick else 25_000)
    lines += more
    n, n_splits = (300, 2) if quick else (1500, 10)
    for name, (X, Y, views, transformer) in tables(n).items():
        more, means = compare(name, X, Y, views, transformer, n, n_splits)
        lines += more
        figures[f"{name}_ranking_accuracy"] = means
    finish("tagging", {"power_of_n": powers, **figures}, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples and splits")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        main(parser.parse_args().quick)
