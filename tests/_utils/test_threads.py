"""Threads over rows: the results of a loop, from any thread, in any process, whatever happens."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib.parallel import ThreadingBackend, parallel_backend
from sklearn import config_context, get_config
from threadpoolctl import threadpool_limits

import sklearn_hashrank
from sklearn_hashrank._utils import threads
from sklearn_hashrank._utils.threads import (
    check_n_jobs,
    count_threads,
    map_in_threads,
    one_blas_thread,
    over_rows,
    run_in_threads,
)
from tests.blas import blas_threads

ROOT = Path(sklearn_hashrank.__file__).parents[1]


def square(i):
    return i * i


def name_of_thread(_=None):
    return threading.current_thread().name


def names_of_threads(n_jobs, n_threads):
    """Names of the threads that work on as many items, all of them at the same time."""
    together = threading.Barrier(n_threads)

    def meet(_):
        together.wait(30)
        return threading.current_thread().name

    return run_in_threads(meet, range(n_threads), n_jobs)


def run(script):
    """Output of a process, which must end by itself."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 40, -1, -2, None])
def test_results_are_those_of_a_loop(n_jobs):
    expected = [i * i for i in range(50)]
    assert run_in_threads(square, range(50), n_jobs) == expected
    assert list(map_in_threads(square, range(50), n_jobs)) == expected
    assert run_in_threads(square, [], n_jobs) == []
    for n_rows in (1, 7, 50):
        for cost, fewest, most in ((0, 1, None), (1e9, 1, None), (1e9, 20, None), (1e9, 1, 3)):
            slices = over_rows(
                lambda rows: rows, n_rows, n_jobs, cost=cost, fewest=fewest, most=most
            )
            rows = np.concatenate([np.arange(n_rows)[part] for part in slices])
            np.testing.assert_array_equal(rows, np.arange(n_rows))
            assert all(part.stop - part.start <= (most or n_rows) for part in slices)


def test_rows_are_cut_where_that_pays():
    def sizes(n_rows, n_jobs, **options):
        return over_rows(lambda rows: rows.stop - rows.start, n_rows, n_jobs, **options)

    worth = threads._WORTH_A_TASK
    assert sizes(100, 2, cost=worth / 100) == [100]
    assert sizes(100, 1, cost=worth) == [100]
    assert sizes(100, 2, cost=worth / 25) == [25] * 4
    assert sizes(80, 2, cost=worth) == [10] * 8
    assert sizes(20, 2, cost=worth, fewest=16) == [10] * 2
    assert sizes(64, 2, cost=worth, fewest=16) == [16] * 4
    assert sizes(50, 2, cost=worth, fewest=16) == [25] * 2  # as many for each thread
    assert sizes(90, 4, cost=worth, fewest=16) == [23] * 3 + [21]
    assert sizes(10, 1, cost=0, most=4) == [4, 4, 2]


def test_calls_share_the_threads_of_a_pool():
    assert len(set(names_of_threads(3, 3))) == 3
    before = threading.active_count()
    for _ in range(20):
        run_in_threads(square, range(8), 3)
    assert threading.active_count() == before


def test_a_call_costs_no_waiting():
    """joblib's threads are looked after every 10 ms."""
    run_in_threads(square, range(4), 2)
    times = []
    for _ in range(50):
        start = time.perf_counter()
        run_in_threads(square, range(4), 2)
        times.append(time.perf_counter() - start)
    assert min(times) < 2e-3


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_the_error_is_that_of_a_loop_and_the_rest_is_left_out(n_jobs):
    done = []

    def fail_at_three(i):
        if i >= 3:
            time.sleep(0.01 if i == 3 else 0)
            raise ValueError(f"item {i}")
        done.append(i)

    for work in (run_in_threads, lambda *arguments: list(map_in_threads(*arguments))):
        with pytest.raises(ValueError, match="item 3"):
            work(fail_at_three, range(1000), n_jobs)
    assert len(done) <= 6
    assert run_in_threads(square, range(5), n_jobs) == [0, 1, 4, 9, 16]


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interruption_leaves_nothing_at_work():
    begun, ended = [], []

    def work(i):
        begun.append(i)
        if i == 5:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.02)
        ended.append(i)

    with pytest.raises(KeyboardInterrupt):
        run_in_threads(work, range(1000), 3)
    n_begun = len(begun)
    assert len(ended) == n_begun < 1000
    time.sleep(0.05)
    assert len(begun) == n_begun


def test_what_fails_is_not_kept_alive():
    class Large:
        pass

    def fail(large):
        raise ValueError

    large = Large()
    reference = weakref.ref(large)
    with pytest.raises(ValueError):
        run_in_threads(fail, [large, None], 2)
    del large
    deadline = time.monotonic() + 10
    while reference() is not None and time.monotonic() < deadline:
        time.sleep(0.01)  # a thread that was called off lets go of it when it next looks
    assert reference() is None


def test_inside_of_a_task_there_are_no_further_threads():
    def outer(_):
        names = {threading.current_thread().name}
        names.update(run_in_threads(name_of_thread, range(3), 4))
        return len(names), count_threads(-1)

    assert run_in_threads(outer, range(6), 2) == [(1, 1)] * 6
    assert count_threads(2) == 2


