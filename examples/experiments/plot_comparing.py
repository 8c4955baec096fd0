"""
Comparing methods properly
==========================

Is the new method better, or was the split lucky? One split of one data set is not enough to know.
An experiment of the package runs every method on the same splits, records each run, and tests the
differences in a way that respects that training parts overlap.
"""

# %%
# Four data sets are cut from the built-in one, by facets of the tags, and four methods are
# compared by their mean average precision of labels. Everything is a plain object: data,
# methods, splits and metrics make a protocol.

import tempfile

import matplotlib.pyplot as plt
import numpy as np

import eigenlabel as el
from eigenlabel.comparison import summarise
from eigenlabel.experiment import Data, Method, Protocol, Splits, run

whole = el.datasets.load_debtags(min_positives=250)
facets = {
    facet: [j for j, name in enumerate(whole.label_names) if name.startswith(facet)]
    for facet in ("role", "works-with", "use", "interface")
}
rng = np.random.default_rng(0)
data = []
for facet, labels in facets.items():
    some = np.flatnonzero(np.asarray(whole.Y[:, labels].sum(axis=1)).ravel())
    some = np.sort(rng.permutation(some)[:500])
    data.append(Data(facet, whole.subset(samples=some, labels=labels)))

protocol = Protocol(
    data=data,
    methods=[Method(name) for name in ("shared-subspace", "ridge", "linear-svm", "MLkNN")],
    splits=Splits("shuffle", 5, train_size=0.6),
    metrics=("f1_macro", "label_average_precision"),
)

# %%
# ``run`` writes each result to a folder before the next one starts. If it is stopped, the same
# call goes on where it was.

records = run(protocol, tempfile.mkdtemp())
failed = [record for record in records if record.get("error")]
print(len(records), "runs,", len(failed), "failed")

# %%
# The summary has means, wins and losses, and tests. Holm's method corrects the p-values for the
# number of comparisons; the t-test of Nadeau and Bengio (2003) takes the overlap of training
# parts into account.

metric = "label_average_precision"
summary = summarise(records, [metric], reference="shared-subspace")[metric]
for name, means in summary["means"].items():
    print(f"{name:11s}", {method: round(mean, 3) for method, (mean, *_) in means.items()})
ranking = summary["ranking"]
print(f"Friedman's test: p = {ranking.p_value:.3f}; mean ranks {np.round(ranking.ranks, 2)}")
for name, pairs in summary["against"].items():
    for rival in ("linear-svm", "MLkNN"):
        pair = pairs[rival]
        print(
            f"{name:11s} shared-subspace against {rival:10s} won {pair.wins}, lost {pair.losses}, "
            f"difference {pair.difference:+.3f}, t-test p = {pair.t_test:.3f}"
        )

# %%
# The spread over splits is part of the answer, so we draw every run.

methods = [method.name for method in protocol.methods]
figure, axes = plt.subplots(2, 2, figsize=(9, 7))
for ax, each in zip(axes.ravel(), data, strict=True):
    values = [
        [r["metrics"][metric] for r in records if (r["data"], r["method"]) == (each.name, method)]
        for method in methods
    ]
    ax.boxplot(values, widths=0.5, showfliers=False)
    for k, value in enumerate(values, start=1):
        ax.scatter(k + rng.uniform(-0.12, 0.12, len(value)), value, s=14, alpha=0.7)
    ax.set_xticks(range(1, 5), methods)
    ax.set_title(f"{each.name} ({len(facets[each.name])} labels)")
for ax in axes[:, 0]:
    ax.set_ylabel("mean average precision")
plt.show()

# %%
# Each split is the same for all methods, so compare the methods split by split, and not the boxes.
# ML-kNN loses every split. The linear SVM has the best mean rank and wins all five splits of one
# data set, but its lead is below 0.01, and no t-test confirms it. Five splits are few: Wilcoxon's
# test cannot go below p = 0.06 with them. More splits or data sets would be needed to decide.
