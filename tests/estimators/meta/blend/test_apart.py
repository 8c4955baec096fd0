import os
import signal
import threading
import time
import warnings

import pytest
import sklearn
from joblib.externals.loky.process_executor import TerminatedWorkerError

from eigenlabel.estimators.meta.blend.apart import Apart, CannotTravelError
from eigenlabel.estimators.meta.blend.budget import OutOfTimeError


def double(x):
    warnings.warn("from afar", UserWarning, stacklevel=1)
    return 2 * x, os.getpid(), sklearn.get_config()["enable_metadata_routing"]


def sleep_and_write(path, seconds):
    time.sleep(seconds)
    path.write_text("done")


def fail():
    raise RuntimeError("out of luck")


class Odd:
    """An object that can be pickled here and not elsewhere, or the other way round."""

    def __init__(self, where):
        self.where, self.home = where, os.getpid()

    def __getstate__(self):
        if self.where == "there" and os.getpid() != self.home:
            raise TypeError("cannot pickle this here")
        return self.__dict__

    def __setstate__(self, state):
        if state["where"] == "on arrival" and os.getpid() != state["home"]:
            raise TypeError("cannot be read here")
        self.__dict__.update(state)


def name_process(one=None):
    return (os.getpid(), one)


def make_odd(home):
    odd = Odd("there")
    odd.home = home
    return odd


def end_process():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def apart():
    with Apart() as process:
        yield process


def test_the_result_of_another_process_with_its_settings_and_warnings(apart):
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.warns(UserWarning, match="from afar"),
    ):
        found, process, routing = apart.call(double, (21,), 60.0)
    assert found == 42
    assert process != os.getpid()
    assert routing


def test_functions_share_a_process_until_one_takes_too_long(apart, tmp_path):
    path = tmp_path / "file"
    first = apart.call(name_process, (), 60.0)
    with pytest.raises(RuntimeError, match="out of luck"):
        apart.call(fail, (), 60.0)
    assert apart.call(name_process, (), 60.0) == first
    with pytest.raises(OutOfTimeError, match=r"ended after 0.1 s"):
        apart.call(sleep_and_write, (path, 600.0), 0.1)
    with pytest.raises(OutOfTimeError):
        apart.call(sleep_and_write, (path, 600.0), -1.0)
    assert not path.exists()
    assert apart.call(name_process, (), 60.0) != first


def test_what_cannot_be_pickled_stays(apart):
    cases = [
        (double, (threading.Lock(),)),
        (name_process, (Odd("on arrival"),)),
        (make_odd, (os.getpid(),)),
    ]
    for function, arguments in cases:
        with pytest.raises(CannotTravelError):
            apart.call(function, arguments, 60.0)


def test_a_process_that_is_killed_is_not_repeated_here(apart):
    with pytest.raises(TerminatedWorkerError):
        apart.call(end_process, (), 60.0)
    assert apart.call(name_process, (1,), 60.0)[1] == 1
