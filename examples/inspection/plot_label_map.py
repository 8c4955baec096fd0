"""
A map of the labels
===================

Forty tags are too many to compare in pairs. Which of them are predicted by the same features,
and which have nothing in common? The *eigenlabels* of a fitted model answer this in one
picture.
"""

# %%
# An eigenlabel is a combination of labels, found by the model: of all combinations, the first
# one is what the features predict best, the second one is the best of what is left, and so on.
# Two eigenlabels are the axes of a map.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

import eigenlabel as el
from eigenlabel.inspection import LabelMapDisplay

data = el.datasets.load_debtags(min_positives=400)
train = data.splits["by source"][0][::8]
X = TfidfTransformer(sublinear_tf=True).fit_transform(data.X[train])
Y = data.Y[train]
model = el.SharedSubspaceClassifierCV(n_components=10).fit(X, Y)
print("eigenlabels:", model.eigenlabels_.shape, "(labels, dimensions)")

# %%
# Each dot is a tag, as large as the tag is frequent. Read the map from its middle, the point
# (0, 0):
#
# * tags in the same direction are predicted together;
# * tags in opposite directions exclude each other;
# * tags near the middle are not described by these two eigenlabels.
#
# The colours are the facets of Debian's tags, the part before the two colons.

figure, ax = plt.subplots(figsize=(10, 8))
LabelMapDisplay.from_estimator(model, Y, label_names=data.label_names, ax=ax)
plt.show()

# %%
# Later eigenlabels separate other groups. The tags with the largest weights say what each one
# is about.

for k in range(5):
    weights = model.eigenlabels_[:, k]
    order = np.argsort(-np.abs(weights))[:4]
    parts = [f"{weights[j]:+.2f} {data.label_names[j]}" for j in order]
    print(f"eigenlabel {k + 1}: {'  '.join(parts)}")

# %%
# How much of what can be predicted do they hold? The eigenvalues fall quickly. The axes of the
# map state the share of each one. The first two hold a little more than a third of the sum, so one
# map is a beginning and not the whole.

figure, ax = plt.subplots(figsize=(7, 3))
ax.bar(range(1, 11), model.eigenvalues_[:10], color="tab:blue")
ax.set(xlabel="eigenlabel", ylabel="eigenvalue", xticks=range(1, 11))
plt.show()
