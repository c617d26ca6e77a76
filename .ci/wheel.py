"""Try what the wheel alone can do, in an environment that has nothing else and outside the clone.

``make test-wheel`` runs it with the Python of that environment. The blocks of the README are read
from the metadata of the installed package, as a package index shows them.
"""

import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import metadata
from pathlib import Path

import numpy as np

PROGRAM = Path(sys.executable).parent / "hashrank"
REPEATS = 5


def run(*command: str, folder: str) -> str:
    """Return what a command prints; end the script where it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout


def seconds(module: str, folder: str) -> float:
    """Least processor time to import a module, less that of a process that imports nothing."""
    times = {}
    for code in ("pass", f"import {module}"):
        for _ in range(REPEATS):
            before = os.times()
            run(sys.executable, "-c", code, folder=folder)
            after = os.times()
            took = after.children_user - before.children_user
            took += after.children_system - before.children_system
            times[code] = min(took, times.get(code, took))
    return times[f"import {module}"] - times["pass"]


def main() -> None:
    """Import, run the README, compare methods."""
    with tempfile.TemporaryDirectory() as folder:
        where = run(
            sys.executable, "-c", "import sklearn_hashrank as s; print(s.__file__)", folder=folder
        )
        assert "site-packages" in where, where
        print(run(str(PROGRAM), "--version", folder=folder), end="")
        readme = metadata("sklearn-hashrank").get_payload()
        blocks = re.findall(r"^```python\n(.*?)^```$", readme, re.M | re.S)
        assert blocks
        for block in blocks:
            print(run(sys.executable, "-W", "error", "-c", block, folder=folder), end="")
        np.save(Path(folder) / "tiny.npy", np.random.default_rng(0).normal(size=(1200, 8)))
        options = ["--methods", "lsh,itq,talr-ap", "--bits", "4,8", "--seeds", "1", "--output", "o"]
        run(
            str(PROGRAM),
            "compare",
            "--data",
            "tiny.npy",
            "--neighbors",
            "5",
            *options,
            folder=folder,
        )
        assert (Path(folder) / "o" / "report.html").exists()
        own, base = (seconds(each, folder) for each in ("sklearn_hashrank", "sklearn.linear_model"))
        print(f"import sklearn_hashrank {own:.2f} s, sklearn.linear_model {base:.2f} s: ", end="")
        print(f"{own / base:.2f} times as long")


if __name__ == "__main__":
    main()
