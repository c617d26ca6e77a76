"""Text embeddings as codes: true neighbors found, AP by intent, and cost, at equal bytes.

    python -m benchmarks.notes.embeddings --data CLINC.npz [--only neighbors,unseen,cost]
        [--seeds 3]

The file is one that `protocols.intents` reads: vectors with classes. Queries are the test part, the
database is the training part, and hashers learn from the database. Where a method samples, a figure
is the mean of the seeds. Rows marked with * were learned from the intents of the database; nothing
else sees them. faiss is needed for its product quantizer and RaBitQ.

*neighbors*: recall of the 10 nearest rows by cosine, ranked by codes, by asymmetric distance of the
100 nearest codes, and by floats of the 20 and 100 nearest codes; tie-aware AP by intent.
*unseen*: 100 intents are trained on, rows of the other 50 retrieve each other.
*cost*: bytes of an item and CPU time, one thread.
"""

import argparse
import time

import faiss
import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from benchmarks.protocols import average_precision, cell, intents
from sklearn_hashrank import (
    HammingNeighbors,
    ITQHasher,
    LSHHasher,
    NeighborAffinity,
    SignHasher,
    TALRLinear,
    retrieval_histogram,
)
from sklearn_hashrank.metrics import distance_histogram
from sklearn_hashrank.model_selection import UnseenClassesSplit
from sklearn_hashrank.neighbors import rescore

K = 10
FACTORS_OF_RABITQ = 8  # bytes of an item that are not bits
SOME, MANY = 2 * K, 10 * K
LEARNED_FROM_INTENTS = ("TALRLinear *", "TALRLinear, dropout=0.5 *")


def hashers(n_bits, seed):
    """Names and hashers; the signs are the same whatever the seed."""
    signs = {} if seed else {"SignHasher": SignHasher(n_bits)}
    return signs | {
        "LSHHasher": LSHHasher(n_bits, random_state=seed),
        "ITQHasher": ITQHasher(n_bits, random_state=seed),
        "TALRLinear": TALRLinear(n_bits, random_state=seed),
        "TALRLinear *": TALRLinear(n_bits, random_state=seed),
    }


def chosen(methods, wanted):
    """Methods that are wanted, or all."""
    return {name: method for name, method in methods.items() if not wanted or name in wanted}


def fitted(name, hasher, X, y):
    """The hasher, learned from intents where its name says so."""
    return hasher.fit(X, y if name in LEARNED_FROM_INTENTS else None)


def faiss_indexes(n_bytes, n_features, seed):
    """Name and empty index of so many bytes for an item."""
    indexes = {"faiss PQ": faiss.index_factory(n_features, f"PQ{n_bytes}")}
    faiss.downcast_index(indexes["faiss PQ"]).pq.cp.seed = seed
    if seed:  # faiss gives the others one of their own
        return indexes
    indexes["faiss OPQ, PQ"] = faiss.index_factory(n_features, f"OPQ{n_bytes},PQ{n_bytes}")
    if n_bytes > FACTORS_OF_RABITQ:
        n_bits = 8 * (n_bytes - FACTORS_OF_RABITQ)
        indexes["faiss RaBitQ"] = faiss.index_factory(n_features, f"PCAR{n_bits},RaBitQ")
    return indexes


def found(true, ids):
    """Share of the true neighbors among the first ids."""
    return np.mean([np.isin(a, b).mean() for a, b in zip(true, ids[:, :K])])


def ranked_by_codes(hasher, split, affinity, true):
    """Recall of the four rankings, and AP by intent."""
    queries, query_y, database, database_y = split
    codes, of_queries = hasher.predict(database), hasher.predict(queries)
    by_rows = retrieval_histogram(of_queries, codes, queries, database, affinity=affinity)
    by_intent = retrieval_histogram(of_queries, codes, query_y, database_y)
    index = HammingNeighbors(MANY).fit(codes)
    candidates = index.kneighbors(of_queries, return_distance=False)
    index.set_params(distance="asymmetric")
    projections = hasher.decision_function(queries)
    _, asymmetric = index.kneighbors(projections, K)
    return (
        by_rows.recall(k=K).mean(),
        found(true, asymmetric),
        *by_floats(split, candidates, true),
        by_intent.average_precision().mean(),
    )


def ranked_by_faiss(index, split, true):
    """The same, of an index with distances of its own."""
    queries, _, database, _ = split
    index.train(database)
    index.add(database)
    _, ids = index.search(queries, MANY)
    return (
        np.nan,
        found(true, ids),
        *by_floats(split, ids, true),
        average_precision_of(lambda rows: all_distances(index, rows), split),
    )


def by_floats(split, candidates, true):
    """Recall of the first 20 and 100 candidates, put in order of their cosines."""
    queries, _, database, _ = split
    return [found(true, rescore(queries, database, candidates[:, :n], K)[1]) for n in (SOME, MANY)]


def all_distances(index, queries):
    """Distances of all pairs."""
    bounds, distances, ids = index.range_search(queries, np.inf)
    rows = np.repeat(np.arange(len(queries)), np.diff(bounds.astype(int)))
    table = np.full((len(queries), index.ntotal), np.inf, dtype=np.float32)
    table[rows, ids] = distances
    return table


def average_precision_of(distances_of, split):
    """Tie-aware AP by intent of any distances, a block of queries at a time."""
    queries, query_y, _, database_y = split
    scores = []
    for start in range(0, len(queries), 250):
        rows = slice(start, start + 250)
        histogram = distance_histogram(distances_of(queries[rows]), query_y[rows], database_y)
        scores.append(histogram.average_precision())
    return np.concatenate(scores).mean()


