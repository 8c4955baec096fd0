"""Data frames of whichever library is installed."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from eigenlabel.inputs.parameters import check_choice

LIBRARIES = ("pandas", "polars")


def make_frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Return columns as a data frame of pandas or polars; None is the first that is installed."""
    if library is not None:
        check_choice("library", library, LIBRARIES)
    for name in LIBRARIES if library is None else (library,):
        try:
            return import_module(name).DataFrame(columns)
        except ImportError:
            continue
    wanted = library or "pandas or polars"
    raise ImportError(
        f"A frame needs {wanted}, which is not installed: pip install 'eigenlabel[data]' installs "
        "polars. The result itself can be read without it."
    )
