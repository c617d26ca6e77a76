"""What rounding projections to four bits loses of the ten true neighbors by cosine.

    python -m benchmarks.speed.rounding --data clinc150_embeddings256.npz ...

Recall@10 by Hamming distance, by asymmetric distance with the default number of candidates, and
with all codes as candidates, for 500 queries that are not in the database.
"""

import argparse

import numpy as np

from sklearn_hashrank import HammingNeighbors, ITQHasher, SignHasher, TALRLinear

K = 10


def rows_of(path):
    """Rows of an .npz file: all of X, or of X_train."""
    with np.load(path, allow_pickle=False) as arrays:
        name = "X" if "X" in arrays else "X_train"
        rows = arrays[name]
        rows = rows.astype(np.float32)
        if "scale" in arrays:
            rows = (rows / 255) ** 2 * arrays["scale"]
    return rows[np.random.default_rng(0).permutation(len(rows))[:20_000]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", required=True, help="npz files")
    options = parser.parse_args()
    print("data method bits | recall@10: Hamming asymmetric all-candidates")
    for path in options.data:
        rows = rows_of(path)
        queries, rows = rows[:500], rows[500:]
        units = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in (queries, rows)]
        true = np.argsort(-units[0] @ units[1].T, axis=1)[:, :K]
        for make in (SignHasher, ITQHasher, TALRLinear):
            for n_bits in (64, 256):
                hasher = make(n_bits, output="packed").fit(rows)
                index = HammingNeighbors(K, n_bits=n_bits).fit(hasher.transform(rows))
                found = [index.kneighbors(hasher.transform(queries))[1]]
                index.set_params(distance="asymmetric")
                projections = hasher.decision_function(queries)
                for n_candidates in (None, len(rows)):
                    index.set_params(n_candidates=n_candidates)
                    found.append(index.kneighbors(projections)[1])
                recalls = [
                    np.mean([np.isin(a, b).mean() for a, b in zip(true, each)]) for each in found
                ]
                cells = "  ".join(f"{recall:.4f}" for recall in recalls)
                print(f"{path.rpartition('/')[2]} {make.__name__} {n_bits} | {cells}", flush=True)


if __name__ == "__main__":
    main()
