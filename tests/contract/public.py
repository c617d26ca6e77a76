"""What is public: modules, their names and the reference, for the tests beside this file."""

import importlib
import importlib.util
import pkgutil
import sys
from pathlib import Path

import sklearn_hashrank

PACKAGE = Path(sklearn_hashrank.__file__).parent
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HAS_TORCH = importlib.util.find_spec("torch") is not None
"""Whether `sklearn_hashrank.deep` can be imported: in the environment of ``make test-all``."""
MADE_BY_SPHINX = {"_build", "auto_examples", "generated"}
NEW_CONCEPTS = ("hashing", "relevance", "ties", "metrics", "splits")
GUIDES = sorted(
    [
        *(
            path
            for path in DOCS.glob("get_started/**/*.rst")
            if path.stem not in ("index", "install")
        ),
        *(DOCS / "concepts" / f"{name}.rst" for name in NEW_CONCEPTS),
        DOCS / "how_to" / "choose_a_method.rst",
    ]
)
"""Pages whose commands are run as well as their sessions of Python."""
PAGES = sorted(
    path
    for path in DOCS.rglob("*.rst")
    if path not in GUIDES
    and MADE_BY_SPHINX.isdisjoint(path.relative_to(DOCS).parts)
    and ">>>" in path.read_text()
    and (HAS_TORCH or not path.stem.startswith("deep"))
)


def load(path):
    """Import a file that belongs to no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    sys.modules[path.stem] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def public_modules():
    """Names of the modules whose dotted path has no underscore part."""
    walk = pkgutil.walk_packages(sklearn_hashrank.__path__, "sklearn_hashrank.")
    names = ["sklearn_hashrank", *(name for _, name, _ in walk)]
    return [name for name in names if "._" not in name and is_importable(name)]


def is_importable(module):
    """Whether the packages that a module needs are installed."""
    return HAS_TORCH or module.split(".")[:2] != ["sklearn_hashrank", "deep"]


layers = load(DOCS / "layers.py")
api_reference = load(DOCS / "api_reference.py")
REFERENCE = {
    f"{section.module}.{name}": getattr(importlib.import_module(section.module), name)
    for section in api_reference.SECTIONS
    if is_importable(section.module)
    for name in section.names
}
"""Everything in the API reference, by its full name."""
