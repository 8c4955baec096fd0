"""What ``eigenlabel tune --risk`` says about its bound: in a line, and on the page."""

from typing import Any, NamedTuple

import numpy as np

from eigenlabel import ThresholdedClassifier, report
from eigenlabel.labels.missing import to_dense
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.thresholds import RiskControl
from eigenlabel.thresholds.risk import CONFIDENCE
from eigenlabel.thresholds.rules import heldout_values, rule_of


class Bound(NamedTuple):
    """A bound, and what its cut reaches on the samples that it was fitted to.

    Attributes
    ----------
    rule : RiskControl
        The bound.
    cut : float
        The cut of the probabilities.
    n : int
        The number of samples.
    exact : bool
        Whether the samples were kept aside.
    reached : float
        The mean of the bounded figure; NaN if it is undefined.
    size : float
        The mean number of predicted labels.
    """

    rule: RiskControl
    cut: float
    n: int
    exact: bool
    reached: float
    size: float

    @property
    def kind(self) -> str:
        """The bounded figure: recall, false_discovery or precision."""
        given = ("recall", "false_discovery", "precision")
        return next(kind for kind in given if getattr(self.rule, kind) is not None)

    @property
    def samples(self) -> str:
        """The samples of the rule, in words."""
        return f"{self.n} samples kept aside" if self.exact else f"{self.n} held-out samples"


def tuned_part(model: Any) -> Any:
    """Return the tuned classifier inside of a pipeline, which may have samples kept aside."""
    pipeline = model.estimator_ if isinstance(model, ThresholdedClassifier) else model
    return pipeline[-1]


def decider(model: Any) -> Any:
    """Return the part of a model whose rule and thresholds decide on label sets."""
    return model if isinstance(model, ThresholdedClassifier) else model[-1]


def measure_bound(model: Any, X: Any, Y: Any) -> Bound | None:
    """Return what the rule of a model reaches, or None if it bounds no risk.

    Parameters
    ----------
    model : Pipeline or ThresholdedClassifier
        The fitted model.
    X : array or sparse matrix
        All samples.
    Y : ndarray of shape (n_samples, n_labels)
        Their labels, NaN where a label is not observed.
    """
    part = decider(model)
    rule = rule_of(part)
    if not isinstance(rule, RiskControl):
        return None
    aside = getattr(part, "aside_", None)
    if aside is not None:
        rows, decided = aside, to_dense(model.predict(X[aside]))
    else:
        rows = np.flatnonzero(~np.isnan(part.oof_scores_).any(axis=1))
        scores = part.oof_scores_[rows]
        P = heldout_values(rule, scores, Y[rows], None, part.calibration)
        decided = rule.decide(P, part.thresholds_)
    figures = _figures(rule, np.asarray(Y[rows], dtype=float), np.asarray(decided, dtype=bool))
    reached = float(np.mean(figures)) if figures.size else float("nan")
    size = float(np.asarray(decided).sum(axis=1).mean())
    cut = float(np.min(part.thresholds_))
    return Bound(rule, cut, len(rows), aside is not None, reached, size)


def _figures(rule: RiskControl, Y: Floats, decided: Bools) -> Floats:
    """Return the bounded figure of each sample with observed labels that it is defined for."""
    observed = ~np.isnan(Y)
    true, found = observed & (Y == 1), observed & decided
    some = observed.any(axis=1)
    true, found = true[some], found[some]
    hits, size, number = (true & found).sum(axis=1), true.sum(axis=1), found.sum(axis=1)
    if rule.recall is not None:
        return np.where(size > 0, hits / np.maximum(size, 1), 1.0)
    share = hits / np.maximum(number, 1)
    if rule.precision is not None:
        return np.asarray(share[number > 0])
    return np.where(number > 0, 1 - share, 0.0)


def describe(bound: Bound) -> str:
    """Return a bound in one line."""
    word = bound.kind.replace("_", " ")
    reached = "" if np.isnan(bound.reached) else f"{word} {bound.reached:.3f} on "
    if np.isinf(bound.cut):
        decided = f"{'all labels are' if bound.cut < 0 else 'no label is'} predicted"
    else:
        decided = f"labels with a probability above {bound.cut:.3g} are predicted"
    return (
        f"bound {bound.kind}={getattr(bound.rule, bound.kind):g}: {decided}; {reached}"
        f"{bound.samples}, {bound.size:.2f} labels a sample"
    )


def bound_section(bound: Bound) -> dict[str, Any]:
    """Return the statement that a bound makes, and what its cut reaches."""
    return report.text("Bound on new samples", [_statement(bound), _validity(bound)])


def _statement(bound: Bound) -> str:
    value = getattr(bound.rule, bound.kind)
    share = f"{100 * value:g}%"
    what = {
        "recall": f"The predicted labels of a new sample contain at least {share} of its true "
        "labels in expectation",
        "false_discovery": f"At most {share} of the predicted labels of a new sample are wrong in "
        "expectation",
        "precision": f"At least {share} of the predicted labels of a new sample with predicted "
        "labels are right in expectation",
    }[bound.kind]
    confidence = bound.rule.confidence
    if confidence is None and bound.kind != "recall":
        confidence = CONFIDENCE
    sure = "" if confidence is None else f", with a confidence of {100 * confidence:g}%"
    return f"{what}{sure}. In numbers: {describe(bound)}."


def _validity(bound: Bound) -> str:
    if bound.exact:
        return (
            "The statement is exact for new samples that are drawn like the given ones: neither "
            "the model nor its preparation and calibration have seen the samples kept aside."
        )
    return (
        "The statement is approximate: the cut was fitted to cross-validated probabilities. Keep "
        "samples aside with --risk-split 0.3 for an exact one."
    )
