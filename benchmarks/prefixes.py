"""Codes whose first bits are codes: AP by intent of prefixes, learned for and not.

    python benchmarks/prefixes.py --data CLINC.npz [--seeds 0,1,2,3,4] [--bits 16,32,64]

The file is one that `protocols.intents` reads. Hashers learn from the training part with its
intents, which is the database; queries are the test part. A line is one hasher of the longest
length, learned with prefixes or without, or one hasher for each length.
"""

import argparse

from protocols import average_precision, cell, intents
from sklearn.preprocessing import normalize

from sklearn_hashrank import TALRLinear


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="npz file, see above")
    parser.add_argument("--bits", default="16,32,64")
    parser.add_argument("--seeds", default="0,1,2,3,4")
    parser.add_argument("--only", default="prefixes,plain,own")
    options = parser.parse_args()
    lengths = tuple(int(n_bits) for n_bits in options.bits.split(","))
    X, y, query, database = intents(options.data)
    X = normalize(X)
    rows = {}
    for seed in map(int, options.seeds.split(",")):
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
