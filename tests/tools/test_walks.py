"""The script that counts the files and calls of a walk, on a small package."""

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "tools" / "walks.py"
MODULES = {
    "__init__": "",
    "start/__init__": "",
    # run() calls a function that it imports, and methods of an object that it receives.
    "start/api": """
        from tiny.inner.helpers import make
        from tiny.inner.protocols import Solver

        def run(solver: Solver):
            return make(1) + make(2) + solver.solve(3)

        def run_blindly(thing):
            return thing.solve(3)

        def measure(thing):
            return thing.size + thing.weight

        def run_callback(function):
            return function()
    """,
    "start/base": """
        class Base:
            def fit(self):
                return self.solve(1) + self.hidden()

            def solve(self, x):
                raise NotImplementedError
    """,
    "inner/__init__": "",
    "inner/helpers": """
        from tiny.inner import deep

        def make(x):
            return deep.twice(x)
    """,
    "inner/deep": """
        def twice(x):
            return 2 * x
    """,
    "inner/decorators": """
        from types import MethodType

        def loud(function):
            def changed(x):
                return function(x)
            return changed

        class Guarded:
            def __init__(self, function, check):
                self.function, self.check = function, check

            def __get__(self, model, owner):
                if model is None:
                    return self.function
                self.check(model)
                return MethodType(self.function, model)
    """,
    "inner/decorated": """
        from tiny.inner.decorators import Guarded, loud

        @loud
        def triple(x):
            return 3 * x

        def allow(model):
            pass

        class Careful:
            def solve(self, x):
                return 4 * x

            solve = Guarded(solve, allow)

            @property
            def size(self):
                return 1

            @property
            def weight(self):
                return 1
    """,
    "inner/protocols": """
        from typing import Protocol

        class Solver(Protocol):
            def solve(self, x): ...

            @property
            def size(self): ...
    """,
    "inner/solvers": """
        from tiny.start.base import Base

        class Double:
            def solve(self, x):
                return 2 * x

        class Child(Base):
            def solve(self, x):
                return 3 * x

            def hidden(self):
                return 0
    """,
}


@pytest.fixture(scope="module")
def walks():
    spec = importlib.util.spec_from_file_location("walks", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["walks"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["walks"]


@pytest.fixture(scope="module")
def package(walks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    for name, text in MODULES.items():
        file = folder / "tiny" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(line[8:] for line in text.splitlines()))
    sys.path.insert(0, str(folder))
    yield walks.Package("tiny")
    sys.path.remove(str(folder))
    for name in [n for n in sys.modules if n.split(".")[0] == "tiny"]:
        del sys.modules[name]


def test_files_and_call_sites_are_counted_once(walks, package):
    from tiny.inner.solvers import Double
    from tiny.start.api import run

    walk = walks.trace(package, lambda: run(Double()))
    assert list(walk.modules) == [
        "tiny.start.api",
        "tiny.inner.helpers",
        "tiny.inner.deep",
        "tiny.inner.solvers",
    ]
    called = [(c.caller, c.callee, c.function) for c in walk.calls]
    assert called == [
        ("tiny.start.api", "tiny.inner.helpers", "make"),  # two calls on one line are one site
        ("tiny.inner.helpers", "tiny.inner.deep", "twice"),
        ("tiny.start.api", "tiny.inner.solvers", "Double.solve"),
    ]
    assert str(walk) == "4 / 3 / 0"


def test_a_call_through_an_imported_protocol_is_not_implicit(walks, package):
    from tiny.inner.solvers import Double
    from tiny.start.api import run_blindly

    assert walks.trace(package, lambda: run_blindly(Double())).implicit == []


def test_a_call_of_a_function_that_the_file_does_not_import_is_implicit(walks, package):
    from tiny.inner.protocols import Solver
    from tiny.inner.solvers import Child
    from tiny.start.api import run_callback

    walk = walks.trace(package, lambda: run_callback(Child().hidden))
    assert walk.implicit == [("tiny.start.api", "tiny.inner.solvers", "Child.hidden")]
    assert walks._members(Solver) == {"solve"}


def test_a_base_class_knows_the_methods_that_it_declares_and_no_others(walks, package):
    from tiny.inner.solvers import Child

    walk = walks.trace(package, Child().fit)
    assert len(walk.calls) == 2
    assert walk.implicit == [("tiny.start.base", "tiny.inner.solvers", "Child.hidden")]


def test_the_call_of_a_decorated_function_is_not_implicit(walks, package):
    from tiny.inner.decorated import triple

    walk = walks.trace(package, lambda: triple(1))
    assert [c.function for c in walk.calls] == ["triple"]
    assert walk.implicit == []


def test_a_descriptor_stands_for_the_method_that_it_guards(walks, package):
    from tiny.inner.decorated import Careful
    from tiny.start.api import run_blindly

    walk = walks.trace(package, lambda: run_blindly(Careful()))
    called = [(c.caller, c.function) for c in walk.calls]
    assert called[:2] == [("tiny.start.api", "Guarded.__get__"), ("tiny.inner.decorators", "allow")]
    assert walk.implicit == []


def test_a_property_is_known_if_a_protocol_declares_it(walks, package):
    from tiny.inner.decorated import Careful
    from tiny.start.api import measure

    walk = walks.trace(package, lambda: measure(Careful()))
    assert walk.implicit == [("tiny.start.api", "tiny.inner.decorated", "Careful.weight")]


def test_the_diagram_has_an_arrow_for_each_pair_of_rooms(walks, package):
    from tiny.inner.solvers import Double
    from tiny.start.api import run

    lines = walks.mermaid(walks.trace(package, lambda: run(Double()))).splitlines()
    arrow = '    start["start"] -->|"make, Double.solve (2)"| inner["inner"]'
    assert lines == ["flowchart TD", arrow]


@pytest.mark.parametrize(
    ("module", "room"),
    [
        ("eigenlabel.linalg.factors.base", "linalg"),
        ("eigenlabel.estimators.subspace.tuned", "estimators.subspace"),
        ("eigenlabel.estimators.base", "estimators"),
        ("eigenlabel", "eigenlabel"),
    ],
)
def test_rooms_are_folders(walks, module, room):
    assert walks.room(module) == room


def test_the_walks_of_the_package_run(walks, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["walks.py", "tuned-predict", "--verbose"])
    walks.main()
    first, *files = capsys.readouterr().out.splitlines()
    assert first.startswith("tuned-predict")
    assert "    eigenlabel.estimators.subspace.base" in files
    monkeypatch.setattr("sys.argv", ["walks.py", "nowhere"])
    with pytest.raises(SystemExit):
        walks.main()
    assert "no walk 'nowhere'; the walks are tuned-fit," in capsys.readouterr().err
