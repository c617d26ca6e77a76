"""The files that a row of data visits on its way from features to average precision.

``TALRLinear.fit``, ``transform`` and ``tie_aware_average_precision_score`` run once under a
profiler. It notes, in order, each file of the package in which a function is called, and the first
function that is called there. Kernels and what runs at import are left out.

``python docs/walk.py`` prints the walk, and the architecture page shows it.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import sklearn_hashrank
from sklearn_hashrank import TALRLinear
from sklearn_hashrank.metrics import tie_aware_average_precision_score

PACKAGE = Path(sklearn_hashrank.__file__).parent


class Visit(NamedTuple):
    """A file, the stage that visits it first, the function called there, and what the file does."""

    file: str
    stage: str
    function: str
    purpose: str


def follow(stages: dict[str, Callable[[], Any]]) -> list[Visit]:
    """Run functions one after the other and note which files of the package they visit."""
    visits: dict[str, Visit] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event != "call" or not path.is_relative_to(PACKAGE):
            return
        file = path.relative_to(PACKAGE).as_posix()
        if file not in visits and not file.startswith("_kernels/"):
            function = frame.f_code.co_qualname
            visits[file] = Visit(file, stage, function, first_line(frame.f_globals["__doc__"]))

    before = sys.getprofile()
    for stage, run in stages.items():  # noqa: B007, `note` reads it
        sys.setprofile(note)
        try:
            run()
        finally:
            sys.setprofile(before)
    return list(visits.values())


def first_line(docstring: str | None) -> str:
    """Return what a module says of itself."""
    return re.sub("`+", "``", (docstring or "").partition("\n")[0])


def from_rows_to_average_precision() -> list[Visit]:
    """Follow learning, encoding and evaluation on a few rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), rng.integers(0, 3, 60)
    hasher = TALRLinear(8, max_iter=2, random_state=0)
    codes = hasher.fit(X, y).transform(X)
    tie_aware_average_precision_score(y, codes)  # now all is imported and compiled
    return follow(
        {
            "fit": lambda: hasher.fit(X, y),
            "transform": lambda: hasher.transform(X),
            "average precision": lambda: tie_aware_average_precision_score(y, codes),
        }
    )


def write_table(path: Path) -> None:
    """Write the walk in reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 14 28 28 30", ""]
    lines += ["   * - stage", "     - file", "     - first function", "     - what the file is for"]
    for file, stage, function, purpose in from_rows_to_average_precision():
        name = function.replace(".<locals>", "").replace(".<lambda>", "")
        lines += [
            f"   * - {stage}",
            f"     - ``{file}``",
            f"     - ``{name}``",
            f"     - {purpose}",
        ]
    content = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != content:
        path.write_text(content)


if __name__ == "__main__":
    for visit in from_rows_to_average_precision():
        print("{1:18s} {0:36s} {2:46s} {3}".format(*visit))
