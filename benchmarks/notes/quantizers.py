"""Recall of the ten nearest by codes of equal total bytes: quantizers, and codes of bits.

    pip install faiss-cpu tokenizers
    pip install --no-deps --target wordllama wordllama
    python -m benchmarks.notes.text_rows rows --words wordllama/wordllama/weights/*.safetensors
    python -m benchmarks.notes.quantizers --data documentation=rows/documentation.npy \\
        --data sentences=rows/sentences.npy:100 --data pixels=fashion-mnist:64 --output runs.jsonl

Data are arrays in .npy files, `X` of .npz files (with `scale`, the squares of bytes), their
`X_train` and `X_test`, or Fashion-MNIST; ``:100`` keeps the 100 leading principal directions. Rows
are brought to length 1. A seed samples `--queries` queries, `--rows` rows that all methods learn
from, and as many new rows; half of the rest each where there are fewer. Runs that are in the output
are not repeated, so the same command continues what was interrupted.

Recall of the 10 nearest by cosine in a database of the new rows, and of the rows learned from: by
the distance of each method to all items, and among its 100 and 1,000 nearest, which is what
rescoring these by the original vectors finds. A method is ranked in several ways, and the table has
the way that finds the most of the *learned* rows: ``ip`` by the product of the query and the
decoded row, ``cos`` by their cosine, for which the length of the decoded row takes one byte of the
total. The asymmetric distance of codes of bits is the product of the projections and the bits.
RaBitQ has its own distance, with the bytes of its factors counted, in the natural dimension or
after as many principal directions as bits. CPU seconds of the fit, microseconds to encode a row,
and megabytes by which the fit raised the peak of memory; one thread.
"""

import argparse
import json
import resource
import time
from collections import defaultdict
from itertools import product
from pathlib import Path

import faiss
import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from benchmarks.protocols import fashion_mnist
from sklearn_hashrank import AdditiveQuantizer, ITQHasher, SignHasher, TALRLinear

K, DEPTHS = 10, (10, 100, 1000)
LEVELS_OF_NORM = 256  # of the byte that holds the length of a decoded row
BEAM_OF_RQ = 16  # of the encoder, more than ours
FACTORS_OF_RABITQ = 8  # bytes of an item that are not bits


def read(source):
    """All rows of a file."""
    path, _, n_components = source.partition(":")
    if path == "fashion-mnist":
        rows = fashion_mnist()[0]
    else:
        rows = np.load(path)
        if not isinstance(rows, np.ndarray):
            if "scale" in rows:
                rows = (rows["X"] / 255.0) ** 2 * rows["scale"]
            else:
                parts = ("X",) if "X" in rows else ("X_train", "X_test")
                rows = np.concatenate([rows[part] for part in parts])
    rows = rows.astype(np.float32)
    if n_components:
        rows = PCA(int(n_components), svd_solver="covariance_eigh").fit_transform(rows)
    return rows


