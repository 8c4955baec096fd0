"""Kernel methods of Ji et al. (2010) on other data: macro F1 of each data set."""

import matplotlib.pyplot as plt
import numpy as np

from eigenlabel.comparison import collect
from eigenlabel.reproduce import get_table, read_csv

figure, axes = plt.subplots(1, 3, figsize=(10.5, 4.4), sharey=True, layout="constrained")
names = get_table("mlls-table7").runnable()[::-1]
for number, colour in ((7, "tab:orange"), (8, "tab:blue")):
    table = get_table(f"mlls-table{number}")
    found = collect(read_csv(f"results/papers/{table.name}.csv"), "f1_macro")
    for ax, data in zip(axes, table.data, strict=True):
        for k, name in enumerate(names):
            values = np.array(list(found.get(data, {}).get(name, {}).values()))
            if len(values):
                bar = values.std(ddof=1) if len(values) > 1 else 0.0
                place = k - 0.1 + 0.2 * (number == 7)
                ax.errorbar(values.mean(), place, xerr=bar, fmt="o", ms=4, color=colour, lw=1)
        ax.set_title(data)
        ax.set_xlabel("macro F1")
        ax.locator_params(axis="x", nbins=4)
        ax.set_yticks(range(len(names)), names, fontsize=8)
        ax.grid(axis="y", color="0.93")
        ax.spines[["top", "right"]].set_visible(False)
axes[0].plot([], [], "o", ms=4, color="tab:orange", label="30% for training (Table VII)")
axes[0].plot([], [], "o", ms=4, color="tab:blue", label="60% for training (Table VIII)")
figure.legend(frameon=False, loc="outside lower center", ncols=2)
