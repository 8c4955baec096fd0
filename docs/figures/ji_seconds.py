"""Processor seconds of a fit by the number of samples, labels and features (Ji et al. 2010)."""

import matplotlib.pyplot as plt

from eigenlabel.reproduce import get_table, read_csv

COLOURS = {"ML_LS": "tab:orange", "SVM": "tab:blue", "ASO_SVM": "tab:green"}
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.8), sharey=True, layout="constrained")
for ax, letter in zip(axes, "nmd", strict=True):
    table = get_table(f"mlls-time-{letter}")
    means = table.means(read_csv(f"results/papers/{table.name}.csv"))["Science"]
    for curve in table.curves():
        points = [(float(x), y) for (name, x), y in means.items() if name == curve]
        if not points:
            continue
        method, _, kind = curve.partition(", ")
        style = "-" if kind == "tuned" else ":"
        ax.plot(*zip(*points, strict=True), style, marker="o", ms=4, color=COLOURS[method])
    ax.set_xscale("log")
    ax.set_yscale("log")
    sizes = sorted({float(x) for _, x in means})
    ax.set_xticks(sizes, [f"{size:g}" for size in sizes], fontsize=8)
    ax.minorticks_off()
    ax.set_xlabel(f"{table.x} {letter}")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("processor seconds")
for method, colour in COLOURS.items():
    axes[0].plot([], [], color=colour, label=method)
axes[0].plot([], [], "-", color="grey", label="tuned")
axes[0].plot([], [], ":", color="grey", label="fixed parameters")
figure.legend(frameon=False, loc="outside lower center", ncols=5)
