"""Seconds of a tuned fit, one fit and a prediction by samples, features and labels."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "growth.csv").open()))
WORDS = {"n": "samples", "d": "features", "m": "labels"}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), sharey=True)
for ax, (size, word) in zip(axes, WORDS.items(), strict=True):
    some = [row for row in rows if row["size"] == size]
    x = [int(row[size]) for row in some]
    for k, kind in enumerate(("tuned fit", "one fit", "predict")):
        ax.loglog(x, [float(row[kind]) for row in some], "o-", ms=4, color=f"C{k}", label=kind)
        ax.loglog(x, [float(row[f"limit of {kind}"]) for row in some], ":", color=f"C{k}")
    rest = [f"{int(some[0][k]):,} {name}" for k, name in WORDS.items() if k != size]
    ax.set_title(" and ".join(rest), fontsize=9)
    ax.set_xlabel(word)
axes[0].set_ylabel("seconds (dotted: the machine's limit)")
axes[0].legend(frameon=False, fontsize=8)
