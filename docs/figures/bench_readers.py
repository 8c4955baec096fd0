"""How many times as long other readers take for the same file."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "benchmarks" / "readers.csv").open()))
rows.sort(key=lambda row: float(row["other / ours"]))
figure, ax = plt.subplots(figsize=(8, 4))
for place, row in enumerate(rows):
    ratio = float(row["other / ours"])
    ax.barh(place, ratio, color="tab:blue" if row["other"] == "liac-arff" else "tab:green")
    text = f"{ratio:.1f}, ours {float(row['ours, seconds']):.2g} s"
    ax.annotate(
        text, (ratio, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8
    )
ax.axvline(1, color="black", lw=0.8)
ax.set_yticks(range(len(rows)), [row["file"].partition(" (")[0] for row in rows], fontsize=8)
ax.set(
    xlabel="seconds of the other reader / ours", xlim=(0, 1.25 * float(rows[-1]["other / ours"]))
)
ax.barh(0, 0, color="tab:blue", label="liac-arff")
ax.barh(0, 0, color="tab:green", label="scikit-learn")
ax.legend(frameon=False, loc="lower right")
