"""Configuration of the documentation."""

import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

import api_reference
import explore_pages
import layers
import markdown_pages
import method_names

import sklearn_hashrank
from benchmarks.papers import claims
from sklearn_hashrank._utils import extras

api_reference.write_pages(DOCS / "api.rst")
explore_pages.write_pages(DOCS / "explored" / "pages")
layers.write_table(DOCS / "layers.txt")
method_names.write_table(DOCS / "methods" / "names.txt")
claims.write_pictures(DOCS / "reproduction")
markdown_pages.convert(DOCS.parent / "CHANGELOG.md", DOCS / "changelog.rst")
markdown_pages.convert(DOCS.parent / "CONTRIBUTING.md", DOCS / "contributing.rst")
markdown_pages.convert(DOCS / "benchmarks.md", DOCS / "benchmarks.rst")

# "|install|" says how to install the package, and "|install plot|" the extra "plot", as error
# messages do.
_PROJECT = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
rst_prolog = f".. |install| replace:: ``{extras.install_command()}`` {extras.WHERE}\n"
rst_prolog += "\n".join(
    f".. |install {extra}| replace:: ``{extras.install_command(extra)}`` {extras.WHERE}"
    for extra in _PROJECT["optional-dependencies"]
)
_MAINTAINERS = ", ".join(f"{each['name']} <{each['email']}>" for each in _PROJECT["authors"])
rst_prolog += f"\n.. |maintainers| replace:: {_MAINTAINERS}\n"

project = "sklearn-hashrank"
author = "sklearn-hashrank developers"
copyright = author
version = release = sklearn_hashrank.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # with MathJax itself: pages are read without a network too
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "explored"]
default_role = "code"

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "within_subsection_order": "gallery_order.example_order",
    "abort_on_example_error": True,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 0,
}

html_theme = "pydata_sphinx_theme"
html_title = "sklearn-hashrank"
html_static_path = ["_static"]
html_extra_path = ["explored"]  # what explore_pages writes
html_css_files = ["custom.css"]
html_show_sourcelink = False
html_sidebars = {"getting_started": [], "api": [], "changelog": [], "contributing": []}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_end": ["search-button", "theme-switcher"],
    "navbar_persistent": [],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
}
