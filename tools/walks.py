"""Count the files and calls that a user's call passes through.

    python tools/walks.py                             # a table of all walks
    python tools/walks.py tuned-fit --verbose         # one walk, with its files and implicit calls
    python tools/walks.py partial-fit --mermaid       # a diagram of one walk, by rooms

A walk is everything that runs between a call of the public interface and its return. Three numbers
describe it: the files of the package that it visits, the call sites from one file to another, and
the implicit calls among them. A call is implicit if a reader of the calling file cannot see where
it goes: the file imports neither the module of the called function, nor a module that defines a
base class or a protocol of the object whose method is called. A decorator that calls the function
it decorates, or a function that it was passed, does not count; a function that a decorator wraps,
and an attribute behind a descriptor, count as what they stand for.
"""

import argparse
import ast
import contextlib
import importlib
import inspect
import io
import pkgutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call from one file to another."""

    caller: str  # module of the calling file
    line: int
    callee: str  # module of the called function
    function: str


@dataclass
class Walk:
    """The modules that a call visits and the calls between them, in order of first occurrence."""

    modules: dict[str, None] = field(default_factory=dict)
    calls: dict[Call, bool] = field(default_factory=dict)  # call -> whether it is implicit

    @property
    def implicit(self) -> list[tuple[str, str, str]]:
        """The implicit calls as caller, callee and function; lines of the same call are merged."""
        found = [(c.caller, c.callee, c.function) for c, implicit in self.calls.items() if implicit]
        return list(dict.fromkeys(found))

    def __str__(self) -> str:
        return f"{len(self.modules)} / {len(self.calls)} / {len(self.implicit)}"


class Package:
    """A package with all of its modules imported, and what each of its files imports.

    Parameters
    ----------
    name : str
        The name of the package.
    """

    def __init__(self, name: str) -> None:
        package = importlib.import_module(name)
        names = [m.name for m in pkgutil.walk_packages(package.__path__, f"{name}.")]
        modules = [package, *(importlib.import_module(n) for n in names if "__main__" not in n)]
        self.modules = {str(m.__file__): m for m in modules}
        self.protocols = [
            thing
            for module in modules
            for thing in vars(module).values()
            if inspect.isclass(thing)
            and getattr(thing, "_is_protocol", False)
            and thing.__module__ == module.__name__
        ]
        self._imported: dict[str, set[str]] = {}

    def imported(self, file: str) -> set[str]:
        """Return the modules of the package that a file imports, also by names they export."""
        if file not in self._imported:
            found: set[str] = set()
            for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    module = sys.modules.get(node.module)
                    found.add(node.module)
                    for alias in node.names:
                        found |= _homes(getattr(module, alias.name, None))
            self._imported[file] = found & {m.__name__ for m in self.modules.values()}
        return self._imported[file]

    def is_implicit(self, back: FrameType, frame: FrameType) -> bool:
        """Return True if a call cannot be followed from the imports of the calling file."""
        caller = back.f_code.co_filename
        known = self.imported(caller)
        if self.modules[frame.f_code.co_filename].__name__ in known or _decorates(back, frame):
            return False
        owner, name = _called(frame)
        if owner is None:
            return True
        own = self.modules[caller].__name__
        for base in owner.__mro__:
            # A file that defines a base class knows the methods that this class declares.
            if base.__module__ in known or (base.__module__ == own and _declares(base, name)):
                return False
        return not any(
            name in _members(protocol) | _members(protocol, property)
            and protocol.__module__ in known | {own}
            and all(hasattr(owner, member) for member in _members(protocol))
            for protocol in self.protocols
        )


def _homes(thing: Any) -> set[str]:
    """Return the modules that define a thing, and what a module exports."""
    if isinstance(thing, ModuleType):
        names = getattr(thing, "__all__", ())
        exported = (vars(thing).get(name) for name in names)
        homes = {getattr(e, "__module__", None) for e in exported} | {thing.__name__}
    else:
        homes = {getattr(thing, "__module__", None), type(thing).__module__}
    return {home for home in homes if isinstance(home, str)}


def _decorates(back: FrameType, frame: FrameType) -> bool:
    """Return True if the calling function is a decorator's, and calls what it decorates.

    A decorator is a function, or a descriptor, which has the functions as attributes.
    """
    enclosed = [back.f_locals.get(name) for name in back.f_code.co_freevars]
    if back.f_code.co_name == "__get__":
        enclosed += vars(back.f_locals["self"]).values()
    return any(getattr(value, "__code__", None) is frame.f_code for value in enclosed)


def _called(frame: FrameType) -> tuple[type | None, str]:
    """Return the class and the name of the method that the caller of a frame has written.

    The class is None for a function.
    """
    name = frame.f_code.co_name
    if name == "__get__":
        model = frame.f_locals[frame.f_code.co_varnames[1]]
        functions = (v for v in vars(frame.f_locals["self"]).values() if inspect.isfunction(v))
        names = (f.__name__ for f in functions if hasattr(type(model), f.__name__))
        return type(model), next(names, name)
    enclosed = (frame.f_locals.get(free) for free in frame.f_code.co_freevars)
    return _owner(frame), next((f.__name__ for f in enclosed if inspect.isfunction(f)), name)


def _owner(frame: FrameType) -> type | None:
    """Return the class of the object whose method runs in a frame, or None for a function."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    if not names or names[0] not in ("self", "cls"):
        return None
    first = frame.f_locals.get(names[0])
    return first if isinstance(first, type) else type(first)


