"""Grid search by a metric of ours, and a memory for the pipelines that it fits."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import joblib
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV

from eigenlabel.metrics import METRICS
from eigenlabel.model_selection import MultilabelStratifiedKFold
from eigenlabel.model_selection.reading import scores_matrix


def search(estimator: Any, grid: Mapping[str, Any], scoring: str = "f1_macro", cv: int = 5) -> Any:
    """Tune an estimator over a grid by stratified folds and a metric of ours."""
    metric = METRICS[scoring]
    scorer = make_scorer(metric.function, greater_is_better=metric.greater_is_better)
    if metric.reads == "scores":
        scorer = ScoreMetric(scoring)
    return GridSearchCV(estimator, dict(grid), scoring=scorer, cv=MultilabelStratifiedKFold(cv))


@dataclass(frozen=True)
class ScoreMetric:
    """A scorer by a metric that reads scores.

    scikit-learn's own scorers take 1 for the probability of a label that no training sample has.
    """

    name: str

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the metric of the estimator's scores, negated if less is better."""
        metric = METRICS[self.name]
        value = float(metric.function(y, scores_matrix(estimator, X, y.shape[1])))
        return value if metric.greater_is_better else -value


class LastFits:
    """A pipeline's memory of its last fitted transformers.

    A grid over the parameters of the classifier behind a projection then fits the projection once
    for each fold. Clones share it; it is left out of what is pickled or saved.
    """

    def __init__(self, size: int = 8) -> None:
        self.size = size
        self._kept: OrderedDict[str, Any] = OrderedDict()

    def cache(self, function: Callable[..., Any], ignore: Any = ()) -> Callable[..., Any]:
        """Give the function with its last results remembered, whatever the ignored arguments."""

        def remembered(*arguments: Any, **named: Any) -> Any:
            told = {name: value for name, value in named.items() if name not in ignore}
            key = joblib.hash((arguments, told))
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
        self.__init__(**state)
