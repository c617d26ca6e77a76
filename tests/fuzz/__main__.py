"""``make fuzz``: corrupted files, each reader in its own process; kills; searches; shards."""

import argparse
import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_MEMORY = 6 << 30  # bytes of addresses for one process: what asks for more is refused
_COMMAND_LINES = 20  # of each reader and each thousand of its cases


ROOT = Path(__file__).parents[2]


def main() -> int:
    """Run all readers, or, in a child process, one of them."""
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=80_000, help="corrupted files, of all readers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--crashes", type=int, default=12, help="kills of each command")
    parser.add_argument(
        "--outputs", type=int, default=2000, help="commands whose outputs may be their inputs"
    )
    parser.add_argument(
        "--indexes", type=int, default=34_000, help="indexes that are searched three times each"
    )
    parser.add_argument("--shards", type=int, default=10_000, help="sums of two histograms")
    parser.add_argument(
        "--crafted", type=int, default=20_000, help="hasher files with crafted values"
    )
    parser.add_argument("--craft", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--searched", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--reader", help=argparse.SUPPRESS)
    parser.add_argument("--command", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader is not None:
        print(json.dumps(_read(options.reader, options.cases, options.seed)))
        return 0
    if options.command is not None:
        print(json.dumps(_kill(options.command, options.crashes, options.seed)))
        return 0
    if options.searched is not None:
        from .searches import fuzz_searches

        print(json.dumps(fuzz_searches(options.searched, options.seed, options.first)))
        return 0
    if options.craft is not None:
        from .crafted import fuzz_crafted

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        print(json.dumps(fuzz_crafted(options.craft, options.seed, options.first)))
        return 0
    failed = _read_all(options) if options.cases else 0
    failed += _in_jobs(options, "--craft", options.crafted, "crafted hasher files")
    failed += _kill_all(options) if options.crashes else 0
    failed += _write_over(options) if options.outputs else 0
    failed += _in_jobs(options, "--searched", options.indexes, "searches, by the kind of mask")
    failed += _add_all(options) if options.shards else 0
    return bool(failed)


def _read_all(options: argparse.Namespace) -> int:
    from .readers import READERS

    start = time.monotonic()
    per_reader = -(-options.cases // len(READERS))
    with ThreadPoolExecutor(options.jobs) as pool:
        words = ["--cases", str(per_reader), "--seed", str(options.seed)]
        children = [pool.submit(_child, "--reader", r.name, *words) for r in READERS]
    columns = ("refused", "the same", "as it says", "by the command")
    print(f"{'':24}" + "".join(f"{column:>16}" for column in columns))
    total, failed = 0, 0
    for reader, child in zip(READERS, children):
        counts, error = child.result()
        total += sum(counts[column] for column in columns[:3])
        print(f"{reader.name:24}" + "".join(f"{counts[column]:16,}" for column in columns))
        if error:
            failed += 1
            print(error)
    print(f"{total:,} corrupted files in {time.monotonic() - start:.0f} s, {failed} readers failed")
    return failed


def _kill_all(options: argparse.Namespace) -> int:
    from .crashes import COMMANDS

    failed = 0
    for name in COMMANDS:
        words = ["--crashes", str(options.crashes), "--seed", str(options.seed)]
        counts, error = _child("--command", name, *words)
        said = ", ".join(f"{counts[state]} {state}" for state in ("absent", "in part", "whole"))
        print(f"{name + ', killed':24}{said}")
        if error:
            failed += 1
            print(error)
    return failed


def _write_over(options: argparse.Namespace) -> int:
    from .outputs import fuzz_outputs

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        counts = fuzz_outputs(options.outputs, options.seed)
    print(f"outputs over inputs     {counts['refused']} refused, {counts['written']} elsewhere")
    return 0


def _in_jobs(options: argparse.Namespace, option: str, n_cases: int, what: str) -> int:
    """Share cases among children; print what came of them, and return how many children failed."""
    if not n_cases:
        return 0
    start = time.monotonic()
    per_job = -(-n_cases // options.jobs)
    words = [option, str(per_job), "--seed", str(options.seed)]
    with ThreadPoolExecutor(options.jobs) as pool:
        firsts = [str(job * per_job) for job in range(options.jobs)]
        children = [pool.submit(_child, *words, "--first", first) for first in firsts]
    counts, errors = Counter(), []
    for child in children:
        of_job, error = child.result()
        counts += of_job
        errors += [error] if error else []
    said = ", ".join(f"{counts[kind]:,} {kind}" for kind in sorted(counts))
    seconds = time.monotonic() - start
    print(f"{counts.total():,} {what} ({said}) in {seconds:.0f} s, {len(errors)} jobs failed")
    for error in errors:
        print(error)
    return len(errors)


def _add_all(options: argparse.Namespace) -> int:
    from .shards import ShardError, fuzz_shards

    try:
        counts = fuzz_shards(options.shards, options.seed)
    except ShardError as error:
        print(error)
        return 1
    print(f"sums of shards: {counts['added']:,} added, {counts['refused']:,} refused")
    return 0


def _child(*arguments: str) -> tuple[Counter, str]:
    found = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        cwd=ROOT,
    )
    if found.returncode:
        return Counter(), f"exit code {found.returncode}: {found.stderr[-3000:]}"
    return Counter(json.loads(found.stdout)), ""


def _read(name: str, cases: int, seed: int) -> Counter:
    from .readers import READERS
    from .run import fuzz

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    [reader] = [reader for reader in READERS if reader.name == name]
    with tempfile.TemporaryDirectory() as folder:
        counts = fuzz(reader, cases, seed, Path(folder))
    if reader.command is not None:
        counts["by the command"] = command_lines(reader, cases * _COMMAND_LINES // 1000, seed)
    return counts


def _kill(name: str, kills: int, seed: int) -> Counter:
    import matplotlib.figure  # noqa: F401  so that the copies of this process need not load it

    from .crashes import crash

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return crash(name, kills, seed)


def command_lines(reader, cases: int, seed: int) -> int:
    """Read corrupted files by ``hashrank``: done, or refused in one line, and nothing left behind.

    Returns
    -------
    n_cases : int
    """
    from random import Random

    from sklearn_hashrank.cli import main as hashrank

    from .corruption import corrupted
    from .run import FuzzError

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, reader.file)
        reader.write(path)
        content, words = path.read_bytes(), [str(word) for word in reader.command(path)]
        output = words[words.index("--output") + 1] if "--output" in words else None
        names = set(os.listdir(folder))
        for case in range(cases):
            path.write_bytes(corrupted(content, Random(f"{reader.name} {seed} {case}")))
            err = io.StringIO()
            with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
                code = hashrank(words)
            errors = [line for line in err.getvalue().splitlines() if "hashrank: error: " in line]
            others = [line for line in err.getvalue().splitlines() if "hashrank: note: " in line]
            if code == 0 and output is not None:
                os.unlink(output)
            left = set(os.listdir(folder)) ^ names
            is_said = len(errors) == (code == 2) and err.getvalue().count("\n") == len(
                [*errors, *others]
            )
            if code not in (0, 2) or not is_said or left:
                raise FuzzError(f"case {case}: exit code {code}, left {left}: {err.getvalue()}")
    return cases


if __name__ == "__main__":
    sys.exit(main())
