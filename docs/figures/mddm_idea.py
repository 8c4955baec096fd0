"""The direction of largest variance and the direction that depends on the labels."""

import matplotlib.pyplot as plt
import numpy as np

import eigenlabel as el

rng = np.random.default_rng(0)
X = rng.standard_normal((240, 2)) * [2.4, 0.8]
Y = np.stack([X[:, 1] > 0.5, X[:, 1] < -0.3], axis=1).astype(int)
turn = np.array([[0.9, 0.44], [-0.44, 0.9]])
X = X @ turn
figure, ax = plt.subplots(figsize=(6, 4.2))
kinds = Y @ [1, 2]
for kind, name in ((1, "label a"), (2, "label b"), (0, "none")):
    ax.scatter(*X[kinds == kind].T, s=14, alpha=0.75, label=name)
for method, colour in ((el.PCA(n_components=1), "tab:red"), (el.MDDM(n_components=1), "black")):
    direction = method.fit(X, Y).components_[0]
    direction = 3 * direction / np.linalg.norm(direction)
    ax.plot(*np.stack([-direction, direction]).T, color=colour, lw=2.5)
    ax.annotate(
        type(method).__name__,
        direction,
        color=colour,
        fontsize=12,
        weight="bold",
        xytext=(8, 6),
        textcoords="offset points",
    )
ax.set_aspect("equal")
ax.legend(frameon=False, fontsize=8)
ax.set(xticks=[], yticks=[])
