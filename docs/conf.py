"""Configuration of the documentation."""

import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS / "_ext"), str(DOCS.parent)]

import api_reference
import command_options
import explore_pages
import inventories
import layers
import markdown_pages
import method_names

import sklearn_hashrank
from benchmarks.papers import claims
from sklearn_hashrank._utils import extras

api_reference.write_pages(DOCS / "reference" / "api")
command_options.write_page(DOCS / "reference" / "options.rst")
explore_pages.write_pages(DOCS / "explored" / "pages")
layers.write_table(DOCS / "contribute" / "layers.txt")
method_names.write_table(DOCS / "methods" / "names.txt")
claims.write_pictures(DOCS / "notes" / "reproduction")
markdown_pages.convert(DOCS.parent / "CHANGELOG.md", DOCS / "contribute" / "changelog.rst")
markdown_pages.convert(DOCS.parent / "CONTRIBUTING.md", DOCS / "contribute" / "contributing.rst")
markdown_pages.convert(DOCS / "notes" / "benchmarks.md", DOCS / "notes" / "benchmarks.rst")

# "|install|" says how to install the package, and "|install plot|" the extra "plot", as error
# messages do.
_PROJECT = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
rst_prolog = f".. |install| replace:: ``{extras.install_command()}`` {extras.WHERE}\n"
rst_prolog += "\n".join(
    f".. |install {extra}| replace:: ``{extras.install_command(extra)}`` {extras.WHERE}"
    for extra in _PROJECT["optional-dependencies"]
)
_MAINTAINERS = ", ".join(
    f"`{each['name']} <mailto:{each['email']}>`__" for each in _PROJECT["authors"]
)
rst_prolog += f"\n.. |maintainers| replace:: {_MAINTAINERS}\n"

project = "sklearn-hashrank"
author = "sklearn-hashrank developers"
copyright = author
version = release = sklearn_hashrank.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "plain_text",  # of docs/_ext
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # with MathJax itself: pages are read without a network too
]
intersphinx_mapping = inventories.write(
    DOCS / "_build" / "inventories",
    [*DOCS.rglob("*.rst"), *(DOCS.parent / "sklearn_hashrank").rglob("*.py")],
)
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "_ext", "explored"]
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
html_logo = html_favicon = "_static/logo.svg"
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "hashrank", "alt_text": "sklearn-hashrank"},
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "navbar_end": ["version", "theme-switcher"],
    "collapse_navigation": True,  # only the branch of the page itself, not 190 names
    "navigation_depth": 3,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
