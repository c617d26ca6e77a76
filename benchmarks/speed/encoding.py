"""Seconds to encode rows by every method, beside the matrix products that its formula has.

    python -m benchmarks.speed.encoding [--methods lsh,ksh] [--rows 100000] [--features 512]
        [--bits 64]
        [--output docs/notes/methods/encoding.inc]

Hashers learn from 2,000 random rows, which have labels of ten classes where a method needs them.
Rows are float32, products are those of numpy, and both have one thread. The processor times of both
are the fastest of calls that take turns, so that other work on the machine slows both. A hasher
checks its input, and packs its codes, which products do not.
"""

import argparse
import time
from functools import reduce
from itertools import pairwise
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.sheet import csv_table
from sklearn_hashrank.comparison import method_from_name
from sklearn_hashrank.comparison._method_table import GROUPS, METHODS

TRAINING_ROWS = 2000
FASTER_TO_LEARN = {"max_iter": 1, "n_labeled": 200}  # what encoding does not depend on
WITHOUT_PRODUCTS = ("sign", "wta", "fasthash", "structhash-trees")
SHALLOW = [name for name, method in METHODS.items() if method.group != "deep"]
HEADS = ("method", "shapes of the products", "encoding, s", "products, s", "ratio")


def learn(method, X, n_bits):
    """A fitted hasher, whatever it has learned."""
    hasher = method_from_name(method).set_params(n_bits=n_bits)
    own = {name: value for name, value in FASTER_TO_LEARN.items() if name in hasher.get_params()}
    classes = np.random.RandomState(0).randint(10, size=TRAINING_ROWS)
    y = np.stack([classes // 5, classes], axis=1) if method.startswith("hierarch") else classes
    return hasher.set_params(**own).fit(X[:TRAINING_ROWS], y)


def sizes_of(hasher, n_features, n_bits):
    """Widths that rows have one after the other in the formula of the codes."""
    if hasattr(hasher, "anchors_"):
        return n_features, len(hasher.anchors_), n_bits
    if hasattr(hasher, "decoder_"):
        # First bits, and what they or parts of the code are changed for.
        return n_features, n_bits + int(np.prod(hasher.decoder_.shape[:-1]))
    return n_features, len(getattr(hasher, "components_", range(n_bits)))


def time_both(method, X, n_bits, repeats=5, enough=20.0):
    """Shapes of the products, seconds of encoding and of the products."""
    hasher = learn(method, X, n_bits)
    sizes = sizes_of(hasher, X.shape[1], n_bits)
    rng = np.random.RandomState(0)
    factors = [rng.standard_normal(size).astype(X.dtype) for size in pairwise(sizes)]
    best = [np.inf, np.inf]
    begin = time.process_time()
    for _ in range(repeats):
        for i, call in enumerate(
            (hasher.packed_codes, lambda rows: reduce(np.matmul, factors, rows))
        ):
            start = time.process_time()
            call(X)
            best[i] = min(best[i], time.process_time() - start)
        if time.process_time() - begin > enough:
            break
    return " x ".join(map(str, sizes)), *best


def random_rows(n_rows, n_features):
    """Rows of float32."""
    return np.random.default_rng(0).standard_normal((n_rows, n_features), dtype=np.float32)


def measure(sheet, n_rows=100_000):
    """Rows of a sheet for all methods that have products."""
    sheet.section(f"Encoding {n_rows:,} x 512 with 64 bits, one thread, CPU time, beside products")
    X = random_rows(n_rows, 512)
    with threadpool_limits(1):
        for method in SHALLOW:
            if method not in WITHOUT_PRODUCTS:
                shapes, ours, products = time_both(method, X, 64)
                sheet.row(method, ours, "s", shapes, products, at_least=0.6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", type=lambda text: text.split(","), default=SHALLOW)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=512)
    parser.add_argument("--bits", type=int, default=64)
    parser.add_argument("--output", type=Path, help="table in reStructuredText to write")
    options = parser.parse_args()
    X = random_rows(options.rows, options.features)
    rows = [HEADS]
    in_order = sorted(
        options.methods, key=lambda name: list(GROUPS).index(METHODS[name.partition(":")[0]].group)
    )
    with threadpool_limits(1):
        for method in in_order:
            shapes, ours, products = time_both(method, X, options.bits)
            cells = (f"{ours:.2f}", f"{products:.2f}", f"{ours / products:.2f}")
            rows.append((f"``{method}``", shapes, *cells))
            print(f"{method:20s} {shapes:16s} {'  '.join(cells)}", flush=True)
    if options.output:
        options.output.write_text(csv_table(rows))


if __name__ == "__main__":
    main()
