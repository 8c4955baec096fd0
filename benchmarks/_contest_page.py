"""Tables and the drawing of the open contest, from its rows."""

import numpy as np
from scipy.stats import rankdata

from eigenlabel.comparison import friedman, holm, wilcoxon

TITLES = {
    "f1_macro": "macro F1",
    "f1_micro": "micro F1",
    "f1_samples": "sample F1",
    "auc": "AUC",
    "map": "mAP",
    "lrap": "LRAP",
    "log_loss": "log-loss",
}
LOWER = ("log_loss",)
BLEND = "blend"


def _table(rows, size, methods, figure):
    """Return methods, sets, their means over splits and the numbers of splits.

    A mean is NaN where a method did not finish. A set counts with the splits that all methods have
    tried. A method that has no such figure on any set is left out.
    """
    mine = [row for row in rows if row["size"] == size and row["method"] in methods]
    cells = {(row["method"], row["set"], row["split"]): row[figure] for row in mine}
    present = [m for m in methods if any(key[0] == m and v for key, v in cells.items())]
    found, names, counts = [], [], []
    for name in dict.fromkeys(row["set"] for row in mine):
        splits = {key[2] for key in cells if key[1] == name}
        common = [s for s in sorted(splits) if all((m, name, s) in cells for m in present)]
        if common:
            values = [[cells[m, name, s] or "nan" for s in common] for m in present]
            found.append(np.mean(np.array(values, dtype=float), axis=1))
            names.append(name)
            counts.append(len(common))
    return present, names, np.array(found).T, counts


def _ranked(present, F, figure):
    """Return Friedman's test; methods without a figure share the last rank of a set."""
    sign = -1.0 if figure in LOWER else 1.0
    filled = sign * F
    worst = np.nanmin(filled, axis=0) - 1.0
    filled = np.where(np.isnan(filled), worst, filled)
    return friedman(dict(zip(present, filled, strict=True)))


def _compare(present, F, figure, ours):
    """Return Holm's p-value of the blend against each rival on the sets that both finished."""
    if BLEND not in present:
        return {}
    sign = -1.0 if figure in LOWER else 1.0
    blend = sign * F[present.index(BLEND)]
    rivals, p = [m for m in present if m not in ours], []
    for method in rivals:
        other = sign * F[present.index(method)]
        both = ~np.isnan(blend) & ~np.isnan(other)
        better = blend[both].mean() >= other[both].mean() if both.any() else False
        p.append(float(wilcoxon(blend[both], other[both])) if better else 1.0)
    return dict(zip(rivals, holm(p).tolist(), strict=True)) if rivals else {}


def summarise(rows, size, methods, ours):
    """Return what was found for each figure, and Markdown lines."""
    found = {}
    for figure in TITLES:
        present, names, F, counts = _table(rows, size, methods, figure)
        if len(present) < 3 or len(names) < 2:
            continue
        ranking = _ranked(present, F, figure)
        found[figure] = {
            "sets": names,
            "splits": counts,
            "methods": present,
            "means": np.nanmean(F, axis=1).round(4).tolist(),
            "unfinished": np.isnan(F).sum(axis=1).tolist(),
            "ranks": ranking.ranks.round(3).tolist(),
            "p": ranking.p_value,
            "critical_difference": round(ranking.critical_difference, 3),
            "blend_better_p": _compare(present, F, figure, ours),
        }
    return found, _lines(found, rows, size, methods)


def _seconds(rows, size, methods):
    """Return the mean seconds of each method over the rows that finished."""
    found = {}
    for method in methods:
        took = [
            float(r["seconds"])
            for r in rows
            if r["size"] == size and r["method"] == method and r["seconds"]
        ]
        if took:
            found[method] = float(np.mean(took))
    return found


def _range(counts):
    """Return numbers as a text, such as "2" or "1 to 2"."""
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _lines(found, rows, size, methods):
    if not found:
        return [f"{size}: fewer than three methods or two sets."]
    first = next(iter(found.values()))
    took = _seconds(rows, size, methods)
    lines = [
        f"{len(first['sets'])} sets ({', '.join(first['sets'])}), {_range(first['splits'])} of 5 "
        "splits; mean rank, and in brackets the mean over the sets that the method finished.",
        "",
        f"{size} training samples:",
        "",
        "| method | " + " | ".join(TITLES[f] for f in found) + " | seconds |",
        "|---" * (len(found) + 2) + "|",
    ]
    order = np.argsort(rankdata(first["ranks"], method="ordinal"))
    for method in [first["methods"][i] for i in order]:
        cells = []
        for figure in found.values():
            if method in figure["methods"]:
                k = figure["methods"].index(method)
                cells.append(f"{figure['ranks'][k]:.1f} ({figure['means'][k]:.3f})")
            else:
                cells.append("")
        seconds = f"{took[method]:.1f}" if method in took else ""
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {seconds} |")
    for name, figure in found.items():
        worst = max(figure["blend_better_p"].items(), key=lambda item: item[1], default=None)
        if worst:
            lines.append(
                f"\n{TITLES[name]}: Friedman p = {figure['p']:.1g}; the blend against each rival, "
                f"Wilcoxon with Holm: largest p = {worst[1]:.2g} ({worst[0]})."
            )
    return lines


def draw(found, path, ours):
    """Draw mean ranks, a panel for each figure; the band holds what the best one does not beat.

    The blend is orange, the other methods of ``ours`` are blue.
    """
    if not found:
        return
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "contest"  # the same file for the same rows
    from matplotlib import pyplot as plt

    columns = 2
    height = max(len(f["methods"]) for f in found.values()) * 0.24 + 0.9
    lines = -(-len(found) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(11, height * lines), layout="constrained", squeeze=False
    )
    for ax, (name, part) in zip(axes.flat, found.items(), strict=False):
        order = np.argsort(part["ranks"])[::-1]
        ranks = np.array(part["ranks"])[order]
        names = [part["methods"][i] for i in order]
        best = ranks.min()
        ax.axvspan(best, best + part["critical_difference"], color="0.92", zorder=0)
        colours = ["#c2410c" if n == BLEND else "#1d4ed8" if n in ours else "0.35" for n in names]
        ax.hlines(range(len(names)), 1, ranks, color="0.85", zorder=1)
        ax.scatter(ranks, range(len(names)), c=colours, zorder=2)
        ax.set_yticks(range(len(names)), names)
        ax.set_title(TITLES[name], loc="left")
        ax.set_xlabel("mean rank (1 is the best)")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    for ax in axes.flat[len(found) :]:
        ax.set_visible(False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
