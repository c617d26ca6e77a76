"""Codes whose first bits are codes: AP by intent of prefixes, learned for and not.

    python -m benchmarks.notes.prefixes --data CLINC.npz [--seeds 0,1,2,3,4] [--bits 16,32,64]

    python -m benchmarks.notes.prefixes --data CLINC.npz --search [--seeds 0,1,2]

The file is one that `protocols.intents` reads. Hashers learn from the training part with its
intents, which is the database; queries are the test part. A line is one hasher of the longest
length, learned with prefixes or without, or one hasher for each length.

With ``--search``, codes of 256 bits are searched by their first 64 bits, and what is found is put
in order by all bits: the share of the ten nearest codes that are found, where a code that is as
near as the tenth counts, by the number of candidates. Hashers learn from the database without
intents.
"""

import argparse

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import normalize

from benchmarks.protocols import average_precision, cell, intents
from sklearn_hashrank import HammingNeighbors, ITQHasher, PCAHasher, TALRLinear

LONG, SHORT, K, CANDIDATES = 256, 64, 10, (10, 30, 100, 300, 1000)


def recall_of_first_pass(X, query, database, seeds):
    """Print the share of the nearest codes that are found, for each hasher."""
    hashers = {
        "PCAHasher": PCAHasher(LONG),
        "ITQHasher": ITQHasher(LONG),
        "TALRLinear": TALRLinear(LONG),
        "TALRLinear, prefixes": TALRLinear(LONG, prefixes=(SHORT, LONG)),
    }
    for name, hasher in hashers.items():
        found = []
        for seed in seeds:
            hasher = clone(hasher).set_params(output="packed", random_state=seed).fit(X[database])
            codes, queries = hasher.transform(X[database]), hasher.transform(X[query])
            index = HammingNeighbors(K, n_bits=LONG).fit(codes)
            farthest = index.kneighbors(queries)[0][:, -1:]
            index.set_params(prefix=SHORT)
            found.append(
                [
                    np.mean(index.set_params(n_candidates=n).kneighbors(queries)[0] <= farthest)
                    for n in CANDIDATES
                ]
            )
        print(f"{name:22s}", *(cell(column, 3) for column in zip(*found)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="npz file, see above")
    parser.add_argument("--bits", default="16,32,64")
    parser.add_argument("--seeds", default="0,1,2,3,4")
    parser.add_argument("--only", default="prefixes,plain,own")
    parser.add_argument("--search", action="store_true")
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    lengths = tuple(int(n_bits) for n_bits in options.bits.split(","))
    X, y, query, database = intents(options.data)
    X = normalize(X)
    if options.search:
        recall_of_first_pass(X, query, database, seeds)
        return
    rows = {}
    for seed in seeds:
        for name in options.only.split(","):
            if name == "own":
                hashers = [TALRLinear(n_bits, random_state=seed) for n_bits in lengths]
                hashers = [hasher.fit(X[database], y[database]) for hasher in hashers]
            else:
                prefixes = lengths if name == "prefixes" else None
                hasher = TALRLinear(max(lengths), prefixes=prefixes, random_state=seed)
                hasher.fit(X[database], y[database])
                hashers = [hasher.truncate(n_bits) for n_bits in lengths]
            found = [average_precision(hasher, X, y, query, database) for hasher in hashers]
            rows.setdefault(name, []).append(found)
            print(f"seed {seed} {name:9s}", *(f"{each:.4f}" for each in found), flush=True)
    for name, found in rows.items():
        print(f"{name:9s}", *(cell(column, 3) for column in zip(*found)))


if __name__ == "__main__":
    main()
