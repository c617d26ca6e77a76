"""Speed and memory of the evaluation, as ratios to peers measured in the same run.

    python -m benchmarks.speed.evaluation            # everything, about three minutes
    python -m benchmarks.speed.evaluation --quick    # a tenth of the database
    python -m benchmarks.speed.evaluation --only few-queries    # one metric, half a minute

Peers are slow: they get a few of the queries, and their cost is scaled up by the number of pairs.
"""

import argparse
import subprocess
import sys
import time

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, ndcg_score

from benchmarks.sheet import Sheet, best_of
from sklearn_hashrank import retrieval_histogram
from sklearn_hashrank.metrics import tie_aware_average_precision_score

N_CLASSES = 10


def unpacked_signs(packed, n_bits):
    return 2.0 * np.unpackbits(packed, axis=1, count=n_bits).astype(np.float32) - 1


def argsort_average_precision(queries, database, query_y, database_y, n_bits):
    """The evaluation that deep-hashing repositories share: real codes, one argsort per query."""
    query_signs, database_signs = (unpacked_signs(c, n_bits) for c in (queries, database))
    scores = []
    for signs, label in zip(query_signs, query_y):
        relevant = (database_y == label).astype(np.float32)
        distance = 0.5 * (n_bits - signs @ database_signs.T)
        ranked = relevant[np.argsort(distance)]
        n_relevant = int(ranked.sum())
        ranks = np.where(ranked == 1)[0] + 1.0
        scores.append(np.mean(np.linspace(1, n_relevant, n_relevant) / ranks))
    return scores


def with_scikit_learn(metric, queries, database, query_y, database_y, n_bits):
    query_signs, database_signs = (unpacked_signs(c, n_bits) for c in (queries, database))
    scores = []
    for signs, label in zip(query_signs, query_y):
        relevant, similarity = database_y == label, signs @ database_signs.T
        if metric is ndcg_score:
            scores.append(metric(relevant[None].astype(float), similarity[None]))
        else:
            scores.append(metric(relevant, similarity))
    return scores


def evaluate(queries, database, query_y, database_y, n_bits, n_jobs):
    histogram = retrieval_histogram(
        queries, database, query_y, database_y, n_bits=n_bits, n_jobs=n_jobs
    )
    return histogram.average_precision(), histogram.ndcg()


def random_codes(n_queries, n_database, seed=0):
    rng = np.random.default_rng(seed)
    n = n_queries + n_database
    codes = rng.integers(0, 256, (n, 8), dtype=np.uint8)
    return codes, rng.integers(0, N_CLASSES, n), 64


