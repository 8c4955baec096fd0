"""
What a threshold trades
=======================

Your model computes a score for each label, and a label is assigned if its score is above a
threshold. A low threshold assigns wrong labels, a high one misses true labels. This example draws
the trade and compares the rules of the package on new samples.
"""

# %%
# We learn the tags of Debian packages from a thousand of them.

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfTransformer

import eigenlabel as el
from eigenlabel.inspection import ThresholdDisplay
from eigenlabel.thresholds import get_rule

data = el.datasets.load_debtags(min_positives=300)
train, test = data.splits["by source"]
train, test = train[::20], test[::3]
weigh = TfidfTransformer(sublinear_tf=True).fit(data.X[train])
X, Y = weigh.transform(data.X[train]), data.Y[train].toarray()
X_new, Y_new = weigh.transform(data.X[test]), data.Y[test].toarray()
model = el.SharedSubspaceClassifierCV().fit(X, Y)

# %%
# One label first. With a low threshold, nearly all packages of the tag are found (recall is high),
# but many others too (precision is low). F1 is high only if both are. For a rare tag, such as the
# one on the right, zero is far from the best threshold. The fitted threshold, the vertical line, is
# close to the best one. All curves are those of *held-out* scores: the model that computed a score
# has not seen the sample.

figure, axes = plt.subplots(1, 2, figsize=(11, 4))
for ax, label in zip(axes, ("role::program", "works-with::audio"), strict=True):
    ThresholdDisplay.from_estimator(
        model, None, Y, label=label, label_names=data.label_names, ax=ax
    )
plt.show()

# %%
# Now all labels. Each rule has another aim when it places the thresholds. We fit every rule to the
# same held-out scores and look at new packages. Macro F1 is the mean over tags, so rare tags count
# as much as frequent ones; micro F1 counts every decision once.

rules = ["zero", "proportional", "global", "f1", "fbr", "mixed"]
scores = model.decision_function(X_new)
found = {}
for name in rules:
    rule = get_rule(name)
    decided = rule.decide(scores, rule.fit(model.oof_scores_, Y))
    found[name] = el.metrics.f1_macro(Y_new, decided), el.metrics.f1_micro(Y_new, decided)
    print(f"{name:13s} macro F1 {found[name][0]:.3f}   micro F1 {found[name][1]:.3f}")

figure, ax = plt.subplots(figsize=(7, 5))
for name, (macro, micro) in found.items():
    ax.scatter(macro, micro, s=90, color="tab:orange" if name == "mixed" else "tab:blue")
    shift = (-8, 8) if name == "mixed" else (8, -4)
    side = "right" if name == "mixed" else "left"
    ax.annotate(name, (macro, micro), xytext=shift, ha=side, textcoords="offset points")
ax.set(xlabel="macro F1 of new packages", ylabel="micro F1 of new packages")
ax.margins(0.15)
ax.set_title("Six rules, the same scores: up and to the right is better")
plt.show()

# %%
# ``"f1"`` has the best macro F1 of the held-out scores by construction, and pays with micro F1.
# ``"mixed"``, the default, climbs both at once; on these data ``"proportional"``, which
# predicts each tag as often as it occurs, is as good. ``"zero"`` is what a least-squares
# classifier does without thresholds, and is far behind.
