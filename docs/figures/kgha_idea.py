"""Scores of two views and of the labels, and the common scores on which they agree."""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(1)
common = np.sort(rng.standard_normal(40))
parts = {"view 1": 0.5, "view 2": 0.9, "labels": 0.35}
figure, ax = plt.subplots(figsize=(8, 3.4))
for name, noise in parts.items():
    ax.plot(common + noise * rng.standard_normal(40), ".-", lw=0.8, alpha=0.65, label=name)
ax.plot(common, color="black", lw=2.5, label="common score")
ax.set(xlabel="sample", ylabel="score", xticks=[], yticks=[])
ax.legend(frameon=False, ncols=4, loc="upper left")
