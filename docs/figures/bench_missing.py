"""Macro F1 on Arts if labels of training pages are hidden: NaN, or called absent."""

import csv
import re
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "benchmarks" / "missing_labels.csv").open()))
full = float(rows[0]["macro F1"])
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
for ax, kind in zip(axes, ("cells", "positives"), strict=True):
    for way, name in (("NaN", "written as NaN"), ("absent", "called absent")):
        points = [(0, full)]
        for row in rows[1:]:
            share, hidden, treated = re.match(
                r"(\d+)% of the (\w+) hidden: (\w+)", row["labels"]
            ).groups()
            if (hidden, treated) == (kind, way):
                points.append((int(share), float(row["macro F1"])))
        ax.plot(*zip(*points, strict=True), marker="o", label=name)
    ax.set(xlabel=f"percent of all {kind} hidden", ylim=(0, None), xticks=[0, 20, 50, 80])
axes[0].set_ylabel("macro F1 of test pages")
axes[0].legend(frameon=False, loc="lower left")
