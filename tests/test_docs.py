"""The documentation is complete: each public name is in the reference, and examples run.

``make docs-quick`` builds the site and checks its links.
"""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import eigenlabel
from test_public_names import public_modules

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts),
]
PROSE = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[gp]*/*.md")]
PROSE = sorted(page for page in PROSE if page.stem not in {"changes", "contest"})


def listed_names():
    """Return the names on the pages of the reference, each with its module."""
    found = set()
    for page in (ROOT / "docs" / "reference").glob("*.rst"):
        module, inside = "", False
        for line in page.read_text().splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split(":: ")[1]
            elif line.startswith(".. py:data:: "):
                found.add(line.split(":: ")[1])
            elif line.startswith(".. autosummary::"):
                inside = True
            elif inside and re.fullmatch(r"   \w+", line):
                found.add(f"{module}.{line.strip()}")
            elif line and not line.startswith(" "):
                inside = False
    return found


def test_every_public_name_is_in_the_reference_and_nothing_else():
    public = {name for name, thing in public_modules() if not inspect.ismodule(thing)}
    modules = {name for name, thing in public_modules() if inspect.ismodule(thing)}
    listed = listed_names()
    assert public - listed == set(), "add them to a page of docs/reference"
    assert listed - public == set(), "they are not public; remove them from docs/reference"
    text = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.rst"))
    assert [name for name in sorted(modules) if f".. py:module:: {name}\n" not in text] == []


def blocks(page):
    """Return the blocks of Python of a page; blocks with prompts are marked ``pycon``."""
    return re.findall(r"```(python|pycon)\n(.*?)```", page.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_examples_run(page):
    shared = {}  # the blocks of a page share their names
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    for kind, block in blocks(page):
        if kind == "python":
            exec(compile(block, str(page), "exec"), shared)
            continue
        test = doctest.DocTestParser().get_doctest(block, shared, page.name, str(page), 0)
        runner = doctest.DocTestRunner(optionflags=flags)
        report = []
        assert runner.run(test, out=report.append, clear_globs=False).failed == 0, "".join(report)
        shared.update(test.globs)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_links_point_to_existing_files(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if target.startswith("http"):
            continue
        found = page.parent / target
        if "auto_examples" in found.parts:  # made from a script while the site is built
            place = Path(*found.parts[found.parts.index("auto_examples") + 1 :])
            found = ROOT / "examples" / place.with_suffix(".py")
        assert found.exists() or found.name == "index.py", target


def paragraphs(text):
    """Return the paragraphs of a page: no code, formulas, tables, lists or headings."""
    text = re.sub(r"^(```|:::+).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\$\$.*?^\$\$", "", text, flags=re.DOTALL | re.MULTILINE)
    parts = [part.strip("\n") for part in text.split("\n\n")]
    return [part for part in parts if part and not re.match(r"[|#*>(\[`:]|\d\.|  ", part)]


@pytest.mark.parametrize("page", PROSE, ids=lambda p: p.name)
def test_prose_is_wrapped_and_paragraphs_are_short(page):
    found = paragraphs(page.read_text())
    assert [part for part in found if max(map(len, part.splitlines())) > 100] == []
    assert [part for part in found if len(part.splitlines()) > 5] == []


@pytest.mark.parametrize("page", PROSE, ids=lambda p: p.name)
def test_no_line_break_turns_a_formula_into_a_list(page):
    text = re.sub(r"^(```|\$\$).*?^\1", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^[+-] .*", text, flags=re.MULTILINE) == []  # lists have asterisks


@pytest.mark.parametrize("page", ["docs/development/how_a_fit_flows.md", "CONTRIBUTING.md"])
def test_modules_named_on_a_page_exist(page):
    rooms = ("cli", "report", "linalg", "inputs", "labels", "kernels", "datasets", "thresholds")
    rooms += ("model_selection", "estimators", "experiment", "reproduce", "persistence")
    named = re.findall(rf"`((?:{'|'.join(rooms)})/[\w/.]*)`", (ROOT / page).read_text())
    assert len(named) > 5
    missing = [path for path in named if not (ROOT / "src" / "eigenlabel" / path).exists()]
    assert missing == []


def test_the_package_and_the_project_state_the_same_version():
    text = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{eigenlabel.__version__}"' in text
    assert f"\nversion: {eigenlabel.__version__}\n" in (ROOT / "CITATION.cff").read_text()
