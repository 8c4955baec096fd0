"""Parameters: each estimator declares its own once, and one call in ``fit`` checks them all.

An estimator states what its parameters may be in the class attribute ``_parameters``::

    _parameters: ClassVar[Parameters] = {"alpha": Number(0, inf=True), "tol": Number(0), ...}

and calls :func:`check_parameters` at the beginning of ``fit``. Bounds that depend on the data, such
as the number of labels, are checked where the data are known, with :func:`check_number`.
"""

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

LARGEST = 1e150  # squares of it are still numbers; a penalty is as large as squares of features
MOST_JOBS = 10_000


class ParameterError(Exception):
    """A parameter has a value that is not allowed.

    Attributes
    ----------
    name : str
        The parameter.
    problem : str
        What is wrong with its value: the rest of the sentence that begins with the name.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, problem)
        self.name = name
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.name} {self.problem}"


class ParameterValueError(ParameterError, ValueError):
    """A parameter has a value outside its bounds."""


class ParameterTypeError(ParameterError, TypeError):
    """A parameter has a value of a wrong type."""


class Declaration(Protocol):
    """What a parameter may be."""

    def check(self, name: str, value: Any) -> None:
        """Raise ParameterValueError or ParameterTypeError unless the value is allowed."""


@dataclass(frozen=True)
class Number:
    """A number between two bounds.

    Attributes
    ----------
    low : float
        The smallest value that is allowed.
    high : float
        The largest value that is allowed.
    above : bool
        Whether ``low`` itself is excluded.
    inf : bool
        Whether infinity is allowed. NaN never is.
    """

    low: float = -np.inf
    high: float = np.inf
    above: bool = False
    inf: bool = False

    kind = numbers.Real
    word = "a number"

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless the value is a number within the bounds."""
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, self.kind):
            raise ParameterTypeError(name, f"must be {self._bound()}, got {value!r}.")
        # NumPy's functions do not accept integers of more than 64 bits, nor float32 such bounds.
        given = int(value) if isinstance(value, numbers.Integral) else float(value)
        below = given <= self.low if self.above else given < self.low
        if self.above and self.low == 0:  # the inverse of a smaller number may be infinite
            below = given < float(np.finfo(float).tiny)
        infinite = abs(given) == np.inf
        if given != given or below or given > self.high or (infinite and not self.inf):  # noqa: PLR0124
            more = ", or infinity" if self.inf else ""
            raise ParameterValueError(name, f"must be {self._bound()}{more}, got {value!r}.")
        if not infinite and abs(given) > LARGEST:
            raise ParameterValueError(
                name,
                f"must be at most {LARGEST:.0e} in absolute value, got {value!r}: products with "
                "larger numbers leave the range of floats.",
            )

    def _bound(self) -> str:
        if np.isfinite(self.high):
            excluded = " (excluded)" if self.above else ""
            return f"{self.word} between {self.low}{excluded} and {self.high}"
        if np.isfinite(self.low):
            return f"{self.word} {'>' if self.above else '>='} {self.low}"
        return self.word


@dataclass(frozen=True)
class Integer(Number):
    """An integer between two bounds."""

    kind = numbers.Integral
    word = "an integer"


@dataclass(frozen=True)
class Flag:
    """True or False. Words such as "no", which are true in Python, are not allowed."""

    def check(self, name: str, value: Any) -> None:
        """Raise ParameterTypeError unless the value is True or False."""
        if not isinstance(value, (bool, np.bool_)):
            raise ParameterTypeError(name, f"must be True or False, got {value!r}.")


@dataclass(frozen=True)
class Instance:
    """An instance of a class."""

    kind: type

    def check(self, name: str, value: Any) -> None:
        """Raise ParameterTypeError unless the value is an instance."""
        if not isinstance(value, self.kind):
            raise ParameterTypeError(name, f"must be a {self.kind.__name__}, got {value!r}.")


@dataclass(frozen=True, init=False)
class Choice:
    """One of several words."""

    words: tuple[str, ...]

    def __init__(self, *words: str) -> None:
        object.__setattr__(self, "words", words)

    def check(self, name: str, value: Any) -> None:
        """Raise ParameterValueError unless the value is one of the words."""
        if not isinstance(value, str) or value not in self.words:
            listed = ", ".join(map(repr, self.words))
            raise ParameterValueError(name, f"must be one of {listed}, got {value!r}.")


