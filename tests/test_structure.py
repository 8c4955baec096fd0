"""Rules that keep the package easy to find one's way in."""

import ast
import importlib
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path

import pytest

import eigenlabel

PACKAGE = Path(eigenlabel.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
NO_TESTS = ("__init__.py", "__main__.py", "_types.py", "_version.py")
LONGEST_FILE = 330  # lines of code, without docstrings and empty lines
LONGEST_FUNCTION = 60  # lines of code, without docstring


def place(path):
    return path.relative_to(PACKAGE).as_posix()


def nodes(path, *kinds):
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)]


def test_no_two_classes_have_the_same_name():
    found = defaultdict(list)
    for path in MODULES:
        for node in nodes(path, ast.ClassDef):
            found[node.name.lstrip("_")].append(place(path))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_only_one_function_chooses_the_stack_level_of_a_warning():
    users = [place(path) for path in MODULES if "stacklevel" in path.read_text()]
    assert users == ["inputs/warning.py"]


def test_one_file_touches_the_private_side_of_scikit_learn():
    pattern = re.compile(
        r"from sklearn[\w.]*(?:\._\w+)+ import|from sklearn[\w.]* import .*\b_[a-z]"
    )
    users = [place(path) for path in MODULES if pattern.search(path.read_text())]
    assert len(users) <= 1


def docstring_length(node):
    """Return the number of lines of the docstring of a module, class or function."""
    if ast.get_docstring(node) is None:
        return 0
    return node.body[0].end_lineno - node.body[0].lineno + 1


def code_length(path):
    """Return the number of lines of a file that are neither empty nor part of a docstring."""
    lines = path.read_text().splitlines()
    for node in nodes(path, ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef):
        if ast.get_docstring(node) is not None:
            first = node.body[0]
            lines[first.lineno - 1 : first.end_lineno] = [""] * docstring_length(node)
    return sum(bool(line.strip()) for line in lines)


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_files_and_functions_are_short(path):
    assert code_length(path) <= LONGEST_FILE
    for node in nodes(path, ast.FunctionDef, ast.AsyncFunctionDef):
        length = node.end_lineno - node.lineno - docstring_length(node)
        assert length <= LONGEST_FUNCTION, node.name


def test_papers_are_cited_by_authors_and_year():
    pattern = re.compile(r"\bpaper 00\d\b|\bpapers 00\d\b", re.IGNORECASE)
    assert [place(path) for path in MODULES if pattern.search(path.read_text())] == []


def test_no_name_is_imported_for_others_to_import():
    """An ``import name as name`` outside of ``__init__`` is a second path to the same thing."""
    pattern = re.compile(r"^from .* import (\w+) as \1\b", re.MULTILINE)
    users = [place(p) for p in MODULES if p.name != "__init__.py" and pattern.search(p.read_text())]
    assert users == []


def test_every_module_has_a_test_file_of_its_name():
    missing = [
        place(path) for path in MODULES if path.name not in NO_TESTS and not _test_of(path).exists()
    ]
    assert missing == []


def _test_of(path):
    inside = path.relative_to(PACKAGE)
    return TESTS / inside.parent / f"test_{inside.stem}.py"


ROOT = TESTS.parent
PAGES = [*(ROOT / "docs").rglob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "README.md"]
ROOMS = {path.stem for path in PACKAGE.iterdir() if path.suffix in ("", ".py")} - {"__init__"}
NAMED = re.compile(
    rf"(?<![\w./<>-])(?:eigenlabel\.)?(?:{'|'.join(sorted(ROOMS))})(?:\.[A-Za-z_]\w*)+(?![\w/(=-])"
)
FILE = re.compile(r"(?<![\w./<>*-])[\w/]*\w\.py\b")
SOURCES = [ROOT / name for name in ("src", "tests", "benchmarks", "tools", "examples")]
FILES = [f"/{path.relative_to(ROOT)}" for folder in SOURCES for path in folder.rglob("*.py")]
FOREIGN = ("distributed.Client",)  # of Dask
OTHER_FILES = ("py", "rst", "txt", "html", "csv", "json", "md", "xml", "npz", "toml", "skops")


def prose(path):
    """Return the docstrings and comments of a module, or a page without its blocks of code."""
    text = path.read_text()
    if path.suffix == ".md":
        return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    written = [ast.get_docstring(node) or "" for node in nodes(path, *kinds)]
    lines = [line for part in written for line in part.splitlines()]
    plain = [line for line in lines if not line.lstrip().startswith((">>>", "..."))]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join(
        [*plain, *(token.string for token in tokens if token.type == tokenize.COMMENT)]
    )


def exists(name):
    """Return True if a dotted name is a module of the package, or a name in one."""
    parts = name.removeprefix("eigenlabel.").split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(["eigenlabel", *parts[:end]]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            if not hasattr(thing, attribute):
                return False
            thing = getattr(thing, attribute)
        return True
    return False


@pytest.mark.parametrize("path", [*MODULES, *PAGES], ids=lambda path: path.name)
def test_modules_and_files_that_are_mentioned_exist(path):
    text = prose(path)
    names = {name for name in NAMED.findall(text) if name.rpartition(".")[2] not in OTHER_FILES}
    assert [name for name in sorted(names.difference(FOREIGN)) if not exists(name)] == []
    for file in FILE.findall(text):
        assert any(known.endswith(f"/{file}") for known in FILES), file
