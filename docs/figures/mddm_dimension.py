"""Hamming loss by dimension (Figure 2 of Zhang and Zhou 2010)."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

folder = Path("results") / "papers" / "means"
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8))
for ax, name in zip(axes, ("web", "text"), strict=True):
    rows = list(csv.DictReader((folder / f"mddm-figure2-{name}.csv").open()))
    for method in ("MDDM_p", "PLS", "CCA", "PCA", "MLSI"):
        points = [(float(r["x"]), float(r["mean"])) for r in rows if r["method"] == method]
        width = 2.6 if method == "MDDM_p" else 1.2
        ax.plot(*zip(*points, strict=True), marker="o", ms=4, lw=width, label=method)
    original = next(float(r["mean"]) for r in rows if r["method"] == "ORI")
    ax.axhline(original, color="grey", ls="--", lw=1, label="all features")
    ax.set_xscale("log")
    ax.set(xlabel="share of the original dimension", title={"web": "web pages"}.get(name, name))
axes[0].set_ylabel("Hamming loss (less is better)")
axes[1].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
