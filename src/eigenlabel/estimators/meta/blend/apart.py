"""Fits in another process, which is ended when their time is over."""

import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import TimeoutError as LateError
from typing import Any, TypeVar

from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor
from joblib.externals.loky.backend.reduction import dumps
from joblib.externals.loky.process_executor import TerminatedWorkerError
from sklearn import config_context, get_config

from eigenlabel.estimators.meta.blend.budget import OutOfTimeError
from eigenlabel.inputs.warning import warn

Result = TypeVar("Result")


class CannotTravelError(Exception):
    """A classifier cannot be sent to another process."""


class Apart:
    """A process that runs functions, one after the other, each for a number of seconds at most.

    It is started by the first function, because a start takes a second or two. It ends when it is
    closed, or with a function whose time is over; the next function starts another one.
    """

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def call(
        self, function: Callable[..., Result], arguments: tuple[Any, ...], seconds: float
    ) -> Result:
        """Return the result of a function.

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
            If the function, an argument or the result cannot be pickled.
        """
        if self._executor is None:
            self._executor = ProcessPoolExecutor(max_workers=1)
        try:
            found = self._executor.submit(_call, function, arguments, get_config())
            answer, heard = found.result(timeout=max(0.0, seconds))
        except LateError:
            self.close()
            raise OutOfTimeError(f"ended after {seconds:.2g} s, when the time was over") from None
        except (pickle.PicklingError, BrokenProcessPool) as error:
            self.close()
            if isinstance(error, TerminatedWorkerError):  # killed, for instance for its memory
                raise
            raise CannotTravelError(str(error)) from error
        except KeyboardInterrupt:
            self.close()
            raise
        for message, category in heard:
            warn(message, category)
        result: Result = pickle.loads(answer)
        return result

    def close(self) -> None:
        """End the process."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
        self._executor = None


def _call(
    function: Callable[..., Result], arguments: tuple[Any, ...], config: dict[str, Any]
) -> tuple[bytes, list[tuple[str, type[Warning]]]]:
    """Return the pickled result of a function, and the warnings that it issued."""
    with config_context(**config), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = function(*arguments)
    try:
        answer = bytes(dumps(result))
    except Exception as error:  # a result may fail to be pickled in its own way
        raise pickle.PicklingError(str(error)) from error
    return answer, [(str(one.message), one.category) for one in heard]
