"""The parameters of the classifiers that a user passes to a blend, by their names."""

from typing import Any, Self

from sklearn.base import BaseEstimator


class NamedMembers(BaseEstimator):  # type: ignore[misc]
    """An estimator whose parameter ``members`` holds pairs (name, classifier) beside words."""

    members: Any

    def _pairs(self) -> list[tuple[str, Any]]:
        """Return the classifiers of the user by name; what is wrong with them is for fit to say."""
        if not isinstance(self.members, (list, tuple)):
            return []
        pairs = [one for one in self.members if isinstance(one, tuple) and len(one) == 2]
        return [(name, one) for name, one in pairs if hasattr(one, "get_params")]

    def _check_names(self) -> None:
        """Raise ValueError if a classifier has the name of a parameter, which would hide it."""
        hidden = next((n for n, _ in self._pairs() if n in self._get_param_names()), None)
        if hidden is not None:
            raise ValueError(f"{hidden!r} is a parameter of the blend: call the member otherwise.")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and those of the classifiers in ``members``.

        Parameters
        ----------
        deep : bool, default=True
            Whether the classifiers and their parameters are included.

        Returns
        -------
        params : dict of str to object
            The parameters.
        """
        found: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, one in self._pairs():
                found[name] = one
                found.update({f"{name}__{key}": v for key, v in one.get_params().items()})
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the blend, replace a classifier, or set its parameters.

        Parameters
        ----------
        **params : dict
            The parameters; ``name=classifier`` replaces a member, ``name__key`` sets one of its
            parameters.

        Returns
        -------
        self : MultilabelBlend
            The blend.
        """
        if "members" in params:
            self.members = params.pop("members")
        pairs = dict(self._pairs())
        new = {name: params.pop(name) for name in list(params) if name in pairs}
        if new:
            self.members = [
                (one[0], new.get(one[0], one[1])) if isinstance(one, tuple) else one
                for one in self.members
            ]
            pairs.update(new)
        for key in [key for key in params if key.partition("__")[0] in pairs]:
            name, _, inner = key.partition("__")
            pairs[name].set_params(**{inner: params.pop(key)})
        super().set_params(**params)
        return self
