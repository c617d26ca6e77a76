"""Speed of HammingNeighbors, as ratios to peers measured in the same run.

    python -m benchmarks.speed.neighbors                      # all of it, about four minutes
    python -m benchmarks.speed.neighbors --only faiss|single|projections|reading|latency|...
    python -m benchmarks.speed.neighbors --only prefix [--quick]
    python -m benchmarks.speed.neighbors --only rescoring [--fashion-mnist FOLDER]

20 to 1,000 queries x 1,000,000 random codes of 64 to 256 bits, the same number of threads for all.
Slow peers get a few of the queries, and their cost is scaled up by the number of pairs. Times
against faiss are those of the processor, and beside them those by the clock, which say little while
others work on the machine: threads of OpenMP wait for each other. faiss is left out where it is not
installed.
"""

import argparse
import time

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks.protocols import FASHION_MNIST, by_class, fashion_mnist
from benchmarks.sheet import Sheet, best_of
from sklearn_hashrank import HammingNeighbors, ITQHasher, TALRLinear

N_BITS = 64
CANDIDATES = (100, 300, 1000)  # of ten neighbors, by their first bits


def random_codes(n, seed, n_bits=N_BITS):
    return np.random.default_rng(seed).integers(0, 256, (n, n_bits // 8), dtype=np.uint8)


def against_faiss(sheet, n_queries, n, n_jobs, n_bits=N_BITS):
    """By processor time, and by the clock."""
    try:
        import faiss
    except ImportError:
        return
    of_bits = "" if n_bits == N_BITS else f" codes of {n_bits} bits"
    sheet.section(f"k nearest of {n_queries:,} x {n:,}{of_bits}, threads: {n_jobs}")
    queries, database = random_codes(n_queries, 1, n_bits), random_codes(n, 2, n_bits)
    faiss.omp_set_num_threads(n_jobs)
    peer = faiss.IndexBinaryFlat(n_bits)
    peer.add(database)
    index = HammingNeighbors(n_bits=n_bits, algorithm="brute", n_jobs=n_jobs).fit(database)
    index.kneighbors(queries, 10)  # compile, and start the threads
    repeats = 4 if n_queries > 100 else 20
    for k, most, aim in ((10, 1000, 8), (1000, 200, 12), (50_000, 20, 50)):
        few = min(n_queries, most)
        (distances, _), *ours = in_both_times(lambda k=k: index.kneighbors(queries, k), repeats)
        (expected, _), *theirs = in_both_times(
            lambda k=k, few=few: peer.search(queries[:few], k), 3
        )
        np.testing.assert_array_equal(distances[:few], expected)
        for name, own, other in zip(("processor", "clock"), ours, theirs, strict=True):
            own, other = own / (n_queries * n) * 1e9, other / (few * n) * 1e9
            # A thread of OpenMP that waits takes processor time: one thread is the fair peer.
            wanted = aim if (name == "processor") == (n_jobs == 1) else None
            work = f"k = {k:,}, per pair, {name}"
            sheet.row(work, own, "ns", "IndexBinaryFlat", other, at_least=wanted)


def single_queries(sheet, n):
    """One query at a time, as a server gets them, by processor time."""
    try:
        import faiss
    except ImportError:
        return
    sheet.section(f"One query x {n:,}, k = 10, one thread, processor")
    faiss.omp_set_num_threads(1)
    for n_bits in (64, 128, 256, 512):
        query, database = random_codes(1, 1, n_bits), random_codes(n, 2, n_bits)
        peer = faiss.IndexBinaryFlat(n_bits)
        peer.add(database)
        index = HammingNeighbors(10, n_bits=n_bits, algorithm="brute", n_jobs=1).fit(database)
        _, ours, _ = in_both_times(lambda i=index, q=query: i.kneighbors(q), 40)
        _, theirs, _ = in_both_times(lambda i=peer, q=query: i.search(q, 10), 40)
        work = f"{n_bits} bits"
        sheet.row(work, ours * 1e3, "ms", "IndexBinaryFlat", theirs * 1e3, at_least=1.5)


def projections(sheet, n):
    """Search by projections beside the Hamming scan, and faiss' fast scan of RaBitQ codes."""
    rng = np.random.default_rng(0)
    sheet.section(f"Search by projections x {n:,}, k = 10, one thread, processor")
    for n_bits in (64, 256):
        rows = rng.standard_normal((n, n_bits), dtype=np.float32)
        codes = np.packbits(rows > 0, axis=1)
        given = rng.standard_normal((64, n_bits), dtype=np.float32)
        peer = _rabitq(rows)
        for n_queries in (1, 10, 64):
            queries = given[:n_queries]
            index = HammingNeighbors(10, n_bits=n_bits, algorithm="brute", n_jobs=1).fit(codes)
            _, hamming, _ = in_both_times(lambda i=index, q=queries > 0: i.kneighbors(q), 10)
            index.set_params(distance="asymmetric")
            _, ours, _ = in_both_times(lambda i=index, q=queries: i.kneighbors(q), 10)
            work = f"{n_bits} bits, {n_queries} queries"
            sheet.row(work, ours * 1e3, "ms", "Hamming scan", hamming * 1e3, at_least=0.2)
            if peer is not None:
                _, theirs, _ = in_both_times(lambda i=peer, q=queries: i.search(q, 10), 5)
                sheet.row(work, ours * 1e3, "ms", "RaBitQ fast scan", theirs * 1e3, at_least=1)


def _rabitq(rows):
    """Index of faiss for as many bits, and factors of eight bytes beside each code."""
    try:
        import faiss
    except ImportError:
        return None
    faiss.omp_set_num_threads(1)
    peer = faiss.index_factory(rows.shape[1], "RaBitQfs")
    peer.train(rows[:10_000])
    peer.add(rows)
    return peer


def in_both_times(function, repeats):
    """Result, and median times of a call: of the processor and by the clock.

    An untimed call comes first, and no result is held during another call. Otherwise a call waits
    for the machine to hand out memory that nobody has used yet, which can take longer than the
    search.
    """
    result = function()
    times = []
    for _ in range(repeats):
        del result
        start = time.process_time(), time.perf_counter()
        result = function()
        times.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    return result, *np.median(times, axis=0)


def against_reading(sheet, n):
    """Bytes of codes compared in a second, beside the fastest way of reading the same array."""
    queries, database = random_codes(20, 1), random_codes(n, 2)
    index = HammingNeighbors(n_bits=N_BITS, algorithm="brute", n_jobs=1).fit(database)
    words, room = database.view(np.uint64), np.empty_like(database)
    ways = {
        "largest": lambda: words.max(),
        "sum": lambda: words.sum(),
        "copy": lambda: np.copyto(room, database),
    }
    times = {name: in_both_times(way, 20)[2] for name, way in ways.items()}
    name = min(times, key=times.get)
    sheet.section(
        f"Bytes read in a second, {n:,} codes of {database.nbytes / 1e6:,.0f} MB, one thread"
    )
    for n_queries in (1, 20):
        _, _, seconds = in_both_times(lambda n=n_queries: index.kneighbors(queries[:n], 10), 20)
        ours, theirs = n_queries * database.nbytes / seconds, database.nbytes / times[name]
        work = f"search, k = 10, {n_queries} {'query' if n_queries == 1 else 'queries'}"
        sheet.row(work, ours / 1e9, "GB/s", f"reading once ({name})", theirs / 1e9)


def latency(sheet, n):
    """Median times of one query; what a small search takes beyond its kernels."""
    sheet.section("One query, one thread, by the clock")
    queries, database = random_codes(100, 1), random_codes(n, 2)
    index = HammingNeighbors(10, n_bits=N_BITS).fit(database)
    _, _, seconds = in_both_times(lambda: index.kneighbors(queries[:1]), 300)
    sheet.row(f"of {n:,} codes", seconds * 1e6, "us", at_most=300)
    index.fit(database[:10_000])
    _, _, seconds = in_both_times(lambda: index.kneighbors(queries[:1]), 3000)
    # The scan itself is what every further query of a call takes.
    _, _, of_many = in_both_times(lambda: index.kneighbors(queries), 300)
    scan = (of_many - seconds) / (len(queries) - 1)
    sheet.row("of 10,000 codes", seconds * 1e6, "us")
    sheet.row("of 10,000 codes, beyond the scan", (seconds - scan) * 1e6, "us", at_most=20)


def masks(sheet, n, repeats=6):
    """Search among some of the codes, beside the search among all, in turns."""
    database, rng = random_codes(n, 2), np.random.default_rng(0)
    shares = {share: rng.random(n) < share for share in (0.001, 0.01, 0.1, 0.5, 0.9)}
    index = HammingNeighbors(10, n_bits=N_BITS, n_jobs=2).fit(database)
    for n_queries in (1, 20):
        queries = random_codes(n_queries, 1)
        times = {share: [] for share in (None, *shares)}
        for _ in range(repeats):
            for share, seconds in times.items():
                start = time.process_time()
                index.kneighbors(queries, mask=shares.get(share))
                seconds.append(time.process_time() - start)
        best = {share: 1e3 * min(seconds) for share, seconds in times.items()}
        plain = best.pop(None)
        sheet.section(f"k = 10 among the codes that pass, {n_queries} x {n:,}, CPU time")
        for share, ours in best.items():
            work = f"{share:.1%} pass"
            sheet.row(work, ours, "ms", "without a mask", plain, at_least=1 / 1.2)


def prefixes(n):
    """Search by the first 64 of 256 bits and order candidates by all, beside the plain search."""
    rng = np.random.default_rng(2)
    database = rng.integers(0, 256, (n, 32), dtype=np.uint8)
    for n_queries in (1, 20, 200):
        queries = rng.integers(0, 256, (n_queries, 32), dtype=np.uint8)
        ways = {None: {}, **{many: {"prefix": 64, "n_candidates": many} for many in CANDIDATES}}
        indexes = {
            way: HammingNeighbors(10, n_bits=256, algorithm="brute", n_jobs=1, **options).fit(
                database
            )
            for way, options in ways.items()
        }
        best = dict.fromkeys(indexes, np.inf)
        for _ in range(8):
            for way, index in indexes.items():
                start = time.process_time()
                index.kneighbors(queries)
                best[way] = min(best[way], time.process_time() - start)
        plain = best.pop(None)
        cells = "".join(f"   {way:,}: {plain / seconds:.1f}" for way, seconds in best.items())
        print(
            f"{n_queries} of {n:,} codes of 256 bits {plain * 1e3:.1f} ms; times as fast by the "
            f"first 64 bits, by candidates{cells}"
        )


def against_scikit_learn(sheet, n_queries, n, n_jobs):
    sheet.section(f"k nearest of {n_queries:,} x {n:,}, {n_jobs} threads, by the clock")
    queries, database = random_codes(n_queries, 1), random_codes(n, 2)
    index = HammingNeighbors(10, n_bits=N_BITS, algorithm="brute", n_jobs=n_jobs).fit(database)
    index.kneighbors(queries[:2])
    ours, (distances, _) = best_of(lambda: index.kneighbors(queries), 3)
    bits = np.unpackbits(database, axis=1).astype(bool)
    few = np.unpackbits(queries[: n_queries // 100], axis=1).astype(bool)
    peer = NearestNeighbors(n_neighbors=10, metric="hamming", algorithm="brute", n_jobs=n_jobs)
    theirs, (expected, _) = best_of(lambda: peer.fit(bits).kneighbors(few), 1)
    np.testing.assert_allclose(distances[: len(few)], expected * N_BITS)
    ours, theirs = ours / (n_queries * n) * 1e9, theirs / (len(few) * n) * 1e9
    sheet.row("k = 10, per pair", ours, "ns", "NearestNeighbors, brute", theirs, at_least=20)


def multi_index_against_scan(sheet, n_queries, n, n_jobs):
    """Half of the queries are codes of the database with one bit flipped."""
    sheet.section(f"Within a radius, {n_queries:,} x {n:,}, {n_jobs} threads, by the clock")
    queries, database = random_codes(n_queries, 1), random_codes(n, 2)
    half = n_queries // 2
    queries[:half] = database[:half]
    queries[:half, 0] ^= 1
    scan = HammingNeighbors(n_bits=N_BITS, algorithm="brute", n_jobs=n_jobs).fit(database)
    tables = HammingNeighbors(n_bits=N_BITS, algorithm="multi_index", n_jobs=n_jobs)
    tables.fit(database[:1000]).radius_neighbors(queries[:1], 2)  # compiles
    tables.fit(database)
    seconds, _ = best_of(lambda: tables.radius_neighbors(queries[:1], 2), 1)
    sheet.row("tables for radius 2", seconds, "s")
    few = queries[: n_queries // 5]
    scan.radius_neighbors(few[:1], 2)
    for radius in (0, 1, 2, 3, 5, 8):
        ours, found = best_of(lambda r=radius: tables.radius_neighbors(queries, r), 3)
        theirs, expected = best_of(lambda r=radius: scan.radius_neighbors(few, r), 1)
        for rows, expected_rows in zip(found[1], expected[1]):
            np.testing.assert_array_equal(rows, expected_rows)
        ours, theirs = ours / n_queries * 1e6, theirs / len(few) * 1e6
        aim = 20 if radius == 2 else None
        work = f"radius {radius}, tables, per query"
        sheet.row(work, ours, "us", "our own scan", theirs, at_least=aim)


def precision_of_distances(folder):
    """Share of the ten nearest that are of the query's class."""
    X, y = fashion_mnist(folder)
    query, database, train = by_class(y, np.random.RandomState(0))
    print("\nPrecision of 10 on Fashion-MNIST\n  hasher  bits  hamming  asymmetric")
    for name, make in {"ITQ": ITQHasher, "TALR": TALRLinear}.items():
        for n_bits in (16, 32, 64):
            hasher = make(n_bits, output="packed", random_state=0).fit(X[train], y[train])
            index = HammingNeighbors(10, n_bits=n_bits).fit(hasher.transform(X[database]))
            codes, projections = hasher.transform(X[query]), hasher.decision_function(X[query])
            cells = ""
            for distance, given in (("hamming", codes), ("asymmetric", projections)):
                found = index.set_params(distance=distance).kneighbors(given)[1]
                cells += f"{np.mean(y[database][found] == y[query][:, None]):9.4f}"
            print(f"  {name:6s}{n_bits:6d}{cells}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only",
        choices=[
            "faiss",
            "single",
            "projections",
            "reading",
            "latency",
            "scikit-learn",
            "multi-index",
            "masks",
            "prefix",
            "rescoring",
        ],
    )
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--quick", action="store_true", help="a tenth of the database")
    options = parser.parse_args()
    if options.only == "rescoring":
        precision_of_distances(options.fashion_mnist)
    elif options.only == "prefix":
        prefixes(100_000 if options.quick else 1_000_000)
    else:
        measure(Sheet(), 10 if options.quick else 1, options.only)


def measure(sheet, scale=1, only=None):
    """Search beside peers; databases are `scale` times smaller."""
    if only in (None, "faiss"):
        for n_queries in (20, 200, 1000):
            for n_jobs in (1, 2):
                against_faiss(sheet, n_queries, 1_000_000 // scale, n_jobs)
        for n_bits in (128, 256):
            against_faiss(sheet, 200, 1_000_000 // scale, 2, n_bits)
    if only in (None, "single"):
        single_queries(sheet, 1_000_000 // scale)
    if only in (None, "projections"):
        projections(sheet, 1_000_000 // scale)
    if only in (None, "reading"):
        for size in (1_000_000, 10_000_000):
            against_reading(sheet, size // scale)
    if only in (None, "latency"):
        latency(sheet, 1_000_000 // scale)
    if only in (None, "masks"):
        masks(sheet, 50_000_000 // scale)
    if only in (None, "scikit-learn"):
        against_scikit_learn(sheet, 1000, 1_000_000 // scale, 2)
    if only in (None, "multi-index"):
        multi_index_against_scan(sheet, 1000, 10_000_000 // scale, 2)


if __name__ == "__main__":
    main()
