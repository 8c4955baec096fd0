"""Seconds and precision at 5 with 1,000, 10,000 and 30,000 labels."""

import json
from pathlib import Path

import matplotlib.pyplot as plt

file = Path("results") / "benchmarks" / "many_labels.json"
points = json.loads(file.read_text())["by_labels"]
labels = [point["n_labels"] for point in points]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
SECONDS = {
    "seconds_ridge": ("ridge for each label", "tab:blue"),
    "seconds_fit": ("two factors", "tab:orange"),
}
for key, (name, colour) in SECONDS.items():
    values = [point[key] for point in points]
    left.loglog(labels, values, marker="o", color=colour)
    left.annotate(
        name,
        (labels[1], values[1]),
        xytext=(-6, 8),
        textcoords="offset points",
        ha="right",
        color=colour,
    )
left.set(xlabel="labels", ylabel="seconds of a fit", title="Time")
left.margins(x=0.1, y=0.2)
PRECISION = {
    "precision_ours": ("two factors", "tab:orange"),
    "precision_near": ("ten neighbours", "tab:green"),
    "precision_popular": ("the most frequent labels", "tab:grey"),
}
for key, (name, colour) in PRECISION.items():
    right.semilogx(labels, [point[key] for point in points], marker="o", color=colour, label=name)
right.set(
    xlabel="labels", ylabel="precision at 5", ylim=(0, None), title="Precision of the five best"
)
right.legend(frameon=False)
for ax in (left, right):
    ax.set_xticks(labels, [f"{m:,}" for m in labels])
    ax.minorticks_off()
