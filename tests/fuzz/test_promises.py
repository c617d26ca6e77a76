"""Every test that the page of promises names is there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = sorted(
    set(
        name
        for page in ("docs/reference/promises.rst", "SECURITY.md")
        for name in re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", (ROOT / page).read_text())
    )
)


def test_every_promise_has_its_test():
    assert len(NAMED) > 20
    for name in NAMED:
        path, _, function = name.partition("::")
        tree = ast.parse((ROOT / path).read_text())
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function in names if function else any(each.startswith("test_") for each in names)
