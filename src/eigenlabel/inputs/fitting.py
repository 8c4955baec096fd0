"""Methods that change all of an estimator or nothing, and methods that not every model has."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from types import MethodType
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from sklearn import config_context
from sklearn.base import TransformerMixin as SklearnTransformerMixin

from eigenlabel.linalg.threads import idle_threads

Method = TypeVar("Method", bound=Callable[..., Any])
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def all_or_nothing(method: Method) -> Method:
    """Run a method on a twin of the estimator, and copy the attributes of the twin if it succeeds.

    If the method raises an exception or is interrupted, the estimator is exactly as before. All
    attributes are replaced in one assignment, so that a second interruption finds either the old
    estimator or the new one. The twin shares the values of the attributes: the method may set and
    delete attributes, but must not change their values in place.

    While the method runs, BLAS uses one thread, or idle cores for large matrices
    (:mod:`eigenlabel.linalg.threads`).
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


def plain_arrays() -> AbstractContextManager[None]:
    """Let transformers inside of an estimator return arrays, whatever users set for their own."""
    return cast(AbstractContextManager[None], config_context(transform_output="default"))


class TransformerMixin(SklearnTransformerMixin):  # type: ignore[misc]
    """Mixin of transformers whose ``fit_transform`` changes all of the estimator or nothing."""

    fit_transform = all_or_nothing(SklearnTransformerMixin.fit_transform)


class OptionalMethod(Generic[Parameters, Result]):
    """A method of the models that pass a check."""

    def __init__(self, fn: Callable[Parameters, Result], check: Callable[[Any], None]) -> None:
        self.fn, self.check = fn, check
        self.__doc__ = fn.__doc__

    @overload
    def __get__(self, model: None, owner: type) -> Callable[Parameters, Result]: ...

    @overload
    def __get__(self, model: Any, owner: type) -> Callable[..., Result]: ...

    def __get__(self, model: Any, owner: type) -> Callable[..., Result]:
        """Return the method of a model that passes the check, or the function of the class."""
        if model is None:
            return self.fn
        self.check(model)
        return MethodType(self.fn, model)


def available_if(
    check: Callable[[Any], None],
) -> Callable[[Callable[Parameters, Result]], OptionalMethod[Parameters, Result]]:
    """Declare a method that a model has only if ``check(model)`` raises no AttributeError.

    Equivalent to ``sklearn.utils.metaestimators.available_if``, but the error states the reason.
    """
    return lambda fn: OptionalMethod(fn, check)
