"""All methods under one protocol, by their defaults, as `docs/notes/methods` shows it.

    python -m benchmarks.notes.one_protocol --data GIST.npz [--methods lsh,ksh] [--seeds 5]
        [--output docs/notes/methods/one_protocol.inc]

2,000 training rows, 500 queries and 3,000 database rows that nobody trains on, sampled from all
rows for each seed. Mean tie-aware AP over seeds, its standard deviation, and CPU seconds of a fit,
on average over code lengths.
"""

import argparse
from pathlib import Path

from benchmarks.notes.peers_kernels import split_rows
from benchmarks.notes.peers_minibatch import BITS, measure
from benchmarks.protocols import gist
from benchmarks.sheet import csv_table
from sklearn_hashrank.comparison._method_table import GROUPS, METHODS

OF_SUPERCLASSES = ("hierarchical", "hierarchical-paper")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="npz of X_train, y_train, X_test, y_test")
    shallow = [name for name in METHODS if METHODS[name].group != "deep"]
    allowed = [name for name in shallow if name not in OF_SUPERCLASSES]
    parser.add_argument("--methods", type=lambda text: text.split(","), default=allowed)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path, help="table in reStructuredText to write")
    options = parser.parse_args()
    in_order = [name for group in GROUPS for name in options.methods if _group(name) == group]
    rows = measure("GIST", *gist(options.data), split_rows, in_order, options.seeds)
    if options.output:
        heads = ("method", *(f"{n_bits} bits" for n_bits in BITS), "a fit, s")
        rows = [heads, *((f"``{name}``", *cells) for name, *cells in rows)]
        options.output.write_text(csv_table(rows))


def _group(notation):
    return METHODS[notation.partition(":")[0]].group


if __name__ == "__main__":
    main()
