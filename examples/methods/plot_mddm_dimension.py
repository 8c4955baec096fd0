"""
How many dimensions do the labels need?
=======================================

Each package is described by 13,000 words and dependencies. A neighbour search in so many
dimensions is slow and poor. You want to reduce the features to a few that keep what matters
*for the labels*, and to know how many are enough.
"""

# %%
# MDDM (Zhang and Zhou 2010) looks for the directions in which features depend most on the
# labels. PCA looks for those with the largest variance and does not know the labels.
# ``dimensions_path`` scores a classifier at many dimensions at once by cross-validation: the
# projection of each fold is computed once, and lower dimensions are its first columns.

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfTransformer

import eigenlabel as el
from eigenlabel.inspection import DimensionDisplay

data = el.datasets.load_debtags(min_positives=300)
rows = data.splits["by source"][0][::25]
X = TfidfTransformer(sublinear_tf=True).fit_transform(data.X[rows])
Y = data.Y[rows].toarray()
print(X.shape, "samples and features")

# %%
# ML-kNN decides by the labels of the ten nearest samples. We let it work on 1 to 45 dimensions
# of four projections.

dimensions = [1, 2, 4, 6, 9, 13, 18, 25, 35, 45]
projections = {
    "MDDM": el.MDDM(n_components=45),
    "CCA": el.CCA(n_components=45, reg=1.0),
    "PLS": el.PLS(n_components=45),
    "PCA": el.PCA(n_components=45),
}
paths = {
    name: el.dimensions_path(projection, el.MLkNN(), X, Y, dimensions, cv=3)
    for name, projection in projections.items()
}
for name, path in paths.items():
    means = path.scores.mean(axis=1)
    print(f"{name:5s} best average precision {means.max():.3f} at {dimensions[means.argmax()]}")

# %%

figure, ax = plt.subplots(figsize=(8, 5))
DimensionDisplay.from_paths(paths, scoring="average precision of labels", ax=ax)
ax.set_title("ML-kNN on projected features")
plt.show()

# %%
# A few directions that are led by the labels do what many of PCA's do.
# ``MDDM(n_components=0.999)`` chooses the dimension by the share of the dependence that it
# keeps, and :class:`~eigenlabel.ProjectedClassifierCV` chooses it by cross-validation.
