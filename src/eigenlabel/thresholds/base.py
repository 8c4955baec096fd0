"""The base of the rules that turn scores into label sets. Rules read arrays, never X."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eigenlabel.inputs.data import check_scores
from eigenlabel.inputs.sample_weights import check_row_weights
from eigenlabel.inputs.sklearn_private import takes_weights
from eigenlabel.labels.checks import check_observed_labels
from eigenlabel.labels.named_columns import labels_beside
from eigenlabel.linalg._types import Bools, Floats


def _defined_last(cls: type, *names: str) -> set[str]:
    """Return the given methods that the first class of the resolution order defines."""
    found = ({name for name in names if name in vars(base)} for base in cls.__mro__)
    return next(filter(None, found))


class KnownLabels(NamedTuple):
    """The scores of the labels that were observed, and which labels these are.

    Attributes
    ----------
    scores : ndarray of shape (n_samples, n_known)
        The scores of these labels.
    thresholds : ndarray of shape (n_known,)
        Their thresholds.
    known : ndarray of shape (n_labels,), bool, or None
        The labels; None for all of them.
    """

    scores: Floats
    thresholds: Floats
    known: Bools | None

    def spread(self, decisions: Bools) -> Bools:
        """Return decisions about all labels; those that were never observed are not predicted."""
        if self.known is None:
            return decisions
        found = np.zeros((len(decisions), len(self.known)), dtype=bool)
        found[:, self.known] = decisions
        return found


def known_labels(scores: Floats, thresholds: Floats) -> KnownLabels:
    """Return the labels without a threshold of +inf, for rules that rank the labels of a sample."""
    cuts = np.broadcast_to(thresholds, scores.shape[1:])
    known = cuts != np.inf
    if known.all():
        return KnownLabels(scores, cuts, None)
    return KnownLabels(scores[:, known], cuts[known], known)


@dataclass(frozen=True)
class Rule:
    """Turn scores into label sets by one threshold for each label.

    A rule has two verbs. ``fit`` finds the thresholds for scores and true labels; use held-out
    scores, because thresholds that are fitted to training scores do not carry over to new samples.
    ``decide`` returns the label sets, which are ``scores > thresholds`` by default.

    To write a rule of your own, subclass this class and implement ``fit(scores, Y)`` or, to be
    fast in a grid search, ``fit_grid``; the other method follows from it. Add the parameter
    ``sample_weight`` to ``fit`` if samples are weighted. Settings are the fields of a frozen
    dataclass.

    Attributes
    ----------
    name : str
        The name of the rule, by which estimators accept the rules of the library.
    reads : str
        What the rule reads in place of scores: "scores", or "probabilities" between 0 and 1.

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
    reads: ClassVar[str] = "scores"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if _defined_last(cls, "fit", "fit_grid") == {"fit_grid"}:
            # An inherited fit would be that of another rule.
            cls.fit = Rule.fit  # type: ignore[method-assign]

    def fit(self, scores: Any, Y: Any, sample_weight: Any = None) -> Floats:
        """Find the thresholds for the scores of a 0/1 label matrix.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            The scores.
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            The true labels. A cell that is NaN is not observed; the threshold of a label is fitted
            to its observed cells.
        sample_weight : array-like of shape (n_samples,), default=None
            The sample weights. Samples of weight zero are ignored.

        Returns
        -------
        thresholds : ndarray of shape (n_labels,)
            The thresholds.
        """
        labels, observed = check_observed_labels(labels_beside(Y, scores, "scores"), "Y")
        scores = check_scores("scores", scores, labels.shape)
        weights = check_row_weights(sample_weight, len(labels))
        if weights is not None and not weights.all():
            used = weights > 0
            observed = None if observed is None else observed[used]
            scores, labels, weights = scores[used], labels[used], weights[used]
        if not len(labels):
            raise ValueError(
                "No samples, or none of positive weight: thresholds need at least one."
            )
        grid = np.ascontiguousarray(scores.T)[None]
        truth = np.ascontiguousarray(labels.T)
        cells = None if observed is None else observed.T
        found: Floats = self._find_grid_by_grid(grid, truth, weights, cells)[0]
        return found

    def fit_observed(
        self, scores: Floats, truth: Bools, weights: Floats | None, observed: Bools
    ) -> Floats:
        """Find the thresholds for several sets of scores, of which some cells are observed.

        A label that is never observed has the threshold +inf, so that it is never predicted.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of scores, with samples last.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels.
        weights : ndarray of shape (n_samples,) or None
            Positive sample weights, or None if all samples count equally.
        observed : ndarray of shape (n_labels, n_samples), bool
            The cells that are observed.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The thresholds of each set.
        """
        known = np.asarray(observed.any(axis=1))
        out = np.full(scores.shape[:2], np.inf)
        if known.any():
            # Scores of -inf lie below every cut.
            counting = np.where(observed[known], scores[:, known], -np.inf)
            out[:, known] = self.fit_grid(counting, truth[known] & observed[known], weights)
        return out

    def fit_grid(self, scores: Floats, truth: Bools, weights: Floats | None) -> Floats:
        """Find the thresholds for several sets of scores at once.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of scores, with samples last.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels.
        weights : ndarray of shape (n_samples,) or None
            Positive sample weights, or None if all samples count equally.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The thresholds of each set.
        """
        raise NotImplementedError(
            f"{type(self).__name__} finds no thresholds: implement fit(scores, Y) or fit_grid."
        )

    def find_thresholds(self, scores: Any, Y: Any, sample_weight: Any = None) -> Floats:
        """Call ``fit`` and check the thresholds if a subclass defines it.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            The scores.
        Y : ndarray of shape (n_samples, n_labels)
            The true labels, NaN where a label is not observed.
        sample_weight : array-like of shape (n_samples,), default=None
            The sample weights.

        Returns
        -------
        thresholds : ndarray of shape (n_labels,)
            The thresholds. A label that is never observed has the threshold +inf.
        """
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
        scores: Floats,
        truth: Bools,
        weights: Floats | None,
        observed: Bools | None = None,
    ) -> Floats:
        """Find the thresholds for several sets of scores by the method that a subclass defines.

        Of ``fit`` and the methods for grids, the one that the last subclass defines is called.
        ``fit`` is called for one set of scores after the other, with NaN in Y where a label is not
        observed.

        Parameters
        ----------
        scores : ndarray of shape (n_sets, n_labels, n_samples)
            The sets of scores, with samples last.
        truth : ndarray of shape (n_labels, n_samples), bool
            The true labels.
        weights : ndarray of shape (n_samples,) or None
            Positive sample weights, or None if all samples count equally.
        observed : ndarray of shape (n_labels, n_samples), bool, default=None
            The cells that are observed, or None if all of them are.

        Returns
        -------
        thresholds : ndarray of shape (n_sets, n_labels)
            The thresholds of each set.
        """
        names = ("fit", "fit_grid", "fit_observed")[: 2 if observed is None else 3]
        if _defined_last(type(self), *names) != {"fit"} or type(self).fit is Rule.fit:
            return self._find_grid_by_grid(scores, truth, weights, observed)
        Y = (truth if observed is None else np.where(observed, truth, np.nan)).T
        return np.array([self.find_thresholds(each.T, Y, weights) for each in scores])

    def _find_grid_by_grid(
        self, scores: Floats, truth: Bools, weights: Floats | None, observed: Bools | None
    ) -> Floats:
        """Return thresholds without calling the ``fit`` of a subclass, which may be the caller."""
        if observed is None:
            return self.fit_grid(scores, truth, weights)
        if "fit_observed" in _defined_last(type(self), "fit_grid", "fit_observed"):
            return self.fit_observed(scores, truth, weights, observed)
        return Rule.fit_observed(self, scores, truth, weights, observed)

    def decide(self, scores: Floats, thresholds: Floats) -> Bools:
        """Decide which labels each sample has.

        ``predict`` passes pieces of samples, so that a decision may depend on the scores of its
        own sample only.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            The scores.
        thresholds : ndarray of shape (n_labels,)
            The thresholds.

        Returns
        -------
        decisions : ndarray of shape (n_samples, n_labels), bool
            The label sets.
        """
        return np.asarray(scores > thresholds)
