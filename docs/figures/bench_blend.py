"""What the blend adds to the tuned linear model on each of eighteen data sets."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

table = Path("results") / "blend.csv"
rows = list(csv.DictReader(table.open()))
METRICS = {"f1_macro": "macro F1", "map": "mean average precision", "lrap": "LRAP"}


def mean(name: str, model: str, metric: str) -> float:
    """Return the mean over the splits of a data set."""
    some = [float(r[metric]) for r in rows if (r["set"], r["model"]) == (name, model)]
    return sum(some) / len(some)


def gain(name: str) -> float:
    """Return what the blend adds in macro F1."""
    return mean(name, "blend", "f1_macro") - mean(name, "linear, raw", "f1_macro")


sets = sorted({row["set"] for row in rows}, key=gain)
figure, axes = plt.subplots(1, 3, figsize=(10, 5.2), sharey=True)
for ax, (metric, name) in zip(axes, METRICS.items(), strict=True):
    before = [mean(each, "linear, raw", metric) for each in sets]
    after = [mean(each, "blend", metric) for each in sets]
    places = range(len(sets))
    ax.hlines(places, before, after, color="0.75", lw=2)
    ax.plot(before, places, "o", mfc="white", color="tab:blue", label="tuned linear model")
    ax.plot(after, places, "o", color="tab:orange", label="blend")
    won = sum(b > a for a, b in zip(before, after, strict=True))
    ax.set_xlabel(f"{name}\n(blend is higher on {won} of {len(sets)})")
    ax.grid(axis="y", color="0.92")
    ax.set_axisbelow(True)
axes[0].set_yticks(range(len(sets)), sets)
figure.legend(
    *axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False
)
