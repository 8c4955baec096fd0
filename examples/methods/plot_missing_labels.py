"""
Labels that nobody looked at
============================

Ten experts tag your samples, each of them for a few topics. Where nobody looked, the label
is neither yes nor no. Calling it "no" teaches the model that these samples are examples against
the label. Writing NaN tells it the truth.
"""

# %%
# We draw data with twenty correlated labels, and hide more and more of the training labels.

import matplotlib.pyplot as plt
import numpy as np

import eigenlabel as el

data = el.datasets.make_shared_subspace(
    1300, n_features=40, n_labels=20, n_components=3, noise=1.0, random_state=3
)
X, Y, X_new, Y_new = data.X[:300], data.Y[:300], data.X[300:], data.Y[300:]
rng = np.random.default_rng(0)

# %%
# Three ways to treat a label that was not observed: NaN, "no", or use only the samples whose
# labels are all known. The last way runs out of samples: with a tenth of the labels hidden, 12%
# of the samples are complete, and with three tenths hardly any.


def macro_f1(X: np.ndarray, Y: np.ndarray) -> float:
    """Fit a model with its thresholds and return the macro F1 of new samples."""
    model = el.SharedSubspaceClassifierCV(
        alphas=[0.1], betas=[0.01, 0.1], n_components=3, cv=3, calibration=None
    )
    return el.metrics.f1_macro(Y_new, model.fit(X, Y).predict(X_new))


hidden = [0.0, 0.1, 0.3, 0.5, 0.7, 0.85]
curves = {"NaN": [], "called absent": [], "complete samples only": []}
for share in hidden:
    draws = {name: [] for name in curves}
    for _ in range(4):
        seen = rng.random(Y.shape) >= share
        draws["NaN"].append(macro_f1(X, np.where(seen, Y, np.nan)))
        draws["called absent"].append(macro_f1(X, np.where(seen, Y, 0)))
        whole = seen.all(axis=1)
        if whole.sum() >= 10:
            draws["complete samples only"].append(macro_f1(X[whole], Y[whole]))
    for name, values in draws.items():
        curves[name].append(np.mean(values) if values else np.nan)

figure, ax = plt.subplots(figsize=(8, 4.5))
for name, values in curves.items():
    ax.plot(hidden, values, marker="o", label=name)
    print(f"{name:22s}", " ".join(f"{value:.3f}" for value in values))
ax.set(xlabel="share of training labels that nobody looked at", ylabel="macro F1 of new samples")
ax.legend(frameon=False)
ax.set_title("Say what you do not know")
plt.show()

# %%
# NaN may stand in arrays, frames (``None`` and ``pd.NA`` too) and sparse matrices, and in files
# with ``missing_labels="nan"``. Metrics and splitters accept it as well.
