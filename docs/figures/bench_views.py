"""Micro F1 of the choices in KGHA on emotions and yeast."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "benchmarks" / "views-2.csv").open()))
rows.sort(key=lambda row: float(row["emotions micro F1"]))
NAMES = {
    "KGHA": "KGHA, default",
    "KGHA, Eq. 31": "KGHA, predictions by Equation 31",
    "KGHA-d (p = m)": "KGHA, all dimensions",
    "KGHA-r (lambda = 1e-6)": "KGHA, views need not agree",
    "r-KMLR": "KernelRidgeTagger",
    "L-HA": "KGHA with linear kernels",
    "r-MLR": "linear regression of each view",
}
figure, ax = plt.subplots(figsize=(8, 3.8))
for name, colour in (("emotions", "tab:blue"), ("yeast", "tab:orange")):
    values = [float(row[f"{name} micro F1"]) for row in rows]
    ax.plot(values, range(len(rows)), "o", color=colour, label=name)
ax.set_yticks(range(len(rows)), [NAMES.get(row["choice"], row["choice"]) for row in rows])
ax.grid(axis="y", color="0.92")
ax.set_axisbelow(True)
ax.set(xlabel="micro F1, means of ten splits")
ax.legend(frameon=False, loc="lower right")
