"""Weights of ridge regression and of sparse discriminant analysis."""

import matplotlib.pyplot as plt
import numpy as np

import eigenlabel as el

data = el.datasets.make_shared_subspace(300, n_features=40, n_labels=8, random_state=0)
X = data.X.copy()
X[:, 12:] = np.random.default_rng(0).standard_normal(X[:, 12:].shape)  # say nothing
models = {
    "ridge regression": el.SharedSubspaceClassifier(alpha=0, beta=0.1),
    "sparse discriminant analysis": el.MtSDA(l1=90, l2=1),
}
figure, axes = plt.subplots(2, 1, figsize=(8, 3.6), sharex=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    coef = model.fit(X, data.Y).coef_
    limit = np.abs(coef).max()
    ax.imshow(coef, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
    used = np.count_nonzero(np.abs(coef).sum(axis=0))
    ax.set_title(f"{name}: {used} of 40 features have a weight", fontsize=10)
    ax.set(ylabel="label", yticks=[])
axes[1].set_xlabel("feature (only the first twelve say something about the labels)")
