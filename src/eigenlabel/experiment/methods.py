"""Methods by name: a recipe for each, and how an estimator is made from a recipe."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from eigenlabel.experiment.grid_search import search


@dataclass(frozen=True)
class Recipe:
    """How a method is made, with a short description.

    Parameters
    ----------
    make : callable
        Returns a new estimator each time it is called without arguments.
    about : str
        Description of the method in a few words.
    grid : dict, default={}
        Maps the names of parameters to the values to try. A method without a grid is not tuned,
        unless the caller passes a grid.
    folds : int, default=5
        Number of folds over which the grid is searched.
    scoring : str, default="f1_macro"
        Name of the metric in :data:`eigenlabel.metrics.METRICS` that selects the parameters.
    revision : int, default=1
        Raised when the method changes under the same name. Recorded runs of other revisions do
        not count.
    refit : callable or None, default=None
        If given, an experiment tunes the method on the training samples of the first split only,
        and ``refit(**chosen)`` returns the estimator that is fitted to every split.

    Examples
    --------
    >>> from eigenlabel import MLkNN
    >>> from eigenlabel.catalogue import Method
    >>> Method(MLkNN, "nearest neighbours").make()
    MLkNN()
    """

    make: Callable[[], Any]
    about: str
    grid: Mapping[str, Any] = field(default_factory=dict)
    folds: int = 5
    scoring: str = "f1_macro"
    revision: int = 1
    refit: Callable[..., Any] | None = None


# All methods that protocols name by a string. eigenlabel.catalogue fills this mapping; here it is
# empty, because recipes stand above this room.
METHODS: dict[str, Recipe] = {}


def known_methods() -> Mapping[str, Recipe]:
    """Return all methods that have a name, after the catalogue is imported."""
    import_module("eigenlabel.catalogue")
    return METHODS


def make(
    name: str,
    parameters: Mapping[str, Any] | None = None,
    grid: Mapping[str, Any] | None = None,
    scoring: str | None = None,
) -> Any:
    """Return the estimator of a named method, with other parameters or another grid on request.

    Parameters
    ----------
    name : str
        Name of the method in :data:`eigenlabel.catalogue.METHODS`.
    parameters : dict or None, default=None
        Parameters to set. They are removed from the method's own grid.
    grid : dict or None, default=None
        Maps the names of parameters to the values to try. None uses the method's own grid; an
        empty dict leaves the method untuned.
    scoring : str or None, default=None
        Name of the metric that selects the parameters. None uses the method's own metric.

    Returns
    -------
    estimator
        The estimator, or a grid search of it.

    Examples
    --------
    >>> from eigenlabel.catalogue import make
    >>> make("ridge", {"cv": 3}).cv
    3
    """
    known = known_methods()
    if name not in known:
        close = get_close_matches(name, known, n=3, cutoff=0.4) or known
        raise ValueError(f"No method {name!r}; perhaps: {', '.join(close)}.")
    method = known[name]
    parameters = parameters or {}
    made = _remove_from_grid(configure(method.make(), parameters), parameters)
    chosen = _without(method.grid, parameters) if grid is None else grid
    return search(made, chosen, scoring or method.scoring, method.folds) if chosen else made


def _without(grid: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values for name, values in grid.items() if name not in parameters}


def _remove_from_grid(made: Any, parameters: Mapping[str, Any]) -> Any:
    """Remove parameters that were set inside a grid search from its grid."""
    if not isinstance(made, GridSearchCV) or "param_grid" in parameters:
        return made
    inside = {name.removeprefix("estimator__"): value for name, value in parameters.items()}
    grid = _without(made.param_grid, inside)
    return made.set_params(param_grid=grid) if grid else made.estimator


def configure(
    estimator: Any,
    parameters: Mapping[str, Any] | None = None,
    grid: Mapping[str, Any] | None = None,
    scoring: str | None = None,
) -> Any:
    """Return a clone of an estimator with other parameters, tuned if a grid is passed.

    Parameters
    ----------
    estimator : estimator
        The estimator to clone. It is not changed.
    parameters : dict or None, default=None
        Parameters to set.
    grid : dict or None, default=None
        Maps the names of parameters to the values to try. Without a grid the clone is not tuned.
    scoring : str or None, default=None
        Name of the metric that selects the parameters. None uses "f1_macro".

    Returns
    -------
    estimator
        The clone, or a grid search of it.

    Examples
    --------
    >>> from eigenlabel import MLkNN
    >>> from eigenlabel.catalogue import configure
    >>> configure(MLkNN(), {"n_neighbors": 3}).n_neighbors
    3
    """
    made = clone(estimator).set_params(**(parameters or {}))
    return search(made, grid, scoring or Recipe.scoring) if grid else made
