"""Micro-averaged AUC of the methods of Han et al. (2010), published and ours."""

import matplotlib.pyplot as plt

from eigenlabel.reproduce import compare, get_table, read_csv

OUR_NAMES = " (paper: its best)"  # after methods that the paper does not have
LOOKS = {"auc_micro": ("o", "tab:orange"), "auc_micro_of_sets": ("s", "tab:green")}
table = get_table("mtsda-table2")
rows = [
    row
    for row in compare(table, read_csv("results/papers/mtsda-table2.csv"))
    if row.ours is not None
]
sets = list(dict.fromkeys(row.dataset for row in rows))
methods = list(dict.fromkeys(row.method for row in rows))[::-1]
figure, axes = plt.subplots(2, 3, figsize=(10, 5.6), sharey=True, layout="constrained")
for ax in axes.flat[len(sets) :]:
    ax.set_axis_off()
for ax, name in zip(axes.flat, sets, strict=False):
    for row in rows:
        if row.dataset == name:
            k = methods.index(row.method)
            marker, colour = LOOKS[row.metric]
            if OUR_NAMES not in row.method:
                ax.plot(row.paper, k, "D", mfc="white", ms=5, color="tab:blue")
            ax.plot(row.ours, k, marker, ms=5, color=colour)
    ax.set_title(name)
    ax.set_yticks(range(len(methods)), [m.removesuffix(OUR_NAMES) for m in methods])
    ax.grid(axis="y", color="0.93")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel("AUC")
first = axes[0][0]
first.plot([], [], "D", mfc="white", ms=5, color="tab:blue", label="published")
first.plot([], [], "o", ms=5, color="tab:orange", label="ours, of scores")
first.plot([], [], "s", ms=5, color="tab:green", label="ours, of decided label sets")
figure.legend(frameon=False, loc="outside lower center", ncols=3)
