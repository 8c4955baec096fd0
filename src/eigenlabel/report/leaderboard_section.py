"""The section on a blend: its members, their weights and what each of them adds."""

from typing import Any

import numpy as np

from eigenlabel.report.sections import Section, table

FIGURES = {
    "f1_macro": "macro F1",
    "f1_micro": "micro F1",
    "auc": "AUC",
    "map": "mAP",
    "lrap": "LRAP",
    "log_loss": "log-loss",
}
NOTE = (
    "All figures are held out: no model has seen the samples that it is judged by. AUC and mAP "
    "(mean average precision) rank the samples of each label, LRAP (label-ranking average "
    "precision) the labels of each sample. The blend adds up the log-odds of its members, "
    "multiplied by their weights. A member adds what the log-loss of the blend would rise without "
    "it."
)


def leaderboard(model: Any, *, title: str = "The blend and its members") -> Section:
    """Return the members of a blend: weights, held-out figures, and what each of them adds.

    Parameters
    ----------
    model : MultilabelBlend
        The fitted blend.
    title : str, default="The blend and its members"
        The heading of the section.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> import eigenlabel as el
    >>> data = el.datasets.make_shared_subspace(n_samples=120, n_labels=4, random_state=0)
    >>> model = el.MultilabelBlend(["linear", "neighbours"]).fit(data.X, data.Y)
    >>> [row[0] for row in el.report.leaderboard(model)["rows"]][0]
    'blend'
    """
    rows = []
    for row in model.leaderboard_:
        fitted = not np.isnan(row["log_loss"])
        figures = [row[name] if fitted else None for name in FIGURES]
        weight = row["weight"] if fitted else None
        adds = None if np.isnan(row["adds"]) else row["adds"]
        rows.append([row["name"], weight, adds, *figures, row["seconds"], row["status"]])
    columns = ["model", "weight", "adds", *FIGURES.values(), "seconds", "state"]
    best = [None, None, None, *["max"] * 5, "min", None, None]
    return table(title, columns, rows, note=NOTE, best=best)
