"""The way of a row of data through the package, from features to average precision.

``TALRLinear.fit``, ``transform`` and ``tie_aware_average_precision_score`` run once under a
profiler. It notes each call of a function of the package, in order, by the file that defines it.
Kernels and what runs at import are left out. Two figures say how easy the way is to follow:

files
    how many files are visited;
rooms
    how many rooms are visited. A room is a folder or a module at the top of the package.

Between rooms the walk is one-way: every call stays in its room or goes to a room nearer the ground
in the table of layers (``docs/layers.py``). A function that a room hands over, for instance one
that ``_utils`` runs in threads, belongs to the room that handed it over: such a call is ascribed to
the nearest caller in the room of the function. ``Walk.handed_over`` lists these functions.

``python docs/walk.py`` prints the walk. The architecture page shows it, and
``tests/contract/test_walk.py`` holds the figures.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import sklearn_hashrank
from sklearn_hashrank import TALRLinear
from sklearn_hashrank.metrics import tie_aware_average_precision_score

sys.path.insert(0, str(Path(__file__).parent))

import layers

PACKAGE = Path(sklearn_hashrank.__file__).parent
HEIGHT = {room: height for height, (room, _) in enumerate(layers.LAYERS)}


class Call(NamedTuple):
    """One call: its stage, the files of all callers, the nearest first, and its function."""

    stage: str
    callers: tuple[str, ...]
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
        self.rooms = list(dict.fromkeys(map(room_of, self.files)))

    @property
    def handed_over(self) -> list[tuple[str, str, str]]:
        """Room that calls, room that is called, and function: what a room hands to a lower one."""
        found = {
            (room_of(call.callers[0]), room_of(call.file), call.function): None
            for call in self.calls
            if _goes_up(call) and _is_handed_over(call)
        }
        return list(found)

    @property
    def steps_up(self) -> list[tuple[str, str, str]]:
        """The same of functions that nobody handed over. A one-way walk has none."""
        found = {
            (room_of(call.callers[0]), room_of(call.file), call.function): None
            for call in self.calls
            if _goes_up(call) and not _is_handed_over(call)
        }
        return list(found)

    def table(self) -> list[tuple[str, str, str, str]]:
        """Room, stage and function of its first visit, and its files, in order."""
        rows = []
        for room in self.rooms:
            calls = [call for call in self.calls if room_of(call.file) == room]
            files = dict.fromkeys(call.file.removeprefix(f"{room}/") for call in calls)
            rows.append((room, calls[0].stage, calls[0].function, ", ".join(files)))
        return rows


def room_of(file: str) -> str:
    """Folder or module at the top of the package."""
    return file.partition("/")[0].removesuffix(".py")


def _goes_up(call: Call) -> bool:
    if not call.callers:  # from outside of the package
        return False
    return HEIGHT[room_of(call.file)] > HEIGHT[room_of(call.callers[0])]


def _is_handed_over(call: Call) -> bool:
    return room_of(call.file) in map(room_of, call.callers)


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
        if event == "call" and (file := file_of(frame)):
            callers = tuple(filter(None, map(file_of, _frames_above(frame))))
            calls.append(Call(stage, callers, file, frame.f_code.co_qualname))

    before = sys.getprofile()
    for stage, run in stages.items():  # noqa: B007, `note` reads it
        sys.setprofile(note)
        try:
            run()
        finally:
            sys.setprofile(before)
    return Walk(calls)


def _frames_above(frame: FrameType) -> list[FrameType]:
    frames = []
    while caller := frame.f_back:
        frames.append(caller)
        frame = caller
    return frames


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
    lines = [f"The call visits {len(walk.rooms)} rooms and {len(walk.files)} files, in this order:"]
    lines += ["", ".. list-table::", "   :header-rows: 1", "   :widths: 12 15 38 35", ""]
    lines += ["   * - room", "     - stage", "     - first function", "     - files"]
    for room, stage, function, files in walk.table():
        names = ", ".join(f"``{name}``" for name in files.split(", "))
        lines += [f"   * - ``{room}``", f"     - {stage}", f"     - ``{function}``"]
        lines += [f"     - {names}"]
    lines += ["", "Rooms nearer the ground call these functions, which they were handed:", ""]
    handed: dict[tuple[str, str], list[str]] = {}
    for caller, room, function in walk.handed_over:
        name = function.replace(".<locals>", "").replace(".<lambda>", "")
        handed.setdefault((caller, room), []).append(f"``{name}``")
    for (caller, room), names in handed.items():
        lines += [f"* ``{caller}`` calls {', '.join(names)} of ``{room}``;"]
    lines[-1] = lines[-1].removesuffix(";") + "."
    content = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != content:
        path.write_text(content)


if __name__ == "__main__":
    walk = from_rows_to_average_precision()
    for row in walk.table():
        print("{:12s} {:18s} {:44s} {}".format(*row))
    print(f"{len(walk.rooms)} rooms, {len(walk.files)} files, {len(walk.steps_up)} steps up.")
    for caller, room, function in walk.handed_over:
        print(f"   {caller} calls {function}, which {room} handed over")
