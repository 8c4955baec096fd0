"""Rules on probabilities on test samples: bounds of risk control, and F1 of label sets.

The sets and splits are those of ``bench_calibration.py``. Risk control is fitted twice: to the
held-out probabilities of all training samples (from cross-validated scores), and to those of a
third of them that neither the model nor the calibration has seen.
"""

import argparse
import warnings

import numpy as np
import scipy.sparse as sp

from _common import finish
from bench_calibration import SETS, prepare, read, split
from eigenlabel import SharedSubspaceClassifierCV
from eigenlabel.metrics import f1_samples
from eigenlabel.thresholds import (
    Costs,
    ExpectedF1,
    RiskControl,
    fit_calibration,
    get_rule,
    held_out_probabilities,
)

BOUNDS = {
    "recall >= 0.9": (RiskControl(recall=0.9), 0.9),
    "false discovery <= 0.2": (RiskControl(false_discovery=0.2), 0.2),
    "precision >= 0.8": (RiskControl(precision=0.8), 0.8),
}


def reached(name, Y, found):
    """Return the figure that a bound is about, NaN where it is undefined."""
    Y = Y.astype(bool)
    hits, size, number = (Y & found).sum(axis=1), Y.sum(axis=1), found.sum(axis=1)
    if name.startswith("recall"):
        return np.where(size > 0, hits / np.maximum(size, 1), 1.0).mean()
    right = hits / np.maximum(number, 1)
    if name.startswith("false"):
        return np.where(number > 0, 1 - right, 0.0).mean()
    return right[number > 0].mean() if number.any() else np.nan


def kept(name, value):
    """Return whether a bound is kept; one on labels that are never predicted is."""
    bound = BOUNDS[name][1]
    return bool(np.isnan(value) or (value <= bound if name.startswith("false") else value >= bound))


def probabilities(name, A, Y, B):
    """Return held-out probabilities of samples, those of others, the model and the others' scores.

    The preparation of features is part of the model: one that has seen the samples of a rule makes
    them unlike new ones.
    """
    A, B = prepare(name, A, B)
    model = SharedSubspaceClassifierCV().fit(A, Y)
    scores = model.decision_function(B)
    P = fit_calibration(model.oof_scores_, Y).probabilities(scores)
    return held_out_probabilities(model.oof_scores_, Y), P, model, scores


def measure(name, X, Y, seed):
    """Return what each rule reaches on the test samples of one split."""
    A, train, B, test = split(X, Y, seed)
    held, P, model, scores = probabilities(name, A, train, B)
    some = np.random.default_rng(seed).permutation(len(train))
    rest, aside = some[len(some) // 3 :], some[: len(some) // 3]
    both = sp.vstack([A[aside], B]).tocsr() if sp.issparse(A) else np.vstack([A[aside], B])
    _, Q, _, _ = probabilities(name, A[rest], train[rest], both)
    apart, Q = Q[: len(aside)], Q[len(aside) :]
    found = {}
    for key, (rule, _) in BOUNDS.items():
        found[key, "cross-validated"] = reached(key, test, rule.decide(P, rule.fit(held, train)))
        cut = rule.fit(apart, train[aside])
        found[key, "kept aside"] = reached(key, test, rule.decide(Q, cut))
    mixed = get_rule("mixed").decide(scores, model.thresholds_)
    half = Costs().decide(P, np.full(P.shape[1], 0.5))
    for key, sets in (("mixed", mixed), ("half", half), ("best", ExpectedF1().decide(P, np.nan))):
        found["f1", key] = f1_samples(test, sets)
    return found


def main(given):
    splits = 1 if given.quick else given.splits
    names = ["emotions", "yeast"] if given.quick else list(SETS)
    rows = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # bounds that no cut keeps: nothing predicted
        for name in names:
            X, Y = read(name)
            rows[name] = [measure(name, X, Y, seed) for seed in range(splits)]
    keys = [(bound, way) for bound in BOUNDS for way in ("cross-validated", "kept aside")]
    lines = [
        f"Means over {splits} splits, and in how many of them the bound is kept on the test part; "
        "- stands for no predictions. The bound on recall is one on the mean, the others have a "
        "confidence of 0.9. F1 by sample: mixed thresholds, probabilities above 1/2, ExpectedF1.",
        "",
        "| set | " + " | ".join(f"{bound}, {way}" for bound, way in keys) + " | F1 |",
        "|---" * (len(keys) + 2) + "|",
    ]
    figures = {}
    for name, found in rows.items():
        cells = []
        for key in keys:
            values = np.array([each[key] for each in found])
            good = sum(kept(key[0], value) for value in values)
            mean = np.nanmean(values) if not np.isnan(values).all() else np.nan
            cells.append(f"{mean:.3f} ({good})" if mean == mean else f"- ({good})")  # noqa: PLR0124
            figures[f"{name} {key[0]} {key[1]}"] = [round(float(mean), 4), good]
        f1 = [np.mean([each["f1", way] for each in found]) for way in ("mixed", "half", "best")]
        figures[f"{name} f1"] = [round(float(value), 4) for value in f1]
        cells.append(", ".join(f"{value:.3f}" for value in f1))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    finish("risk", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two small sets, one split")
    parser.add_argument("--splits", type=int, default=5, help="number of splits")
    main(parser.parse_args())
