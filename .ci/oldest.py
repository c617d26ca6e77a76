"""Print pip constraints that pin every requirement of pyproject.toml to its lower bound."""

import re
import tomllib
from pathlib import Path

config = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))
extras = config["project"]["optional-dependencies"].values()
groups = config["dependency-groups"].values()
for requirements in (config["project"]["dependencies"], *extras, *groups):
    for requirement in filter(lambda each: isinstance(each, str), requirements):
        if bound := re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement):
            print(f"{bound[1]}=={bound[2]}")
