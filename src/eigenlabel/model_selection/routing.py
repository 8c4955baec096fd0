"""Metadata of ``fit``: the parameters of inner estimators, the splitter and the scorer.

With scikit-learn's metadata routing the requests of these objects decide. Without it,
``sample_weight`` and other parameters are passed to the classifier and ``groups`` to the splitter.
"""

import numbers
from typing import Any

from sklearn.metrics import get_scorer
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import has_fit_parameter

from eigenlabel.inputs.sklearn_private import routing_enabled
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection import MultilabelStratifiedKFold


def requesting_weights(estimator: Any) -> Any:
    """Return a default estimator that requests sample weights, because no user can set that."""
    if routing_enabled() and has_fit_parameter(estimator, "sample_weight"):
        estimator.set_fit_request(sample_weight=True)
    return estimator


def make_router(owner: Any, cv: Any, **estimators: Any) -> MetadataRouter:
    """Return the router of an estimator that fits others and splits its samples."""
    router = MetadataRouter(owner=type(owner).__name__).add_self_request(owner)
    # A number of folds is a splitter that accepts groups; a generator must not be consumed here.
    splitter = MultilabelStratifiedKFold() if isinstance(cv, numbers.Integral) else cv
    router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
    for name, estimator in estimators.items():
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router.add(**{name: estimator}, method_mapping=mapping)
    return router


def route_fit(model: Any, params: dict[str, Any], estimator: Any) -> Bunch:
    """Return the parameters of ``estimator.fit`` and ``splitter.split``, without those of None.

    With routing, the result contains those of every other object of the model's router too.
    """
    params = {name: value for name, value in params.items() if value is not None}
    if routing_enabled():
        return process_routing(model, "fit", **params)
    groups = {name: params[name] for name in ("groups",) if name in params}
    if groups and not _takes_groups(estimator):
        del params["groups"]
    return Bunch(estimator=Bunch(fit=params), splitter=Bunch(split=groups))


def _takes_groups(estimator: Any) -> bool:
    """Return True if ``fit`` of an estimator, or of one inside it, accepts groups."""
    if has_fit_parameter(estimator, "groups"):
        return True
    return bool(get_routing_for_object(estimator).consumes("fit", ["groups"]))


# A classifier that tunes itself has this as ``__metadata_request__fit``: its groups belong to the
# splitter.
NO_GROUPS = {"groups": UNUSED}


def make_tuned_router(model: Any) -> MetadataRouter:
    """Return the router of a classifier that tunes itself with ``cv`` and ``scoring``.

    ``sample_weight`` belongs to the classifier and ``groups`` to the splitter. The library's
    metrics use the weights of the fit; a scorer of scikit-learn or a callable gets what it
    requests.
    """
    mapping = MethodMapping().add(caller="fit", callee="score")
    if hasattr(model, "partial_fit"):
        mapping.add(caller="partial_fit", callee="score")
    return make_router(model, model.cv).add(
        scorer=_routed_scorer(model.scoring), method_mapping=mapping
    )


def _routed_scorer(scoring: Any) -> Any:
    """Return the scorer whose requests count, or None for the library's own metrics."""
    if not isinstance(scoring, str):
        return scoring
    if scoring in METRICS:
        return None
    try:
        return get_scorer(scoring)
    except ValueError:  # fit reports the unknown name
        return None


def route_tuned(
    model: Any, caller: str, params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the metadata of the splitter and of the scorer of a classifier that tunes itself.

    None in place of the scorer's metadata stands for the sample weights if the scorer accepts them.
    """
    given = {name: value for name, value in params.items() if value is not None}
    if not routing_enabled():
        unknown = sorted(set(given) - {"sample_weight", "groups"})
        if unknown:
            raise TypeError(
                f"{type(model).__name__}.{caller}() takes no {unknown[0]!r}. Other metadata "
                "needs sklearn.set_config(enable_metadata_routing=True)."
            )
        return {name: given[name] for name in ("groups",) if name in given}, None
    routed = process_routing(model, caller, **given)
    scorer = _routed_scorer(model.scoring)
    split = dict(routed.splitter.get("split", {}))  # partial_fit splits nothing
    return split, None if scorer is None else dict(routed.scorer.score)
