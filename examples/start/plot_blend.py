"""
The best of several models
==========================

You have an afternoon, a table with some hundred rows, and no idea whether a linear model, trees or
neighbours suit it. Instead of choosing, combine them: models that make different mistakes correct
each other. ``MultilabelBlend`` fits several, and weighs them by how well they predict samples that
they have not seen.
"""

# %%
# We draw data with two kinds of labels: some depend on the features in a straight way, others only
# on whether two features have the same sign, which no linear model can see.

import matplotlib.pyplot as plt
import numpy as np

import eigenlabel as el

rng = np.random.default_rng(0)
X = rng.standard_normal((1500, 12))
straight = X @ rng.standard_normal((12, 5)) + rng.standard_normal((1500, 5))
bent = np.stack([X[:, 0] * X[:, 1], X[:, 2] * X[:, 3], X[:, 4] ** 2 - 1], axis=1)
values = np.hstack([straight, 2 * bent + rng.standard_normal((1500, 3))])
Y = (values > np.quantile(values, 0.7, axis=0)).astype(int)
train, test = slice(0, 500), slice(500, None)

# %%
# The blend needs no settings. Its leaderboard says how good each member is on held-out samples, and
# how much it counts.

blend = el.MultilabelBlend(random_state=0).fit(X[train], Y[train])
print(blend.leaderboard_)

# %%
# How good are the members alone, on new samples? The blend is a weighted sum of their log-odds. We
# compare them by AUC: the probability that a sample with the label has a higher score than one
# without it, where 0.5 is chance. The members "labels" and "sets" read what the others say.

scores = blend.member_log_odds(X[test]) | {"blend": blend.decision_function(X[test])}
figures = {name: el.metrics.auc_per_label(Y[test], z) for name, z in scores.items()}
for name, values in figures.items():
    print(f"{name:11s} macro AUC {np.mean(values):.3f}")

figure, ax = plt.subplots(figsize=(9, 4.5))
for name, values in figures.items():
    style = {"marker": "D", "s": 70, "color": "black"} if name == "blend" else {"s": 50}
    ax.scatter(range(8), values, label=name, zorder=3 if name == "blend" else 2, **style)
kinds = [f"straight {k + 1}" for k in range(5)] + [f"bent {k + 1}" for k in range(3)]
ax.set_xticks(range(8), kinds, rotation=20)
ax.set(ylabel="AUC of new samples")
ax.axhline(0.5, color="grey", ls=":", lw=1)
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
ax.set_title("No member is best for every label; the blend is close to the best for each")
plt.show()