@dataclass(frozen=True)
class Maybe:
    """None, or what another declaration allows."""

    other: Declaration

    def check(self, name: str, value: Any) -> None:
        """Check a value that is not None by the other declaration."""
        if value is not None:
            self.other.check(name, value)


@dataclass(frozen=True)
class OrCallable:
    """A callable, or what another declaration allows."""

    other: Declaration

    def check(self, name: str, value: Any) -> None:
        """Check a value that is not callable by the other declaration."""
        if not callable(value):
            self.other.check(name, value)


@dataclass(frozen=True)
class ByView:
    """One value for all views, a mapping from the names of views, or a sequence in their order."""

    other: Declaration

    def check(self, name: str, value: Any) -> None:
        """Check every value by the other declaration."""
        for each in values_by_view(value):
            self.other.check(name, each)


def values_by_view(value: Any) -> Iterable[Any]:
    """Return the values of a parameter that may differ by view."""
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple, np.ndarray)) else (value,)


@dataclass(frozen=True)
class ColumnsByView:
    """The parameter ``views``: None, or a mapping from the names of views to their columns."""

    def check(self, name: str, value: Any) -> None:
        """Raise ParameterTypeError unless the value is None or a mapping that is not empty."""
        if value is not None and not (isinstance(value, Mapping) and value):
            raise ParameterTypeError(name, f"must be a dict of names -> columns, got {value!r}.")


@dataclass(frozen=True)
class WordOr:
    """One of several words, or a value other than a word that another declaration allows."""

    words: tuple[str, ...]
    other: Declaration

    def check(self, name: str, value: Any) -> None:
        """Check a word by the list of words, and any other value by the other declaration."""
        (Choice(*self.words) if isinstance(value, str) else self.other).check(name, value)


@dataclass(frozen=True)
class Several:
    """One or more values in a sequence, each of which another declaration allows."""

    other: Declaration

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless the value is a sequence that is not empty and whose items pass."""
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ParameterTypeError(name, f"must be a sequence, got {value!r}.")
        values = list(value)
        if not values:
            raise ParameterValueError(name, "is empty: pass at least one value.")
        for each in values:
            self.other.check(name, each)


@dataclass(frozen=True)
class Jobs:
    """A number of parallel jobs, or None; joblib counts negative numbers from the cores."""

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless the value is None or an integer of a plausible size, not zero."""
        Maybe(Integer(-MOST_JOBS, MOST_JOBS)).check(name, value)
        if value == 0:
            raise ParameterValueError(name, "must not be 0: pass 1, or -1 for all cores.")


@dataclass(frozen=True)
class CheckedBy:
    """A parameter that cannot be judged by its value alone.

    Attributes
    ----------
    place : str
        The function that checks it, or the reason why any value is allowed.
    """

    place: str

    def check(self, name: str, value: Any) -> None:
        """Accept the value: the named place checks it."""


POSITIVE = Number(0, above=True)
NOT_NEGATIVE = Number(0)
COUNT = Integer(1)

Parameters = Mapping[str, Declaration]


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator by its declarations, in the order of declaration.

    Parameters
    ----------
    estimator : object
        An estimator whose class has ``_parameters``.

    Raises
    ------
    ParameterValueError, ParameterTypeError
        If a value is not allowed. The message states the bound and the value.
    """
    for name, declaration in type(estimator)._parameters.items():
        declaration.check(name, getattr(estimator, name))


def check_number(
    name: str,
    value: Any,
    low: float,
    high: float = np.inf,
    *,
    integer: bool = False,
    inf: bool = False,
) -> None:
    """Raise an error unless ``low <= value <= high``; infinity is allowed only with ``inf``."""
    kind = Integer if integer else Number
    kind(low, high, inf=inf).check(name, value)


def check_flag(name: str, value: Any) -> None:
    """Raise ParameterTypeError unless the value is True or False."""
    Flag().check(name, value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise ParameterValueError unless the value is one of some words."""
    Choice(*choices).check(name, value)


def check_jobs(value: Any) -> None:
    """Raise an error unless the value is a number of parallel jobs, or None."""
    Jobs().check("n_jobs", value)
