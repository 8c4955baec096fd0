"""How well rankings find planted label errors: ours and those of cleanlab."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "label_issues.csv").open()))
METHODS = {
    "find_label_issues": ("find_label_issues", "tab:orange"),
    "self-confidence": ("cleanlab, self-confidence", "tab:blue"),
    "adjusted": ("cleanlab, adjusted", "tab:cyan"),
    "filter": ("cleanlab, filter", "tab:grey"),
}
KINDS = {"flipped": "cells inverted", "missing": "labels removed", "moved": "labels moved"}
sets = list(dict.fromkeys(row["data"] for row in rows))
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True)
for ax, (kind, title) in zip(axes, KINDS.items(), strict=True):
    for k, (method, (name, colour)) in enumerate(METHODS.items()):
        heights = []
        for each in sets:
            key = (each, kind, "tuned", method)
            some = [
                float(r["ap"])
                for r in rows
                if (r["data"], r["kind"], r["probabilities"], r["method"]) == key
            ]
            heights.append(sum(some) / len(some))
        places = [j + 0.2 * (k - 1.5) for j in range(len(sets))]
        ax.bar(places, heights, width=0.19, color=colour, label=name)
    ax.set_xticks(range(len(sets)), sets)
    ax.set_title(title, fontsize=10)
axes[0].set_ylabel("average precision of the ranking")
figure.legend(
    *axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=4, frameon=False
)
