"""Show the progress of a comparison: a bar on a terminal, lines elsewhere."""

import math
import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ..comparison._columns import Column
from ..comparison._runner import RunResult

_SECONDS_BETWEEN_LINES = 10


@dataclass
class _Fit:
    """When a fit was first heard of, and after how many iterations; how many it has now."""

    start: float
    n_before: int
    n_now: int
    last_line: float


class Lines:
    """Print a line for each finished run to standard error, with its score of one column."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.n_done = self.n_runs = self.n_failed = self._n_new = 0
        self._end_of_first = 0.0
        self._fits: dict[tuple[str, int, int], _Fit] = {}  # at work, by method, bits and seed

    def __enter__(self) -> "Lines":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __call__(self, result: RunResult, n_done: int, n_runs: int) -> None:
        """Count a finished run and show its line."""
        self.n_done, self.n_runs = n_done, n_runs
        self.n_failed += bool(result.error)
        self._n_new += not result.kept
        if self._n_new == 1 and not result.kept:
            self._end_of_first = time.monotonic()
        self._fits.pop((result.method, result.n_bits, result.seed), None)
        self.show(f"[{n_done}/{n_runs}] {describe(result, self.column)}{self._time_left()}")

    def iteration(self, method: str, n_bits: int, seed: int, n_done: int, max_iter: int) -> None:
        """Show how far a long fit is, every ten seconds; of several, one after the other."""
        key, now = (method, n_bits, seed), time.monotonic()
        fit = self._fits.get(key)
        if fit is None or n_done < fit.n_now:  # an estimator may be fitted several times
            self._fits[key] = _Fit(now, n_done, n_done, now)
            return
        fit.n_now = n_done
        wait = _SECONDS_BETWEEN_LINES * len(self._fits)
        if n_done == fit.n_before or now - fit.last_line < wait:
            return
        fit.last_line = now
        left = (now - fit.start) / (n_done - fit.n_before) * (max_iter - n_done)
        bits = f", {n_bits} bits" if n_bits else ""
        what = f"{method}{bits}, seed {seed}: iteration {n_done} of at most {max_iter}"
        self.tell(f"{what}{_about(left)} of this fit left")

    def tell(self, text: str) -> None:
        """Print where a fit is."""
        self.show(text)

    def _time_left(self) -> str:
        """Guess from the runs that were done, but those that were kept and the first.

        The first compiles kernels, which may take longer than all runs.
        """
        n_left, n_timed = self.n_runs - self.n_done, self._n_new - 1
        if not n_left or n_timed < 1:
            return ""
        seconds = time.monotonic() - self._end_of_first
        return f"{_about(seconds / n_timed * n_left)} left"

    def show(self, line: str) -> None:
        """Print a line."""
        print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Do nothing; a bar closes here."""


class Quiet(Lines):
    """Count the runs without printing, for ``--quiet``."""

    def show(self, line: str) -> None:
        """Print nothing."""


class Bar(Lines):
    """Show a live bar, made by rich, below the lines."""

    def __init__(self, column: Column) -> None:
        super().__init__(column)
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._progress: Any = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            "runs, elapsed",
            TimeElapsedColumn(),
            "left",
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True, highlight=False, markup=False),
            transient=True,
        )
        self._task = self._progress.add_task("", total=None)
        self._progress.start()

    def show(self, line: str) -> None:
        """Print a line above the bar, and move the bar."""
        self._progress.console.print(line)
        done = {"completed": self.n_done, "total": self.n_runs}
        self._progress.update(self._task, description="", **done)

    def tell(self, text: str) -> None:
        """Show behind the bar where a fit is."""
        self._progress.update(self._task, description=text)

    def close(self) -> None:
        """Remove the bar."""
        self._progress.stop()


def make_progress(quiet: bool, column: Column) -> Lines:
    """Return a bar on a terminal where rich is installed, else lines."""
    if quiet:
        return Quiet(column)
    if sys.stderr.isatty():
        try:
            return Bar(column)
        except ImportError:
            pass
    return Lines(column)


def _about(seconds: float) -> str:
    return f"; about {seconds:.0f} s" if seconds < 100 else f"; about {seconds / 60:.0f} min"


def describe(result: RunResult, column: Column) -> str:
    """Describe a finished run in one line."""
    what = f"{result.method}, {result.n_bits} bits, seed {result.seed}: "
    if result.error:
        return f"{what}failed: {result.error}"
    score, seconds = result.scores[column.name], result.scores["fit_seconds"]
    how = "given" if math.isnan(seconds) else f"trained in {seconds:.2g} s"
    how = "kept from an earlier run" if result.kept else how
    return f"{what}{column.title} {score:.3f}, {how}"
