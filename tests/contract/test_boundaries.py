"""Boundaries of the package: what its folders, its tests and its users may import."""

import doctest
import importlib
import inspect
import re
from collections import Counter

from tests.contract.imports import declared, imports_of, private_parts
from tests.contract.public import (
    PACKAGE,
    PAGES,
    REFERENCE,
    ROOT,
    api_reference,
    is_importable,
    layers,
    public_modules,
)

LEVEL = {name: level for level, (name, _) in enumerate(layers.LAYERS)}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
README = (ROOT / "README.md").read_text()
TESTS_OF_NO_FOLDER = {"oracle", "contract", "fuzz", "data"}
INSIDE = {"benchmarks/rsh.py": "times the supervision of RSH apart from the rest of the fit"}


def own_imports(path):
    """Top folder of a module of the package, and what it imports from other top folders."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    imported = imports_of(path.read_text(), ["sklearn_hashrank", *parts[:-1]])
    others = [
        each
        for each in imported
        if each.path.startswith("sklearn_hashrank.")
        and each.path.split(".")[1] not in (parts[0], "__version__")
    ]
    return parts[0], others


def test_imports_point_one_way():
    for path in MODULES:
        own, others = own_imports(path)
        assert own in LEVEL, f"give {own} a line in docs/layers.py"
        for each in others:
            other = each.path.split(".")[1]
            assert LEVEL[other] <= LEVEL[own], f"{path}: {own} must not import {other}"


def test_every_layer_exists():
    found = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in MODULES}
    assert set(LEVEL) == found


def test_folders_share_declared_names_only():
    for path in MODULES:
        for each in own_imports(path)[1]:
            if each.path.split(".")[1] in layers.FOR_THE_WHOLE_PACKAGE:
                continue
            where = f"{each.path}, imported by {path},"
            assert not private_parts(each.path), f"{where} is private; its folder may export it"
            assert declared(each.module, each.name), f"{where} is not in __all__ of its module"


def test_public_modules_say_what_is_public():
    for module in map(importlib.import_module, public_modules()):
        assert hasattr(module, "__all__"), f"{module.__name__} is public and has no __all__"
        assert len(module.__all__) == len(set(module.__all__)), module.__name__
        assert not [name for name in module.__all__ if name.startswith("_")], module.__name__
        assert not [name for name in module.__all__ if not hasattr(module, name)], module.__name__


def shown():
    """What users read, by name: examples, pages, the README, docstrings, benchmarks."""
    for pattern in ("examples/**/*.py", "docs/extend/*.py", "benchmarks/**/*.py"):
        for path in sorted(ROOT.glob(pattern)):
            yield str(path.relative_to(ROOT)), path.read_text()
    doctests = {str(path.relative_to(ROOT)): path.read_text() for path in PAGES}
    doctests |= {name: inspect.getdoc(thing) for name, thing in REFERENCE.items()}
    for name, text in doctests.items():
        yield name, "".join(each.source for each in doctest.DocTestParser().get_examples(text))
    yield "README.md", "".join(re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S))


def test_what_users_read_imports_public_names():
    for name, each in ((name, each) for name, source in shown() for each in imports_of(source)):
        if each.module.split(".")[0] != "sklearn_hashrank" or name in INSIDE:
            continue
        where = f"{each.path}, imported by {name},"
        assert not private_parts(each.path), f"{where} is private"
        if not each.name or each.name == "__version__" or not is_importable(each.module):
            continue
        assert declared(each.module, each.name), f"{where} is not in __all__ of its module"
        if not name.startswith("benchmarks"):
            shared = api_reference.SHARED.get(each.module, ())
            assert each.name not in shared, f"{where} is not in the reference"


def test_tests_mirror_the_package():
    for folder in (path for path in (ROOT / "tests").rglob("*") if path.is_dir()):
        inside = folder.relative_to(ROOT / "tests")
        if inside.parts[0] in TESTS_OF_NO_FOLDER or "__pycache__" in inside.parts:
            continue
        module = PACKAGE / inside
        assert module.is_dir() or module.with_suffix(".py").exists(), f"what does {inside} test?"
    assert not list((ROOT / "tests").glob("test_*.py")), (
        "tests live in the folder of what they test"
    )


def test_file_names_are_unique():
    """A traceback can be understood without its folders."""
    names = Counter(path.name for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
    assert not [name for name, n_files in names.items() if n_files > 1]
