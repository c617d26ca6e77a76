"""Speed beside the published package tie-aware-retrieval-metrics 0.1.1, which is plain Python.

    python -m pip install tie-aware-retrieval-metrics==0.1.1
    python benchmarks/notes/tie_aware_rival.py

Both compute the mean and the bounds of NDCG, MRR, MAP and recall at 10 of 200 queries and 1,000
items.
CPU time of the fastest of three runs: by numpy alone, as in a first evaluation, and by kernels.
"""

import time

import numpy as np

from sklearn_hashrank import RetrievalHistogram, _kernels

NAMES = {"ndcg": "ndcg@10", "mrr": "rr@10", "map": "ap@10", "recall": "recall@10"}


def fastest(function):
    """Return the CPU time and the result of the fastest of three calls."""
    times = []
    for _ in range(3):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return min(times), result


def main() -> None:
    """Print both times and the largest difference."""
    import trm

    rng = np.random.default_rng(0)
    scores = rng.random((200, 1000)).round(2)
    relevant = rng.random((200, 1000)) < 0.02

    def ours():
        h = RetrievalHistogram.from_scores(relevant, scores)
        return {name: h.tie_report(measure, zero_division=0) for name, measure in NAMES.items()}

    lists = scores.tolist(), relevant.tolist()
    by_numpy, reports = fastest(ours)
    _kernels.rankings.room_to_count(1, np.float64)  # loads the kernels
    by_kernels, _ = fastest(ours)
    theirs, found = fastest(lambda: trm.evaluate(*lists, metrics=list(NAMES), k_list=[10]))
    differences = [
        abs(ours_of - theirs_of)
        for name, report in reports.items()
        for ours_of, theirs_of in (
            (report.expected, found.metrics[name][10].expected),
            (report.pessimistic, found.metrics[name][10].minimum),
            (report.optimistic, found.metrics[name][10].maximum),
        )
    ]
    for kind, seconds in (("numpy", by_numpy), ("kernels", by_kernels)):
        print(f"{kind} {seconds:.3f} s, theirs {theirs:.3f} s, {theirs / seconds:.1f} x as fast")
    print(f"largest difference {max(differences):.1e}")


if __name__ == "__main__":
    main()
