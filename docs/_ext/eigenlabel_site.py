"""What the site needs beyond its extensions: offline formulas, our own members, fresh pages."""

import inspect
import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

import eigenlabel

FIRST = (
    "plot_first_model.py",
    "plot_texts.py",
    "plot_table.py",
    "plot_thresholds.py",
    "plot_why.py",
)
MATHJAX = ("tex-chtml.js", "output/chtml/fonts")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the functions below to the steps of a build."""
    app.add_config_value("mathjax_folder", None, "env")
    app.connect("builder-inited", remove_stale_pages, priority=1)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", mark_formulas, priority=400)  # numpydoc has 500
    app.connect("autodoc-process-docstring", escape_properties, priority=600)
    app.connect("doctree-read", link_names)
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def remove_stale_pages(app: Sphinx) -> None:
    """Remove generated reference pages of names that no longer exist, and find new pages.

    Without the second step, autosummary does not see pages that were added since the last build.
    """
    for page in (Path(app.srcdir) / "reference" / "generated").glob("*.rst"):
        if not _exists(page.stem):
            page.unlink()
    app.env.find_files(app.config, app.builder)


def _exists(name: str) -> bool:
    from sphinx.ext.autosummary import import_by_name

    try:
        import_by_name(name)
    except ImportError:
        return False
    return True


def skip_member(_app, _what, name, member, skip, _options) -> bool | None:
    """Leave out what scikit-learn or Python add to a class, and fitted attributes.

    Fitted attributes are listed in the docstring of their class.
    """
    if skip or name.endswith("_") or (name.startswith("set_") and name.endswith("_request")):
        return True
    found = inspect.unwrap(getattr(member, "fget", None) or getattr(member, "fn", None) or member)
    module = getattr(found, "__module__", None)
    return None if module is None or module.startswith("eigenlabel") else True


def mark_formulas(_app, _what, _name, _thing, _options, lines: list[str]) -> None:
    """Set indented formulas of a docstring as they are, and names such as coef_ as plain words."""
    section = next((i for i, line in enumerate(lines) if set(line) == {"-"}), len(lines) + 1) - 1
    marked: list[str] = []
    for i, line in enumerate(lines):
        starts = line.startswith("    ") and i < section and not lines[i - 1].strip()
        if starts and not any(each.startswith("    ") for each in marked[-2:]):
            marked += [".. code-block:: text", ""]
        formula = line.startswith("    ") and i < section
        marked.append(line if formula or ">>>" in line else _escape(line))
    lines[:] = marked


def escape_properties(_app, what, _name, _thing, _options, lines: list[str]) -> None:
    """Escape the descriptions that numpydoc takes from the properties of a class."""
    if what == "class":
        code = next((i for i, line in enumerate(lines) if line == ".. rubric:: Examples"), None)
        lines[:code] = [
            line if line.startswith(" " * 12) or ".." in line else _escape(line)
            for line in lines[:code]
        ]


def _escape(line: str) -> str:
    """Escape words that end with an underscore, which would be links, outside of backticks."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(
        part if part.startswith("`") else re.sub(r"(?<=\w)_(?!\w)(?! ?:)", r"\\_", part)
        for part in parts
    )


def public_names() -> dict[str, str]:
    """Return the full name of everything that prose may name in backticks."""
    found = {}
    for name in eigenlabel.__all__:
        full, thing = f"eigenlabel.{name}", getattr(eigenlabel, name)
        found[name] = found[f"el.{name}"] = found[full] = full
        if not inspect.ismodule(thing):
            continue
        for each in getattr(thing, "__all__", None) or vars(thing):
            member = f"{full}.{each}"
            found[f"{name}.{each}"] = found[f"el.{name}.{each}"] = found[member] = member
            short = each[0].isupper() or "_" in each.strip("_")
            if short and name != "distributed":  # predict_proba alone is a method of classifiers
                found.setdefault(each, member)
    return found


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Link names in backticks to their reference pages, such as `MDDM` or `metrics.evaluate`."""
    page = app.env.current_document.docname
    if page.startswith("reference/generated"):
        return
    names = public_names()
    for literal in list(doctree.findall(nodes.literal)):
        found = names.get(re.sub(r"\(.*\)$", "", literal.astext()))
        inside = isinstance(literal.parent, nodes.reference | nodes.title | pending_xref)
        if found is None or inside or isinstance(literal.parent.parent, nodes.reference):
            continue
        link = pending_xref(
            "", refdomain="py", reftype="obj", reftarget=found, refdoc=page, refexplicit=True
        )
        literal.replace_self(link)
        link += literal


def copy_mathjax(app: Sphinx, error: Exception | None) -> None:
    """Copy the part of MathJax that the pages load."""
    if error is not None or app.builder.format != "html":
        return
    for part in MATHJAX:
        source = Path(app.config.mathjax_folder) / part
        target = Path(app.outdir) / "_static" / "mathjax" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, target)


class StoryOrder:
    """Order the examples of a section: those that others build on come first."""

    def __init__(self, _folder: str) -> None:
        pass

    def __call__(self, name: str) -> tuple[int, str]:
        """Return the sorting key of a file."""
        return (FIRST.index(name) if name in FIRST else len(FIRST), name)

    def __repr__(self) -> str:
        return "StoryOrder"


def reset_figures(_gallery_conf, _name) -> None:
    """Set the look of the figures of every example."""
    from matplotlib import pyplot

    pyplot.rcParams.update(
        {
            "figure.dpi": 100,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.constrained_layout.use": True,
        }
    )
