"""How many candidates by codes hold the ten nearest rows, by bits and rows.

    pip install tokenizers
    pip install --no-deps --target wordllama wordllama
    python -m benchmarks.notes.text_rows rows --words wordllama/wordllama/weights/*.safetensors
    python -m benchmarks.notes.oversampling rows/documentation.npy --output oversampling.jsonl

The file has one array of rows, which are brought to length 1. Each seed samples queries, and a
database from the other rows, which the hashers also learn from. Columns: share of the ten
nearest by cosine that are the first ten by Hamming distance, and that are among the first 100,
1,000 and 3,000, which is what rescoring these by floats finds; the same of the first ten by the
distance of the method's own: asymmetric. Mean and standard deviation over the seeds.
Finished runs are kept in the output, and the same command again does what is missing.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.preprocessing import normalize

from benchmarks.protocols import cell
from sklearn_hashrank import HammingNeighbors, ITQHasher, TALRLinear

K, CANDIDATES = 10, (10, 100, 1000, 3000)
HASHERS = {"TALRLinear": TALRLinear, "ITQHasher": ITQHasher}


def shares(true, found, sizes):
    return [np.mean([np.isin(a, b[:n]).mean() for a, b in zip(true, found)]) for n in sizes]


def figures(name, n_bits, database, queries, true, seed):
    """Shares by Hamming distance, and of the first ten by the distance of its own."""
    hasher = HASHERS[name](n_bits, output="packed", random_state=seed).fit(database)
    codes = hasher.transform(database)
    index = HammingNeighbors(CANDIDATES[-1], n_bits=n_bits, n_jobs=1).fit(codes)
    found = index.kneighbors(hasher.transform(queries), return_distance=False)
    signs = 2 * hasher.predict(database).astype(np.float32) - 1
    scores = hasher.decision_function(queries) @ signs.T
    own = np.argsort(-scores, axis=1, kind="stable")[:, :K]
    return [*shares(true, found, CANDIDATES), *shares(true, own, (K,))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--rows", default="10000,60000")
    parser.add_argument("--bits", default="64,128,256")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--methods", default=",".join(HASHERS))
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    X = normalize(np.load(options.file))
    done = {}
    if options.output.exists():
        for line in options.output.read_text().splitlines():
            *run, found = json.loads(line)
            done[tuple(run)] = found
    numbers = [[int(n) for n in each.split(",")] for each in (options.rows, options.bits)]
    seeds, methods = map(int, options.seeds.split(",")), options.methods.split(",")
    for seed, n_rows, n_bits, name in product(seeds, *numbers, methods):
        if (run := (n_rows, n_bits, name, seed)) in done:
            continue
        order = np.random.RandomState(seed).permutation(len(X))
        queries = X[order[: options.queries]]
        database = X[np.sort(order[options.queries :][:n_rows])]
        true = np.argsort(-queries @ database.T, axis=1)[:, :K]
        done[run] = [float(x) for x in figures(name, n_bits, database, queries, true, seed)]
        with options.output.open("a") as file:
            file.write(json.dumps([*run, done[run]]) + "\n")
    print("first 10, 100, 1,000 and 3,000 by Hamming distance; first 10 by the own distance; seeds")
    for n_rows, n_bits, name in sorted({run[:3] for run in done}):
        runs = [found for run, found in done.items() if run[:3] == (n_rows, n_bits, name)]
        cells = "  ".join(cell(column, 3) for column in np.transpose(runs))
        print(f"{n_rows:6d} rows {n_bits:4d} bits {name:18s} {cells}  {len(runs)}")


if __name__ == "__main__":
    main()
