"""Boundaries of the package: what its folders, its tests and its users may import."""

import doctest
import importlib
import inspect
import re

from tests.contract.imports import declared, imports_of, private_parts
from tests.contract.public import (
    PACKAGE,
    PAGES,
    REFERENCE,
    ROOT,
    is_importable,
    layers,
    public_modules,
)

LEVEL = {name: level for level, (name, _) in enumerate(layers.LAYERS)}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
README = (ROOT / "README.md").read_text()


def level_of(module):
    """Level of the longest name of the table that a module has or lies in."""
    parts = module.split(".")[1:]
    names = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((LEVEL[name] for name in names if name in LEVEL), None)


def test_imports_point_one_way():
    for path in MODULES:
        parts = path.relative_to(ROOT).with_suffix("").parts
        own = ".".join(parts)
        assert level_of(own) is not None, f"give {own} a line in docs/layers.py"
        for each in imports_of(path.read_text(), parts[:-1]):
            if each.path.startswith("sklearn_hashrank.") and each.name != "__version__":
                assert (level_of(each.path) or 0) <= level_of(own), f"{own} must not import {each}"


def test_every_layer_exists():
    for name in LEVEL:
        path = PACKAGE / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").exists(), name


def test_public_modules_say_what_is_public():
    for module in map(importlib.import_module, public_modules()):
        assert hasattr(module, "__all__"), f"{module.__name__} is public and has no __all__"
        assert len(module.__all__) == len(set(module.__all__)), module.__name__
        assert not [name for name in module.__all__ if name.startswith("_")], module.__name__
        assert not [name for name in module.__all__ if not hasattr(module, name)], module.__name__


def shown():
    """What users read, by name: examples, pages, the README, docstrings."""
    for pattern in ("examples/**/*.py", "docs/contribute/extend/*.py"):
        for path in sorted(ROOT.glob(pattern)):
            yield str(path.relative_to(ROOT)), path.read_text()
    doctests = {str(path.relative_to(ROOT)): path.read_text() for path in PAGES}
    doctests |= {name: inspect.getdoc(thing) for name, thing in REFERENCE.items()}
    for name, text in doctests.items():
        yield name, "".join(each.source for each in doctest.DocTestParser().get_examples(text))
    yield "README.md", "".join(re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S))


def test_what_users_read_imports_public_names():
    for name, each in ((name, each) for name, source in shown() for each in imports_of(source)):
        if each.module.split(".")[0] != "sklearn_hashrank":
            continue
        where = f"{each.path}, imported by {name},"
        assert not private_parts(each.path), f"{where} is private"
        if not each.name or each.name == "__version__" or not is_importable(each.module):
            continue
        assert declared(each.module, each.name), f"{where} is not in __all__ of its module"
