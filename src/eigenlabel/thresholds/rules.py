"""Rules that turn scores into label sets. They see arrays, never X.

A rule has two verbs: ``fit`` gives one threshold per label from scores and true labels (held-out
scores, if it is to mean anything on new data), ``decide`` gives label sets. Every rule compares
all cuts of the sorted scores (:class:`Mixed` by a climb, the others at once), never cuts tied
scores apart, and predicts a label that never occurs for nobody.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eigenlabel.inputs.validation import (
    check_number,
    check_row_weights,
    check_scores,
    takes_weights,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.labels.checks import check_observed_labels
from eigenlabel.linalg.ties import WEIGHED, nearest_first, same_scores, score_rounding
from eigenlabel.thresholds.curves import CutCurves, cut_thresholds


def top_labels(scores: np.ndarray, k: int) -> np.ndarray:
    """Give the positions (n, k) of the highest scores of each row, best first.

    Ties, up to rounding, go to the first label. Linear in the number of labels.
    """
    k = min(k, scores.shape[1])
    return nearest_first(-scores, k, score_rounding(scores))


def _defined_last(cls: type, *names: str) -> set[str]:
    """Return those of some methods that the first class in the order of resolution defines."""
    found = ({name for name in names if name in vars(base)} for base in cls.__mro__)
    return next(filter(None, found))


@dataclass(frozen=True)
class Rule:
    """Base of the rules: thresholds are per label, decisions ``scores > thresholds``.

    A rule of your own is a subclass that implements ``fit(scores, Y)`` or, to be fast in a grid
    search, ``fit_grid``; the other one follows from it. It takes ``sample_weight`` if samples are
    weighted. Settings are fields of a frozen dataclass.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.thresholds import Rule
    >>> @dataclass(frozen=True)
    ... class Quantile(Rule):
    ...     level: float = 0.8
    ...
    ...     def fit(self, scores, Y):
    ...         return np.quantile(scores, self.level, axis=0)
    >>> data = make_shared_subspace(random_state=0)
    >>> model = SharedSubspaceClassifierCV(threshold=Quantile(0.9)).fit(data.X, data.Y)
    >>> bool(np.allclose(model.thresholds_, np.quantile(model.oof_scores_, 0.9, axis=0)))
    True
    """

    name: ClassVar[str] = "custom"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if _defined_last(cls, "fit", "fit_grid") == {"fit_grid"}:
            cls.fit = Rule.fit  # type: ignore[method-assign]  # a parent's would be another rule's

    def fit(self, scores: Any, Y: Any, sample_weight: np.ndarray | None = None) -> np.ndarray:
        """Return the thresholds (m,) for scores (n, m) of a 0/1 label matrix (n, m).

        Cells of Y that are NaN were not observed: a label's threshold is fitted to the others.
        Samples of weight zero count as absent.
        """
        Y, observed = check_observed_labels(Y, "Y")
        scores = check_scores("scores", scores, Y.shape)
        sample_weight = check_row_weights(sample_weight, len(Y))
        if sample_weight is not None and not sample_weight.all():
            used = sample_weight > 0
            observed = None if observed is None else observed[used]
            scores, Y, sample_weight = scores[used], Y[used], sample_weight[used]
        if not len(Y):
            raise ValueError(
                "No samples, or none of positive weight: thresholds need at least one."
            )
        grid = np.ascontiguousarray(scores.T)[None]
        truth = np.ascontiguousarray(Y.T)
        cells = None if observed is None else observed.T
        return self._find_grid_by_grid(grid, truth, sample_weight, cells)[0]

    def fit_observed(
        self,
        scores: np.ndarray,
        truth: np.ndarray,
        weights: np.ndarray | None,
        observed: np.ndarray,
    ) -> np.ndarray:
        """Give thresholds (g, m) for g sets of scores (g, m, n) of which ``observed`` (m, n) count.

        A label that is never observed gets +inf and is predicted for nobody.
        """
        known = observed.any(axis=1)
        out = np.full(scores.shape[:2], np.inf)
        if known.any():
            # Scores of -inf are below every cut.
            counting = np.where(observed[known], scores[:, known], -np.inf)
            out[:, known] = self.fit_grid(counting, truth[known] & observed[known], weights)
        return out

    def fit_grid(
        self, scores: np.ndarray, truth: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Return thresholds (g, m) for g sets of scores (g, m, n) at once."""
        raise NotImplementedError(
            f"{type(self).__name__} finds no thresholds: implement fit(scores, Y) or fit_grid."
        )

    def find_thresholds(
        self, scores: np.ndarray, Y: np.ndarray, sample_weight: np.ndarray | None = None
    ) -> np.ndarray:
        """Return what ``fit`` returns, and check it if a subclass has its own ``fit``."""
        if type(self).fit is Rule.fit:
            return self.fit(scores, Y, sample_weight)
        if sample_weight is not None and not takes_weights(self.fit):
            raise ValueError(
                f"{type(self).__name__}.fit takes no sample_weight: add it, or fit without weights."
            )
        Y = Y.astype(int) if Y.dtype == bool else Y
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        found = np.array(self.fit(scores, Y, **weights), dtype=float)
        if found.shape != (Y.shape[1],):
            raise ValueError(
                f"{type(self).__name__}.fit must return one threshold for each label, shape "
                f"({Y.shape[1]},); it returned shape {found.shape}."
            )
        found[np.isnan(Y).all(axis=0)] = np.inf  # a label that is never observed
        return found

    def find_grid(
        self,
        scores: np.ndarray,
        truth: np.ndarray,
        weights: np.ndarray | None,
        observed: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return thresholds (g, m) for g sets of scores (g, m, n), of which ``observed`` count.

        Of ``fit`` and the methods for grids, the one that the last subclass defines is called.
        ``fit`` is called for one set of scores after the other, with NaN in Y where a label was not
        observed.
        """
        names = ("fit", "fit_grid", "fit_observed")[: 2 if observed is None else 3]
        if _defined_last(type(self), *names) != {"fit"} or type(self).fit is Rule.fit:
            return self._find_grid_by_grid(scores, truth, weights, observed)
        Y = (truth if observed is None else np.where(observed, truth, np.nan)).T
        return np.array([self.find_thresholds(each.T, Y, weights) for each in scores])

    def _find_grid_by_grid(
        self,
        scores: np.ndarray,
        truth: np.ndarray,
        weights: np.ndarray | None,
        observed: np.ndarray | None,
    ) -> np.ndarray:
        """Return thresholds (g, m) without the ``fit`` of a subclass, which may be the caller."""
        if observed is None:
            return self.fit_grid(scores, truth, weights)
        if "fit_observed" in _defined_last(type(self), "fit_grid", "fit_observed"):
            return self.fit_observed(scores, truth, weights, observed)
        return Rule.fit_observed(self, scores, truth, weights, observed)

    def decide(self, scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Give boolean label sets (n, m)."""
        return scores > thresholds


@dataclass(frozen=True)
class Zero(Rule):
    """Threshold zero, the least-squares decision for +-1 targets."""

    name: ClassVar[str] = "zero"

    def fit_grid(
        self,
        scores: np.ndarray,
        truth: np.ndarray,  # noqa: ARG002
        weights: np.ndarray | None,  # noqa: ARG002
    ) -> np.ndarray:
        """Give zeros."""
        return np.zeros(scores.shape[:2])


@dataclass(frozen=True)
class PerLabelF1(Rule):
    """The F1 optimum of each label (papers 000 and 001).

    Of equal optima the lowest threshold wins, as in the authors' code. With ``fbr`` in (0, 1] a
    label whose best F1 stays below it gets its highest score as threshold (SCutFBR.1 of Fan and
    Lin): a cut that few positives suggest is not trusted.
    """

    fbr: float = 0.0
    name: ClassVar[str] = "f1"

    def fit_grid(
        self, scores: np.ndarray, truth: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Give the best cut per label; g m n log n."""
        check_number("fbr", self.fbr, 0, 1)
        curves = CutCurves(scores, truth, weights)
        f1 = curves.f1()
        best = curves.best(f1)
        rare = (curves.at(f1, best) < self.fbr) & (curves.positives > 0)
        return np.where(rare, curves.sorted[..., 0], curves.thresholds(best))


@dataclass(frozen=True)
class Global(Rule):
    """One threshold for all labels, the optimum of micro F1 (paper 002, Algorithm 1)."""

    name: ClassVar[str] = "global"

    def fit_grid(
        self, scores: np.ndarray, truth: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Give the best common cut; g m n log(m n)."""
        g, m, _ = scores.shape
        repeated = None if weights is None else np.tile(weights, m)
        curves = CutCurves(scores.reshape(g, 1, -1), truth.reshape(1, -1), repeated)
        return np.repeat(curves.thresholds(curves.best(curves.f1())), m, axis=1)


@dataclass(frozen=True)
class Proportional(Rule):
    """Each label is predicted as often as it occurs (PCut), ties going to the nearer side."""

    name: ClassVar[str] = "proportional"

    def fit_grid(
        self, scores: np.ndarray, truth: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Give the cut whose predicted weight is nearest to that of the positives."""
        g, m, n = scores.shape
        order = np.argsort(scores, axis=-1)[..., ::-1]
        ordered = np.take_along_axis(scores, order, axis=-1)
        w = np.ones(n) if weights is None else weights
        predicted = np.concatenate([np.zeros((g, m, 1)), np.cumsum(w[order], axis=-1)], axis=-1)
        off = np.abs(predicted - (truth @ w)[:, None])
        off[..., 1:-1][same_scores(ordered)] = np.inf  # would cut ties apart
        least = off.min(axis=-1, keepdims=True) + WEIGHED * w.sum()
        return cut_thresholds(ordered, np.argmax(off <= least, axis=-1))


@dataclass(frozen=True)
class Top(Rule):
    """The ``n_labels`` highest scores of each sample (paper 003); ties go to the first label.

    It needs no thresholds; ``fit`` gives NaN, and warns if there are no more labels than that.
    """

    n_labels: int = 5
    name: ClassVar[str] = "top"

    def fit_grid(
        self,
        scores: np.ndarray,
        truth: np.ndarray,  # noqa: ARG002
        weights: np.ndarray | None,  # noqa: ARG002
    ) -> np.ndarray:
        """Give NaN."""
        check_number("n_labels", self.n_labels, 0, integer=True)
        if self.n_labels >= scores.shape[1]:
            warn(
                f"Top({self.n_labels}) gives all {scores.shape[1]} labels to every sample: use "
                "fewer, as Top(1), or another rule, such as 'mixed', as threshold or strategy.",
                UserWarning,
            )
        return np.full(scores.shape[:2], np.nan)

    def decide(self, scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Mark the highest scores of each row."""
        top = top_labels(scores, self.n_labels)
        decisions = np.zeros(scores.shape, dtype=bool)
        np.put_along_axis(decisions, top, True, axis=1)
        return decisions


@dataclass(frozen=True)
class Mixed(Rule):
    """Macro and micro F1 at once: climb ``weight`` macro F1 + (1 - ``weight``) micro F1.

    With micro F1 = F and its denominator Q, both from the last sweep, each label takes the cut
    that maximises ``weight F1_j / m + (1 - weight) (2 TP_j - F P_j) / Q`` (Dinkelbach's device:
    for fixed F the micro part is a sum over labels). A sweep that does not raise the objective is
    not taken, so it never falls. Cuts of rare labels, which their own F1 leaves to chance, are
    steadied by what they cost the whole.
    """

    weight: float = 0.7
    max_sweeps: int = 50
    name: ClassVar[str] = "mixed"

    def fit_grid(
        self, scores: np.ndarray, truth: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Give the cuts where the climb ends; the sorting costs more than the sweeps."""
        check_number("weight", self.weight, 0, 1)
        curves = CutCurves(scores, truth, weights)
        f1 = curves.f1()
        best = curves.best(f1)
        objective, F, Q = self._objective(curves, f1, best)
        m = len(curves.positives)
        active = np.arange(len(best))
        for _ in range(self.max_sweeps):
            a = active
            micro = (2 * curves.hits[a] - F[a, None] * curves.predicted[a]) / Q[a, None]
            moved = curves.best(self.weight * f1[a] / m + (1 - self.weight) * micro)
            new, newF, newQ = self._objective(curves, f1, moved, a)
            up = new > objective[a] * (1 + WEIGHED)
            active = a[up]
            if not active.size:
                break
            best[active], objective[active] = moved[up], new[up]
            F[active], Q[active] = newF[up], newQ[up]
        return curves.thresholds(best)

    def _objective(
        self,
        curves: CutCurves,
        f1: np.ndarray,
        candidate: np.ndarray,
        rows: np.ndarray | slice = slice(None),
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give the objective, micro F1 and its denominator for chosen cuts, each (g,)."""
        hits = curves.at(curves.hits[rows], candidate).sum(axis=1)
        total = curves.at(curves.predicted[rows], candidate).sum(axis=1) + curves.positives.sum()
        Q = np.where(total == 0, 1.0, total)
        micro = 2 * hits / Q
        macro = curves.at(f1[rows], candidate).mean(axis=1)
        return self.weight * macro + (1 - self.weight) * micro, micro, Q


RULES: dict[str, Rule] = {
    "zero": Zero(),
    "f1": PerLabelF1(),
    "fbr": PerLabelF1(fbr=0.1),
    "global": Global(),
    "top": Top(),
    "proportional": Proportional(),
    "mixed": Mixed(),
}


def get_rule(rule: str | Rule) -> Rule:
    """Give the rule of a name, or the rule itself."""
    if isinstance(rule, Rule):
        return rule
    if rule not in RULES:
        raise ValueError(
            f"Unknown threshold rule {rule!r}: use one of {', '.join(map(repr, RULES))}, or a rule "
            "of eigenlabel.thresholds with its own settings, such as Mixed(weight=0.5)."
        )
    return RULES[rule]
