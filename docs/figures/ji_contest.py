"""Macro F1 of the methods of Ji et al. (2010), published and ours."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

SETS = ("Arts", "Education", "Health")
table = Path("results") / "papers" / "mlls-table3.csv"
rows = [row for row in csv.DictReader(table.open()) if row["metric"] == "f1_macro"]
methods = list(dict.fromkeys(row["method"] for row in rows))[::-1]
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True)
for ax, name in zip(axes, SETS, strict=True):
    for k, method in enumerate(methods):
        row = next((r for r in rows if (r["data"], r["method"]) == (name, method)), None)
        if row is None or row["ours"] == "not run":
            continue
        paper, ours = float(row["paper"]), float(row["ours"])
        ax.plot([paper, ours], [k, k], color="grey", lw=1)
        ax.plot(paper, k, "o", mfc="white", color="tab:blue", label="published" if k == 0 else None)
        ax.plot(ours, k, "o", color="tab:orange", label="ours" if k == 0 else None)
    ax.set_title(name)
    ax.set_xlabel("macro F1")
names = [method.partition(" (")[0] for method in methods]
axes[0].set_yticks(range(len(methods)), names)
axes[-1].legend(frameon=False, loc="lower left", fontsize=8)
