"""How uneven the folds of stratified and of shuffled splits are."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "benchmarks" / "splits.csv").open()))
sizes = [row["samples x labels"].split(" x ") for row in rows]
names = [f"{int(n):,} samples\n{int(m):,} labels" for n, m in sizes]
figure, ax = plt.subplots(figsize=(7, 3.2))
for k, (column, name) in enumerate(
    (("imbalance of shuffled KFold", "KFold, shuffled"), ("imbalance", "MultilabelStratifiedKFold"))
):
    heights = [100 * float(row[column]) for row in rows]
    places = [j + 0.36 * (k - 0.5) for j in range(len(rows))]
    bars = ax.bar(places, heights, width=0.34, label=name)
    ax.bar_label(bars, [f"{height:.2g}%" for height in heights], fontsize=8, padding=2)
ax.set_xticks(range(len(rows)), names)
ax.set_ylabel("mean deviation of a label's share\nin a fold, percent")
ax.legend(frameon=False)
