"""SIGKILL and SIGTERM at random points of commands: every file that is there is whole."""

import contextlib
import csv
import io
import json
import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from sklearn_hashrank.cli import main as hashrank
from sklearn_hashrank.comparison._run_store import RunStore

_TIMES = ("fit_seconds", "encode_microseconds")


class Command(NamedTuple):
    """Words of a command, and what it makes as something that a second run must give again."""

    words: str
    output: str = ""
    content: Callable[[Path], Any] = Path.read_bytes


def _without_times(path: Path) -> dict[str, Any]:
    """Everything in a folder of results but the times, after a look at whether it is whole."""
    found: dict[str, Any] = {}
    for file in sorted(path.rglob("*")):
        content = file.read_bytes() if file.is_file() and file.suffix != ".partial" else b""
        if file.parent.name == "runs" and content:
            record = RunStore(file.parent).load(file.stem)
            assert record is not None, f"{file} is not whole"
            scores = {k: v for k, v in record.scores.items() if k not in _TIMES}
            found[file.name] = json.dumps([scores, record.curves])
        elif file.name == "runs.csv":
            rows = csv.DictReader(io.StringIO(content.decode()))
            found[file.name] = [{k: v for k, v in row.items() if k not in _TIMES} for row in rows]
            assert len(found[file.name]) == 4, "runs.csv is not whole"
        elif file.name == "report.html":
            assert content.endswith(b"</html>\n"), "report.html is not whole"
            found[file.name] = "whole"
        elif content:
            found[file.name] = "whole"
    return found


COMMANDS = {
    "fit": Command("fit --data d.npz --method talr-ap:max_iter=5 --bits 8 --output m.npz", "m.npz"),
    "encode": Command("encode --model model.npz --data X.npy --output c.npy", "c.npy"),
    "search": Command(
        "search --database codes.npy --queries codes.npy -k 5 --output f.npz", "f.npz"
    ),
    "compare": Command(
        "compare --data d.npz --methods lsh,itq:max_iter=5 --bits 8,12 --seeds 1 --queries 5 "
        "--training 20 --quiet --output found",
        "found",
        _without_times,
    ),
}


def crash(name: str, kills: int, seed: int) -> Counter:
    """Kill a command many times, at any time, in the current folder, which must be empty.

    Returns
    -------
    counts : Counter
        How often the output was ``"whole"``, ``"absent"``, or, of a folder, ``"in part"``: some
        files were there, every one of them whole.
    """
    command, random = COMMANDS[name], Random(f"{name} {seed}")
    _write_inputs()
    inputs = {path.name for path in Path.cwd().iterdir()}
    output = Path(command.output)
    start = time.monotonic()
    assert _wait(_start(command)) == 0
    duration = time.monotonic() - start
    reference = command.content(output)
    counts: Counter = Counter()
    for kill in range(kills):
        _remove(output)
        how = (signal.SIGKILL, signal.SIGTERM)[kill % 2]
        child = _start(command)
        time.sleep(random.uniform(0, 1.05 * duration))
        os.kill(child, how)
        code = _wait(child)
        left = {path for path in Path.cwd().iterdir() if path.name not in {*inputs, output.name}}
        assert all(path.suffix == ".partial" for path in left), left
        if how == signal.SIGTERM:  # which may come before the command listens, or when it is done
            assert code in (0, 143, -signal.SIGTERM), code
            assert code == -signal.SIGTERM or not left, left
        counts[_state(command, output, reference)] += 1
        for path in left:
            path.unlink()
        assert _wait(_start(command)) == 0
        again = command.content(output)
        assert again == reference, (
            f"a second run gave something else: {_differing(again, reference)}"
        )
    return counts


def _state(command: Command, output: Path, reference: Any) -> str:
    if not output.exists():
        return "absent"
    found = command.content(output)
    if found == reference:
        return "whole"
    assert isinstance(found, dict), f"half of {output} is there"
    assert all(reference[name] == part for name, part in found.items()), "a file differs"
    return "in part"


def _differing(found: Any, reference: Any) -> Any:
    """Names of the files of a folder that differ."""
    if not isinstance(found, dict):
        return "the file"
    return [name for name in {**found, **reference} if found.get(name) != reference.get(name)]


def _write_inputs() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = rng.normal(size=(40_000, 16))
    np.savez("d.npz", X=X[:240] + y[:, None], y=y)
    np.save("X.npy", X)
    np.save("few.npy", X[:4000])
    for words in (
        "fit --data few.npy --method lsh --output model.npz",
        "encode --model model.npz --data few.npy --output codes.npy",
    ):
        assert _wait(_start(Command(words))) == 0


def _start(command: Command) -> int:
    """Run a command in a copy of this process, which has compiled and loaded everything."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = hashrank(command.words.split())
    finally:
        os._exit(code)


def _wait(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
