"""Recall of the ten nearest by codes that are decoded, next to other codes of as many bytes.

    python -m benchmarks.notes.text_rows rows --words wordllama/wordllama/weights/*.safetensors
    python -m benchmarks.notes.decoded --rows words=rows/words.npy \\
        --rows sentences=rows/sentences.npy \\
        --rows questions=questions.npz --output decoded.jsonl

Rows are arrays in .npy files, `X` of .npz files, or their `X_train` and `X_test`, of which queries
are sampled. Rows are brought to length 1. Each seed samples 1,000 queries and, of larger files,
`--database` rows, which methods also learn from; with --from-others they learn from as many other
rows, if there are. Finished runs are kept in the output, and the same
command again does what is missing.

Columns: recall of the 10 nearest by cosine, by each method's own distance to all items, and among
its 100 and 1,000 nearest, which is what rescoring these candidates by floats finds; among the 100
nearest by Hamming distance; CPU seconds of the fit. The own distance of ITQ and TALR is the
asymmetric one, of all items. faiss has its default training, but for the order of the centroids,
which no distance depends on (``np``). --faiss "" leaves it out; "OPQ{0},PQ{0}np" gets the number
of bytes, "PCAR{1},RaBitQ" the bits that the factors leave.
"""

import argparse
import json
import time
from pathlib import Path

import faiss
import numpy as np
from sklearn.preprocessing import normalize

from benchmarks.protocols import cell
from sklearn_hashrank import BinaryAutoencoderHasher, HammingNeighbors, ITQHasher, TALRLinear
from sklearn_hashrank.neighbors import DecodedNeighbors

K, MANY, MOST = 10, 100, 1000
N_QUERIES = 1000
FACTORS_OF_RABITQ = 8  # bytes of an item that are not bits


def read(path, seed, n_rows, from_others):
    """Rows to learn from, database and queries of one seed."""
    file = np.load(path)
    rng = np.random.RandomState(seed)
    if isinstance(file, np.ndarray) or "X" in file:
        rows = file if isinstance(file, np.ndarray) else file["X"]
        order = rng.permutation(len(rows))
        queries, order = rows[order[:N_QUERIES]], order[N_QUERIES:]
        database, others = (rows[np.sort(part)] for part in (order[:n_rows], order[n_rows:]))
        learned = others[:n_rows] if from_others else database
    else:
        queries, database = (
            rows[np.sort(rng.permutation(len(rows))[:n])]
            for rows, n in ((file["X_test"], N_QUERIES), (file["X_train"], n_rows))
        )
        learned = database
    return [normalize(each.astype(np.float32)) for each in (learned, database, queries)]


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
        "BA, linear": (
            BinaryAutoencoderHasher(n_bits, decoder="linear", **options),
            ranked_by_decoder,
        ),
        "BA, hyperplanes": (
            BinaryAutoencoderHasher(n_bits, encoder="hyperplanes", **options),
            ranked_by_decoder,
        ),
        "BA, start=TALR": (
            BinaryAutoencoderHasher(n_bits, start=TALRLinear(), **options),
            ranked_by_decoder,
        ),
    }


def faiss_names(factories, n_bytes):
    """Factory strings; of those with bits, which have some left."""
    for factory in filter(None, factories):
        n_bits = 8 * (n_bytes - FACTORS_OF_RABITQ)
        if "{1}" not in factory or n_bits > 0:
            yield factory.format(n_bytes, n_bits)


def shares(true, ids):
    """Share of the true neighbours among the first so many ids."""
    return [np.mean([np.isin(a, b[:n]).mean() for a, b in zip(true, ids)]) for n in (K, MANY, MOST)]


def of_hasher(name, learned, database, queries, true, n_bytes, seed):
    """Figures of a hasher."""
    hasher, rank = methods(n_bytes, seed)[name]
    start = time.process_time()
    hasher.fit(learned)
    seconds = time.process_time() - start
    index = HammingNeighbors(MANY, n_jobs=1).fit(hasher.predict(database))
    by_codes = index.kneighbors(hasher.predict(queries), return_distance=False)
    codes = np.mean([np.isin(a, b).mean() for a, b in zip(true, by_codes)])
    return [*shares(true, rank(hasher, database, queries)), codes, seconds]


def of_index(name, learned, database, queries, true):
    """Figures of an index of faiss."""
    index = faiss.index_factory(database.shape[1], name)
    start = time.process_time()
    index.train(learned)
    seconds = time.process_time() - start
    index.add(database)
    return [*shares(true, index.search(queries, MOST)[1]), np.nan, seconds]


def missing_runs(options, done):
    """Runs that are not yet done, the first seed of everything first."""
    wanted = [name for name in options.methods.split(";") if name]
    sets = dict(each.split("=", 1) for each in options.rows)
    for seed in map(int, options.seeds.split(",")):
        for name, path in sets.items():
            for n_bytes in map(int, options.bytes.split(",")):
                factories = faiss_names(options.faiss.split(";"), n_bytes)
                for method in (*wanted, *factories):
                    if (name, n_bytes, method, seed) not in done:
                        yield name, path, n_bytes, method, seed


def read_runs(path):
    """Figures of the runs of a file."""
    done = {}
    if path.exists():
        for line in path.read_text().splitlines():
            *run, figures = json.loads(line)
            done[tuple(run)] = figures
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", action="append", required=True, help="NAME=FILE, may be repeated")
    parser.add_argument("--bytes", default="8,16,32")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--methods", default="ITQ;TALR;BA")
    parser.add_argument("--faiss", default="OPQ{0},PQ{0}np;PCAR{1},RaBitQ")
    parser.add_argument("--database", type=int, default=10_000, help="rows at most")
    parser.add_argument(
        "--from-others", action="store_true", help="learn from other rows of files of one array"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start none after")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    start, done = time.process_time(), read_runs(options.output)
    for name, path, n_bytes, method, seed in missing_runs(options, done):
        if time.process_time() - start > options.seconds:
            break
        rows = read(path, seed, options.database, options.from_others)
        _, database, queries = rows
        true = largest(queries @ database.T)[:, :K]
        if method in methods(n_bytes, seed):
            figures = of_hasher(method, *rows, true, n_bytes, seed)
        else:
            figures = of_index(method, *rows, true)
        done[name, n_bytes, method, seed] = [float(figure) for figure in figures]
        with options.output.open("a") as file:
            run = [name, n_bytes, method, seed, done[name, n_bytes, method, seed]]
            file.write(json.dumps(run) + "\n")
    print("own distance; among 100, among 1,000; among 100 by codes; seconds of the fit; seeds")
    for name, n_bytes, method in dict.fromkeys(run[:3] for run in done):
        figures = [found for run, found in done.items() if run[:3] == (name, n_bytes, method)]
        cells = "  ".join(cell(column, 3) for column in np.transpose(figures))
        print(f"{name:12s} {n_bytes:3d} bytes  {method:24s} {cells}  {len(figures)}", flush=True)


if __name__ == "__main__":
    main()
