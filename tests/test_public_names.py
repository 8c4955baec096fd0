"""The public names and their signatures: a change of either is a decision, never an accident.

``python tests/test_public_names.py`` writes the list anew.
"""

import ast
import difflib
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import eigenlabel

LIST = Path(__file__).with_name("public_names.txt")


def describe(name, thing):
    """Return a line for a name, and one for each public method of a class."""
    if inspect.ismodule(thing):
        return [f"{name}: module"]
    if inspect.isclass(thing):
        lines = [f"{name}{_signature(thing)}"]
        for method in sorted(dir(thing)):
            found = inspect.getattr_static(thing, method)
            if method.startswith("_") or not _is_ours(thing, method):
                continue
            bound = getattr(found, "fn", getattr(found, "__func__", found))
            shown = _signature(bound) if callable(bound) else ""
            lines.append(f"{name}.{method}{shown}")
        return lines
    return [f"{name}{_signature(thing)}" if callable(thing) else f"{name}: {type(thing).__name__}"]


def _is_ours(thing, method):
    owner = next((c for c in thing.__mro__ if method in vars(c)), None)
    return owner is not None and owner.__module__.startswith("eigenlabel")


def _signature(thing):
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def public_names():
    """List every public name of the package and of its public modules."""
    lines = []
    for name, thing in public_modules():
        lines += describe(name, thing)
    return lines


def public_modules():
    """Return the public names at the first and second level, with the things they stand for."""
    found = []
    for name in sorted(eigenlabel.__all__):
        thing = getattr(eigenlabel, name)
        found.append((f"eigenlabel.{name}", thing))
        if inspect.ismodule(thing):
            module = importlib.import_module(f"eigenlabel.{name}")
            inner = sorted(getattr(module, "__all__", None) or _defined(module))
            found += [(f"eigenlabel.{name}.{each}", getattr(module, each)) for each in inner]
    return found


def public_things():
    """Return all public names, the public methods of classes included, with their things."""
    found = []
    for name, thing in public_modules():
        found.append((name, thing))
        if inspect.isclass(thing):
            methods = [m for m in dir(thing) if not m.startswith("_") and _is_ours(thing, m)]
            found += [(f"{name}.{m}", inspect.getattr_static(thing, m)) for m in sorted(methods)]
    return found


def _defined(module):
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]


def test_public_names_and_signatures_are_those_of_the_list():
    known = LIST.read_text().splitlines()
    change = difflib.unified_diff(
        known, public_names(), "public_names.txt", "now", lineterm="", n=0
    )
    assert not list(change), "\n".join(
        difflib.unified_diff(known, public_names(), "public_names.txt", "now", lineterm="", n=0)
    )


def test_the_package_is_imported_without_what_it_consists_of():
    """Names are imported when they are first used: an import takes milliseconds."""
    code = "import sys, eigenlabel; print([m for m in ('numpy', 'sklearn') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_type_checkers_read_the_same_places_as_the_interpreter():
    tree = ast.parse(Path(eigenlabel.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    declared = {
        alias.name: node.module.removeprefix("eigenlabel").removeprefix(".")
        for node in block.body
        for alias in node.names
    }
    modules = {name: "" for name, place in declared.items() if not place}
    assert declared == eigenlabel._PLACES | modules
    assert set(eigenlabel._PLACES) <= set(eigenlabel.__all__)
    for name in modules:
        assert inspect.ismodule(getattr(eigenlabel, name))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        eigenlabel.nothing  # noqa: B018


if __name__ == "__main__":
    LIST.write_text("\n".join(public_names()) + "\n")
