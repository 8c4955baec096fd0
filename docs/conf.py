"""Sphinx configuration of the documentation site.

The site needs no network, neither while it is built nor while it is read: the search index, the
fonts of the theme and MathJax are part of it.
"""

import importlib.util
import os
import sys
import warnings
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE / "_ext")]
mpl.use("Agg")
warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive.*")

import eigenlabel  # noqa: E402

project = "eigenlabel"
author = "The eigenlabel developers"
copyright = author
version = release = eigenlabel.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "chooser",
    "eigenlabel_site",
    "results_in_pages",
]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_ext", "auto_examples/**/*.ipynb"]
templates_path = ["_templates"]
nitpicky = False
suppress_warnings = ["config.cache"]

# Prose
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "amsmath", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Reference
autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Formulas: a part of the MathJax of the package sphinx-mathjax-offline is copied into the site.
_mathjax = importlib.util.find_spec("sphinx-mathjax-offline")
mathjax_folder = Path(_mathjax.submodule_search_locations[0]) / "static" / "mathjax"
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}

# Figures of the guide are drawn from the CSV files of results/ while the site is built.
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("svg", 100)]
plot_basedir = str(HERE)
plot_working_directory = str(HERE.parent)
plot_rcparams = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "eigenlabel",
    "figure.constrained_layout.use": True,
}
plot_apply_rcparams = True

# Gallery: EIGENLABEL_GALLERY=0 lists the examples without running them.
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",
    "plot_gallery": os.environ.get("EIGENLABEL_GALLERY", "1") != "0",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "doc_module": ("eigenlabel",),
    "backreferences_dir": "reference/backreferences",
    "reference_url": {"eigenlabel": None},
    "subsection_order": [
        f"../examples/{name}"
        for name in ("start", "decisions", "inspection", "methods", "large", "experiments")
    ],
    "within_subsection_order": "eigenlabel_site.StoryOrder",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "reset_modules": ("matplotlib", "eigenlabel_site.reset_figures"),
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "thumbnail_size": (480, 320),
    "copyfile_regex": r".*\.css",
}

# Look
html_theme = "pydata_sphinx_theme"
html_title = "eigenlabel"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "changes": [], "benchmarks": []}
html_theme_options = {
    "logo": {"text": "eigenlabel", "alt_text": "eigenlabel"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
