"""Methods that change all of an estimator, or nothing if they fail."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn.base import TransformerMixin as SklearnTransformerMixin

from eigenlabel.linalg.threads import idle_threads

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """Run a method on a twin of the estimator, and copy the attributes of the twin if it succeeds.

    If the method raises an exception or is interrupted, the estimator is exactly as before. All
    attributes are replaced in one assignment, so that a second interruption finds either the old
    estimator or the new one. The twin shares the values of the attributes: the method may set and
    delete attributes, but must not change their values in place.

    BLAS uses idle cores only while the method runs (:mod:`eigenlabel.linalg.threads`).
    """

    @wraps(method)
    def changed(self: Any, *args: Any, **kwargs: Any) -> Any:
        twin = object.__new__(type(self))
        twin.__dict__ = dict(vars(self))
        with idle_threads():
            result = method(twin, *args, **kwargs)
        self.__dict__ = twin.__dict__
        return self if result is twin else result

    return cast(Method, changed)


class TransformerMixin(SklearnTransformerMixin):  # type: ignore[misc]
    """Mixin of transformers whose ``fit_transform`` changes all of the estimator or nothing."""

    fit_transform = all_or_nothing(SklearnTransformerMixin.fit_transform)
