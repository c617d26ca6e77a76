"""What a file imports, read from its source."""

import ast
import importlib
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
    found = importlib.import_module(module)
    if name in getattr(found, "__all__", ()):
        return True
    try:
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True
