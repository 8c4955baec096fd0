"""Seconds of sparse discriminant analysis by LARS and by ours."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "benchmarks" / "sparse_discriminant.csv").open()))
features = [int(row["p"]) for row in rows]
figure, ax = plt.subplots(figsize=(6.5, 3.2))
for column, name, colour in (
    ("LARS, seconds", "LARS, as in the paper", "tab:blue"),
    ("MtSDA, seconds", "MtSDA", "tab:orange"),
):
    values = [float(row[column]) for row in rows]
    ax.loglog(features, values, marker="o", color=colour, label=name)
    ax.annotate(
        f"{values[-1]:.3g} s",
        (features[-1], values[-1]),
        xytext=(8, -3),
        textcoords="offset points",
    )
ax.set_xticks(features, [f"{p:,}" for p in features])
ax.minorticks_off()
ax.margins(x=0.15)
ax.set(xlabel="words", ylabel="seconds of a fit")
ax.legend(frameon=False)
