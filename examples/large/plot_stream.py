"""
A stream that learns and forgets
================================

Messages arrive all day, and their labels arrive a little later. The model should learn from each
batch without starting again. In the evening it turns out that some batches were wrong: the model
must forget them, exactly, as if they had never been there.
"""

# %%
# A linear model of this kind depends on the samples only through sums: means, and products of
# features and labels. A batch can be added to a sum and subtracted again. The result is not an
# approximation: it is the model of one fit on the samples that remain.

import matplotlib.pyplot as plt
import numpy as np

import eigenlabel as el

data = el.datasets.make_shared_subspace(
    4500, n_features=60, n_labels=15, n_components=3, noise=1.0, random_state=0
)
X_new, Y_new = data.X[3000:], data.Y[3000:]
batches = np.array_split(np.arange(3000), 60)
params = {"alpha": 0.1, "beta": 0.01, "n_components": 3}


def auc(model: el.SharedSubspaceClassifier) -> float:
    """Return the macro AUC of new samples."""
    return el.metrics.auc_macro(Y_new, model.decision_function(X_new))


# %%
# Sixty batches of fifty samples arrive. From batch 20 to 40 something is broken: the labels of
# these samples belong to other samples.

rng = np.random.default_rng(1)
model = el.SharedSubspaceClassifier(**params)
history, broken = [], {}
for number, rows in enumerate(batches):
    Y = data.Y[rows]
    if 20 <= number < 40:
        Y = broken[number] = Y[rng.permutation(len(rows))]
    model.partial_fit(data.X[rows], Y, classes=np.arange(15))
    history.append(auc(model))

# %%
# The error is found in the evening. The twenty batches are forgotten, one after the other.

for number, Y in broken.items():
    model.forget(data.X[batches[number]], Y)
    history.append(auc(model))

# %%
# The result is the model of a single fit on the forty good batches.

good = np.concatenate([rows for number, rows in enumerate(batches) if number not in broken])
once = el.SharedSubspaceClassifier(**params).fit(data.X[good], data.Y[good])
print("largest difference of the weights:", f"{np.abs(model.coef_ - once.coef_).max():.1e}")

figure, ax = plt.subplots(figsize=(9, 4.5))
ax.plot(range(1, len(history) + 1), history, color="tab:blue")
ax.axvspan(20.5, 40.5, color="tab:red", alpha=0.15, lw=0)
ax.axvspan(60.5, 80.5, color="tab:green", alpha=0.15, lw=0)
ax.text(30.5, 0.62, "broken labels\narrive", ha="center")
ax.text(70.5, 0.62, "they are\nforgotten", ha="center")
ax.axhline(auc(once), color="black", ls="--", lw=1)
ax.text(1, auc(once) + 0.004, "one fit on the good samples")
ax.set(xlabel="step (a batch is learned or forgotten)", ylabel="macro AUC of new samples")
ax.set_ylim(None, 0.86)
ax.set_title("Learning 60 batches and forgetting 20 of them")
plt.show()
