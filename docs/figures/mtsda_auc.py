"""Micro-averaged AUC of the methods of Han et al. (2010), published and ours."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

table = Path("results") / "papers" / "mtsda-table2.csv"
rows = [row for row in csv.DictReader(table.open()) if row["metric"] == "auc_micro"]
methods = list(dict.fromkeys(row["method"] for row in rows))[::-1]
sets = list(dict.fromkeys(row["data"] for row in rows))
figure, axes = plt.subplots(1, len(sets), figsize=(10, 3.2), sharey=True)
for ax, name in zip(axes, sets, strict=True):
    for k, method in enumerate(methods):
        for row in rows:
            if (row["data"], row["method"]) != (name, method):
                continue
            if row["paper"]:
                ax.plot(float(row["paper"]), k, "o", mfc="white", color="tab:blue")
            if row["ours"]:
                ax.plot(float(row["ours"]), k, "o", color="tab:orange")
    ax.set_title(name)
    ax.set_xlabel("AUC")
names = [method.partition(" (")[0] for method in methods]
axes[0].set_yticks(range(len(methods)), names)
axes[0].plot([], [], "o", mfc="white", color="tab:blue", label="published")
axes[0].plot([], [], "o", color="tab:orange", label="ours")
axes[0].legend(frameon=False, fontsize=8, loc="lower left")
