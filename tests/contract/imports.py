"""What a file imports, read from its source."""

import ast
import importlib
import importlib.util
from pathlib import Path
from typing import NamedTuple


class Import(NamedTuple):
    """One imported name: the absolute module, the name in it, and whether at the top level."""

    module: str
    name: str
    at_top: bool

    @property
    def path(self):
        return f"{self.module}.{self.name}" if self.name else self.module


def imports_of(source, package=()):
    """Imports of the source of a module in a package, given as the parts of its name."""
    tree = ast.parse(source)
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, "", id(node) in top)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(module, alias.name, id(node) in top)


def private_parts(path):
    return [part for part in path.split(".") if part.startswith("_") and part != "__version__"]


def declared(module, name):
    """Whether a module says in ``__all__`` that a name is public, or the name is a module."""
    if name in public_names(module):
        return True
    try:
        return importlib.util.find_spec(f"{module}.{name}") is not None
    except ModuleNotFoundError:  # the module is no package
        return False


def public_names(module):
    """``__all__`` of a module, also where a package that it needs is not installed."""
    try:
        return getattr(importlib.import_module(module), "__all__", ())
    except ImportError:
        source = Path(importlib.util.find_spec(module).origin).read_text()
    assigned = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    return next(ast.literal_eval(each.value) for each in assigned if is_all(each.targets[0]))


def is_all(target):
    """Whether an assignment is to ``__all__``."""
    return isinstance(target, ast.Name) and target.id == "__all__"
