"""How far the fits of a comparison are that go on in other processes, by files between them."""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from types import TracebackType

from .._utils.callbacks import Watcher

_SECONDS_BETWEEN_LOOKS = 1.0

Report = Callable[[int, int, int], None]


class FitsAtWork:
    """Report the iterations of runs in other processes, from a thread of this one.

    Each run appends a line to a file of its own at most once a second, and the thread reads the
    last lines. That needs nothing of joblib's backends but a folder that both sides see.

    Parameters
    ----------
    report : callable
        Called as ``report(number of the run, n_done, max_iter)`` when a fit has gone on.
    """

    def __init__(self, report: Report):
        self._report = report
        self._folder = tempfile.TemporaryDirectory(prefix="hashrank-")
        self._last: dict[str, str] = {}
        self._ended, self._thread = Event(), Thread(target=self._look_on, daemon=True)
        self._error: BaseException | None = None

    @property
    def folder(self) -> str:
        """Where the runs write."""
        return self._folder.name

    def __enter__(self) -> "FitsAtWork":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._folder.cleanup()
        if self._error is not None and error is None:
            raise self._error

    def _look_on(self) -> None:
        try:
            while not self._ended.wait(_SECONDS_BETWEEN_LOOKS):
                self._look()
        except BaseException as error:  # raised where the comparison is
            self._error = error

    def _look(self) -> None:
        for path in sorted(Path(self.folder).iterdir(), key=lambda path: int(path.name)):
            whole, _, _ = path.read_text().rpartition("\n")  # the last line may not be complete
            line = whole.rpartition("\n")[2]
            if line and line != self._last.get(path.name):
                self._last[path.name] = line
                n_done, max_iter = map(int, line.split())
                self._report(int(path.name), n_done, max_iter)


def note_iterations(folder: str, number: int) -> Watcher | None:
    """Return what a run calls after each iteration of its fits.

    Parameters
    ----------
    folder : str
        That of the comparison.
    number : int
        The number of the run.

    Returns
    -------
    watcher : callable or None
        None where this machine does not have the folder.
    """
    if not os.path.isdir(folder):
        return None
    path, last = os.path.join(folder, str(number)), float("-inf")

    def note(n_done: int, max_iter: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LOOKS:
            last = now
            with (
                contextlib.suppress(FileNotFoundError),  # the comparison was interrupted
                open(path, "a") as file,
            ):
                file.write(f"{n_done} {max_iter}\n")

    return note