def learned_codes(n_queries, n_database, seed=0):
    """Codes of a linear hasher fitted to labels: each bit parts a random half of the classes."""
    n_bits, n = 32, n_queries + n_database
    X, y = make_blobs(n, n_features=32, centers=N_CLASSES, cluster_std=3.5, random_state=seed)
    halves = np.random.default_rng(seed).permuted(
        np.tile(np.arange(N_CLASSES) < N_CLASSES // 2, (n_bits, 1)), axis=1
    )
    few = slice(0, 3000)
    bits = [LogisticRegression().fit(X[few], half[y[few]]).predict(X) for half in halves]
    return np.packbits(np.column_stack(bits), axis=1), y, n_bits


def time_codes(sheet, title, make, n_queries, n_database, aims):
    codes, y, n_bits = make(n_queries, n_database)
    queries, database = codes[:n_queries], codes[n_queries:]
    query_y, database_y = y[:n_queries], y[n_queries:]
    n_distinct = len(np.unique(database.view(f"u{database.shape[1]}")))
    n_pairs = n_queries * n_database
    evaluate(queries[:2], database[:100], query_y[:2], database_y[:100], n_bits, 1)  # compile
    arguments = queries, database, query_y, database_y, n_bits
    sheet.section(
        f"{title}: AP and NDCG of {n_queries:,} x {n_database:,} ({n_distinct:,} distinct)"
    )
    alone, _ = best_of(lambda: evaluate(*arguments, 1), 5)
    seconds, (_, ndcg) = best_of(lambda: evaluate(*arguments, 2), 5)
    ours = seconds / n_pairs * 1e9
    sheet.row("two threads, per pair", ours, "ns", at_most=aims["ns"])
    sheet.row("two threads, per pair", ours, "ns", "one thread", alone / n_pairs * 1e9)
    few = slice(0, 5)
    few_arguments = (queries[few], database, query_y[few], database_y, n_bits)
    for name, function in {
        "argsort": lambda: argsort_average_precision(*few_arguments),
        "ndcg_score": lambda: with_scikit_learn(ndcg_score, *few_arguments),
        "average_precision_score": lambda: with_scikit_learn(
            average_precision_score, *few_arguments
        ),
    }.items():
        seconds, scores = best_of(function, 2)
        theirs = seconds / (5 * n_database) * 1e9
        sheet.row("two threads, per pair", ours, "ns", name, theirs, at_least=aims.get(name))
        if name == "ndcg_score":  # tie-aware too: the very same number
            np.testing.assert_allclose(scores, ndcg[few], rtol=1e-6)


def time_measures(sheet, title, make, n_queries, n_database):
    """CPU time of each measure from codes to values, in turns; the best of each."""
    codes, y, n_bits = make(n_queries, n_database)
    queries, database = codes[:n_queries], codes[n_queries:]
    query_y, database_y = y[:n_queries], y[n_queries:]
    names = {
        "average_precision": False,
        "lookup_precision": False,
        "lookup_recall": False,
        "average_cumulative_gain": False,
        "precision_recall_curve": False,
        "local_group_average_precision": True,
        "code_usage": True,
    }

    def measure(name, keep_codes):
        start = time.process_time()
        histogram = retrieval_histogram(
            queries, database, query_y, database_y, n_bits=n_bits, keep_codes=keep_codes
        )
        getattr(histogram, name)()
        return time.process_time() - start

    costs = {name: [] for name in names}
    for _ in range(5):
        for name, keep_codes in names.items():
            costs[name].append(measure(name, keep_codes))
    reference = min(costs["average_precision"])
    sheet.section(f"{title}: CPU time of each measure, {n_queries:,} x {n_database:,}")
    for name, seconds in costs.items():
        sheet.row("average precision", reference, "s", name, min(seconds))


def time_few_queries(sheet, n_queries, n_database):
    """A metric from codes to a score, with every check of the codes, in each of their formats."""
    codes, y, n_bits = random_codes(n_queries, n_database)
    bits = np.unpackbits(codes, axis=1, count=n_bits)
    formats = {
        "packed": (codes, 0.25),
        "bits": (bits, 0.3),
        "signs": (2 * bits.view("i1") - 1, None),
    }
    queries, database = slice(n_queries), slice(n_queries, None)
    sheet.section(f"One metric of {n_queries:,} x {n_database:,}, two threads")
    for name, (given, aim) in formats.items():

        def score(given=given):
            return tie_aware_average_precision_score(
                y[queries],
                given[queries],
                database=(y[database], given[database]),
                n_bits=n_bits,
                n_jobs=2,
            )

        score()
        times = {}
        for clock in (time.perf_counter, time.process_time):
            times[clock] = best_of(score, 10, clock)[0] / (n_queries * n_database) * 1e9
        sheet.row(f"{name}, per pair, by the clock", times[time.perf_counter], "ns", at_most=aim)
        sheet.row(f"{name}, per pair, of the processor", times[time.process_time], "ns")


MEMORY = """
import os, threading, time
import numpy as np
from sklearn_hashrank import retrieval_histogram

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

rng = np.random.default_rng(0)
n_queries, n = 1000, {n}
database = rng.integers(0, 256, (n, 8), dtype=np.uint8)
y = rng.integers(0, 10, n, dtype=np.int32)
h = retrieval_histogram(database[:10], database[:1000], y[:10], y[:1000], n_bits=64)
h.average_precision(), h.ndcg()
before, peak, done = resident(), 0.0, False

def watch():
    global peak
    while not done:
        peak = max(peak, resident())
        time.sleep(0.002)

watcher = threading.Thread(target=watch)
watcher.start()
h = retrieval_histogram(database[:n_queries], database, y[:n_queries], y, n_bits=64, n_jobs=2)
h.average_precision(), h.ndcg()
done = True
watcher.join()
print(peak - before, before)
"""


def peak_extra_memory(n_database):
    run = subprocess.run(
        [sys.executable, "-c", MEMORY.format(n=n_database)],
        capture_output=True,
        text=True,
        check=True,
    )
    return map(float, run.stdout.split())


def measure(sheet, scale=1):
    """Cost of the evaluation; databases are `scale` times smaller."""
    n = 1_000_000 // scale
    aims = {"ns": 0.25, "argsort": 250, "ndcg_score": 600}
    time_codes(sheet, "Random 64-bit codes", random_codes, 1000, n, aims)
    time_codes(sheet, "Learned 32-bit codes", learned_codes, 1000, n, {"ns": 0.03})
    time_few_queries(sheet, 200, n)
    time_measures(sheet, "Random 64-bit codes", random_codes, 1000, n)
    time_measures(sheet, "Learned 32-bit codes", learned_codes, 1000, n)
    extra, before = peak_extra_memory(10 * n)
    sheet.section(f"Peak memory, 1,000 x {10 * n:,}, beyond {before:.0f} MB of codes and kernels")
    sheet.row("retrieval histogram, AP and NDCG", extra, "MB", at_most=300)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the database")
    parser.add_argument("--only", choices=["few-queries"])
    options = parser.parse_args()
    scale = 10 if options.quick else 1
    if options.only:
        time_few_queries(Sheet(), 200, 1_000_000 // scale)
    else:
        measure(Sheet(), scale)


if __name__ == "__main__":
    main()
