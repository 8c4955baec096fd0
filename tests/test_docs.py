"""The documentation is complete: each public name has a page, examples run, and links work."""

import inspect
import re
from pathlib import Path

import pytest

import eigenlabel

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def public_names(module):
    return [
        n
        for n, thing in inspect.getmembers(module)
        if not n.startswith("_")
        and getattr(thing, "__module__", "").startswith(module.__name__)
        and (inspect.isclass(thing) or inspect.isfunction(thing))
    ]


@pytest.mark.parametrize("name", eigenlabel.__all__)
def test_every_public_name_has_a_page(name):
    page = ROOT / "docs" / "api" / f"{name}.md"
    text = page.read_text()
    thing = getattr(eigenlabel, name)
    if inspect.ismodule(thing):
        missing = [n for n in public_names(thing) if f"`{n}" not in text and f" {n}" not in text]
    else:
        words = [*inspect.signature(thing).parameters, *(["fit"] if inspect.isclass(thing) else [])]
        missing = [w for w in words if f"`{w}" not in text and "the rest" not in text]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_examples_run(page):
    shared = {}  # the blocks of a page share their names
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        exec(compile(block, str(page), "exec"), shared)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_links_point_to_existing_files(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", ["docs/how_a_fit_flows.md", "CONTRIBUTING.md"])
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
