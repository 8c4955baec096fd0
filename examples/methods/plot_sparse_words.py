"""
Which words does it take?
=========================

A model with hundreds of weights for each tag cannot be read. Your colleagues ask for a short
list of words that carries the whole decision. Sparse discriminant analysis (Han et al. 2010)
makes most weights exactly zero.
"""

# %%
# We use the words of the descriptions alone, and leave out words of fewer than four packages.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

import eigenlabel as el
from eigenlabel.preprocessing import DocumentFrequencySelector

data = el.datasets.load_debtags(min_positives=500)
train, test = data.splits["by source"]
train, test = train[::10], test[::4]
counts = data.X[:, data.views["words"]]
select = DocumentFrequencySelector(min_documents=4).fit(counts[train])
weigh = make_pipeline(select, TfidfTransformer(sublinear_tf=True)).fit(counts[train])
X, X_new = weigh.transform(counts[train]), weigh.transform(counts[test])
Y, Y_new = data.Y[train].toarray(), data.Y[test].toarray()
names = data.feature_names[data.views["words"]][select.get_support()]
names = [name.removeprefix("words:") for name in names]

# %%
# The penalty ``l1`` decides how many words stay. We follow it from strong to weak, and compare
# with a model that uses every word.

full = el.SharedSubspaceClassifierCV().fit(X, Y)
reference = el.metrics.f1_macro(Y_new, full.predict(X_new))
print(f"all {X.shape[1]} words: macro F1 {reference:.3f}")

used, figures, models = [], [], {}
for l1 in (64, 32, 16, 8, 4):
    model = el.MtSDA(l1=l1, l2=1, tol=1e-2, threshold="mixed").fit(X, Y)
    used.append(np.count_nonzero(np.abs(model.coef_).sum(axis=0)))
    figures.append(el.metrics.f1_macro(Y_new, model.predict(X_new)))
    models[l1] = model
    print(f"l1 {l1:2d}: {used[-1]:3d} words, macro F1 {figures[-1]:.3f}")

figure, ax = plt.subplots(figsize=(7, 4))
ax.plot(used, figures, marker="o", label="MtSDA")
ax.axhline(reference, color="grey", ls="--", label=f"a model with all {X.shape[1]} words")
ax.set(xlabel="words with a weight", ylabel="macro F1 of new packages")
ax.legend(frameon=False)
plt.show()

# %%
# A hundred words do most of the work. The model with few words can be read: these are its
# largest weights for some tags.

coef = models[16].coef_
shown = ["devel::lang:perl", "use::gameplaying", "implemented-in::python", "role::documentation"]
figure, axes = plt.subplots(1, len(shown), figsize=(12, 3.8))
for ax, label in zip(axes, shown, strict=True):
    weights = coef[data.label_names.tolist().index(label)]
    top = np.argsort(-np.abs(weights))[:8][::-1]
    ax.barh(
        [names[j] for j in top],
        weights[top],
        color=np.where(weights[top] > 0, "tab:blue", "tab:red"),
    )
    ax.set_title(label, fontsize=10)
    ax.axvline(0, color="black", lw=0.8)
plt.show()

# %%
# ``MtSDACV`` chooses the penalties by cross-validation; ``selected_features()`` lists the words
# that each discriminant score uses.
