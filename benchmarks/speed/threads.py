"""Fits on a busy machine: default threads against the best number of threads.

One other process per core computes all the time. A fit whose loops wait for BLAS threads that have
no core takes many times longer then.

    python -m benchmarks.speed.threads [--methods NAME,...] [--busy 2]
"""

import argparse
import os
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from benchmarks.sheet import Sheet
from sklearn_hashrank.comparison import method_from_name
from sklearn_hashrank.comparison._method_table import METHODS

CORE = ("lsh", "pca", "itq", "rsh", "lwh", "dsh", "talr-ap")
# They need label paths, or differ from others by a parameter that changes no loop.
LEFT_OUT = ("hierarchical", "hierarchical-paper", "rsh-paper", "lwh-paper", "talr-ndcg", "agh-2")
SECONDS = 20  # of repeated fits of one method at most, but for three


def measure(sheet, methods=CORE, n_busy=None):
    """Median times of fits, settings taking turns, while `n_busy` processes keep the cores busy."""
    n_cores = os.cpu_count() or 1
    n_busy = n_cores if n_busy is None else n_busy
    settings = [None, *range(1, n_cores + 1)]  # None: whatever libraries choose
    X, y = load_digits(return_X_y=True)
    X, y = X[:1347], y[:1347]
    sheet.section(f"Fit on 1,347 digits beside {n_busy} busy processes, 32 bits")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_busy)]
    try:
        for name in methods:
            hasher = method_from_name(name)
            if "random_state" in hasher.get_params():
                hasher.set_params(random_state=0)
            hasher.fit(X, y)
            times = {threads: [] for threads in settings}
            # The shorter a fit, the more chance decides whether it has a core to itself.
            once = time_of_fit(hasher, X, y, 1)
            n_repeats = np.clip(1 / once, 7, 140)
            n_repeats = max(3, min(n_repeats, SECONDS / once / len(settings)))
            for _ in range(round(n_repeats)):
                for threads in settings:
                    times[threads].append(time_of_fit(hasher, X, y, threads))
            medians = {threads: float(np.median(seconds)) for threads, seconds in times.items()}
            ours = 1e3 * medians[None]
            best = min(settings[1:], key=lambda threads: medians[threads])
            peer = f"{best} thread{'s' if best > 1 else ''}"
            theirs = 1e3 * medians[best]
            sheet.row(name, ours, "ms", peer, theirs, at_least=round(1 / 1.3, 2))
    finally:
        for process in busy:
            process.kill()
            process.wait()


def time_of_fit(hasher, X, y, threads):
    """Seconds of a fit with so many threads of BLAS and OpenMP."""
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        hasher.fit(X, y)
        return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--busy", type=int, default=None, help="busy processes (one per core)")
    every = [n for n in METHODS if n not in LEFT_OUT and METHODS[n].group != "deep"]
    parser.add_argument("--methods", type=lambda text: text.split(","), default=every)
    options = parser.parse_args()
    measure(Sheet(), options.methods, options.busy)


if __name__ == "__main__":
    main()
