"""Macro F1 on Arts by alpha and beta (Figure 3 of Ji et al. 2010)."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

table = Path("results") / "papers" / "mlls-figure3.csv"
rows = list(csv.reader(table.open()))
alphas = [name.removeprefix("alpha ") for name in rows[0][1:]]
betas = [row[0] for row in rows[1:]]
values = np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])
figure, ax = plt.subplots(figsize=(7.5, 4.6))
image = ax.imshow(values, cmap="viridis", aspect="auto", origin="lower")
ax.set_xticks(range(len(alphas)), alphas)
ax.set_yticks(range(len(betas)), betas)
ax.set(xlabel="alpha: penalty of what is not shared", ylabel="beta: penalty of all weights")
for (i, j), value in np.ndenumerate(values):
    colour = "black" if value > 0.325 else "white"
    ax.text(j, i, f"{value:.3f}"[1:], ha="center", va="center", fontsize=8, color=colour)
figure.colorbar(image, ax=ax, label="macro F1")
