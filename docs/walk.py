"""The files that a stranger reads to follow one call from rows to average precision.

``TALRLinear.fit``, ``transform`` and ``tie_aware_average_precision_score`` run once under a
profiler. It notes each call of a function of the package, in order, by the file that defines it;
kernels and what runs at import are left out. Three numbers tell how easy the walk is:

files
    how many files are visited;
switches
    how often a call goes to another file than the call before it;
steps back
    from how many files a call goes to a file that was visited earlier, each pair counted once.
    A walk without steps back is one-way: every file calls only files that come after it.

``python docs/walk.py`` prints the table. ``tests/contract/test_walk.py`` holds the three numbers.
"""

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import sklearn_hashrank
from sklearn_hashrank import TALRLinear
from sklearn_hashrank.metrics import tie_aware_average_precision_score

PACKAGE = Path(sklearn_hashrank.__file__).parent


class Call(NamedTuple):
    """One call: in which stage, from which file (None: from outside), to which file."""

    stage: str
    caller: str | None
    file: str
    function: str


class Walk:
    """The calls of a program, in order.

    Parameters
    ----------
    calls : list of Call
        Every call of a function of the package.
    """

    def __init__(self, calls: list[Call]):
        self.calls = calls
        self.files = list(dict.fromkeys(call.file for call in calls))

    @property
    def switches(self) -> int:
        """How often a call goes to another file than the call before it."""
        return sum(before.file != after.file for before, after in pairwise(self.calls))

    @property
    def steps_back(self) -> list[tuple[str, str]]:
        """Pairs of files, the first of which calls the second, which was visited earlier."""
        place = {file: number for number, file in enumerate(self.files)}
        pairs = dict.fromkeys((call.caller, call.file) for call in self.calls)
        return [(a, b) for a, b in pairs if a is not None and place[b] < place[a]]

    def table(self) -> list[tuple[str, str, str, int]]:
        """File, stage and function of its first visit, and number of calls, in order."""
        rows = []
        for file in self.files:
            calls = [call for call in self.calls if call.file == file]
            rows.append((file, calls[0].stage, calls[0].function, len(calls)))
        return rows


def file_of(frame: FrameType) -> str | None:
    """Path inside the package of the file that defines what a frame runs."""
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(PACKAGE) or path.is_relative_to(PACKAGE / "_kernels"):
        return None
    return path.relative_to(PACKAGE).as_posix()


def follow(stages: dict[str, Callable[[], Any]]) -> Walk:
    """Run functions one after the other and note every call inside the package."""
    calls: list[Call] = []

    def note(frame, event, argument):
        if event != "call" or not (file := file_of(frame)):
            return
        caller = frame.f_back
        while caller and not file_of(caller):
            caller = caller.f_back
        calls.append(Call(stage, caller and file_of(caller), file, frame.f_code.co_qualname))

    before = sys.getprofile()
    for stage, run in stages.items():  # noqa: B007, `note` reads it
        sys.setprofile(note)
        try:
            run()
        finally:
            sys.setprofile(before)
    return Walk(calls)


def from_rows_to_average_precision() -> Walk:
    """Follow learning, encoding and evaluation on a few rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), rng.integers(0, 3, 60)
    hashers: list[TALRLinear] = []

    def fit():
        hashers.append(TALRLinear(8, max_iter=2, random_state=0).fit(X, y))

    def transform():
        return hashers[-1].transform(X)

    def score():
        return tie_aware_average_precision_score(y, codes)

    stages: dict[str, Callable[[], Any]] = {
        "fit": fit,
        "transform": transform,
        "average precision": score,
    }
    fit()  # what is imported or compiled at first use is not part of the walk
    codes = transform()
    score()
    return follow(stages)


def write_table(path: Path) -> None:
    """Write the walk in reStructuredText."""
    walk = from_rows_to_average_precision()
    lines = [f"{len(walk.files)} files, {walk.switches} switches between them, "]
    lines[0] += f"{len(walk.steps_back)} steps back."
    lines += ["", ".. list-table::", "   :header-rows: 1", ""]
    for row in (("file", "stage", "first function", "calls"), *walk.table()):
        first, *rest = (str(cell) for cell in row)
        lines += [f"   * - {first}", *(f"     - {cell}" for cell in rest)]
    content = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != content:
        path.write_text(content)


if __name__ == "__main__":
    walk = from_rows_to_average_precision()
    for row in walk.table():
        print("{:42s} {:18s} {:44s} {:4d}".format(*row))
    print(f"{len(walk.files)} files, {walk.switches} switches, {len(walk.steps_back)} steps back:")
    for caller, file in walk.steps_back:
        print(f"   {caller} calls {file}")
