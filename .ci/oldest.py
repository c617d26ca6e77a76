"""Print pip constraints that pin every requirement of setup.cfg to its lower bound."""

import configparser
import re
from pathlib import Path

config = configparser.ConfigParser()
config.read(Path(__file__).parent.parent / "setup.cfg")
required = config["options"]["install_requires"]
optional = "".join(config["options.extras_require"].values())
for name, version in re.findall(r"^([\w-]+)(?:\[.*\])?>=([\d.]+)$", required + optional, re.M):
    print(f"{name}=={version}")
