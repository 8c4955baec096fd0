import os
import threading
import time
import warnings

import pytest
import sklearn

from eigenlabel.estimators.meta.blend.apart import CannotTravelError, call_apart
from eigenlabel.estimators.meta.blend.budget import OutOfTimeError


def double(x):
    warnings.warn("from afar", UserWarning, stacklevel=1)
    return 2 * x, os.getpid(), sklearn.get_config()["enable_metadata_routing"]


def sleep_and_write(path, seconds):
    time.sleep(seconds)
    path.write_text("done")


def fail():
    raise RuntimeError("out of luck")


def test_the_result_of_another_process_with_its_settings_and_warnings():
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.warns(UserWarning, match="from afar"),
    ):
        found, process, routing = call_apart(double, (21,), 60.0)
    assert found == 42
    assert process != os.getpid()
    assert routing


def test_a_process_that_takes_too_long_is_ended(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(OutOfTimeError, match=r"ended after 0.1 s"):
        call_apart(sleep_and_write, (path, 600.0), 0.1)
    with pytest.raises(OutOfTimeError):
        call_apart(sleep_and_write, (path, 600.0), -1.0)
    assert not path.exists()


def test_errors_are_those_of_the_function():
    with pytest.raises(RuntimeError, match="out of luck"):
        call_apart(fail, (), 60.0)


def test_what_cannot_be_pickled_stays():
    with pytest.raises(CannotTravelError):
        call_apart(double, (threading.Lock(),), 60.0)
