"""Warnings name the line of the caller, and blocks without warnings leave no filter behind."""

import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import eigenlabel
from eigenlabel import (
    OneVsRestSearchCV,
    SharedSubspaceClassifier,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta import one_vs_rest_search
from eigenlabel.inputs.warning import ignored

DATA = make_shared_subspace(30, 4, 3, random_state=0)


X = np.abs(DATA.X) / np.abs(DATA.X).max()


@pytest.mark.parametrize("model", [OneVsRestSearchCV(param_grid={"C": [1.0]}, cv=2)])
def test_concurrent_fits_leave_no_warning_filter(model, monkeypatch):
    """The second fit begins inside the first and ends after it."""
    before = list(warnings.filters)
    inside, done = threading.Event(), threading.Event()
    original = one_vs_rest_search._fit

    def overlap(*arguments):
        if threading.current_thread() is thread:
            inside.set()
            assert done.wait(60)
        elif not done.is_set():
            done.set()
            thread.join(60)
        return original(*arguments)

    monkeypatch.setattr(one_vs_rest_search, "_fit", overlap)
    thread = threading.Thread(target=lambda: clone(model).fit(X, DATA.Y))
    thread.start()
    assert inside.wait(60)
    model.fit(X, DATA.Y)
    assert not thread.is_alive()
    assert warnings.filters == before


def test_ignored_warnings_are_those_of_the_block():
    before = list(warnings.filters)
    with ignored(ConvergenceWarning, "never"), warnings.catch_warnings():
        warnings.simplefilter("error")
        with ignored(ConvergenceWarning, "stopped"):
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
            with pytest.raises(ConvergenceWarning):
                warnings.warn("other", ConvergenceWarning, stacklevel=1)
        with pytest.raises(ConvergenceWarning):
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
    assert warnings.filters == before


def test_a_block_stays_silent_after_an_equal_one_inside_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ignored(ConvergenceWarning, "stopped"):
            with ignored(ConvergenceWarning, "stopped"):
                pass
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
        with pytest.raises(ConvergenceWarning):
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)


def test_an_equal_filter_of_the_user_stays():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "stopped", ConvergenceWarning)
        with ignored(ConvergenceWarning, "stopped"):
            pass
        warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)


@pytest.mark.parametrize(
    ("model", "scale", "use"),
    [
        (SharedSubspaceClassifier(solver="krylov", max_iter=1), 1.0, "fit"),  # stops early
        (SharedSubspaceClassifier(), 1e-12, "fit"),  # one feature is lost to rounding
        (SharedSubspaceClassifier(), 1e-12, "fit_transform"),
        (eigenlabel.MtSDA(), 1e-12, "fit"),
    ],
)
def test_warnings_name_the_line_that_called_the_library(model, scale, use):
    data = make_shared_subspace(60, 8, 4, random_state=0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        getattr(model, use)(data.X * np.r_[scale, np.ones(7)], data.Y)
    assert {w.filename for w in seen} == {__file__}