def neighbors(X, y, query, database, n_seeds, lengths, wanted):
    """Print recall and AP of all methods, the database being the training rows."""
    split = X[query], y[query], X[database], y[database]
    exact = NearestNeighbors(n_neighbors=K, metric="cosine", algorithm="brute").fit(split[2])
    true = exact.kneighbors(split[0], return_distance=False)
    affinity = NeighborAffinity(K).fit(split[2])
    floats = average_precision_of(lambda rows: 1 - rows @ split[2].T, split)
    print(f"floats, {X.shape[1] * X.itemsize} bytes: AP by intent {floats:.3f}")
    print("recall by codes, asymmetric, of 20 floats, of 100 floats; AP by intent")
    for n_bits in lengths:
        of_seeds = [
            hashers(n_bits, seed) | faiss_indexes(n_bits // 8, X.shape[1], seed)
            for seed in range(n_seeds)
        ]
        for name in chosen(of_seeds[0], wanted):
            rows = []
            for method in (methods[name] for methods in of_seeds if name in methods):
                if isinstance(method, faiss.Index):
                    rows.append(ranked_by_faiss(method, split, true))
                else:
                    fitted(name, method, split[2], split[3])
                    rows.append(ranked_by_codes(method, split, affinity, true))
            show({name: rows}, f"{n_bits // 8} bytes")


def unseen(X, y, n_draws, lengths, wanted):
    """Print AP and recall of codes where nobody trained on the classes that are searched."""
    print("50 unseen intents: AP by intent, recall by codes")
    for n_bits in lengths:
        rows = {}
        for seed in range(n_draws):
            protocol = UnseenClassesSplit(30, 100, n_test_classes=50, random_state=seed)
            [(train, query, database)] = protocol.split(X, y)
            methods = {"SignHasher": SignHasher(n_bits), **hashers(n_bits, seed)}
            methods["TALRLinear, dropout=0.5 *"] = TALRLinear(
                n_bits, dropout=0.5, random_state=seed
            )
            for name, hasher in chosen(methods, wanted).items():
                fitted(name, hasher, X[train], y[train])
                codes = hasher.predict(X[query]), hasher.predict(X[database])
                recall = retrieval_histogram(
                    *codes, X[query], X[database], affinity=NeighborAffinity(K)
                ).recall(k=K)
                precision = average_precision(hasher, X, y, query, database)
                rows.setdefault(name, []).append((precision, recall.mean()))
        show(rows, f"{n_bits} bits")


def show(rows, size):
    """Print a line for each method."""
    for name, scores in rows.items():
        cells = "  ".join(cell(column, 3) for column in np.transpose(scores))
        print(f"{name:26s} {size:8s}  {cells}", flush=True)


def cost(X, query, database, n_bytes=16, n_copies=10, n_queries=200):
    """Print bytes and CPU time of every ranking, of a database made larger with noise."""
    rng = np.random.default_rng(0)
    rows = np.tile(X[database], (n_copies, 1))
    rows = normalize(rows + 0.02 * rng.standard_normal(rows.shape, dtype=np.float32))
    queries = X[query[:n_queries]]
    hasher = ITQHasher(8 * n_bytes, random_state=0, output="packed").fit(X[database])
    codes = hasher.transform(rows)
    n_bits = hasher.n_bits_
    of_queries = hasher.transform(queries)
    index = HammingNeighbors(K, n_bits=n_bits).fit(codes)
    by_projections = HammingNeighbors(K, n_bits=n_bits, distance="asymmetric").fit(codes)

    def by_rows():
        candidates = index.kneighbors(of_queries, MANY, return_distance=False)
        return rescore(queries, rows, candidates, K)

    print(f"{len(rows)} items: bytes of an item, CPU microseconds of a query")
    line("encode", "", lambda: hasher.transform(queries), n_queries)
    line("codes", n_bytes, lambda: index.kneighbors(of_queries), n_queries)
    projections = hasher.decision_function(queries)
    line(
        "asymmetric",
        n_bytes,
        lambda: by_projections.kneighbors(projections),
        n_queries,
    )
    line("floats, of 100 codes", f"{n_bytes} + {rows[0].nbytes}", by_rows, n_queries)
    flat = faiss.IndexFlatIP(rows.shape[1])
    for name, peer in {**faiss_indexes(n_bytes, rows.shape[1], 0), "faiss flat": flat}.items():
        peer.train(X[database])
        peer.add(rows)
        size = rows[0].nbytes if peer is flat else n_bytes
        line(name, size, lambda peer=peer: peer.search(queries, K), n_queries)


def line(name, size, search, n_queries):
    """Print the CPU time of the fastest of five."""
    seconds = []
    for _ in range(5):
        start = time.process_time()
        search()
        seconds.append(time.process_time() - start)
    print(f"{name:26s} {size!s:>10s}  {1e6 * min(seconds) / n_queries:8.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="npz file, see above")
    parser.add_argument("--only", default="neighbors,unseen,cost")
    parser.add_argument("--bits", default="64,128,256")
    parser.add_argument("--methods", default="", help="'SignHasher;TALRLinear *', say")
    parser.add_argument("--every", type=int, default=1, help="take every third query, say")
    parser.add_argument("--seeds", type=int, default=3, help="and draws of the unseen classes")
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    parts = options.only.split(",")
    lengths = [int(n_bits) for n_bits in options.bits.split(",")]
    wanted = set(filter(None, options.methods.split(";")))
    X, y, query, database = intents(options.data)
    X = normalize(X)
    if "neighbors" in parts:
        neighbors(X, y, query[:: options.every], database, options.seeds, lengths, wanted)
    if "unseen" in parts:
        unseen(X, y, options.seeds, lengths, wanted)
    if "cost" in parts:
        cost(X, query, database)


if __name__ == "__main__":
    main()
