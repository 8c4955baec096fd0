"""Seconds of one fit and of a tuned fit (Figures 1 and 2 of Ji et al. 2010)."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

table = Path("results") / "papers" / "mlls-figure1.csv"
rows = list(csv.DictReader(table.open()))
colours = {"ML_LS": "tab:orange", "SVM": "tab:blue", "ASO_SVM": "tab:grey"}
sets = list(dict.fromkeys(row["part"].removeprefix("seconds, ") for row in rows))
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
for ax, kind in zip(axes, ("fixed", "tuned"), strict=True):
    chosen = [row for row in rows if row["parameters"] == kind]
    for k, (method, colour) in enumerate(colours.items()):
        heights = [float(row[method]) if row[method] else 0 for row in chosen]
        places = [j + 0.27 * (k - 1) for j in range(len(sets))]
        ax.bar(places, heights, width=0.25, color=colour, label=method)
    ax.set_xticks(range(len(sets)), sets)
    ax.set_yscale("log")
    ax.set_title(f"{kind} parameters")
axes[0].set_ylabel("seconds (logarithmic)")
axes[0].legend(frameon=False)
