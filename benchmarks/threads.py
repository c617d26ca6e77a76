"""Fits on a busy machine: default threads against the best number of BLAS threads.

One other process per core computes all the time. A fit whose loops wait for BLAS threads that have
no core takes many times longer then.

    python benchmarks/threads.py
"""

import argparse
import os
import subprocess
import sys
import time
import warnings

import numpy as np
from sheet import Sheet
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from sklearn_hashrank import (
    DispersionHasher,
    ITQHasher,
    LSHHasher,
    LWHHasher,
    PCAHasher,
    RSHHasher,
    TALRLinear,
)

HASHERS = [
    LSHHasher(random_state=0),
    PCAHasher(),
    ITQHasher(random_state=0),
    RSHHasher(random_state=0),
    LWHHasher(random_state=0),
    DispersionHasher(random_state=0),
    TALRLinear(random_state=0),
]


def measure(sheet, n_busy=None, repeats=7):
    """Median times of fits, settings taking turns, while `n_busy` processes keep the cores busy."""
    n_cores = os.cpu_count() or 1
    n_busy = n_cores if n_busy is None else n_busy
    settings = [None, *range(1, n_cores + 1)]  # None: whatever BLAS chose
    X, y = load_digits(return_X_y=True)
    X, y = X[:1347], y[:1347]
    sheet.section(f"Fit on 1,347 digits beside {n_busy} busy processes, 32 bits")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_busy)]
    try:
        for hasher in HASHERS:
            hasher.fit(X, y)
            times = {threads: [] for threads in settings}
            # The shorter a fit, the more chance decides whether it has a core to itself.
            once = time_of_fit(hasher, X, y, 1)
            for _ in range(max(repeats, min(20 * repeats, round(1 / once)))):
                for threads in settings:
                    times[threads].append(time_of_fit(hasher, X, y, threads))
            medians = {threads: float(np.median(seconds)) for threads, seconds in times.items()}
            ours = 1e3 * medians[None]
            best = min(settings[1:], key=lambda threads: medians[threads])
            peer = f"{best} BLAS thread{'s' if best > 1 else ''}"
            theirs = 1e3 * medians[best]
            sheet.row(type(hasher).__name__, ours, "ms", peer, theirs, at_least=round(1 / 1.3, 2))
    finally:
        for process in busy:
            process.kill()
            process.wait()


def time_of_fit(hasher, X, y, threads):
    """Seconds of a fit with so many BLAS threads."""
    with threadpool_limits(threads, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        hasher.fit(X, y)
        return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--busy", type=int, default=None, help="busy processes (one per core)")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    measure(Sheet(), options.busy, options.repeats)


if __name__ == "__main__":
    main()
