"""Show how far long work is: one bar on a terminal, lines elsewhere."""

import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from ._messages import say

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


class _LastLine(io.TextIOBase):
    """Keeps the last line that is written to it."""

    text = ""

    def write(self, text: str) -> int:
        self.text = text.strip() or self.text
        return len(text)


@contextmanager
def heartbeat(what: str, seconds: float = 15) -> Iterator[None]:
    """Say now and then how long work has taken, with the last line that it printed."""
    start, done, last = time.monotonic(), threading.Event(), _LastLine()

    def tell() -> None:
        while not done.wait(seconds):
            said = f", {last.text}" if last.text else ""
            say(f"{what}: {time.monotonic() - start:.0f} s{said}")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        with redirect_stdout(last):
            yield
    finally:
        done.set()
        thread.join()
