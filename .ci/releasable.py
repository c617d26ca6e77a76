"""Say what stands in the way of a release: ``python .ci/releasable.py v0.1.0``."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def obstacles(tag: str) -> list[str]:
    """Return a line for each thing that still has to be done before `tag` can be published."""
    found = []
    source = (ROOT / "sklearn_hashrank" / "__init__.py").read_text("utf-8")
    version = ast.literal_eval(re.findall(r"^__version__ = (.*)$", source, re.M)[0])
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, the version of sklearn_hashrank/__init__.py {version}")
    if f"\nversion: {version}\n" not in (ROOT / "CITATION.cff").read_text("utf-8"):
        found.append(f"CITATION.cff has another version than {version}")
    heading = rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$"
    if not re.search(heading, (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M):
        found.append(f"CHANGELOG.md has no heading '## {version} (year-month-day)'")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    placeholders = [*project["urls"].values(), *(each["email"] for each in project["authors"])]
    found += [
        f"{each} in pyproject.toml is a placeholder"
        for each in placeholders
        if "example.org" in each
    ]
    return found


if __name__ == "__main__":
    found = obstacles(sys.argv[1])
    print(*found, sep="\n")
    sys.exit(bool(found))
