"""
The first model
===============

Debian's volunteers describe each software package by tags: what it is, what it is written in,
what it works with. A package has several tags at once, which makes this a *multi-label*
problem. You want a program that suggests the tags of packages that nobody has tagged yet.
"""

# %%
# The data come with the package: words of the short descriptions and names of dependencies as
# counts, and a 0/1 matrix with one column for each tag. The split keeps packages that are built
# from the same source on one side, so that the test is fair.

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfTransformer

import eigenlabel as el
from eigenlabel.inspection import LabelBarsDisplay

data = el.datasets.load_debtags(min_positives=300)
train, test = data.splits["by source"]
train, test = train[::12], test[::3]
print(f"{len(train)} packages to learn from, {len(data.label_names)} tags")

# %%
# Rare words say more than frequent ones, so counts are weighed by tf-idf. The model needs no
# further choice: it tries 72 pairs of penalties by exact cross-validation and fits one
# threshold for each tag to the held-out scores.

weigh = TfidfTransformer(sublinear_tf=True).fit(data.X[train])
X, Y = weigh.transform(data.X[train]), data.Y[train]
X_new, Y_new = weigh.transform(data.X[test]), data.Y[test]

model = el.SharedSubspaceClassifierCV().fit(X, Y)
print(model.best_params_, f"cross-validated macro F1: {model.best_score_:.2f}")

# %%
# What does it suggest for packages that it has not seen?

suggested = model.predict(X_new)
names = data.sample_names[test].tolist()
for name in ("gst123", "gthumb", "libgtkmm-3.0-dev"):
    row = names.index(name)
    tags = data.label_names[suggested[[row]].indices]
    true = data.label_names[Y_new[[row]].indices]
    print(name)
    print(f"   suggested: {', '.join(tags) or '-'}")
    print(f"   assigned:  {', '.join(true)}")

# %%
# Some tags are easy, such as those of a programming language, and some are not. A bar for each
# tag shows where the suggestions can be trusted: F1 is 1 if a tag is suggested exactly where it
# belongs.

figures = el.metrics.evaluate(Y_new, model.decision_function(X_new), suggested)
print(", ".join(f"{name}: {figures[name]:.3f}" for name in ("f1_macro", "f1_micro", "auc_macro")))

figure, ax = plt.subplots(figsize=(9, 7))
LabelBarsDisplay.from_estimator(model, X_new, Y_new, label_names=data.label_names, ax=ax)
plt.show()
