"""Threads over rows: cut rows into slices, and work on several slices at a time.

Kernels release the GIL and work on slices of rows, in threads of :mod:`concurrent.futures` that the
package keeps: joblib looks after its threads every 10 ms, which is longer than most searches. Where
a joblib backend was asked for by :obj:`joblib.parallel_config`, as it is in joblib's own workers,
joblib runs the slices.

Loops of small matrix products go the other way: :func:`one_blas_thread` keeps the threads of BLAS
out of them.
"""

import contextlib
import contextvars
import functools
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any, TypeVar

import joblib
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from threadpoolctl import ThreadpoolController

from .parameters import is_int

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Nanoseconds of work below which a slice is not worth a task, which takes some 30,000 to hand over.
_WORTH_A_TASK = 200_000
# More slices than threads, so that a thread whose core is busy elsewhere does fewer of them.
_TASKS_OF_A_THREAD = 4
# Blocks that do not depend on the number of threads. Fewer rows are one block: that is fastest.
_ROWS_OF_A_BLOCK, _FEWEST_ROWS_TO_CUT = 256, 1024

_here = threading.local()


def check_n_jobs(n_jobs: Any) -> None:
    if n_jobs is not None and (not is_int(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be an int other than 0, or None. Got {n_jobs!r} instead.")


def count_threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` asks for: 1 inside of a task, which already is one of several.

    None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all processors, -2 all
    but one.
    """
    return _threads_and_backend(n_jobs)[0]


def _threads_and_backend(n_jobs: int | None) -> tuple[int, bool]:
    """Return how many threads there are, and whether a joblib backend was asked to run them."""
    check_n_jobs(n_jobs)
    if n_jobs == 1 or getattr(_here, "is_in_task", False):
        return 1, False
    backend, n_of_context = get_active_backend()
    n_jobs = n_of_context if n_jobs is None else int(n_jobs)
    if n_jobs is None:
        return 1, False
    # The default backend is made anew with every call, one that was asked for is not.
    is_asked_for = backend is get_active_backend()[0]
    if is_asked_for and getattr(backend, "supports_sharedmem", False):
        return max(1, backend.effective_n_jobs(n_jobs)), True
    return (n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)), is_asked_for


def over_rows(
    function: Callable[[slice], _Result],
    n_rows: int,
    n_jobs: int | None,
    *,
    cost: float,
    fewest: int = 1,
    most: int | None = None,
) -> list[_Result]:
    """Call a function with slices of the rows, in threads where that pays.

    Parameters
    ----------
    function : callable
        Must depend on the rows of its slice alone, so that the cuts change nothing.
    n_rows : int
        At least 1.
    n_jobs : int or None
    cost : float
        Estimated nanoseconds of a row.
    fewest : int, default=1
        Rows that share so much work that there are fewer in a slice only where threads would have
        nothing to do otherwise.
    most : int, default=None
        Rows of a slice, at most.

    Returns
    -------
    results : list
        In the order of the rows.
    """
    check_n_jobs(n_jobs)
    n_tasks = min(n_rows, int(n_rows * cost / _WORTH_A_TASK))
    n_threads = min(count_threads(n_jobs), n_tasks) if n_tasks > 1 else 1
    size = n_rows
    if n_threads > 1:
        n_tasks = min(n_tasks, _TASKS_OF_A_THREAD * n_threads, n_rows // fewest)
        n_tasks -= n_tasks % n_threads  # three would keep one of two threads waiting
        size = -(-n_rows // max(n_tasks, n_threads))
    if most is not None:
        size = max(1, min(size, most))
    slices = [slice(start, min(n_rows, start + size)) for start in range(0, n_rows, size)]
    return run_in_threads(function, slices, n_jobs if n_threads > 1 else 1)


def over_blocks(function: Callable[[slice], Any], n_rows: int, n_jobs: int | None) -> None:
    """Call a function with blocks of rows, in threads where there are 1,024 rows or more.

    The cuts depend on the number of rows alone, for functions that round differently in blocks of
    other sizes, as matrix products may: so results do not depend on `n_jobs`. The function writes
    the results of a slice somewhere.
    """
    if n_rows < _FEWEST_ROWS_TO_CUT:
        function(slice(0, n_rows))
        return
    starts = range(0, n_rows, _ROWS_OF_A_BLOCK)
    blocks = [slice(start, min(n_rows, start + _ROWS_OF_A_BLOCK)) for start in starts]
    run_in_threads(function, blocks, n_jobs)


def map_in_threads(
    function: Callable[[_Item], _Result], items: Iterable[_Item], n_jobs: int | None
) -> Iterator[_Result]:
    """Apply a function to items as they come, to as many at a time as there are threads.

    The thread that asks for the results, in the order of the items, reads the items, and no further
    than those at work.
    """
    n_threads = count_threads(n_jobs)
    if n_threads == 1:
        yield from map(function, items)
        return
    iterator = iter(items)
    while some := list(islice(iterator, n_threads)):
        done = run_in_threads(function, some, n_jobs)
        some.clear()  # before the next items are made
        done.reverse()
        while done:
            yield done.pop()


def run_in_threads(
    function: Callable[[_Item], _Result], items: Sequence[_Item], n_jobs: int | None
) -> list[_Result]:
    """Apply a function to all items, several at a time; results are in the order of the items.

    When an item fails, those not begun yet are left out, and the error of the first that failed, in
    the order of the items, is raised: the one that a loop would have raised.
    """
    n_threads, with_joblib = _threads_and_backend(n_jobs) if len(items) > 1 else (1, False)
    if n_threads == 1:
        return [function(item) for item in items]
    if with_joblib:
        parallel = joblib.Parallel(n_jobs=min(n_threads, len(items)), require="sharedmem")
        results: list[_Result] = parallel(joblib.delayed(function)(item) for item in items)
        return results
    call = functools.partial(_call, function, get_config())
    futures: list[Future] = []
    try:
        for item in items:
            context = contextvars.copy_context()  # one for each, as no two threads can enter it
            futures.append(_pool(n_threads).submit(context.run, call, item))
    except RuntimeError:  # the interpreter ends, or gives no more threads
        _call_off(futures)
        return [function(item) for item in items]
    try:
        return list(map(Future.result, futures))
    except BaseException:  # as of a key that interrupts: leave no thread at work behind
        _call_off(futures)
        raise


def _call_off(futures: list[Future]) -> None:
    for future in futures:
        future.cancel()
    wait(futures)
    futures.clear()  # whose errors hold the frames that hold them


def _call(function: Callable[[_Item], _Result], config: dict, item: _Item) -> _Result:
    """Apply a function in a thread of the pool, with scikit-learn's settings of the caller.

    What it calls asks for no further threads (see `count_threads`), so that no task waits for
    another one.
    """
    _here.is_in_task = True
    if get_config() == config:  # to enter the context takes as long as all the rest
        return function(item)
    with config_context(**config):
        return function(item)


@functools.cache  # for each number that was asked for; threads start when there is work for them
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="sklearn_hashrank")


class _BlasThreads:
    """Threads of BLAS: one while anybody asks for one.

    Most libraries know one number for the whole process. The first that enters lowers it, and the
    last that leaves restores it, in whatever order and threads loops begin and end. This is why the
    limits of threadpoolctl do not do: each restores what it found, which may be the limit of
    another, and OpenBLAS listens to the first thread that asked alone.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        # Now, when the module is imported: it looks through the libraries of the process, and would
        # wait for ever for a thread that loads one meanwhile, or looks through them too.
        self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        self._n_inside, self._before = 0, [0]
        self._depth = threading.local()

    def enter(self) -> None:
        depth = getattr(self._depth, "value", 0)
        if depth == 0:
            with self.lock:
                if self._n_inside == 0:
                    self._before = [library.num_threads for library in self._libraries]
                for library in self._libraries:
                    _set_num_threads(library, 1)
                self._n_inside += 1
        self._depth.value = depth + 1

    def leave(self) -> None:
        self._depth.value -= 1
        if self._depth.value == 0:
            with self.lock:
                self._n_inside -= 1
                for library, before in zip(self._libraries, self._before):
                    if self._n_inside == 0 or _has_number_of_each_thread(library):
                        _set_num_threads(library, before)


def _set_num_threads(library: Any, number: int) -> None:
    """Set it, also where threadpoolctl would leave OpenBLAS to the thread that asked first."""
    getattr(library, "_real_set_num_threads", library.set_num_threads)(number)


def _has_number_of_each_thread(library: Any) -> bool:
    of_openmp = getattr(library, "threading_layer", None) == "openmp"
    return of_openmp or library.internal_api == "mkl"


_blas_threads = _BlasThreads()


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread, as a context or as a decorator.

    For loops of products that are too small for several threads: those wait for each other at every
    product, and for a free core where other processes are at work. The limit holds for the whole
    process, because BLAS knows no other, and ends with the last of the contexts that are open.
    """
    _blas_threads.enter()
    try:
        yield
    finally:
        _blas_threads.leave()


def _forget_threads() -> None:
    """A forked process has none of the threads, and may have been forked inside of a task."""
    global _here
    _here = threading.local()
    _pool.cache_clear()
    _blas_threads.lock = threading.Lock()  # of a loop that was forked within, the limit goes on


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget_threads)
