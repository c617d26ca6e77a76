"""Show how far long work is: one bar on a terminal, lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[Any, int, int], None]


@contextmanager
def show_progress(quiet: bool) -> Iterator[Progress | None]:
    """Give a function that long work calls as ``progress(done, n_done, n_total)``."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield _print_line
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        yield _print_line
        return
    console = Console(stderr=True, highlight=False, markup=False)
    columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def advance(done: Any, n_done: int, n_total: int) -> None:
            console.print(str(done))
            bar.update(task, completed=n_done, total=n_total)

        yield advance


def _print_line(done: Any, n_done: int, n_total: int) -> None:
    print(f"[{n_done}/{n_total}] {done}", file=sys.stderr, flush=True)
