"""The README of a package index: its relative links lead to the repository named in pyproject.toml.

Everything else is in pyproject.toml, which cannot change the text of a file.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent


def absolute_links(markdown: str, repository: str) -> str:
    """Let relative links of a page lead to files of a repository, and pictures to their bytes."""
    relative = r"(?!https?:|#)([^)\s]+)"
    pictures = re.sub(rf"(!\[[^\]]*\]\(){relative}", rf"\1{repository}/raw/main/\2", markdown)
    return re.sub(rf"((?<!!)\[[^\]]*\]\(){relative}", rf"\1{repository}/blob/main/\2", pictures)


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    readme = (ROOT / "README.md").read_text("utf-8")
    setup(
        long_description=absolute_links(readme, project["urls"]["Source"]),
        long_description_content_type="text/markdown",
    )
