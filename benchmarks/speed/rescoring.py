"""Recall of the ten true neighbors by codes, asymmetric distances and floats, and its cost.

    python -m benchmarks.speed.rescoring --data clinc150_embeddings256.npz

Embeddings of texts without labels: the database is the training part, queries are of the test part.
"""

import argparse

from benchmarks.protocols import intents
from sklearn_hashrank import NeighborAffinity
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.model_selection import RetrievalSplit

COLUMNS = ("near_codes", "near_asymmetric", "near_floats")
TIMES = ("codes_microseconds", "asymmetric_microseconds", "floats_microseconds")


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="npz file as benchmarks/protocols.py reads")
    parser.add_argument("--n-queries", type=int, default=500)
    parser.add_argument("--methods", default="sign,itq")
    options = parser.parse_args()
    X, _, query, database = intents(options.data)
    query = query[:: len(query) // options.n_queries]
    split = RetrievalSplit(database, query, database)
    print(
        "method bits oversampling | recall: codes asymmetric floats | µs: codes asymmetric floats"
    )
    for oversampling in (2, 4, 10):
        comparison = compare(
            X,
            methods=options.methods.split(","),
            n_bits=[64, 128, 256],
            seeds=1,
            protocol=split,
            affinity=NeighborAffinity(10),
            measures=["recall@10"],
            rescore={"n_neighbors": 10, "oversampling": oversampling},
        )
        for result in comparison.results:
            scores = result.scores
            recalls = "  ".join(f"{scores[name]:.3f}" for name in COLUMNS)
            times = "  ".join(f"{scores[name]:.0f}" for name in TIMES)
            print(f"{result.method:5} {result.n_bits:4} {oversampling:3}  {recalls}  {times}")
        bytes_of = scores["code_bytes"], scores["row_bytes"]
    print("bytes of a code of 256 bits, of a row:", *map(int, bytes_of))


if __name__ == "__main__":
    main()
