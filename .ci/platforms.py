"""Ask whether wheels of all requirements exist for each supported Python and platform.

Run it with the extras to look at: ``python .ci/platforms.py cli dask``. It resolves the
requirements as pip would on the other machine, installs nothing, and prints one line for each
pair. What is missing is named.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
GLIBC = ("manylinux2014", *(f"manylinux_2_{minor}" for minor in (12, 17, 24, 26, 27, 28)))
PLATFORMS = {
    "Linux x86-64": [f"{glibc}_x86_64" for glibc in GLIBC],
    "Linux aarch64": [f"{glibc}_aarch64" for glibc in GLIBC],
    "macOS arm64": ["macosx_14_0_arm64"],
    "macOS x86-64": ["macosx_14_0_x86_64"],
    "Windows x86-64": ["win_amd64"],
    "Windows arm64": ["win_arm64"],
}


def resolve(requirements: list[str], python: str, tags: list[str]) -> tuple[list[str], str]:
    """Return the packages that pip would install, or none and what it says."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", "--target", folder, "--only-binary", ":all:"]
        command += ["--python-version", python, "--implementation", "cp"]
        command += [word for tag in tags for word in ("--platform", tag)]
        command += ["--report", f"{folder}/report.json", *requirements]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            return [], (errors or done.stderr.splitlines())[-1]
        found = json.loads(Path(folder, "report.json").read_text("utf-8"))["install"]
    return [f"{each['metadata']['name']} {each['metadata']['version']}" for each in found], ""


def main() -> int:
    """Print a line for each platform, Python and set of requirements; 1 if a required one fails."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))
    required = project["project"]["dependencies"]
    sets = {"required": required}
    for extra in sys.argv[1:]:
        sets[extra] = project["project"]["optional-dependencies"][extra]
    missing = 0
    for platform, tags in PLATFORMS.items():
        for python in PYTHONS:
            for name, requirements in sets.items():
                found, error = resolve(requirements, python, tags)
                missing += not found and name == "required"
                said = f"{len(found)} wheels" if found else error
                if early := [each for each in found if re.search(r"\d(a|b|rc)\d", each)]:
                    said += f", of which pre-releases: {', '.join(early)}"
                print(f"{platform}, Python {python}, {name}: {said}", flush=True)
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
