"""What an experiment needs of any model: its views, its chosen parameters and its scores."""

from collections.abc import Mapping
from typing import Any

from eigenlabel.linalg._types import Floats
from eigenlabel.model_selection.classifier_scores import (
    has_scores,
    probabilities_matrix,
    scores_matrix,
)


def with_views(model: Any, views: Mapping[str, slice]) -> Any:
    """Set the views of a model, or of the model inside it, to those of the data.

    Models whose ``views`` are already set, and models without this parameter, are returned
    unchanged. If nested models have the parameter, the outermost one is set.

    Parameters
    ----------
    model : estimator
        The model, which is changed in place.
    views : dict of str to slice
        Maps the name of a view to its columns.

    Returns
    -------
    estimator
        The same model.

    Examples
    --------
    >>> from eigenlabel import KGHA
    >>> from eigenlabel.catalogue import with_views
    >>> list(with_views(KGHA(), {"left": slice(0, 2), "right": slice(2, 5)}).views)
    ['left', 'right']
    """
    parameters = model.get_params()
    unset = [k for k in parameters if k.rpartition("__")[2] == "views" and parameters[k] is None]
    if not views or not unset:
        return model
    return model.set_params(**{min(unset, key=len): dict(views)})  # the outermost one


def chosen_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters that a fitted model chose for itself.

    Searches inside pipelines and meta-estimators are found as well. A search that chooses
    parameters for each label contributes a list, one value for each label.

    Parameters
    ----------
    model : estimator
        A fitted model.

    Returns
    -------
    dict
        Maps the names of parameters to the chosen values.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.catalogue import chosen_parameters
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(random_state=0)
    >>> sorted(chosen_parameters(SharedSubspaceClassifierCV().fit(data.X, data.Y)))
    ['alpha', 'beta', 'n_components']
    """
    found: dict[str, Any] = {}
    parts = [getattr(model, name, None) for name in ("estimator_", "best_estimator_")]
    parts += [step for _, step in getattr(model, "steps", ())]
    for part in parts:
        if part is not None and not isinstance(part, str):
            found |= chosen_parameters(part)
    best = getattr(model, "best_params_", {})
    if isinstance(best, list):  # one dict for each label
        names = dict.fromkeys(name for one in best for name in one)
        best = {name: [one.get(name) for one in best] for name in names}
    return found | dict(best)


def scores_of(model: Any, X: Any, n_labels: int | None = None) -> Floats | None:
    """Return the scores of a fitted model, or None if it has none.

    Probabilities are used if the model has no ``decision_function``.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples.
    n_labels : int or None, default=None
        Number of labels. It is needed for classifiers that treat a single label as two classes
        and return two columns of probabilities.

    Returns
    -------
    ndarray of shape (n_samples, n_labels) or None
        The scores.

    Examples
    --------
    >>> from eigenlabel import MLkNN
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.experiment import scores_of
    >>> data = make_shared_subspace(40, n_labels=3, random_state=0)
    >>> scores_of(MLkNN().fit(data.X, data.Y), data.X).shape
    (40, 3)
    """
    if not has_scores(model):
        return None
    scores = scores_matrix(model, X, n_labels or 0)
    return scores.reshape(len(scores), -1)


def probabilities_of(model: Any, X: Any, n_labels: int) -> Floats | None:
    """Return the probabilities (n_samples, n_labels) of a fitted model, or None if it has none."""
    if not hasattr(model, "predict_proba"):
        return None
    return probabilities_matrix(model, X, n_labels)
