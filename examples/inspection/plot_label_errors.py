"""
Finding labels that are wrong
=============================

People tag thousands of packages, and forget tags, or tick the wrong box. Before you train on such
labels, or publish a score, you want to know which of them to check first. We plant errors into
clean labels, to see how many of them are found.
"""

# %%
# From 2,000 packages with tags we remove one tag in ten, at random, and add a few that do not
# belong.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

import eigenlabel as el
from eigenlabel.inspection import find_label_issues
from eigenlabel.thresholds import held_out_probabilities

data = el.datasets.load_debtags(min_positives=300)
rng = np.random.default_rng(0)
rows = rng.permutation(len(data.sample_names))[:2000]
X = TfidfTransformer(sublinear_tf=True).fit_transform(data.X[rows])
clean = data.Y[rows].toarray()

forgotten = (clean == 1) & (rng.random(clean.shape) < 0.10)
added = (clean == 0) & (rng.random(clean.shape) < 0.001)
Y = np.where(forgotten, 0, np.where(added, 1, clean))
planted = forgotten | added
print(f"{forgotten.sum()} tags forgotten, {added.sum()} tags added, {clean.size} cells in all")

# %%
# The model is fitted once. Its held-out scores, which every tuned model has, become
# probabilities that have not seen the label in question.

model = el.SharedSubspaceClassifierCV().fit(X, Y)
P = held_out_probabilities(model.oof_scores_, Y)
issues = find_label_issues(Y, P, label_names=data.label_names, sample_names=data.sample_names[rows])
print(issues)

# %%
# Somebody checks the list from the top. How many errors are found after 100, 300 or 1,000 cells?
# Two simpler orders serve for comparison: the largest difference between a label and its
# probability, and chance. Debian's own labels are not perfect, so some of the "false alarms" are
# real errors that were in the data before.

order = np.ravel_multi_index((issues.samples, issues.labels), Y.shape)
plain = np.argsort(-np.abs(Y - P), axis=None, kind="stable")
figure, ax = plt.subplots(figsize=(8, 4.5))
n = 2500
for ranking, name in ((order, "find_label_issues"), (plain, "largest difference")):
    found = np.cumsum(planted.ravel()[ranking[:n]]) / planted.sum()
    ax.plot(np.arange(1, len(found) + 1), found, label=name)
    print(f"{name:20s} errors found after 300 cells: {planted.ravel()[ranking[:300]].sum()}")
ax.plot([0, n], [0, n * planted.mean() / planted.sum()], color="grey", ls=":", label="chance")
ax.set(xlabel="cells that were checked", ylabel="share of planted errors found", ylim=(0, 1))
ax.legend(frameon=False)
ax.set_title(f"{planted.sum()} errors among {Y.size:,} cells")
plt.show()

# %%
# ``issues.corrected(n)`` returns a copy of the labels in which the first ``n`` issues are
# corrected; the command ``eigenlabel audit DATA -o issues.csv --report page.html`` does the
# same for a file and never changes it.
