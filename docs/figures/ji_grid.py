"""Macro F1 by alpha and beta (Figure 3 of Ji et al. 2010)."""

import matplotlib.pyplot as plt
import numpy as np

from eigenlabel.reproduce import get_table, read_csv

table = get_table("mlls-figure3")
panels = table.means(read_csv("results/papers/mlls-figure3.csv"))
alphas = table.curves()
betas = list(dict.fromkeys(beta for _, beta in table.points))
figure, axes = plt.subplots(1, len(panels), figsize=(11, 4.6), squeeze=False, layout="constrained")
for ax, (name, means) in zip(axes[0], panels.items(), strict=True):
    values = np.array([[means.get((a, b), np.nan) for a in alphas] for b in betas])
    ax.imshow(values, cmap="viridis", aspect="auto", origin="lower")
    ax.set_xticks(range(len(alphas)), [a.removeprefix("alpha ") for a in alphas], fontsize=8)
    ax.set_yticks(range(len(betas)), betas, fontsize=8)
    ax.set(title=f"{name}: macro F1", xlabel="alpha: penalty of what is not shared")
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    for (i, j), value in np.ndenumerate(values):
        colour = "black" if value > middle else "white"
        ax.text(j, i, f"{value:.3f}"[1:], ha="center", va="center", fontsize=7, color=colour)
axes[0][0].set_ylabel("beta: penalty of all weights")
