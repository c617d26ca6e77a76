"""Do the runs of a comparison in processes, and keep what is finished."""

import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from .._utils.processes import for_workers
from ._provenance import describe_machine
from ._run_store import RunStore
from ._runner import Evaluation, Run, RunResult, execute

Progress = Callable[[RunResult, int, int], None]


def execute_all(
    runs: list[Run],
    X: Any,
    y: Any,
    evaluation: Evaluation,
    store: str | Path | None,
    n_jobs: int | None,
    progress: Progress | None,
) -> list[RunResult]:
    """Do the runs that are not in the store, and return the results of all, in order."""
    kept = RunStore(None if store is None else Path(store))
    results: dict[int, RunResult] = {}

    def finish(index: int, result: RunResult) -> None:
        results[index] = result
        if progress is not None:
            progress(result, len(results), len(runs))

    at_a_time = effective_n_jobs(n_jobs)
    machine = f"{describe_machine()}, {at_a_time} run{'s' if at_a_time > 1 else ''} at a time"
    for index, run in enumerate(runs):
        if (found := kept.load(run.key)) is not None:
            finish(index, replace(found, method=run.method))
    pending = [index for index in range(len(runs)) if index not in results]
    with _interrupts_ignored():  # by the workers, which inherit it: one traceback is enough
        executed = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(for_workers(_execute))(index, runs[index], X, y, evaluation)
            for index in pending
        )
    try:
        for index, result in executed:
            result = replace(result, machine=machine)
            kept.save(runs[index].key, result)
            finish(index, result)
    except BaseException:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that joblib cancels what is still running
            executed.close()
        raise
    return [results[index] for index in range(len(runs))]


def _execute(index: int, run: Run, X: Any, y: Any, evaluation: Evaluation) -> tuple[int, RunResult]:
    return index, execute(run, X, y, evaluation)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C for a moment, and for good in processes that are started meanwhile."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
