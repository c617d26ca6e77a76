"""The names of methods and the hashers that they stand for, for the page of all methods."""

from pathlib import Path

from sklearn_hashrank.comparison._method_table import GROUPS, METHODS


def write_table(path: Path) -> None:
    """Write the table in reStructuredText. It needs torch, for the names of networks."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 18 42 40", ""]
    lines += row("name", "hasher", "what it does")
    for group in GROUPS:
        for name, method in METHODS.items():
            if method.group == group:
                hasher = " ".join(repr(method.hasher).split())
                lines += row(f"``{name}``", f"``{hasher}``", method.line)
    content = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != content:
        path.write_text(content)


def row(first: str, *others: str) -> list[str]:
    """Lines of a row of a list-table."""
    return [f"   * - {first}", *(f"     - {other}" for other in others)]
