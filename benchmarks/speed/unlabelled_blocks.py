"""What learning from blocks loses without labels: TALRLinear by partial_fit, against fit.

    python -m benchmarks.speed.unlabelled_blocks --descriptions DESCRIPTIONS.npz --intents CLINC.npz

5,000 rows are learned from, at once or in blocks of 500, 1,000 or 5,000 rows, in 1 or 12 passes
over all blocks. Recall is that of the ten nearest of 5,500 other rows by cosine among the ten
nearest codes of 64 bits, for 500 queries; ties in any order. ITQ of the 5,000 rows, and both of the
first block alone, say where learning starts; a first block of all rows says what that is worth.
"""

import argparse

import numpy as np

from benchmarks.protocols import cell
from sklearn_hashrank import ITQHasher, NeighborAffinity, TALRLinear, retrieval_histogram

N_ROWS, N_QUERIES, N_ITEMS, N_BITS = 5000, 500, 5500, 64
BLOCKS = (500, 1000, 5000)
PASSES = (1, 12)


def unlabelled(path):
    """Rows of an .npz file: its array X, or those of all its parts."""
    with np.load(path) as file:
        names = ["X"] if "X" in file else [f"X_{part}" for part in ("train", "val", "test")]
        return np.concatenate([file[name] for name in names]).astype(np.float32)


def recall(hasher, queries, items):
    codes = hasher.predict(queries), hasher.predict(items)
    found = retrieval_histogram(*codes, queries, items, affinity=NeighborAffinity(10))
    return found.recall(k=10).mean()


def measure(X, seed):
    """Recall by what was learned from."""
    order = np.random.default_rng(seed).permutation(len(X))
    train, queries, items = np.split(
        X[order[: N_ROWS + N_QUERIES + N_ITEMS]], [N_ROWS, N_ROWS + N_QUERIES]
    )
    found = {}
    for name, n in (("all rows", N_ROWS), ("500 rows", BLOCKS[0])):
        for hasher in (ITQHasher(N_BITS, random_state=seed), TALRLinear(N_BITS, random_state=seed)):
            learned = hasher.fit(train[:n])
            found[f"{type(hasher).__name__}, {name}"] = recall(learned, queries, items)
    for begins, size in [(False, size) for size in BLOCKS] + [(True, BLOCKS[0])]:
        hasher = TALRLinear(N_BITS, random_state=seed)
        if begins:
            hasher.partial_fit(train)
        for number in range(1, max(PASSES) + 1):
            for first in range(0, N_ROWS, size):
                hasher.partial_fit(train[first : first + size])
            if number in PASSES:
                before = "all rows once, then " * begins
                name = f"partial_fit, {before}blocks of {size}, passes {number}"
                found[name] = recall(hasher, queries, items)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--descriptions", help=".npz file")
    parser.add_argument("--intents", help=".npz file")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    for name in ("descriptions", "intents"):
        if not (path := getattr(options, name)):
            continue
        X = unlabelled(path)
        found = [measure(X, seed) for seed in options.seeds]
        print(name)
        for key in found[0]:
            print(f"  {key:60s}{cell([each[key] for each in found], 3)}", flush=True)


if __name__ == "__main__":
    main()
