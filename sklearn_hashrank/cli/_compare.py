"""``hashrank compare``."""

import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from ..comparison import METHODS, Comparison, compare, method_from_name
from ._arguments import lengths, positive, words
from ._data import add_data_options, load_data
from ._errors import UsageError
from ._progress import Lines, make_progress

_EPILOG = """\
examples:
  hashrank compare --data digits
  hashrank compare --data images.npz --methods lsh,itq,talr-ap:alpha=3 --bits 16,32 --seeds 5
  hashrank compare --data items.csv --label-column class --queries 20 --training 100 --n-jobs 4

Every finished run is kept in OUTPUT/runs. The same command again runs only what is missing; a run
is read from there only where data, split, method, parameters, bits, seed and versions are the same.
"""


def add_command(commands: Any) -> None:
    """Add ``compare`` to the commands."""
    parser = commands.add_parser(
        "compare",
        help="fit, encode and evaluate methods under one protocol, and write a report",
        description="Fit, encode and evaluate methods under one protocol, and write an HTML "
        "report, a CSV file of all runs, and Markdown and LaTeX tables.",
        epilog=_EPILOG,
    )
    add_data_options(parser)
    parser.add_argument(
        "--methods",
        type=words,
        default="lsh,itq,rsh,lwh,talr-ap,talr-ndcg",
        metavar="NAME,...",
        help=f"among {', '.join(METHODS)}; each may be followed by :parameter=value "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--bits",
        type=lengths,
        default="12,24,32,48",
        metavar="N,...",
        help="code lengths (default: %(default)s)",
    )
    parser.add_argument(
        "--seeds",
        type=positive,
        default=3,
        metavar="N",
        help="how many times splits are drawn (default: %(default)s)",
    )
    parser.add_argument("--n-jobs", type=int, metavar="N", help="runs at a time (default: 1)")
    parser.add_argument(
        "--output",
        default="hashrank-results",
        metavar="DIR",
        help="folder for report, tables and finished runs (default: %(default)s)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress, no tables")
    parser.set_defaults(run=_run)


def _run(options: Namespace, arguments: list[str]) -> int:
    methods = {name: method_from_name(name) for name in options.methods}
    rows = load_data(options)
    folder = _make_folder(options.output)
    command = shlex.join(["hashrank", *arguments])
    with make_progress(options.quiet) as progress:
        try:
            comparison = compare(
                rows.X,
                rows.y,
                methods=methods,
                n_bits=options.bits,
                seeds=options.seeds,
                protocol=None,
                name=options.data,
                store=folder / "runs",
                n_jobs=options.n_jobs,
                progress=progress,
                command=command,
            )
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(_how_to_resume(progress, folder)) from interrupt
    return _write(comparison, folder, options.quiet)


def _write(comparison: Comparison, folder: Path, quiet: bool) -> int:
    paths = comparison.write(folder)
    if not quiet:
        print(comparison.to_markdown())
        for kind in ("csv", "markdown", "latex"):
            print(f"{kind}: {paths[kind]}")
    print(f"report: {paths['report']}")
    failures = comparison.failures
    if failures:
        print(
            f"hashrank: {len(failures)} of {len(comparison.results)} runs failed; "
            "the report says why",
            file=sys.stderr,
        )
    return 1 if failures else 0


def _how_to_resume(progress: Lines, folder: Path) -> str:
    return (
        f"interrupted: {progress.n_done} of {progress.n_runs or '?'} runs are kept in "
        f"{folder / 'runs'}; the same command again does the rest"
    )


def _make_folder(path: str) -> Path:
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{path} is a file: --output must name a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
