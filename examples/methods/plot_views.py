"""
Several sources, some of them missing
=====================================

A package is described three times: by its words, by what it depends on, and by its section of
the archive. Some packages have no description, others no dependencies yet. You want one model
that uses what there is, instead of throwing away incomplete samples.
"""

# %%
# The columns of the built-in data are in three views. KGHA (Xiong et al.) looks for scores on
# which all views and the labels agree. A row of NaN in a view means that the sample lacks it.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

import eigenlabel as el

data = el.datasets.load_debtags(min_positives=300)
train, test = data.splits["by source"]
train, test = train[::25], test[::10]
weigh = TfidfTransformer(sublinear_tf=True).fit(data.X[train])
Z, Z_new = weigh.transform(data.X[train]), weigh.transform(data.X[test])
Y, Y_new = data.Y[train].toarray(), data.Y[test].toarray()
tables = {name: Z[:, columns].toarray() for name, columns in data.views.items()}
new = {name: Z_new[:, columns].toarray() for name, columns in data.views.items()}
print({name: table.shape for name, table in tables.items()})

# %%
# First, all views are complete. The weights of the views are set by how well each kernel agrees
# with the labels (its alignment).


def score(views: dict, views_new: dict) -> float:
    """Fit KGHA and return the mean average precision of the labels of new packages."""
    model = el.KGHA(kernel="linear", ridge=0.5, view_weights="alignment")
    model.fit(el.Views(views), Y)
    scores = model.decision_function(el.Views(views_new))
    return el.metrics.label_average_precision(Y_new, scores)


alone = {name: score({name: tables[name]}, {name: new[name]}) for name in tables}
together = score(tables, new)
print({name: round(value, 3) for name, value in alone.items()}, "together:", round(together, 3))

# %%
# Now views are lost at random, in training and in the new packages: each of "words" and
# "depends" in a share of the samples. There are two ways to go on: fill the gaps with zeros, or
# write NaN.

rng = np.random.default_rng(0)


def lose(views: dict, lost: dict, value: float) -> dict:
    """Return copies of the views in which the rows of lost samples hold a value."""
    found = {}
    for name, table in views.items():
        found[name] = table.copy()
        found[name][lost[name]] = value
    return found


def draw(n: int, share: float) -> dict:
    """Draw which samples lack a view; the section is always there."""
    parts = {"words": share, "depends": share, "section": 0}
    return {name: rng.random(n) < part for name, part in parts.items()}


shares = [0.0, 0.2, 0.4, 0.6]
curves = {"written as NaN": [], "filled with zeros": []}
for share in shares:
    lost, lost_new = draw(len(train), share), draw(len(test), share)
    for name, value in (("written as NaN", np.nan), ("filled with zeros", 0.0)):
        curves[name].append(score(lose(tables, lost, value), lose(new, lost_new, value)))

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
names = [*alone, "together"]
left.bar(names, [*alone.values(), together], color=["tab:blue"] * 3 + ["tab:orange"])
left.set(ylabel="mean average precision of labels", title="Each view alone, and all together")
for name, values in curves.items():
    right.plot(shares, values, marker="o", label=name)
right.set(xlabel="share of samples that lack a view", title="Views that are missing")
right.set_ylim(0.35, 0.5)
right.legend(frameon=False)
plt.show()

# %%
# All views together are better than any of them alone. Where views are missing, NaN is a little
# better than zeros in these runs, one for each share: a row of zeros claims to be a description. A
# whole view may also be absent from the new samples.
