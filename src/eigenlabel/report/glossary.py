"""What the words and metrics on a page mean, in one sentence each."""

from collections.abc import Iterator
from typing import Any

METRIC_WORDS = {
    "hamming_loss": "The share of all pairs of a sample and a label that are predicted wrongly.",
    "accuracy": "The size of the intersection of true and predicted labels of a sample, divided by "
    "the size of their union; the mean over samples.",
    "f1_macro": "The mean of F1 over labels, so that rare labels count as much as frequent ones.",
    "f1_micro": "F1 of all pairs of a sample and a label together, so that frequent labels count "
    "most.",
    "f1_samples": "F1 of the labels of each sample; the mean over samples.",
    "recall_samples": "Share of the labels of a sample that are predicted; the mean over samples.",
    "false_discovery_samples": "Share of the predicted labels of a sample that are wrong; the mean "
    "over samples.",
    "ranking_loss": "The share of pairs of a true and a wrong label of a sample in which the wrong "
    "one is ranked higher.",
    "average_precision": "The mean share of true labels among the labels ranked at least as high "
    "as each true label of a sample.",
    "one_error": "The share of samples whose best label is wrong.",
    "coverage": "How far down the ranking of a sample its last true label is.",
    "auc_macro": "The probability that a sample with a label scores higher than one without it; "
    "the mean over labels.",
    "auc_micro": "The probability that a pair of a sample and a true label scores higher than a "
    "pair of a sample and a wrong one.",
    "label_average_precision": "The area below the precision-recall curve of each label; the mean "
    "over labels.",
    "ranking_accuracy": "The share of pairs of a true and a wrong label that are ranked correctly.",
    "log_loss": "The mean of minus the logarithm of the probability of what is true.",
    "brier_score": "The mean squared difference between probability and truth.",
    "calibration_error": "The mean difference between probabilities and observed shares.",
    "calibration_error_macro": "The mean difference between probabilities and observed shares of "
    "each label; the mean over labels.",
}
FAMILY_WORDS = {
    "precision_at_": "The share of true labels among the {k} best labels of a sample.",
    "ndcg_at_": "How well the {k} best labels of a sample are ordered: 1 if true labels are first.",
    "propensity_precision_at_": "The share of true labels among the {k} best labels of a sample, "
    "where rare labels count more.",
    "propensity_ndcg_at_": "How well the {k} best labels of a sample are ordered, where rare "
    "labels count more.",
    "label_precision_at_": "The share of true labels if each sample receives its {k} best labels; "
    "the mean over labels.",
    "label_recall_at_": "The share of the samples of a label that are found if each sample "
    "receives its {k} best labels; the mean over labels.",
    "label_f1_at_": "F1 of precision and recall over labels, if each sample receives its {k} best "
    "labels.",
    "labels_recalled_at_": "The number of labels that are found at least once, if each sample "
    "receives its {k} best labels.",
}
COLUMN_WORDS = {
    "support": "The number of samples that have the label.",
    "predicted": "The number of samples for which the label is predicted.",
    "precision": "The share of predictions of the label that are right.",
    "recall": "The share of samples with the label that are found.",
    "F1": "The harmonic mean of precision and recall: 1 is perfect, 0 is useless.",
    "threshold": "The label is predicted if its score is above this number.",
    "n_components": "The number of dimensions that the labels share.",
    "alpha": "The penalty on what labels do not share.",
    "beta": "The penalty on all weights of the model.",
}
TERMS = {  # the word, the kinds of sections that use it, and its meaning
    "label": (
        ("label_map", "per_label", "threshold_curves", "label_details"),
        "Something that a sample has or does not have. A sample may have several labels.",
    ),
    "eigenlabel": (
        ("label_map",),
        "A weighted combination of labels that the features predict together. The first one "
        "explains most, and labels with large weights in it borrow strength from each other.",
    ),
    "alpha, beta, n_components": (
        ("surface",),
        "The settings of the model: alpha is the penalty on what labels do not share, beta is "
        "the penalty on all weights, and n_components is the number of shared dimensions.",
    ),
    "F1": (
        ("per_label", "threshold_curves"),
        "The harmonic mean of precision (the share of predictions that are right) and recall (the "
        "share of samples with the label that are found). 1 is perfect, 0 is useless.",
    ),
    "threshold": (
        ("threshold_curves",),
        "A label is predicted if its score is above its threshold. A lower threshold finds more "
        "samples and makes more false alarms.",
    ),
    "probability": (
        ("reliability", "label_details"),
        "How likely a label is. Of all cases with the probability 0.8, about 80% should be true.",
    ),
    "held out": (
        (),
        "Predicted by a model that has not seen the sample in training.",
    ),
}


def meaning(word: Any) -> str:
    """Return the meaning of a metric or of a column in one sentence, or an empty text."""
    word = str(word)
    found = METRIC_WORDS.get(word) or COLUMN_WORDS.get(word)
    if found:
        return found
    family, _, k = word.rpartition("_")
    sentence = FAMILY_WORDS.get(f"{family}_")
    return sentence.format(k=k) if sentence and k.isdecimal() else ""


def guide(sections: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the words that the sections of a page use, each with its meaning."""
    kinds = {section["kind"] for section in sections}
    titles = " ".join(section.get("title", "") for section in sections)
    found = {
        word: words
        for word, (used, words) in TERMS.items()
        if kinds & set(used) or (word == "held out" and word in titles)
    }
    for name in _names(sections):
        words = METRIC_WORDS.get(name) or (meaning(name) if name not in COLUMN_WORDS else "")
        if words:
            found.setdefault(name, words)
    return list(found.items())


def _names(sections: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the texts where metrics are named: columns, first cells, scores and axes."""
    for section in sections:
        yield from section.get("columns", ())
        yield section.get("scoring", "")
        yield from (panel["metric"] for panel in section.get("panels", ()))
        if section["kind"] == "table":
            yield from (row[0] for row in section["rows"] if row and isinstance(row[0], str))
