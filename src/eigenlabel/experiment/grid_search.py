"""Grid search by a metric of this package, and a memory for the pipelines that it fits."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import joblib
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV

from eigenlabel.metrics import METRICS
from eigenlabel.model_selection import MultilabelStratifiedKFold
from eigenlabel.model_selection.classifier_scores import probabilities_matrix, scores_matrix


def search(estimator: Any, grid: Mapping[str, Any], scoring: str = "f1_macro", cv: int = 5) -> Any:
    """Return a grid search of an estimator over stratified folds.

    Parameters
    ----------
    estimator : estimator
        The estimator to tune.
    grid : dict
        Maps the names of parameters to the values to try.
    scoring : str, default="f1_macro"
        Name of the metric in :data:`eigenlabel.metrics.METRICS` that selects the parameters.
    cv : int, default=5
        Number of folds, which are stratified by labels.

    Returns
    -------
    GridSearchCV
        The search, not yet fitted.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifier
    >>> from eigenlabel.catalogue import search
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(random_state=0)
    >>> tuned = search(SharedSubspaceClassifier(), {"beta": [0.1, 1.0]}, cv=3)
    >>> sorted(tuned.fit(data.X, data.Y).best_params_)
    ['beta']
    """
    metric = METRICS[scoring]
    scorer = make_scorer(metric.function, greater_is_better=metric.greater_is_better)
    if metric.reads != "labels":
        scorer = ScoreMetric(scoring)
    return GridSearchCV(estimator, dict(grid), scoring=scorer, cv=MultilabelStratifiedKFold(cv))


@dataclass(frozen=True)
class ScoreMetric:
    """A scorer by a metric that reads scores or probabilities.

    scikit-learn's own scorers use the probability 1 for a label that no training sample has.

    Parameters
    ----------
    name : str
        Name of the metric in :data:`eigenlabel.metrics.METRICS`.
    """

    name: str

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the metric of the predictions, negated if smaller values are better."""
        metric = METRICS[self.name]
        read = probabilities_matrix if metric.reads == "probabilities" else scores_matrix
        value = float(metric.function(y, read(estimator, X, y.shape[1])))
        return value if metric.greater_is_better else -value


class LastFits:
    """A pipeline's memory of the transformers that it fitted last.

    With this memory, a grid over the parameters of the classifier behind a projection fits the
    projection once for each fold. Clones share the memory. Pickles and model files do not contain
    what it remembers.

    Parameters
    ----------
    size : int, default=8
        Number of results that are remembered. The result that was used longest ago is forgotten
        first.

    Examples
    --------
    >>> from eigenlabel.catalogue import LastFits
    >>> calls = []
    >>> remembered = LastFits(size=1).cache(calls.append)
    >>> remembered(1), remembered(1), remembered(2)
    (None, None, None)
    >>> calls
    [1, 2]
    """

    def __init__(self, size: int = 8) -> None:
        self.size = size
        self._kept: OrderedDict[str, Any] = OrderedDict()

    def cache(self, function: Callable[..., Any], ignore: Any = ()) -> Callable[..., Any]:
        """Return the function with a memory of its last results.

        Parameters
        ----------
        function : callable
            The function whose results are remembered.
        ignore : sequence of str, default=()
            Names of keyword arguments that do not distinguish two calls.

        Returns
        -------
        callable
            The function with its memory.
        """

        def remembered(*arguments: Any, **named: Any) -> Any:
            relevant = {name: value for name, value in named.items() if name not in ignore}
            key = joblib.hash((arguments, relevant))
            if key not in self._kept:
                self._kept[key] = function(*arguments, **named)
            self._kept.move_to_end(key)
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)
            return self._kept[key]

        return remembered

    def __deepcopy__(self, memo: Any) -> "LastFits":
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"size": self.size}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.size = state["size"]
        self._kept = OrderedDict()