def parts(X, n_queries, n_rows, seed):
    """Queries, rows to learn from, and new rows."""
    order = np.random.RandomState(seed).permutation(len(X))
    n_rows = min(n_rows, (len(X) - n_queries) // 2)
    cuts = np.cumsum([n_queries, n_rows, n_rows])
    return [normalize(X[np.sort(part)]) for part in np.split(order, cuts)[:3]]


class Decoded:
    """A quantizer that decodes."""

    def __init__(self, learned, fit):
        self.mean = learned.mean(axis=0)
        self.encode, self._decode = fit(learned, self.mean)

    def scores(self, queries, codes, rule):
        """Scores of items; the lengths of decoded rows in one byte."""
        decoded = self._decode(codes)
        if rule == "cos":
            lengths = np.maximum(np.linalg.norm(decoded, axis=1, keepdims=True), 1e-9)
            least, most = lengths.min(), lengths.max()
            step = max((most - least) / (LEVELS_OF_NORM - 1), 1e-9)
            decoded = decoded / (least + step * np.round((lengths - least) / step))
        return queries @ decoded.T


class Bits:
    """A hasher, ranked by asymmetric distance, or by Hamming distance."""

    def __init__(self, learned, hasher):
        self._hasher = hasher.fit(learned)
        self.encode = self._hasher.predict

    def scores(self, queries, codes, rule):
        signs = 2 * codes.astype(np.float32) - 1
        projections = self._hasher.decision_function(queries)
        return (np.sign(projections) if rule == "hamming" else projections) @ signs.T


class OwnIndex:
    """An index of faiss that has a distance of its own."""

    def __init__(self, learned, factory):
        self._index = faiss.index_factory(learned.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
        self._index.train(learned)
        self.encode = lambda rows: rows

    def scores(self, queries, codes, rule):
        index = faiss.clone_index(self._index)
        index.add(codes)
        distances, ids = index.search(queries, max(DEPTHS))
        scores = np.full((len(queries), len(codes)), -np.inf, np.float32)
        np.put_along_axis(scores, ids, distances, axis=1)
        return scores


def additive(n_bytes, seed, **options):
    def fit(rows, mean):
        quantizer = AdditiveQuantizer(n_bytes, random_state=seed, n_jobs=1, **options).fit(rows)
        return quantizer.transform, quantizer.inverse_transform

    return fit


def of_faiss(make):
    """A quantizer of faiss, of centered rows."""

    def fit(rows, mean):
        quantizer = make(rows.shape[1])
        quantizer.train(rows - mean)
        if hasattr(quantizer, "max_beam_size"):
            quantizer.max_beam_size = BEAM_OF_RQ  # training keeps the 5 of its default
        encode = getattr(quantizer, "compute_codes", None) or quantizer.sa_encode
        decode = getattr(quantizer, "decode", None) or quantizer.sa_decode
        return lambda some: encode(some - mean), lambda codes: decode(codes) + mean

    return fit


def optimized_product(n_bytes):
    def make(d):
        inner = n_bytes * max(1, d // n_bytes)
        return faiss.index_factory(d, f"OPQ{n_bytes}_{inner},PQ{n_bytes}np")

    return make


def divisible_product(n_bytes):
    def make(d):
        inner = n_bytes * max(1, d // n_bytes)
        return faiss.index_factory(d, f"PCAR{inner},PQ{n_bytes}np")

    return make


def decoding_methods(n_bytes, seed):
    """Names and fits of quantizers; of those ranked by cosine, one byte less."""
    return {
        "ours": additive(n_bytes, seed),
        "RQ": of_faiss(lambda d: faiss.ResidualQuantizer(d, n_bytes, 8)),
        "LSQ": of_faiss(lambda d: faiss.LocalSearchQuantizer(d, n_bytes, 8)),
        "OPQ+PQ": of_faiss(optimized_product(n_bytes)),
        "PQ": of_faiss(divisible_product(n_bytes)),
        "SQ4": of_faiss(
            lambda d: faiss.index_factory(d, f"PCAR{min(d, 2 * n_bytes) // 2 * 2},SQ4")
        ),
    }


def make(name, rule, total, learned, seed):
    """The fitted method whose items take `total` bytes by this rule; None where there is none."""
    d = learned.shape[1]
    hashers = {
        "sign": lambda bits: SignHasher(bits),
        "ITQ": lambda bits: ITQHasher(bits, random_state=seed),
        "TALR": lambda bits: TALRLinear(bits, random_state=seed),
    }
    if name in hashers:
        if 8 * total > d and name != "TALR":
            return None
        return Bits(learned, hashers[name](8 * total))
    if name == "RaBitQ":
        bits = 8 * (total - FACTORS_OF_RABITQ)
        if bits <= 0:
            return None
        return OwnIndex(learned, f"PCAR{min(d, bits)},RaBitQ")
    n_bytes = total - (rule == "cos")
    return Decoded(learned, decoding_methods(n_bytes, seed)[name])


RULES = {
    **dict.fromkeys(["ours", "RQ", "LSQ", "OPQ+PQ", "PQ", "SQ4"], ("ip", "cos")),
    **dict.fromkeys(["sign", "ITQ", "TALR"], ("asymmetric", "hamming")),
    "RaBitQ": ("own",),
}


def shares(true, scores):
    """Share of the true neighbors among the first so many items."""
    depths = [min(depth, scores.shape[1]) for depth in DEPTHS]
    order = np.argsort(-scores, axis=1)[:, : max(depths)]
    return [
        float(np.mean([np.isin(a, b[:depth]).mean() for a, b in zip(true, order)]))
        for depth in depths
    ]


def measure(name, rule, total, queries, learned, new, seed):
    """Recall among new and learned rows, seconds, microseconds and megabytes."""
    before, start = peak(), time.process_time()
    model = make(name, rule, total, learned, seed)
    if model is None:
        return None
    seconds, megabytes = time.process_time() - start, peak() - before
    start = time.process_time()
    codes = model.encode(new)
    micros = 1e6 * (time.process_time() - start) / len(new)
    found = []
    for database, its_codes in ((new, codes), (learned, model.encode(learned))):
        true = np.argsort(-queries @ database.T, axis=1)[:, :K]
        found.append(shares(true, model.scores(queries, its_codes, rule)))
    return [*found, seconds, micros, megabytes]


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def show(done):
    """Print the table: of each method the rule that finds the most of the rows learned from."""
    runs = defaultdict(lambda: defaultdict(list))
    for (data, total, name, rule, _), figures in done.items():
        if figures is not None:
            runs[data, total, name][rule].append(figures)
    print("set | bytes | method | rule | new: own, 100, 1,000 | learned: own | fit s | us | seeds")
    for (data, total, name), rules in sorted(runs.items(), key=lambda item: item[0][:2]):
        rule = max(rules, key=lambda each: np.mean([run[1][0] for run in rules[each]]))
        of_seeds = rules[rule]
        new = np.array([run[0] for run in of_seeds])
        learned = np.array([run[1] for run in of_seeds])
        deviation = new[:, 0].std(ddof=1) if len(of_seeds) > 1 else np.nan
        fit, micros = (np.mean([run[column] for run in of_seeds]) for column in (2, 3))
        print(
            f"{data:13s} {total:3d} {name:7s} {rule:10s} {new[:, 0].mean():.3f} ±{deviation:.3f} "
            f"{new[:, 1].mean():.3f} {new[:, 2].mean():.3f}  {learned[:, 0].mean():.3f} "
            f"{fit:7.1f} {micros:6.0f}  {len(of_seeds)}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", action="append", required=True, help="NAME=FILE, repeated")
    parser.add_argument("--bytes", default="8,16,32,64")
    parser.add_argument("--methods", default=",".join(RULES))
    parser.add_argument("--rules", default="", help="only these rules of a method, if it has them")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    done = {}
    if options.output.exists():
        for line in options.output.read_text().splitlines():
            *run, figures = json.loads(line)
            done[tuple(run)] = figures
    AdditiveQuantizer(1, max_iter=1).fit(np.eye(300)).transform(np.eye(300))  # compiles
    sources = dict(each.split("=", 1) for each in options.data)
    totals, seeds = (list(map(int, each.split(","))) for each in (options.bytes, options.seeds))
    for seed, data in product(seeds, sources):
        rows = parts(read(sources[data]), options.queries, options.rows, seed)
        for total, name in product(totals, options.methods.split(",")):
            for rule in RULES[name]:
                run = (data, total, name, rule, seed)
                if run in done or (options.rules and rule not in options.rules.split(",")):
                    continue
                done[run] = measure(name, rule, total, *rows, seed)
                with options.output.open("a") as file:
                    file.write(json.dumps([*run, done[run]]) + "\n")
    show(done)


if __name__ == "__main__":
    main()
