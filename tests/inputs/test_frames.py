"""Frames of the library that is installed."""

import sys

import pytest

from eigenlabel.inputs.frames import make_frame

COLUMNS = {"name": ["a", "b"], "value": [1.0, 2.0]}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_a_library(library):
    pytest.importorskip(library)
    frame = make_frame(COLUMNS, library)
    assert type(frame).__module__.split(".")[0] == library
    assert frame.shape == (2, 2)


def test_the_other_library_is_used_if_pandas_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert type(make_frame(COLUMNS)).__module__.split(".")[0] == "polars"
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pandas or polars"):
        make_frame(COLUMNS)
    with pytest.raises(ImportError, match="needs pandas"):
        make_frame(COLUMNS, "pandas")
    with pytest.raises(ValueError, match="library"):
        make_frame(COLUMNS, "arrow")
