"""What bounds of risk control reach on test samples of ten data sets."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "risk.csv").open()))
BOUNDS = {
    "recall >= 0.9": (0.9, "recall, asked for: at least 0.9"),
    "precision >= 0.8": (0.8, "precision, asked for: at least 0.8"),
    "false discovery <= 0.2": (0.2, "false discoveries, asked for: at most 0.2"),
}
WAYS = {
    "kept aside": ("tab:orange", 0.12, "cut set by samples kept aside"),
    "cross-validated": ("tab:blue", -0.12, "cut set by held-out probabilities of training samples"),
}
sets = list(dict.fromkeys(row["set"] for row in rows))[::-1]
figure, axes = plt.subplots(1, 3, figsize=(10, 4.2), sharey=True)
for ax, (bound, (value, title)) in zip(axes, BOUNDS.items(), strict=True):
    for way, (colour, shift, _) in WAYS.items():
        for place, name in enumerate(sets):
            row = next(
                r
                for r in rows
                if (r["set"], r["bound"], r["samples_of_the_rule"]) == (name, bound, way)
            )
            if row["mean_on_test_samples"] not in ("", "nan"):
                ax.plot(float(row["mean_on_test_samples"]), place + shift, "o", color=colour)
    good = (value, 1) if ">=" in bound else (0, value)
    ax.axvspan(*good, color="tab:green", alpha=0.1)
    ax.axvline(value, color="tab:green", lw=1)
    ax.set_xlabel(title, fontsize=9)
    ax.grid(axis="y", color="0.92")
    ax.set_axisbelow(True)
axes[0].set_xlim(0.85, 1)
axes[1].set_xlim(0.7, 1)
axes[2].set_xlim(0, 0.3)
axes[0].set_yticks(range(len(sets)), sets)
for colour, _, label in WAYS.values():
    axes[0].plot([], [], "o", color=colour, label=label)
figure.legend(
    *axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False
)
