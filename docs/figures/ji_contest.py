"""Macro F1 of the methods of Ji et al. (2010), published and ours."""

import matplotlib.pyplot as plt

from eigenlabel.reproduce import compare, get_table, read_csv

OUR_NAMES = " (paper: its best)"  # after methods that the paper does not have
rows = []
for name in ("mlls-table3", "mlls-table4"):
    table = get_table(name)
    rows += [
        row
        for row in compare(table, read_csv(f"results/papers/{name}.csv"))
        if row.metric == "f1_macro" and row.ours is not None
    ]
sets = list(dict.fromkeys(row.dataset for row in rows))
methods = list(dict.fromkeys(row.method for row in rows))[::-1]
figure, axes = plt.subplots(2, 3, figsize=(10, 6), sharey=True, layout="constrained")
for ax in axes.flat[len(sets) :]:
    ax.set_axis_off()
for ax, name in zip(axes.flat, sets, strict=False):
    for row in rows:
        if row.dataset != name:
            continue
        k = methods.index(row.method)
        if OUR_NAMES not in row.method:
            ax.plot([row.paper, row.ours], [k, k], color="grey", lw=1)
            ax.plot(row.paper, k, "D", mfc="white", ms=5, color="tab:blue")
        ax.plot(row.ours, k, "o", ms=5, color="tab:orange")
    ax.set_title(name)
    ax.set_yticks(range(len(methods)), [m.removesuffix(OUR_NAMES) for m in methods])
    ax.grid(axis="y", color="0.93")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel("macro F1")
axes[0][0].plot([], [], "D", mfc="white", ms=5, color="tab:blue", label="published")
axes[0][0].plot([], [], "o", ms=5, color="tab:orange", label="ours")
figure.legend(frameon=False, loc="outside lower center", ncols=2)
