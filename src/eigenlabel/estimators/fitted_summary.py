"""What a notebook shows of a fitted classifier: what was chosen, and how good it is held out."""

from collections import Counter
from html import escape
from typing import Any

import numpy as np

SHOWN = 8  # labels, members or values that are listed
STYLE = (
    "font-family:system-ui,sans-serif;font-size:0.9em;margin:0.4em 0 0.4em 0.2em;"
    "border-left:3px solid rgb(0 114 178 / 0.6);padding-left:0.7em"
)
CELL = "text-align:left;vertical-align:top;padding:0.1em 1em 0.1em 0;border:none;background:none"

Rows = list[tuple[str, str]]


def summary_html(model: Any) -> str:
    """Return an escaped table about a fitted classifier, or nothing if it is not fitted.

    Only attributes that are stored are read, so that showing a model computes nothing.
    """
    rows = summary_rows(model)
    if not rows:
        return ""
    cells = "".join(
        f'<tr style="background:none"><th scope="row" style="{CELL}">{escape(name)}</th>'
        f'<td style="{CELL}">{escape(text)}</td></tr>'
        for name, text in rows
    )
    return (
        f'<div class="eigenlabel-summary" style="{STYLE}"><table style="border:none">'
        f"<tbody>{cells}</tbody></table></div>"
    )


def summary_rows(model: Any) -> Rows:
    """Return names and texts: what the model was fitted to, what it chose, its held-out figures."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return []
    rows = [("Fitted to", _size(model, classes))]
    rows += [("Chosen", text) for text in _chosen(model)]
    rows += [("Held out", text) for text in _held_out(model)]
    rows += [("Decides by", text) for text in _decision(model)]
    rows += [("Probabilities", text) for text in _probabilities(model)]
    return rows


def _size(model: Any, classes: Any) -> str:
    codec = getattr(model, "_codec", None)
    what = "labels" if codec is None or codec.multilabel else "classes"
    names = [str(name) for name in list(classes)[:SHOWN]]
    parts = [f"{len(classes)} {what}"]
    numbered = names == [str(k) for k in range(len(names))]
    if not numbered:
        more = ", …" if len(classes) > SHOWN else ""
        parts[0] += f" ({', '.join(names)}{more})"
    held_out = getattr(model, "oof_scores_", None)
    if held_out is not None:
        parts.append(f"{len(held_out)} samples")
    width = getattr(model, "n_features_in_", None)
    if width is not None:
        parts.append(f"{width} features")
    return ", ".join(parts)


def _chosen(model: Any) -> list[str]:
    """Return the parameters that a search chose, and the weights of the members of a blend."""
    found = []
    best = getattr(model, "best_params_", None)
    if isinstance(best, dict):
        found.append(", ".join(f"{name} = {_value(value)}" for name, value in best.items()))
    elif isinstance(best, list):  # one dict for each label
        counts = Counter(", ".join(f"{k} = {_value(v)}" for k, v in one.items()) for one in best)
        found += [f"{text} for {number} labels" for text, number in counts.most_common(3)]
    members = getattr(model, "members_", None)
    if members:
        weights = np.atleast_2d(model.weights_).mean(axis=0)
        order = np.argsort(-weights, kind="stable")
        names = list(members)
        found.append("weights " + ", ".join(f"{names[k]} {weights[k]:.2f}" for k in order))
    return found


def _held_out(model: Any) -> list[str]:
    """Return the figures that were computed on held-out samples."""
    board = getattr(model, "leaderboard_", None)
    if board:
        row = board[0]
        names = ("f1_macro", "f1_micro", "auc", "lrap", "log_loss")
        return [", ".join(f"{name} {row[name]:.3f}" for name in names)]
    path = getattr(model, "path_", None)
    scoring = getattr(model, "scoring", None)
    name = scoring if isinstance(scoring, str) else "score"
    if path is not None:
        chosen = getattr(model, "best_params_", {}).get("n_components")
        at = np.flatnonzero(np.asarray(path.dimensions) == chosen)
        scores = np.asarray(path.scores)[at[0]] if len(at) else np.zeros(0)
        return [f"{name} {np.mean(scores):.4f}"] if scores.size else []
    by_label = getattr(model, "best_scores_", None)
    best = getattr(model, "best_score_", None) if by_label is None else np.nanmean(by_label)
    if best is None or not np.isfinite(best):
        return []
    number = len(getattr(model, "cv_results_", {}).get("params", ()))
    among = f", the best of {number} grid points" if number else ""
    mean = " (mean over labels)" if by_label is not None else ""
    return [f"{name} {float(best):.4f}{mean}{among}"]


def _decision(model: Any) -> list[str]:
    """Return the rule of label sets."""
    thresholds = getattr(model, "thresholds_", None)
    rule = getattr(model, "threshold", getattr(model, "strategy", None))
    if thresholds is None or rule is None:
        return []
    name = rule if isinstance(rule, str) else repr(rule)
    finite = np.asarray(thresholds, dtype=float)
    finite = finite[np.isfinite(finite)]
    span = f", thresholds {finite.min():.3g} to {finite.max():.3g}" if finite.size else ""
    return [f"rule {name}{span}"]


def _probabilities(model: Any) -> list[str]:
    """Return how many labels have maps of which kind from scores to probabilities."""
    calibration = getattr(model, "calibration_", None)
    if calibration is None:
        return []
    curves = int(np.count_nonzero(calibration.isotonic))
    return [f"{len(calibration.isotonic) - curves} sigmoid maps, {curves} isotonic"]


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
