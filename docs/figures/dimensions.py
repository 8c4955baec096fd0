"""Gains over ridge regression by the shared subspace, one dot for each of eighteen data sets."""

import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

table = Path("results") / "dimensions.csv"
rows = list(csv.DictReader(table.open()))
NAMES = {
    "rule": "papers' dimension",
    "path": "powers of two",
    "rule, AUC": "papers' dimension,\ntuned for AUC",
    "path, AUC": "powers of two,\ntuned for AUC",
}
rng = np.random.default_rng(0)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
for ax, metric in zip(axes, ("f1_macro", "auc_macro"), strict=True):
    means = defaultdict(lambda: defaultdict(list))
    for row in rows:
        means[row["set"]][row["model"]].append(float(row[metric]))
    for k, model in enumerate(NAMES):
        gains = [np.mean(each[model]) - np.mean(each["ridge"]) for each in means.values()]
        ax.scatter(gains, k + rng.uniform(-0.15, 0.15, len(gains)), s=16, alpha=0.6)
        ax.plot([np.mean(gains)] * 2, [k - 0.3, k + 0.3], color="black", lw=2)
    ax.axvline(0, color="grey", lw=0.8)
    ax.set_xlabel(f"gain in {'macro F1' if metric == 'f1_macro' else 'macro AUC'} over ridge")
axes[0].set_yticks(range(len(NAMES)), NAMES.values())
axes[0].invert_yaxis()
