"""Seconds of one fit and of tuned fits on Arts, beside scikit-learn."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

rows = list(csv.DictReader((Path("results") / "benchmarks" / "speed.csv").open()))
NAMES = {
    "one fit": "SharedSubspaceClassifier, one fit",
    "one-vs-rest LinearSVC, C = 1": "LinearSVC, one-vs-rest",
    "tuned fit, 8 x 8 grid x 5 folds": "SharedSubspaceClassifierCV, 64 candidates, 5 folds",
    "RidgeClassifierCV, 7 shifts, dense X": "RidgeClassifierCV, 7 candidates",
    "tuned fit, leave-one-out": "SharedSubspaceClassifierCV, leave-one-out",
    "one-vs-rest LinearSVC tuned, 11 C x 5 folds": "LinearSVC, 11 candidates, 5 folds",
}
seconds = {row["what"]: float(row["seconds"]) for row in rows}
figure, ax = plt.subplots(figsize=(9, 3))
for place, (key, name) in enumerate(NAMES.items()):
    ours = name.startswith("Shared")
    ax.barh(place, seconds[key], color="tab:orange" if ours else "tab:blue")
    ax.annotate(
        f"{seconds[key]:.2g} s",
        (seconds[key], place),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
    )
ax.set_yticks(range(len(NAMES)), NAMES.values())
ax.invert_yaxis()
ax.set(xscale="log", xlabel="seconds (logarithmic)")
ax.margins(x=0.12)
