"""Fits in a process of their own, which is ended when their time is over."""

import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import TimeoutError as LateError
from typing import Any, TypeVar

from joblib.externals.loky import ProcessPoolExecutor
from sklearn import config_context, get_config

from eigenlabel.estimators.meta.blend.budget import OutOfTimeError
from eigenlabel.inputs.warning import warn

Result = TypeVar("Result")


class CannotTravelError(Exception):
    """A classifier cannot be sent to another process."""


def call_apart(function: Callable[..., Result], arguments: tuple[Any, ...], seconds: float) -> Any:
    """Return the result of a function that runs in another process for a number of seconds at most.

    The process has the settings of scikit-learn, and its warnings are issued here.

    Parameters
    ----------
    function : callable
        The function.
    arguments : tuple
        Its arguments, which are pickled.
    seconds : float
        The time after which the process is ended.

    Raises
    ------
    OutOfTimeError
        If the time is over.
    CannotTravelError
        If the function or an argument cannot be pickled.
    """
    executor = ProcessPoolExecutor(max_workers=1)
    try:
        found = executor.submit(_call, function, arguments, get_config())
        result, heard = found.result(timeout=max(0.0, seconds))
    except LateError:
        raise OutOfTimeError(f"ended after {seconds:.2g} s, when the time was over") from None
    except pickle.PicklingError as error:
        raise CannotTravelError(str(error)) from error
    finally:
        executor.shutdown(wait=True, kill_workers=True)
    for message, category in heard:
        warn(message, category)
    return result


def _call(
    function: Callable[..., Result], arguments: tuple[Any, ...], config: dict[str, Any]
) -> tuple[Result, list[tuple[str, type[Warning]]]]:
    """Return the result of a function and the warnings that it issued."""
    with config_context(**config), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = function(*arguments)
    return result, [(str(one.message), one.category) for one in heard]
