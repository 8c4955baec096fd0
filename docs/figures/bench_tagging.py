"""Seconds of a fit by the number of samples, for taggers and networks."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "benchmarks" / "tagging.csv").open()))
columns = {int(name.split()[2].rstrip(":")): name for name in rows[0] if name.startswith("n = ")}
NAMES = {
    "r-KMLR": "KernelRidgeTagger",
    "SW": "GaussianFields (SW)",
    "GRF-MK": "GaussianFields (GRF)",
    "PfunBG-MK": "BiRelationGraph",
}
figure, ax = plt.subplots(figsize=(8, 4.2))
for k, row in enumerate(sorted(rows, key=lambda r: -float(r[columns[4000]].split(",")[0]))):
    seconds = [max(float(row[name].split(",")[0]), 0.005) for name in columns.values()]
    name = NAMES.get(row["method"], row["method"])
    style = "o-" if k < 5 else "s--"
    label = f"{name}: {seconds[-1]:.2g} s"
    ax.loglog(list(columns), seconds, style, ms=4, lw=1.3, color=f"C{k}", label=label)
ax.set_xticks(list(columns), [f"{n:,}" for n in columns])
ax.minorticks_off()
ax.set(xlabel="training samples", ylabel="seconds of a fit")
ax.legend(
    frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), title="at 4,000 samples"
)
