"""Average precision of KGHA by the share of dimensions that are kept."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

folder = Path("results") / "papers" / "means"
rows = list(csv.DictReader((folder / "kgha-claims.csv").open()))
rows += list(csv.DictReader((folder / "kgha-claims-debtags.csv").open()))
figure, ax = plt.subplots(figsize=(8.5, 4))
for k, name in enumerate(("emotions", "yeast", "debtags")):
    chosen = [row for row in rows if row["data"] == name]
    curve = [(float(r["x"]), float(r["mean"])) for r in chosen if r["method"] == "lambda 0.1"]
    joined = next(float(row["mean"]) for row in chosen if row["method"] == "joined")
    ax.plot(*zip(*curve, strict=True), marker="o", color=f"C{k}", label=f"{name}, KGHA")
    ax.axhline(joined, color=f"C{k}", ls=":", lw=1.4, label=f"{name}, columns side by side")
ax.axvline(0.5, color="grey", lw=0.8)
ax.set(xlabel="share of dimensions kept, p/m (the paper: 0.5)", ylabel="average precision")
ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
