"""Show how far long work is: one bar on a terminal, lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int, str], None]


@contextmanager
def show_progress(quiet: bool) -> Iterator[Progress | None]:
    """Give what :func:`compare` calls as ``progress(n_done, n_total, text)``."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield _print_line
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
    except ImportError:
        yield _print_line
        return
    console = Console(stderr=True, highlight=False, markup=False)
    columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def advance(n_done: int, n_total: int, text: str) -> None:
            console.print(text)
            bar.update(task, completed=n_done, total=n_total)

        yield advance


def _print_line(n_done: int, n_total: int, text: str) -> None:
    print(f"[{n_done}/{n_total}] {text}", file=sys.stderr, flush=True)
