"""CPU time of a first evaluation, by numpy alone and by compiled kernels.

    python benchmarks/notes/first_evaluation.py

Each number is a process of its own, without the imports of the package. The kernels are in
numba's cache, so the time to compile them (2 seconds more) is not in the table.
"""

import subprocess
import sys

SCRIPT = """
import time
import numpy as np
import scipy.sparse
from sklearn_hashrank import RetrievalHistogram, _kernels, metrics, retrieval_histogram
_kernels._WORTH_LOADING = {limit}
rng = np.random.default_rng(0)
n_queries = max(1, {n} // 1000)
n_items = min({n}, 1000)
codes = rng.integers(0, 2, (n_items, 32), dtype=np.uint8)
y = rng.integers(0, 10, n_items)
relevance = rng.random((n_queries, n_items)) < 0.1
scores = rng.random((n_queries, n_items)).round(2)
queries = rng.integers(0, n_items, n_queries)
start = time.process_time()
if {of_codes}:
    retrieval_histogram(codes[queries], codes, y[queries], y).average_precision()
else:
    RetrievalHistogram.from_scores(relevance, scores).average_precision()
print(time.process_time() - start)
"""


def seconds(n: int, limit: int, of_codes: bool) -> float:
    """CPU time of the fastest of three processes."""
    script = SCRIPT.format(n=n, limit=limit, of_codes=of_codes)
    return min(
        float(
            subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(3)
    )


def main() -> None:
    """Print a table."""
    print(f"{'pairs':>10} {'scores, numpy':>14} {'kernel':>8} {'codes, numpy':>13} {'kernel':>8}")
    for n in (6, 10_000, 100_000, 1_000_000, 3_000_000, 10_000_000):
        row = [seconds(n, limit, of_codes) for of_codes in (False, True) for limit in (1 << 40, 0)]
        print(f"{n:10,} {row[0]:14.3f} {row[1]:8.3f} {row[2]:13.3f} {row[3]:8.3f}", flush=True)


if __name__ == "__main__":
    main()
