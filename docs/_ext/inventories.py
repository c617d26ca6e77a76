"""Inventories of other projects for intersphinx, with the names that our text refers to.

The documentation is built without a network. So the names come from the roles of our own pages
and docstrings, and the addresses from the pattern that each project has for its reference.
"""

import re
import zlib
from pathlib import Path

PROJECTS = {
    "sklearn": ("https://scikit-learn.org/stable", "modules/generated/{name}.html#{name}"),
    "numpy": ("https://numpy.org/doc/stable", "reference/generated/{name}.html#{name}"),
    "scipy": ("https://docs.scipy.org/doc/scipy", "reference/generated/{name}.html#{name}"),
    "joblib": ("https://joblib.readthedocs.io/en/stable", "generated/{name}.html#{name}"),
}
ROLE = re.compile(r":(class|func|meth|exc|attr|obj):`(?:[^`<]*<)?~?((\w+)\.[\w.]+)>?`")
KINDS = {
    "class": "class",
    "func": "function",
    "meth": "method",
    "exc": "exception",
    "obj": "function",
}


def write(folder: Path, sources: list[Path]) -> dict[str, tuple[str, str]]:
    """Write an inventory per project, and return the mapping that intersphinx reads."""
    found = {name: set() for name in PROJECTS}
    for source in sources:
        for role, name, project in ROLE.findall(source.read_text("utf-8")):
            if project in found:
                found[project].add((name, KINDS.get(role, "attribute")))
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (address, page) in PROJECTS.items():
        lines = [
            f"{name} py:{kind} 1 {page.format(name=_page_of(name, kind)).split('#')[0]}#{name} -\n"
            for name, kind in sorted(found[project])
        ]
        head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
        head += "# The remainder of this file is compressed using zlib.\n"
        (folder / f"{project}.inv").write_bytes(
            head.encode() + zlib.compress("".join(lines).encode())
        )
        mapping[project] = (address, str(folder / f"{project}.inv"))
    return mapping


def _page_of(name: str, kind: str) -> str:
    return name.rpartition(".")[0] if kind in ("method", "attribute") else name