def test_many_callers_at_once_do_not_wait_for_each_other():
    found = {}

    def call(number):
        found[number] = [run_in_threads(square, range(200), 4) for _ in range(20)]

    callers = [threading.Thread(target=call, args=(i,), daemon=True) for i in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert not any(caller.is_alive() for caller in callers)
    assert all(result == [i * i for i in range(200)] for each in found.values() for result in each)
    assert len(found) == 8


def test_blocks_of_a_generator_are_read_as_they_are_needed():
    read, here = [], threading.current_thread()

    def blocks():
        for i in range(10):
            assert threading.current_thread() is here
            read.append(i)
            yield i

    results = map_in_threads(square, blocks(), 3)
    assert read == []
    assert [next(results) for _ in range(4)] == [0, 1, 4, 9]
    assert len(read) == 6
    assert list(results) == [16, 25, 36, 49, 64, 81]


def test_settings_of_the_caller_hold_in_the_threads():
    def settings(_):
        time.sleep(0.01)
        return get_config()["assume_finite"], np.geterr()["divide"]

    with config_context(assume_finite=True), np.errstate(divide="raise"):
        assert run_in_threads(settings, range(6), 2) == [(True, "raise")] * 6
    assert set(run_in_threads(settings, range(6), 2)) == {(False, np.geterr()["divide"])}


class Watched(ThreadingBackend):
    """joblib's threads, and how often they were asked to work."""

    calls = 0

    def submit(self, *arguments, **options):
        Watched.calls += 1
        return super().submit(*arguments, **options)


def test_joblib_runs_what_its_context_asks_for():
    def ours(n_jobs=None):
        return [name.startswith("sklearn_hashrank") for name in names_of_threads(n_jobs, 2)]

    assert count_threads(None) == 1
    joblib.register_parallel_backend("watched", Watched)
    with joblib.parallel_config(backend="watched", n_jobs=2):
        assert count_threads(None) == 2
        before = Watched.calls
        assert run_in_threads(square, range(6), None) == [0, 1, 4, 9, 16, 25]
        assert Watched.calls > before
    with joblib.parallel_config(backend="loky", n_jobs=2):  # whose processes share no memory
        assert count_threads(None) == 2
        assert not any(ours())
    with joblib.parallel_config(backend="sequential"):
        assert count_threads(4) == 1
    with joblib.parallel_config(n_jobs=2):  # but no backend
        assert count_threads(None) == 2
        assert any(ours())
    with parallel_backend("threading", n_jobs=3):
        assert count_threads(None) == 3


def counted(_):
    return count_threads(None), sum(run_in_threads(square, range(10), 2))


@pytest.mark.pool
@pytest.mark.process
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_inside_of_joblibs_workers(backend):
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(counted)(i) for i in range(4))
    assert found == [(1, 285)] * 4


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True, np.bool_(True), [2]])
def test_bad_n_jobs_are_refused(n_jobs):
    message = "n_jobs must be an int other than 0, or None. Got "
    for function in (check_n_jobs, count_threads):
        with pytest.raises(ValueError, match=message):
            function(n_jobs)
    with pytest.raises(ValueError, match=message):
        over_rows(square, 1, n_jobs, cost=0)


@pytest.mark.parametrize("n_jobs", [None, 1, -1, np.int64(2), 1000])
def test_good_n_jobs_are_taken(n_jobs):
    check_n_jobs(n_jobs)
    assert count_threads(n_jobs) >= 1
    assert count_threads(-1000) == 1


def test_without_a_further_thread_the_caller_does_it_all(monkeypatch):
    class Full:
        def submit(self, *_):
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_pool", lambda n_threads: Full())
    assert run_in_threads(square, range(5), 3) == [0, 1, 4, 9, 16]


@pytest.fixture
def two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        yield
        assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_has_one_thread_inside_and_as_many_as_before_after():
    with one_blas_thread():
        assert blas_threads() == {1}
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_threads_come_back_after_an_error():
    with pytest.raises(KeyboardInterrupt), one_blas_thread():
        raise KeyboardInterrupt
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_threads_come_back_with_the_last_of_overlapping_loops():
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_threads_come_back_after_many_loops_at_once():
    start = threading.Barrier(4)

    def loop():
        start.wait(30)
        for _ in range(50):
            with one_blas_thread():
                assert blas_threads() == {1}

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(loop) for _ in range(4)]:
            future.result(60)
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_one_blas_thread_decorates():
    @one_blas_thread()
    def count():
        return blas_threads()

    assert count() == {1}
    assert count() == {1}
    assert blas_threads() == {2}


FORKS = """
import os, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # that threads are there at a fork
import numpy, scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits
from sklearn_hashrank._utils.threads import count_threads, one_blas_thread, run_in_threads

def count():
    together = threading.Barrier(3)
    def meet(_):
        together.wait(20)
        return threading.get_ident()
    return len(set(run_in_threads(meet, range(3), 3)))

def fork(_=None):
    child = os.fork()
    if child == 0:
        os._exit(count() != 3 or count_threads(2) != 2)
    return os.waitpid(child, 0)[1]

def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

threadpool_limits(2, user_api="blas")
with one_blas_thread():
    child = os.fork()
assert blas_threads() == {2}, blas_threads()
with one_blas_thread():
    assert blas_threads() == {1}
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0

print(count(), fork(), *run_in_threads(fork, range(3), 2), count())
"""
END = """
import atexit, threading
from sklearn_hashrank._utils.threads import run_in_threads

atexit.register(lambda: print(sum(run_in_threads(abs, range(5), 3))))
print(sum(run_in_threads(abs, range(4), 3)))
"""


@pytest.mark.process
def test_forked_processes_have_threads_of_their_own_and_the_interpreter_ends():
    """Also one that is forked inside of a task or a loop, and what is called at the end."""
    can_fork = hasattr(os, "fork")
    numbers = run(FORKS + END if can_fork else END)
    assert numbers == [*(["3", "0", "0", "0", "0", "3"] if can_fork else []), "6", "10"]
