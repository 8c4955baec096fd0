"""Metadata of ``fit``: what goes to inner estimators, the splitter and the scorer.

With scikit-learn's metadata routing the requests of these objects decide. Without it,
``sample_weight`` and other parameters go to the classifier and ``groups`` goes to the splitter.
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

from eigenlabel.inputs.validation import routing_enabled
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection import MultilabelStratifiedKFold


def requesting_weights(estimator: Any) -> Any:
    """Let a default estimator request sample weights, since no user can; return it."""
    if routing_enabled() and has_fit_parameter(estimator, "sample_weight"):
        estimator.set_fit_request(sample_weight=True)
    return estimator


def make_router(owner: Any, cv: Any, **estimators: Any) -> MetadataRouter:
    """Return the router of an estimator that fits others and splits its samples."""
    router = MetadataRouter(owner=type(owner).__name__).add_self_request(owner)
    # A number of folds is a splitter that takes groups; a generator must not be used up here.
    splitter = MultilabelStratifiedKFold() if isinstance(cv, numbers.Integral) else cv
    router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
    for name, estimator in estimators.items():
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router.add(**{name: estimator}, method_mapping=mapping)
    return router


def route_fit(model: Any, params: dict[str, Any], estimator: Any) -> Bunch:
    """Return the parameters of ``estimator.fit`` and ``splitter.split``; None is left out.

    With routing, those of every other object that the model's router knows are there too.
    """
    params = {name: value for name, value in params.items() if value is not None}
    if routing_enabled():
        return process_routing(model, "fit", **params)
    groups = {name: params[name] for name in ("groups",) if name in params}
    if groups and not _takes_groups(estimator):
        del params["groups"]
    return Bunch(estimator=Bunch(fit=params), splitter=Bunch(split=groups))


def _takes_groups(estimator: Any) -> bool:
    """Return True if ``fit`` of an estimator, or something inside it, takes groups."""
    if has_fit_parameter(estimator, "groups"):
        return True
    return bool(get_routing_for_object(estimator).consumes("fit", ["groups"]))


class TunedRoutingMixin:
    """Routing of a classifier that tunes itself with ``cv`` and ``scoring``.

    ``sample_weight`` is its own; ``groups`` belongs to the splitter. The library's metrics take
    the weights of the fit, a scorer of scikit-learn or a callable takes what it requests.
    """

    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the requests of the classifier itself, its splitter and its scorer."""
        mapping = MethodMapping().add(caller="fit", callee="score")
        if hasattr(self, "partial_fit"):
            mapping.add(caller="partial_fit", callee="score")
        return make_router(self, self.cv).add(scorer=self._routed_scorer(), method_mapping=mapping)

    def _routed_scorer(self) -> Any:
        """Return the scorer whose requests count, or None for the library's own metrics."""
        if not isinstance(self.scoring, str):
            return self.scoring
        if self.scoring in METRICS:
            return None
        try:
            return get_scorer(self.scoring)
        except ValueError:  # fit reports the unknown name
            return None

    def _route(
        self, caller: str, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return what the splitter and the scorer get; None means weights if it takes them."""
        given = {name: value for name, value in params.items() if value is not None}
        if not routing_enabled():
            unknown = sorted(set(given) - {"sample_weight", "groups"})
            if unknown:
                raise TypeError(
                    f"{type(self).__name__}.{caller}() takes no {unknown[0]!r}. Other metadata "
                    "needs sklearn.set_config(enable_metadata_routing=True)."
                )
            return {name: given[name] for name in ("groups",) if name in given}, None
        routed = process_routing(self, caller, **given)
        scorer = self._routed_scorer()
        split = dict(routed.splitter.get("split", {}))  # partial_fit splits nothing
        return split, None if scorer is None else dict(routed.scorer.score)
