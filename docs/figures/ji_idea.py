"""The weights of all labels as a shared part of low rank and a small part of their own."""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
directions, mixture = rng.standard_normal((16, 2)), rng.standard_normal((2, 10))
own = 0.35 * rng.standard_normal((16, 10))
panels = [
    (directions @ mixture + own, "weights\n16 features, 10 labels", 10),
    (directions, "shared directions", 2),
    (mixture, "labels in them", 10),
    (own, "what is left\n(alpha keeps it small)", 10),
]
figure, axes = plt.subplots(1, 4, figsize=(9, 3.2), width_ratios=[panel[2] for panel in panels])
for ax, (table, title, _) in zip(axes, panels, strict=True):
    ax.imshow(table, cmap="RdBu", vmin=-3, vmax=3)
    ax.set_title(title, fontsize=9)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)
for ax, sign in zip(axes[1:], ("=", "·", "+"), strict=True):
    ax.annotate(
        sign,
        (0, 0.5),
        xycoords="axes fraction",
        xytext=(-16, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=15,
    )
