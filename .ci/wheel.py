"""Try what the wheel alone can do, in an environment that has nothing else and outside the clone.

``make dist`` runs it with the Python of that environment. The blocks of the README are read
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
REPEATS = 9
MOST_OF_IMPORT = 1.15  # times sklearn.linear_model, which the package imports


def run(*command: str, folder: str) -> str:
    """Return what a command prints; end the script where it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout


def seconds_to_import(modules: tuple[str, ...], folder: str) -> list[float]:
    """Least processor times to import modules, less that of a process that imports nothing.

    The processes take turns, so that other work on the machine slows all of them.
    """
    codes = ("pass", *(f"import {module}" for module in modules))
    least = dict.fromkeys(codes, float("inf"))
    for _ in range(REPEATS):
        for code in codes:
            before = os.times()
            run(sys.executable, "-c", code, folder=folder)
            after = os.times()
            took = after.children_user - before.children_user
            took += after.children_system - before.children_system
            least[code] = min(took, least[code])
    nothing, *imports = least.values()
    return [each - nothing for each in imports]


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
        own, base = seconds_to_import(("sklearn_hashrank", "sklearn.linear_model"), folder)
        print(f"import sklearn_hashrank {own:.2f} s, sklearn.linear_model {base:.2f} s: ", end="")
        print(f"{own / base:.2f} times as long")
        if own > MOST_OF_IMPORT * base:
            sys.exit(f"an import may take {MOST_OF_IMPORT} times as long")


if __name__ == "__main__":
    main()