def _declares(cls: type, name: str) -> bool:
    return name in vars(cls) or name in vars(cls).get("__annotations__", {})


def _members(protocol: type, kind: type = Callable) -> set[str]:  # type: ignore[assignment]
    """Return the methods or properties that a protocol declares.

    Attributes may exist on instances only, therefore properties are not needed to have a protocol.
    """
    return {
        name
        for base in protocol.__mro__
        if getattr(base, "_is_protocol", False) and base.__module__ != "typing"
        for name, value in vars(base).items()
        if isinstance(value, kind) and (not name.startswith("_") or name == "__call__")
    }


def trace(package: Package, call: Callable[[], Any]) -> Walk:
    """Run a call and return its walk through the package."""
    walk = Walk()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        callee = frame.f_code.co_filename
        if (
            event != "call"
            or callee not in package.modules
            or any(frame is each for each in resumed)
        ):
            return
        if frame.f_code.co_flags & inspect.CO_GENERATOR:
            resumed.append(frame)  # what runs a generator on does not call it
        walk.modules.setdefault(package.modules[callee].__name__)
        back = frame.f_back
        caller = None if back is None else back.f_code.co_filename
        if back is None or caller == callee or caller not in package.modules:
            return
        names = package.modules[caller].__name__, package.modules[callee].__name__
        found = Call(names[0], back.f_lineno, names[1], frame.f_code.co_qualname)
        if found not in walk.calls:
            walk.calls[found] = package.is_implicit(back, frame)

    resumed: list[FrameType] = []
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return walk


def room(module: str) -> str:
    """Return the room of a module: its first folder, or the first two for estimators."""
    parts = module.split(".")[1:]
    size = 2 if parts[:1] == ["estimators"] and len(parts) > 2 else 1
    return ".".join(parts[:size]) or module


def mermaid(walk: Walk) -> str:
    """Return a flow chart of the calls between rooms; an arrow names the first functions."""
    arrows: dict[tuple[str, str], dict[str, None]] = {}
    sites: dict[tuple[str, str], int] = {}
    for call in walk.calls:
        ends = room(call.caller), room(call.callee)
        if ends[0] != ends[1]:
            arrows.setdefault(ends, {}).setdefault(call.function.replace(".__init__", ""))
            sites[ends] = sites.get(ends, 0) + 1
    lines = ["flowchart TD"]
    for (start, end), functions in arrows.items():
        shown = [name.partition(".<locals>")[0] for name in functions][:3]
        more = ", ..." if len(functions) > 3 else ""
        text = f"{', '.join(dict.fromkeys(shown))}{more} ({sites[start, end]})"
        lines.append(f'    {_node(start)} -->|"{text}"| {_node(end)}')
    return "\n".join(lines)


def _node(name: str) -> str:
    return f'{name.replace(".", "_")}["{name}"]'


@contextlib.contextmanager
def _walks() -> Iterator[dict[str, Callable[[], Any]]]:
    """Yield the walks by name: calls of estimators and of the command line on small data."""
    import eigenlabel as el  # noqa: PLC0415  the other functions work for any package
    from eigenlabel.cli import main  # noqa: PLC0415

    data = el.datasets.make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    X, Y = data.X, data.Y
    fitted = el.SharedSubspaceClassifierCV().fit(X, Y)
    stream = el.SharedSubspaceClassifier()

    def partial_fit() -> Any:
        stream.partial_fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])
        return stream.coef_

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        el.datasets.save(data, file)

        def command(*words: str) -> Callable[[], None]:
            def run() -> None:
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    code = main([words[0], str(file), *words[1:]])
                if code:
                    raise SystemExit(f"eigenlabel {words[0]} failed: {out.getvalue()}")

            return run

        yield {
            "tuned-fit": lambda: el.SharedSubspaceClassifierCV().fit(X, Y),
            "tuned-predict": lambda: fitted.predict(X),
            "kgha-fit": lambda: el.KGHA().fit(X, Y),
            "mtsda-fit": lambda: el.MtSDACV().fit(X, Y),
            "partial-fit": partial_fit,
            "tune": command("tune", "-o", f"{folder}/model.skops"),
            "compare": command("compare", "-o", f"{folder}/runs", "--splits", "2"),
        }


def main() -> None:
    """Trace the chosen walks and print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="WALK", help="default: all walks")
    parser.add_argument("--verbose", action="store_true", help="list files and implicit calls")
    parser.add_argument("--mermaid", action="store_true", help="print a Mermaid diagram by rooms")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    package = Package("eigenlabel")
    with _walks() as walks:
        unknown = [name for name in arguments.names if name not in walks]
        if unknown:
            parser.error(f"no walk {unknown[0]!r}; the walks are {', '.join(walks)}")
        for name in arguments.names or walks:
            walk = trace(package, walks[name])
            if arguments.mermaid:
                print(mermaid(walk))
                continue
            print(f"{name:14} {walk}")
            if arguments.verbose:
                print("".join(f"    {module}\n" for module in walk.modules), end="")
                lines = (f"    implicit: {a} -> {b}: {f}\n" for a, b, f in walk.implicit)
                print("".join(lines), end="")


if __name__ == "__main__":
    main()
