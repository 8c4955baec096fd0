"""
Why does this sample have this label?
=====================================

The program suggests the tag *works-with::audio* for a package, and the maintainer asks why. A
score of a linear model is a sum, so there is a complete answer: what each word adds, what the
model starts from, and where the cut is. Nothing is approximated.
"""

# %%
# A pipeline of tf-idf weights and the tuned model learns the tags from some 1,700 packages. The
# names of features and labels are kept, because the explanation is written in them.

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

import eigenlabel as el
from eigenlabel.inspection import ExplanationDisplay, explain, explain_label

data = el.datasets.load_debtags(min_positives=300)
train, test = data.splits["by source"]
train = train[::12]
names = {"feature_names": data.feature_names, "label_names": data.label_names}
model = make_pipeline(
    TfidfTransformer(sublinear_tf=True), el.SharedSubspaceClassifierCV(n_components=[5, 45])
).fit(data.X[train], data.Y[train])

# %%
# One package, gst123, and some tags that the model predicts for it. Each score is written as a sum,
# with the five largest contributions.

row = data.sample_names.tolist().index("gst123")
found = explain(model, data.X[[row]], sample_names=["gst123"], n_top=5, **names)
print(found)

# %%
# The bars add up: the intercept and the contributions are the score. The intercept is low because
# the tag is rare; the words of this package lift the score above the threshold, so that it gets the
# tag.

label = "works-with::audio"
found = explain(model, data.X[[row]], labels=[label], n_top=None, **names)
terms = found.terms(0, label)
figure, ax = plt.subplots(figsize=(9, 4.8))
ExplanationDisplay.from_contributions(
    list(terms), list(terms.values()), float(found.intercept.item()), max_bars=9, ax=ax
)
score, threshold = found.score.item(), found.threshold.item()
ax.axvline(threshold, color="tab:green", ls="--", label=f"threshold {threshold:.2f}")
ax.axvline(score, color="black", ls=":", label=f"score {score:.2f}")
ax.legend(frameon=False, loc="center left")
ax.set_title(f"gst123, {label}")
plt.show()

# %%
# The question the other way round: what does the model know about a label? It lists words for
# and against it, and labels that are predicted by the same words.

print(explain_label(model, label, n_top=6, **names))
