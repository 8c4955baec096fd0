"""Calibration error and log-loss of three ways to get probabilities, on ten data sets."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "calibration.csv").open()))
WAYS = {
    "svc": ("LinearSVC in CalibratedClassifierCV", "tab:blue", "s"),
    "logistic": ("LogisticRegression", "tab:green", "^"),
    "eigenlabel": ("SharedSubspaceClassifierCV", "tab:orange", "o"),
}
LABELS = {"ece": "expected calibration error", "log_loss": "log-loss of a cell"}
sets = list(dict.fromkeys(row["set"] for row in rows))[::-1]
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True)
for ax, metric in zip(axes, ("ece", "log_loss"), strict=True):
    found = {}
    for way, (name, colour, marker) in WAYS.items():
        found[way] = []
        for each in sets:
            some = [float(r[metric]) for r in rows if (r["set"], r["method"]) == (each, way)]
            found[way].append(sum(some) / len(some))
        ax.plot(found[way], range(len(sets)), marker, color=colour, label=name)
    won = sum(
        ours == min(each) for ours, *each in zip(found["eigenlabel"], *found.values(), strict=True)
    )
    ax.set(xlabel=f"{LABELS[metric]} (ours is the lowest on {won} of {len(sets)})", xlim=(0, None))
    ax.grid(axis="y", color="0.92")
    ax.set_axisbelow(True)
axes[0].set_yticks(range(len(sets)), sets)
figure.legend(
    *axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False
)
