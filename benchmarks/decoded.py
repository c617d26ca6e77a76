"""Neighbours found by codes that are decoded, beside hashers and quantizers of as many bytes.

    python benchmarks/decoded.py --rows words=words.npy --rows text=X.npz --bytes 8,16,32

Every file holds vectors, as one array or as `X`; or `X_train` and `X_test`, which are then the
database and the queries. Rows are brought to length 1. Each seed samples 1,000 queries and, of
larger files, 20,000 rows of a database, which methods also learn from.

Columns: recall of the 10 nearest by cosine, by each method's own distance to all items, and among
its 100 and 1,000 nearest, which is what rescoring these candidates by floats finds; among the 100
nearest by Hamming distance; CPU seconds of the fit. The own distance of ITQ and TALR is the
asymmetric one, of all items. faiss has its default training, with a seed of the run where it takes
one. --faiss "" leaves it out; "OPQ{0},PQ{0}" gets the number of bytes.
"""

import argparse
import time

import faiss
import numpy as np
from protocols import cell
from sklearn.preprocessing import normalize

from sklearn_hashrank import BinaryAutoencoderHasher, HammingNeighbors, ITQHasher, TALRLinear
from sklearn_hashrank.neighbors import DecodedNeighbors

K, MANY, MOST = 10, 100, 1000
N_QUERIES, N_ROWS = 1000, 20_000
FACTORS_OF_RABITQ = 8  # bytes of an item that are not bits


def read(path, seed):
    """Database and queries of one seed."""
    file = np.load(path)
    rng = np.random.RandomState(seed)
    if isinstance(file, np.ndarray) or "X" in file:
        rows = file if isinstance(file, np.ndarray) else file["X"]
        order = rng.permutation(len(rows))[: N_QUERIES + N_ROWS]
        queries, database = rows[order[:N_QUERIES]], rows[np.sort(order[N_QUERIES:])]
    else:
        queries, database = (
            rows[np.sort(rng.permutation(len(rows))[:n])]
            for rows, n in ((file["X_test"], N_QUERIES), (file["X_train"], N_ROWS))
        )
    return normalize(database.astype(np.float32)), normalize(queries.astype(np.float32))


def ranked_by_signs(hasher, database, queries):
    """The nearest by the asymmetric distance to all items."""
    signs = 2 * hasher.predict(database).astype(np.float32) - 1
    return largest(hasher.decision_function(queries) @ signs.T)


def ranked_by_decoder(hasher, database, queries):
    """The nearest by the cosine of the query and what the code decodes to."""
    index = DecodedNeighbors(hasher, MOST, n_jobs=1).fit(hasher.predict(database))
    return index.kneighbors(queries, return_distance=False)


def largest(scores):
    """Numbers of the largest scores of each row, in their order."""
    some = np.argpartition(-scores, MOST, axis=1)[:, :MOST]
    return np.take_along_axis(some, np.argsort(-np.take_along_axis(scores, some, 1)), 1)


def methods(n_bytes, seed):
    """Hashers by name, each with the ranking by its own distance."""
    n_bits, options = 8 * n_bytes, {"random_state": seed}
    talr = TALRLinear(n_bits, **options)
    return {
        "ITQ": (ITQHasher(n_bits, **options), ranked_by_signs),
        "TALR": (talr, ranked_by_signs),
        "BA": (BinaryAutoencoderHasher(n_bits, **options), ranked_by_decoder),
        "BA, hyperplanes": (
            BinaryAutoencoderHasher(n_bits, encoder="hyperplanes", **options),
            ranked_by_decoder,
        ),
        "BA, start=TALR": (
            BinaryAutoencoderHasher(n_bits, start=TALRLinear(), **options),
            ranked_by_decoder,
        ),
    }


def faiss_indexes(factories, n_bytes, n_features):
    """Indexes by name; of a factory with bits, those that the factors leave."""
    for factory in filter(None, factories):
        n_bits = 8 * (n_bytes - FACTORS_OF_RABITQ)
        if "{1}" in factory and n_bits <= 0:
            continue
        name = factory.format(n_bytes, n_bits)
        yield f"faiss {name}", faiss.index_factory(n_features, name)


def shares(true, ids):
    """Share of the true neighbours among the first so many ids."""
    return [np.mean([np.isin(a, b[:n]).mean() for a, b in zip(true, ids)]) for n in (K, MANY, MOST)]


def measure(database, queries, n_bytes, seed, wanted, factories):
    """Names and figures of every method."""
    true = largest(queries @ database.T)[:, :K]
    for name, (hasher, rank) in methods(n_bytes, seed).items():
        if wanted and name not in wanted:
            continue
        if name == "ITQ" and 8 * n_bytes > database.shape[1]:
            continue
        start = time.process_time()
        hasher.fit(database)
        seconds = time.process_time() - start
        index = HammingNeighbors(MANY, n_jobs=1).fit(hasher.predict(database))
        by_codes = index.kneighbors(hasher.predict(queries), return_distance=False)
        codes = np.mean([np.isin(a, b).mean() for a, b in zip(true, by_codes)])
        yield name, (*shares(true, rank(hasher, database, queries)), codes, seconds)
    for name, index in faiss_indexes(factories, n_bytes, database.shape[1]):
        start = time.process_time()
        index.train(database)
        seconds = time.process_time() - start
        index.add(database)
        yield name, (*shares(true, index.search(queries, MOST)[1]), np.nan, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", action="append", required=True, help="NAME=FILE, may be repeated")
    parser.add_argument("--bytes", default="8,16,32")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--methods", default="", help="'BA;TALR', say; 'none' for none")
    parser.add_argument("--faiss", default="OPQ{0},PQ{0};PQ{0};PCAR{1},RaBitQ")
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    wanted = set(filter(None, options.methods.split(";")))
    print("own distance; among 100, among 1,000; among 100 by codes; seconds of the fit")
    for name, path in (each.split("=", 1) for each in options.rows):
        for n_bytes in map(int, options.bytes.split(",")):
            rows = {}
            for seed in map(int, options.seeds.split(",")):
                database, queries = read(path, seed)
                for method, figures in measure(
                    database, queries, n_bytes, seed, wanted, options.faiss.split(";")
                ):
                    rows.setdefault(method, []).append(figures)
            for method, figures in rows.items():
                cells = "  ".join(cell(column, 3) for column in np.transpose(figures))
                print(f"{name:12s} {n_bytes:3d} bytes  {method:24s} {cells}", flush=True)


if __name__ == "__main__":
    main()
